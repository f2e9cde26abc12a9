#!/usr/bin/env python3
"""Checks what compilers do not: `./dev check [--long] [rule...]`. One line per rule, complaints below it.

Text rules are in source_rules.py; here are those that run a program: format, tidy, headers that compile alone, scripts,
and documentation that must match the program. Unchanged work is remembered in .cache/check.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import source_rules

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "check"
BINARY = ROOT / "build" / "release" / "taut"
CORES = os.cpu_count() or 1


def run(*command, **options):
    return subprocess.run([str(c) for c in command], cwd=ROOT, text=True, capture_output=True, **options)


def in_parallel(work, items):
    with ThreadPoolExecutor(CORES) as pool:
        return [complaint for complaints in pool.map(work, items) for complaint in complaints]


def remembered(rule, key, work):
    """The complaints of `work()`; an earlier run without complaints under the same key is not repeated."""
    stamp = CACHE / rule / key[:32]
    if stamp.exists():
        return []
    complaints = work()
    if not complaints:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
    return complaints


def all_sources():
    return sorted(p for folder in ("src", "examples") for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cc"))


def closure_key(tree, path, *others):
    """A key for what a file says and includes, and for the files that say how it is looked at."""
    digest = hashlib.sha256(path.encode())
    for name, source in sorted(tree.closure(path).items()):
        digest.update(f"{name}\n{source.text}".encode())
    for other in others:
        digest.update((ROOT / other).read_bytes())
    return digest.hexdigest()


def changed_sources():
    """Sources that differ from where this branch left main, or, on main, from the commit before."""
    base = run("git", "merge-base", "HEAD", "main").stdout.strip()
    if not base or base == run("git", "rev-parse", "HEAD").stdout.strip():
        base = "HEAD~"
    names = run("git", "diff", "--name-only", "--diff-filter=d", base, "--", "src").stdout.split()
    names += run("git", "ls-files", "--others", "--exclude-standard", "--", "src").stdout.split()
    return {ROOT / name for name in names}


# -- rules that run a program -------------------------------------------------------------------------------------


def clang_format(_):
    """Sources look as clang-format makes them."""
    result = run("clang-format-19", "--dry-run", "-Werror", "--ferror-limit=1", *all_sources())
    places = re.findall(r"^(\S+?:\d+):\d+: error", result.stderr, re.M)
    complaints = [f"{place.removeprefix(str(ROOT) + '/')}: not formatted; run ./dev fmt" for place in places]
    return complaints or ([result.stderr.strip()] if result.returncode else [])


def clang_tidy(options):
    """clang-tidy finds nothing (changed files; all of them with --long)."""
    database = ROOT / "build/release/compile_commands.json"
    if not database.exists():
        return ["build/release: not configured; run ./dev build first"]
    known = {Path(entry["file"]) for entry in json.loads(database.read_text())}
    wanted = known if options.long else known & changed_sources()
    tree = source_rules.Tree(ROOT)

    def tidy(path):
        result = run("clang-tidy-19", "-p", database.parent, "--quiet", "--extra-arg=-Wno-unknown-warning-option",
                     "--extra-arg=-Wno-error", path)
        found = re.findall(r"^(\S+?:\d+):\d+: (?:error|warning): (.*)$", result.stdout, re.M)
        complaints = [f"{place.removeprefix(str(ROOT) + '/')}: {text}" for place, text in dict.fromkeys(found)]
        failed = result.returncode != 0 and not complaints
        return complaints + ([f"{path}: clang-tidy failed: {result.stderr.strip()[-300:]}"] if failed else [])

    def checked(path):
        key = closure_key(tree, str(path.relative_to(ROOT)), ".clang-tidy", "cmake/module.cmake")
        return remembered("tidy", key, lambda: tidy(path))

    return in_parallel(checked, sorted(p for p in wanted if (ROOT / "src") in p.parents))


def headers_alone(_):
    """Every header compiles by itself."""
    tree = source_rules.Tree(ROOT)

    def alone(header):
        result = run("g++", "-std=c++23", "-fsyntax-only", "-Isrc", "-Wall", "-Wextra",
                     "-Wno-missing-field-initializers", "-Werror", "-x", "c++", "-include", header, "/dev/null")
        error = re.search(r"^\S+: (?:fatal )?error: (.*)$", result.stderr, re.M)
        if result.returncode == 0:
            return []
        return [f"{header}:1: does not compile alone ({error.group(1) if error else 'see g++'}); include what it uses"]

    def checked(header):
        return remembered("header", closure_key(tree, header, "cmake/module.cmake"), lambda: alone(header))

    return in_parallel(checked, [source.path for source in tree.sources if source.is_header])


def scripts(_):
    """Shell and Python scripts parse."""
    complaints = []
    for name in ("dev", ".ci/run"):
        if not (ROOT / name).exists():
            continue
        result = run("bash", "-n", name)
        if result.returncode:
            complaints.append(f"{result.stderr.strip()}")
        if shutil.which("shellcheck"):
            found = run("shellcheck", "--format=gcc", name).stdout.strip()
            complaints += found.splitlines()
    for path in sorted((ROOT / "tools").glob("*.py")):
        try:
            compile(path.read_text(), str(path), "exec")
        except SyntaxError as error:
            complaints.append(f"tools/{path.name}:{error.lineno}: {error.msg}")
    return complaints


SETTINGS = re.compile(r"(<!-- settings: begin.*?-->\n).*?(<!-- settings: end -->)", re.S)


def operations_page(write=False):
    """The settings in docs/operations.md are those of `taut serve --help-markdown`."""
    page = ROOT / "docs/operations.md"
    if not BINARY.exists():
        return ["build/release/taut: not built; run ./dev build first"]
    table = run(BINARY, "serve", "--help-markdown").stdout
    text = page.read_text()
    wanted = SETTINGS.sub(lambda m: f"{m.group(1)}\n{table}\n{m.group(2)}", text)
    if wanted == text and SETTINGS.search(text):
        return []
    if write:
        page.write_text(wanted)
        return []
    return ["docs/operations.md:1: the settings differ from taut serve --help-markdown; run ./dev fmt"]


def text_rule(rule):
    return lambda _: rule(source_rules.Tree(ROOT))


RULES = {rule.__name__: text_rule(rule) for rule in source_rules.RULES} | {
    "clang_format": clang_format,
    "scripts": scripts,
    "settings_documented": lambda _: operations_page(),
    "headers_alone": headers_alone,
    "clang_tidy": clang_tidy,
}


def main():
    parser = argparse.ArgumentParser(description="Checks the sources.")
    parser.add_argument("rules", nargs="*", metavar="rule", help="all of: " + ", ".join(RULES))
    parser.add_argument("--long", action="store_true", help="clang-tidy over all files, not only the changed ones")
    parser.add_argument("--write-docs", action="store_true", help="bring docs/operations.md up to date and stop")
    options = parser.parse_args()
    if options.write_docs:
        return 1 if operations_page(write=True) else 0
    unknown = [rule for rule in options.rules if rule not in RULES]
    if unknown:
        parser.error(f"no rule {unknown[0]}; there are {', '.join(RULES)}")

    failed = 0
    chosen = options.rules or list(RULES)
    for name in chosen:
        begin = time.monotonic()
        complaints = RULES[name](options)
        print(f"{'FAIL' if complaints else 'ok  '} {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        for complaint in complaints:
            print(f"     {complaint}", flush=True)
        failed += bool(complaints)
    print(f"check: {len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
