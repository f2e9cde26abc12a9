#!/usr/bin/env python3
"""The whole test, behind `./dev test [--long] [FILTER]`: stages one after the other, a table and one line at the end.

Each stage is a function that returns its counts. Behind the release build the other presets are built meanwhile, at idle
priority: they get what the stages, which wait much, leave of the cores. Logs stay in .cache/log; a failed stage shows the
end of its own.
"""

import argparse
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as xml
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / ".cache" / "log"
CORES = os.cpu_count() or 1
FUZZ_SECONDS = 15  # per target; two targets at a time on two cores
FUZZ_SECONDS_LONG = 900
SIMULATED_WORLDS = 60  # twice: fixed seeds and fresh ones; together some 30 s on one core
SIMULATED_STEPS = 20_000
STAGE_SECONDS_MAX = 1_800  # a stage that hangs is ended and counts as failed
QUIET_SECONDS = 30  # without a terminal: one line of progress so often
TAIL_LINES = 60
TEST_MS_MAX = 180_000  # one black-box test that hangs becomes a failure
LONG_TEST_MS_MAX = 900_000
LONG_KILLS = "200"  # how often the crash test kills the server with --long
LONG_STORE_STOPPED_MS = "30000"  # … and how long a stopped store stays stopped
SANITIZED = ("asan", "tsan")
SANITIZED_PATIENCE_MS = "60000"  # what black-box tests wait for before they give up; a sanitizer slows the server 2-15 times
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}

running = set()  # process groups that run() started and nobody ended


@dataclass
class Counts:
    """What a stage found. A stage that could not run at all has one failure."""

    passed: int = 0
    failed: int = 0
    note: str = ""


class Progress:
    """The last line of a running command: on a terminal all the time, elsewhere now and then."""

    def __init__(self):
        self.terminal = sys.stdout.isatty()
        self.said = time.monotonic()

    def show(self, line):
        text = line.strip()[:100]
        if self.terminal:
            print(f"\r\033[K  {text}", end="", flush=True)
        elif time.monotonic() - self.said > QUIET_SECONDS:
            self.said = time.monotonic()
            print(f"  ... {text}", flush=True)

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", flush=True)


def run(name, command, env=None, progress=None, cwd=ROOT, seconds=STAGE_SECONDS_MAX):
    """Runs a command with its output in .cache/log/NAME.log. Returns (exit code, the output's last lines)."""
    LOGS.mkdir(parents=True, exist_ok=True)
    tail = deque(maxlen=2_000)
    with open(LOGS / f"{name}.log", "w") as log:
        process = subprocess.Popen([str(c) for c in command], cwd=cwd, env=os.environ | SANITIZERS | (env or {}),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace", process_group=0)  # not a session: Linux shares the cores between sessions, and only within one by priority
        hung = threading.Timer(seconds, lambda: os.killpg(process.pid, 9))
        hung.start()
        running.add(process.pid)
        try:
            for line in process.stdout:
                log.write(line)
                tail.append(line)
                if progress:
                    progress.show(line)
            code = process.wait()
            running.discard(process.pid)
        finally:
            hung.cancel()
    if code == -9:
        tail.append(f"ended after {seconds} s without a result\n")
    if progress:
        progress.clear()
    return code, "".join(tail)


def complain(name, output):
    print("".join(f"  | {line}\n" for line in output.splitlines()[-TAIL_LINES:]), end="")
    print(f"  whole log: .cache/log/{name}.log", flush=True)


def prefix_of(preset):
    """What lets ThreadSanitizer place its shadow memory; nothing for others and where it is not allowed."""
    prefix = ["setarch", platform.machine(), "-R"]
    try:
        return prefix if preset == "tsan" and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0 else []
    except FileNotFoundError:
        return []


# -- stages -------------------------------------------------------------------------------------------------------


def build(preset):
    def stage(options, progress):
        name = f"build-{preset}"
        code, output = run(name, ["./dev", "build", preset], progress=progress)
        if code:
            complain(name, output)
        return Counts(int(code == 0), int(code != 0))

    return stage


class BuildsMeanwhile:
    """Builds presets one after the other in a thread of its own, at idle priority."""

    def __init__(self, presets):
        self.presets = presets
        self.pool = ThreadPoolExecutor(1)
        self.builds = {}

    def start(self):
        self.builds = {preset: self.pool.submit(self._build, preset) for preset in self.presets}

    @staticmethod
    def _build(preset):
        started = time.monotonic()
        code, output = run(f"build-{preset}", ["chrt", "--idle", "0", "./dev", "build", preset])
        return code, output, time.monotonic() - started

    def wait_for(self, preset):
        def stage(options, progress):
            code, output, seconds = self.builds[preset].result()
            if code:
                complain(f"build-{preset}", output)
            return Counts(int(code == 0), int(code != 0), f"{seconds:.0f} s, beside other stages; waited for it")

        return stage

    def stop(self):
        self.pool.shutdown(wait=False, cancel_futures=True)


meanwhile = BuildsMeanwhile(("debug", "asan", "tsan", "fuzz"))


def unit_tests(preset):
    def stage(options, progress):
        name = f"test-{preset}"
        report = LOGS / f"{name}.xml"
        report.unlink(missing_ok=True)
        command = [*prefix_of(preset), "ctest", "--test-dir", f"build/{preset}", "-j", CORES, "--output-on-failure", "--repeat", "until-pass:2",
                   "--output-junit", report, "--no-tests=ignore"]
        env = {}
        if options.filter and preset in SANITIZED:
            env["GTEST_FILTER"] = ":".join(test_names(preset, options.filter)) or "-*"
            command += ["-R", "_of_[0-9]"]  # not what is only compiled
        elif options.filter:
            command += ["-R", options.filter]
        code, output = run(name, command, env=env, progress=progress)
        counts = junit_counts(report)
        if code and not counts.failed:
            counts.failed = 1
        if counts.failed:
            complain(name, output)
        return counts

    return stage


def test_names(preset, pattern):
    """The names of all unit tests that the regular expression finds."""
    found = []
    for program in sorted((ROOT / "build" / preset).glob("*_test")):
        listed = subprocess.run([*prefix_of(preset), program, "--gtest_list_tests"], capture_output=True, text=True).stdout
        for line in (line.partition("#")[0].rstrip() for line in listed.splitlines()):
            if line.startswith("  "):
                found.append(suite + line.strip())
            else:
                suite = line
    return [name for name in found if re.search(pattern, name)]


def junit_counts(report):
    """What ctest counted; of a process that several tests share, what it counted itself."""
    counts, skipped = Counts(), 0
    for case in xml.parse(report).getroot().iter("testcase") if report.exists() else ():
        passed, left_out = (re.search(rf"^\[  {word} \] (\d+) test", case.findtext("system-out") or "", re.M) for word in ("PASSED ", "SKIPPED"))
        if case.get("status") == "fail":
            counts.failed += 1
        elif case.get("status") in ("notrun", "disabled") or (case.find("skipped") is not None):
            skipped += 1
        else:
            counts.passed += int(passed[1]) if passed else 1
            skipped += int(left_out[1]) if left_out else 0
    counts.note = f"{skipped} skipped" if skipped else ""
    return counts


def fuzz(options, progress):
    seconds = FUZZ_SECONDS_LONG if options.long else FUZZ_SECONDS
    targets = sorted(p for p in (ROOT / "build/fuzz").glob("*_fuzz") if os.access(p, os.X_OK))
    targets = [t for t in targets if not options.filter or re.search(options.filter, t.name)]
    counts = Counts(note=f"{seconds} s each")
    lock = threading.Lock()

    def one(target):
        seeds = ROOT / "tests/corpus" / target.name
        found = ROOT / ".cache/fuzz" / target.name
        found.mkdir(parents=True, exist_ok=True)
        command = [target, found, *([seeds] if seeds.is_dir() else []), f"-max_total_time={seconds}", "-timeout=10",
                   "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={found}-"]
        code, output = run(target.name, command, seconds=seconds + 120)
        done = re.search(r"number_of_executed_units:\s*(\d+)", output)
        with lock:
            executions = int(done.group(1)) if done else 0
            print(f"  {target.name}: {executions:,} executions{'' if code == 0 else ', FAILED'}", flush=True)
            counts.passed += code == 0
            counts.failed += code != 0
            if code:
                complain(target.name, output)
                print(f"  reproduce: build/fuzz/{target.name} {found}-*")

    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(one, targets))
    return counts


def check(options, progress):
    code, output = run("check", ["python3", "tools/check.py", *(["--long"] if options.long else [])], progress=progress)
    found = re.search(r"^check: (\d+) passed, (\d+) failed$", output, re.M)
    if code:
        complain("check", output)
    return Counts(int(found.group(1)), int(found.group(2))) if found else Counts(0, 1)


def tool_tests(options, progress):
    counts = Counts()
    for path in sorted((ROOT / "tools").glob("*_test.py")):
        code, output = run(path.stem, ["python3", path], progress=progress)
        ran = re.search(r"^Ran (\d+) tests?", output, re.M)
        bad = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", output)) or int(code != 0)
        counts.passed += max(0, (int(ran.group(1)) if ran else 0) - bad)
        counts.failed += bad
        if code:
            complain(path.stem, output)
    return counts


def node_tests(name, command, env, progress):
    """Runs one file of tests. Returns (passed, failed, output)."""
    code, output = run(name, command, env=env, cwd=ROOT / "tests", progress=progress)
    passed, failed = (int((re.search(rf"^# {word} (\d+)$", output, re.M) or [0, 0])[1]) for word in ("pass", "fail"))
    return passed, failed or int(code != 0), output


def black_box(preset, folders):
    def stage(options, progress):
        name = f"blackbox-{preset}"
        tests = ROOT / "tests"
        if not (tests / "node_modules/.package-lock.json").exists():
            code, output = run("npm-ci", ["npm", "ci", "--no-audit", "--no-fund"], cwd=tests, progress=progress)
            if code:
                complain("npm-ci", output)
                return Counts(0, 1)
        command = [*prefix_of(preset), "node", "--test", "--test-reporter=tap", "--test-concurrency=1"]
        if "--test-timeout" in subprocess.run(["node", "--help"], capture_output=True, text=True).stdout:
            command.append(f"--test-timeout={LONG_TEST_MS_MAX if options.long else TEST_MS_MAX}")  # Debian 12's Node 18 has none: there the stage's own limit ends a hang
        if options.filter:
            command.append(f"--test-name-pattern={options.filter}")
        env = {"TAUT_BINARY": str(ROOT / "build" / preset / "taut")}
        if preset != "release":
            env["TAUT_TEST_PATIENCE_MS"] = SANITIZED_PATIENCE_MS
        elif options.long:
            env |= {"TAUT_KILLS": LONG_KILLS, "TAUT_STORE_STOPPED_MS": LONG_STORE_STOPPED_MS}
        counts, again = Counts(), []
        for file in sorted(p for folder in folders for p in (tests / folder).glob("*.test.mjs")):
            passed, failed, output = node_tests(name, [*command, file], env, progress)
            if failed:  # once more: a starved machine fails a test now and then, a defect fails it twice
                again.append(file.name)
                complain(name, "\n".join(re.findall(r"^\s*not ok .*$", output, re.M)) + "\n" + output)
                passed, failed, output = node_tests(f"{name}-again", [*command, file], env, progress)
            if failed:
                complain(f"{name}-again", "\n".join(re.findall(r"^\s*not ok .*$", output, re.M)) + "\n" + output)
            counts.passed += passed
            counts.failed += failed
        if again:
            counts.note = f"needed a second run: {', '.join(again)}"
        return counts

    return stage


def simulation(options, progress):
    """The same seeds each time, so that a change shows at once, and fresh ones, so that each run looks somewhere new."""
    counts = Counts(note=f"{2 * SIMULATED_WORLDS * SIMULATED_STEPS:,} steps")
    for name, seed in (("sim-fixed", ["--seed", "1"]), ("sim-fresh", [])):
        code, output = run(name, ["build/release/taut", "sim", *seed, "--seeds", SIMULATED_WORLDS, "--steps", SIMULATED_STEPS], progress=progress)
        counts.passed += code == 0
        counts.failed += code != 0
        if code:
            complain(name, output)
    return counts


def micro_benches(options, progress):
    counts = Counts(note="run small, not judged")
    for program in sorted((ROOT / "build/release").glob("*_bench")):
        code, output = run(program.name, [program, "--benchmark_min_time=0.01"], progress=progress)
        counts.passed += code == 0
        counts.failed += code != 0
        if code:
            complain(program.name, output)
    return counts


def comparison(name):
    def stage(options, progress):
        command = ["python3", f"tools/bench_{name}.py", "--small", "--json", LOGS / f"bench_{name}.json"]
        code, output = run(f"bench_{name}", command, progress=progress)
        if code:
            complain(f"bench_{name}", output)
        return Counts(int(code == 0), int(code != 0), "run small, not judged")

    return stage


# Name, function, and the stage that must have passed before. Only those marked take a FILTER.
STAGES = [
    ("build release", build("release"), None, True),
    ("check", check, "build release", False),
    ("tool tests", tool_tests, "build release", False),
    ("unit tests, release", unit_tests("release"), "build release", True),
    ("simulation", simulation, "build release", False),
    ("black box, release", black_box("release", ["client", "blackbox"]), "build release", True),
    ("build debug", meanwhile.wait_for("debug"), None, True),
    ("unit tests, debug", unit_tests("debug"), "build debug", True),
    ("build asan", meanwhile.wait_for("asan"), None, True),
    ("unit tests, asan + ubsan", unit_tests("asan"), "build asan", True),
    ("build tsan", meanwhile.wait_for("tsan"), None, True),
    ("unit tests, tsan", unit_tests("tsan"), "build tsan", True),
    ("build fuzz", meanwhile.wait_for("fuzz"), None, True),
    ("fuzz", fuzz, "build fuzz", True),
    ("micro benches", micro_benches, "build release", False),
    ("chat bench", comparison("chat"), "build release", False),
    ("journal bench", comparison("journal"), "build release", False),
]

# With --long besides: a sanitized server answers 2 to 15 times slower, which the short form has no time for.
LONG_STAGES = [
    ("black box, asan + ubsan", black_box("asan", ["blackbox"]), "build asan", True),
    ("black box, tsan", black_box("tsan", ["blackbox"]), "build tsan", True),
]


def run_stages(options):
    """{name: (counts, seconds)} of each stage."""
    progress, results = Progress(), {}
    for name, stage, needs, filtered in STAGES + (LONG_STAGES if options.long else []):
        if options.filter and not filtered:
            continue
        if needs and results[needs][0].failed:
            results[name] = (Counts(note=f"skipped: {needs} failed"), 0.0)
            continue
        print(f"{name} ...", flush=True)
        started = time.monotonic()
        counts = stage(options, progress)
        seconds = time.monotonic() - started
        results[name] = (counts, seconds)
        print(f"  {counts.passed} passed, {counts.failed} failed in {seconds:.0f} s {counts.note and f'({counts.note})'}", flush=True)
        if name == "build release":
            meanwhile.start()
    return results


def main():
    parser = argparse.ArgumentParser(prog="./dev test", description="Runs everything that can fail.")
    parser.add_argument("filter", nargs="?", default="", help="regular expression on test names")
    parser.add_argument("--long", action="store_true", help="15 minutes per fuzz target, 200 kills, stores stopped for 30 s, tidy over all files")
    options = parser.parse_args()

    # Asked to end: as with Ctrl-C, what runs ends too.
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    try:
        results = run_stages(options)
    except KeyboardInterrupt:
        meanwhile.stop()
        for group in list(running):
            os.killpg(group, signal.SIGTERM)
        return 130
    passed = sum(counts.passed for counts, _ in results.values())
    failed = sum(counts.failed for counts, _ in results.values())
    print(f"\n{'stage':28} {'passed':>7} {'failed':>7} {'seconds':>8}")
    for name, (counts, seconds) in results.items():
        print(f"{name:28} {counts.passed:7} {counts.failed:7} {seconds:8.0f}  {counts.note}")
    print(f"{'all':28} {passed:7} {failed:7} {time.monotonic() - begin:8.0f}\n")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
