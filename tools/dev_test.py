#!/usr/bin/env python3
"""What ./dev says while it builds, with a ninja that only pretends."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class DevBuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copy(ROOT / "dev", self.root / "dev")
        (self.root / "build/release").mkdir(parents=True)
        (self.root / "build/release/build.ninja").touch()
        (self.root / "bin").mkdir()

    def build(self, ninja):
        """Runs `./dev build` where `ninja` is this script; a line of progress is due every second."""
        fake = self.root / "bin/ninja"
        fake.write_text("#!/bin/sh\n" + ninja)
        fake.chmod(0o755)
        env = os.environ | {"PATH": f"{fake.parent}:{os.environ['PATH']}", "TAUT_PROGRESS_S": "1"}
        return subprocess.run([self.root / "dev", "build"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, env=env)

    def test_without_a_terminal_a_build_says_that_it_begins_and_how_far_it_is_now_and_then(self):
        result = self.build("""
echo "ninja: Entering directory x"
for i in 1 2 3; do echo "[$i/9] Building a.o"; done
sleep 1.2
for i in 4 5 6; do echo "[$i/9] Building a.o"; done
""")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertEqual(result.stderr, "build release ...\nbuild release: [4/9]\n")

    def test_errors_and_the_exit_code_come_through(self):
        result = self.build("""
echo "[1/9] Building a.o"
echo "FAILED: a.o"
echo "  a.cc:1: [2/3] no"
exit 3
""")
        self.assertEqual((result.returncode, result.stdout), (3, "FAILED: a.o\n  a.cc:1: [2/3] no\n"))

    def test_nothing_to_do_is_one_line(self):
        result = self.build('echo "ninja: no work to do."')
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, "build release ...\n"))


if __name__ == "__main__":
    unittest.main()
