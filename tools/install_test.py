#!/usr/bin/env python3
"""The engine as a library: installed into a folder, found by CMake, and an example built against that copy and run."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
EXAMPLES = ROOT / "examples"


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        built = run("cmake", "--build", BUILD, "--target", "taut_engine")
        assert built.returncode == 0, built.stdout + built.stderr
        installed = run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", "engine")
        assert installed.returncode == 0, installed.stdout + installed.stderr

    def configure(self, source, name):
        return run("cmake", "-S", source, "-B", self.folder / name, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   "-DCMAKE_BUILD_TYPE=Release")

    def test_the_example_builds_against_the_installed_copy_and_runs(self):
        configured = self.configure(EXAMPLES / "two_shards", "two_shards")
        self.assertEqual(configured.returncode, 0, configured.stderr)
        built = run("cmake", "--build", self.folder / "two_shards")
        self.assertEqual(built.returncode, 0, built.stdout)
        played = run(self.folder / "two_shards/two_shards", 1_000)
        self.assertEqual(played.returncode, 0, played.stderr)
        self.assertRegex(played.stdout, r"^1001 throws caught, \d+ ns each\n$")

    def test_another_minor_version_is_refused_by_name(self):
        project = self.folder / "wants_more"
        project.mkdir()
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(wants_more LANGUAGES CXX)\n"
                                                "find_package(taut 0.2 REQUIRED)\n")
        configured = self.configure(project, "wants_more_build")
        self.assertNotEqual(configured.returncode, 0)
        self.assertIn('compatible with requested version "0.2"', re.sub(r"\s+", " ", configured.stderr))

    def test_headers_are_those_of_base_and_core_and_nothing_else(self):
        wanted = {p.relative_to(ROOT / "src") for module in ("base", "core") for p in (ROOT / "src" / module).glob("*.h")}
        found = {p.relative_to(self.prefix / "include/taut") for p in self.prefix.rglob("*") if p.suffix in (".h", ".cc")}
        self.assertEqual(found, wanted - {Path("core/allocation_counter.h")})

    def test_the_archive_leaves_the_programs_allocator_alone(self):
        archive, = self.prefix.rglob("libtaut.a")
        defined = run("nm", "--defined-only", "--extern-only", archive).stdout.split()
        self.assertNotIn("malloc", defined)
        self.assertNotIn("_Znwm", defined)


if __name__ == "__main__":
    unittest.main()
