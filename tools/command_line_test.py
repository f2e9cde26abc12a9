#!/usr/bin/env python3
"""The command line from outside: what it prints where, and its exit codes."""

import base64
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAUT = os.environ.get("TAUT_BINARY", str(ROOT / "build/release/taut"))


def taut(*arguments):
    return subprocess.run([TAUT, *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.secret = str(Path(folder.name) / "secret")
        Path(self.secret).write_text("s" * 32 + "\n")
        self.settings = str(Path(folder.name) / "taut.toml")

    def refuses(self, arguments, message, code=2):
        result = taut(*arguments)
        self.assertEqual((result.returncode, result.stdout), (code, ""))
        self.assertEqual(result.stderr, message + "\n")

    def test_help_lists_the_commands_and_exit_codes(self):
        for arguments in (["help"], ["--help"], ["-h"]):
            result = taut(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            for word in ("serve", "token", "load chat", "Exit codes"):
                self.assertIn(word, result.stdout)

    def test_help_of_a_command_is_the_same_both_ways(self):
        for command in ("serve", "token", "load chat", "load visits", "load fanout", "load floor", "load idle"):
            one, other = taut("help", *command.split()), taut(*command.split(), "--help")
            self.assertEqual((one.returncode, one.stdout), (0, other.stdout))
            self.assertIn(f"Usage: taut {command}", one.stdout)

    def test_no_command_shows_the_help_and_is_wrong_usage(self):
        result = taut()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("Usage: taut COMMAND", result.stderr)

    def test_an_unknown_command_suggests_the_nearest(self):
        self.refuses(["sreve"], "taut: unknown command sreve; did you mean taut serve?")
        self.refuses(["load", "caht"], "taut: unknown command load caht; did you mean taut load chat?")
        self.refuses(["frobnicate"], "taut: unknown command frobnicate; taut help lists them")

    def test_half_a_command_asks_for_the_other_half(self):
        for half in (["load"], ["load", "--help"], ["help", "load"]):
            self.refuses(half, "taut: load needs a second word: load chat, load visits, load fanout, load idle, load floor")

    def test_wrong_settings_are_one_line_with_the_remedy(self):
        self.refuses(["serve"], "taut serve: --secret-file is missing: give --secret-file FILE")
        self.refuses(["serve", "--secret-file", self.secret, "--lisen", "x"],
                     "taut serve: unknown option --lisen; did you mean --listen?")
        Path(self.settings).write_text("site = \"demo\"\nping-ms = 5\n")
        self.refuses(["serve", "--config", self.settings, "--secret-file", self.secret],
                     f"taut serve: {self.settings}:2:11: ping-ms = 5: expected a time from 100ms to 1h, in milliseconds or like "
                     f"500ms, 30s, 5min")

    def test_a_token_is_printed_alone(self):
        result = taut("token", "--secret-file", self.secret, "--role", "agent", "--id", "a1", "--groups", "sales,support", "--capacity", "3")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^[\w-]+\.[\w-]+\.[\w-]+\n$")
        body = result.stdout.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        self.assertEqual({k: claims[k] for k in ("sub", "role", "site", "groups", "capacity")},
                         {"sub": "a1", "role": "agent", "site": "demo", "groups": ["sales", "support"], "capacity": 3})

    def test_a_secret_that_is_none_is_wrong_usage_and_says_the_remedy(self):
        missing = "/nonexistent/secret"
        identity = ["--id", "v1"]
        url = ["--url", "ws://127.0.0.1:1/v1/chat"]
        for command in (["token", *identity], ["serve", "--listen", "127.0.0.1:0"], ["load", "chat", *url, "--rate", "1"],
                        ["load", "idle", *url], ["load", "visits", *url], ["load", "fanout", *url]):
            name = " ".join(command[:2]) if command[0] == "load" else command[0]
            self.refuses([*command, "--secret-file", missing],
                         f"taut {name}: --secret-file {missing}: No such file or directory; if there is none, make one: "
                         f"(umask 077; head -c 32 /dev/urandom | base64 > {missing})")
        self.refuses(["serve", "--listen", "127.0.0.1:0", "--secret-file", self.secret, "--admin-key-file", missing],
                     f"taut serve: --admin-key-file {missing}: No such file or directory; if there is none, make one: "
                     f"(umask 077; head -c 32 /dev/urandom | base64 > {missing})")
        Path(self.secret).write_text("s" * 4097 + "\n")
        self.refuses(["token", *identity, "--secret-file", self.secret],
                     f"taut token: --secret-file {self.secret}: longer than 4096 bytes; is it the right file? 32 random bytes are enough")

    def test_the_remedy_makes_a_secret_that_works(self):
        made = self.secret + ".made"
        said = taut("token", "--id", "v1", "--secret-file", made).stderr
        subprocess.run(said[said.index("make one: ") + len("make one: "):], shell=True, check=True, timeout=60)
        self.assertEqual(taut("token", "--id", "v1", "--secret-file", made).returncode, 0)

    def test_wrong_usage_of_load_is_told_from_a_failure(self):
        url = ["--url", "relay://127.0.0.1:1"]
        self.refuses(["load", "chat", *url], "taut load chat: give exactly one of --rate and --inflight")
        self.assertEqual(taut("load", "chat", *url, "--rate", "1").returncode, 1)
        for name in ("visits", "fanout"):
            self.refuses(["load", name, *url], f"taut load {name}: only ws:// is possible here: {url[1]}")
        self.assertEqual(taut("load", "floor", "--listen", "nowhere").returncode, 2)

    def test_a_switch_that_is_on_by_default_is_shown_with_both_forms(self):
        self.assertIn("--[no-]open Let the visitor open conversations; --no-open forbids it (default --open)",
                      " ".join(taut("token", "--help").stdout.split()))

    def test_the_version_is_one_line(self):
        self.assertRegex(taut("version").stdout, r"^taut \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
