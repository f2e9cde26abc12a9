"""Rules about the source text: what may be included where, what is banned and what to write instead.

Each rule takes a Tree and returns complaints ("path:line: what; instead"). Rules read text, not syntax trees: they are
meant to be quick and to be read. `check_test.py` seeds a violation of each.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n]){1,4}\'', re.S)


def code_only(text):
    """The text with comments and literals blanked, so that line numbers and columns stay."""
    return COMMENT_OR_LITERAL.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


@dataclass(frozen=True)
class Source:
    """One C++ file: its path from the root, its module (the folder under src), its text."""

    path: str
    text: str

    @property
    def module(self):
        return self.path.split("/")[1]

    @property
    def stem(self):
        return Path(self.path).stem

    @property
    def is_header(self):
        return self.path.endswith(".h")

    @property
    def is_product(self):
        """False for tests, benches, comparisons, fuzzers and what must not compile."""
        return not self.module.endswith("_compare") and not self.stem.endswith(("_test", "_bench", "_fuzz", "_nocompile")) and "_testing" not in self.stem

    @cached_property
    def lines(self):
        return self.text.splitlines()

    @cached_property
    def code(self):
        return code_only(self.text).splitlines()

    @cached_property
    def includes(self):
        """(line number, name) of each include."""
        found = []
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if match:
                found.append((number, match.group(1)))
        return found

    def hits(self, pattern):
        """(line number, matched text) of a pattern in the code."""
        for number, line in enumerate(self.code, 1):
            match = re.search(pattern, line)
            if match:
                yield number, match.group(0).strip()


    def comments_around(self, number):
        """What is commented in the paragraph of a line: between the empty lines around it."""
        first = last = number - 1
        while first > 0 and self.lines[first - 1].strip():
            first -= 1
        while last + 1 < len(self.lines) and self.lines[last + 1].strip():
            last += 1
        return "\n".join(line[line.find("//"):] for line in self.lines[first:last + 1] if "//" in line)


class Tree:
    """The repository as the rules see it."""

    def __init__(self, root):
        self.root = Path(root)

    @cached_property
    def sources(self):
        paths = sorted(p for p in (self.root / "src").rglob("*") if p.suffix in (".h", ".cc"))
        return [Source(str(p.relative_to(self.root)), p.read_text()) for p in paths]

    @cached_property
    def arrows(self):
        """module -> the modules that CMakeLists.txt lets it include."""
        text = (self.root / "CMakeLists.txt").read_text()
        arrows = {}
        for name, rest in re.findall(r"^taut_module\((\w+)([^)]*)\)", text, re.M):
            arrows[name] = _depends(rest)
        for folder, rest in re.findall(r"^taut_program\(\w+ src/(\w+)([^)]*)\)", text, re.M):
            arrows[folder] = _depends(rest)
        return arrows

    def closure(self, path, seen=None):
        """The sources that a file includes, itself and what they include counted."""
        seen = {} if seen is None else seen
        source = self.by_path.get(path)
        if source is None or path in seen:
            return seen
        seen[path] = source
        for _, name in source.includes:
            self.closure("src/" + name, seen)
        return seen

    @cached_property
    def by_path(self):
        return {source.path: source for source in self.sources}

    def file(self, path):
        found = self.root / path
        return found.read_text() if found.exists() else None


def _depends(rest):
    match = re.search(r"DEPENDS\s+(.*?)(?:\s+LIBRARIES\b|$)", rest, re.S)
    return set(match.group(1).split()) if match else set()


# -- structure ----------------------------------------------------------------------------------------------------


def arrows(tree):
    """A module includes only the modules that CMakeLists.txt names for it."""
    complaints = []
    for source in tree.sources:
        allowed = tree.arrows.get(source.module)
        if allowed is None:
            complaints.append(f"{source.path}:1: module {source.module} is not in CMakeLists.txt; add a taut_module line")
            continue
        for number, name in source.includes:
            target = name.split("/")[0]
            if "/" not in name or target == source.module or target not in tree.arrows:
                continue
            if target not in allowed:
                complaints.append(f"{source.path}:{number}: {source.module} may not include {target}; move the code, or "
                                  f"argue the arrow in docs/architecture.md and add it to CMakeLists.txt")
    return complaints + _circles(tree)


def _circles(tree):
    """Arrows that come back to where they started."""
    complaints = []
    for start in tree.arrows:
        seen, todo = set(), list(tree.arrows[start])
        while todo:
            module = todo.pop()
            if module not in seen:
                seen.add(module)
                todo.extend(tree.arrows.get(module, ()))
        if start in seen:
            complaints.append(f"CMakeLists.txt:1: module {start} depends on itself in a circle; cut one arrow")
    return complaints


# Headers that are slow to compile, and the only files that may include them (tests aside).
HEAVY = {
    r"boost/beast": ["src/wire/http.cc"],
    r"simdjson": ["src/auth/claims_json.cc", "src/wire/canned_replies.cc", "src/wire/chat_reader.cc", "src/wire/record_reader.cc",
                 "src/wire/token_request.cc", "src/wire/utf8.cc"],
    r"CLI/": [],
    r"toml\+\+/": ["src/base/config_toml.cc"],
    r"spdlog/": ["src/core/log_thread.cc"],
}


def heavy_headers(tree):
    """A header that is slow to compile is included by the files listed for it, and by no header."""
    complaints = []
    for source in tree.sources:
        for number, name in source.includes:
            for pattern, users in HEAVY.items():
                if not re.match(pattern, name) or source.path in users or not (source.is_header or source.is_product):
                    continue
                instead = f"go through {' or '.join(users)}" if users else "argue it in docs/decisions first"
                complaints.append(f"{source.path}:{number}: <{name}> is slow to compile; {instead}")
    return complaints


def header_shape(tree):
    """A header begins with one sentence and #pragma once."""
    complaints = []
    for source in tree.sources:
        if not source.is_header:
            continue
        if not source.lines or not source.lines[0].startswith("// "):
            complaints.append(f"{source.path}:1: no sentence at the top; say what the file is for, or split it")
        first_code = next((line for line in source.code if line.strip()), "")
        if first_code.strip() != "#pragma once":
            complaints.append(f"{source.path}:1: #pragma once does not come first; put it below the sentence")
    return complaints


def own_header_first(tree):
    """x.cc includes x.h before anything else, so that x.h is seen to stand alone."""
    paths = {source.path for source in tree.sources}
    complaints = []
    for source in tree.sources:
        own = re.sub(r"(_test|_bench)?\.cc$", ".h", source.path)
        if source.is_header or own not in paths or not source.includes:
            continue
        number, name = source.includes[0]
        if "src/" + name != own and any("src/" + other == own for _, other in source.includes):
            complaints.append(f"{source.path}:{number}: {name} before its own header; include {own[4:]} first")
    return complaints


def names(tree):
    """No file is named after nothing in particular."""
    return [f"{source.path}:1: a drawer for everything; name the file after what it is for"
            for source in tree.sources
            if re.search(r"(^|_)(utils?|common|helpers?|misc)($|_)", source.stem)]


# -- bans ---------------------------------------------------------------------------------------------------------

# Who may use threads and atomics, and why. Everybody else's code runs on one shard.
THREADED = {
    "src/core/": "the engine itself",
    "src/gateway/serve.cc": "it starts the shards' threads, waits for the signal and joins them",
    "src/load/": "a program of its own, with one client thread and its signal flag",
}


def threads(tree):
    """Atomics, locks and threads live in core."""
    pattern = (r"std::(atomic\w*|(recursive_|shared_|timed_)*mutex|condition_variable\w*|j?thread\b|lock_guard|unique_lock|"
               r"scoped_lock|counting_semaphore|binary_semaphore|latch\b|barrier\b|promise\b|future\b|async\b)|\bpthread_\w+\(")
    complaints = []
    for source in tree.sources:
        if not source.is_product or source.path.startswith(tuple(THREADED)):
            continue
        for number, what in source.hits(pattern):
            complaints.append(f"{source.path}:{number}: {what} outside core; send Mail to the owner's shard, or use what "
                              f"core offers (Shard, LogThread, Counter)")
    return complaints


def volatile(tree):
    """volatile orders nothing between threads."""
    return [f"{source.path}:{number}: volatile; use core's cells (core/cell.h), or asm volatile for a barrier"
            for source in tree.sources if source.is_product
            for number, _ in source.hits(r"(?<!asm )(?<!asm__ )\bvolatile\b")]


def memory_orders(tree):
    """A memory order weaker than seq_cst has a comment in its paragraph that names its pair, or says that it has none."""
    complaints = []
    for source in tree.sources:
        if not source.is_product:
            continue
        for number, what in source.hits(r"\bmemory_order(_|::)(relaxed|acquire|release|acq_rel|consume)\b"):
            if not re.search(r"\bpair", source.comments_around(number), re.I):
                complaints.append(f"{source.path}:{number}: {what} without its pair; say `pairs with ...` beside it, or why it "
                                  f"needs no pair")
    return complaints


def clocks(tree):
    """Time comes through base/clock.h."""
    pattern = r"\bsystem_clock::now\b|\bCLOCK_REALTIME\w*|\bgettimeofday\b|(?<![\w.>:])(?:std::)?time\((?:nullptr|NULL|0)\)"
    return [f"{source.path}:{number}: {what}; take a Clock (base/clock.h): mono_ns() for intervals, wall_ms() for people"
            for source in tree.sources if not source.path.startswith("src/base/clock")
            for number, what in source.hits(pattern)]


SHARD_MODULES = ("hub", "net", "chat", "wire")


def shard_code(tree):
    """What runs on a shard never waits: no files, no names to resolve, no sleeping, no printing."""
    pattern = (r"(?<![\w.>])(::|std::)?(openat|opendir|fopen|fprintf|fputs|fwrite|printf|puts|getline|getaddrinfo|usleep|nanosleep|"
               r"gethostbyname\w*|fsync|fdatasync|popen|system)\(|(?<![\w.>:])::(open|sleep)\(|\bsleep_(for|until)\(|"
               r"\bstd::([io]?fstream|cout|cerr|filesystem)\b|\bspdlog::")
    complaints = []
    for source in tree.sources:
        on_shard = source.module in SHARD_MODULES or (source.module == "gateway" and "shard" in source.stem)
        if not on_shard or not source.is_product:
            continue
        for number, what in source.hits(pattern):
            complaints.append(f"{source.path}:{number}: {what} in code that runs on a shard; do it before the shards start, "
                              f"or on a thread of its own that answers by Mail (logging: Shard::log())")
    return complaints


# -- waits --------------------------------------------------------------------------------------------------------

WAIT = (r"\bepoll_p?wait2?\(|\bppoll\(|(?<![\w.>])::poll\(|SYS_futex|\bfutex_wait\w*\(|\b(clock_)?nanosleep\(|\bsleep_for\(|"
        r"\bsleep_until\(|\busleep\(|(?<![\w.>])::sleep\(|\bsched_yield\(|this_thread::yield\(|"
        r"\.wait\(\)|\.wait\((\w*lock|guard)|\.wait_(for|until)\(|\bsigwait(info)?\(|\bsigtimedwait\(|\bpthread_join\(|\.join\(\)|\bwaitpid\(|\bfdatasync\(|"
        r"\bfsync\(|\b__builtin_ia32_pause\(|\b_mm_pause\(")


def enclosing_function(source, number):
    """The name of the function around a line, by the indentation that clang-format gives; '' at file level."""
    name = _name_above(source, number, 0)
    return name if name is not None else _name_above(source, number, 2) or ""


def _name_above(source, number, indent):
    """The name in the nearest line above with that indentation that opens something; None for a class."""
    for line in reversed(source.code[:number]):
        stripped = line.strip()
        if not stripped or len(line) - len(line.lstrip()) != indent:
            continue
        if re.match(r"[}#)\]]|(public|private|protected|template|case|default)\b|(inline )?namespace\b", stripped):
            continue
        if re.match(r"(class|struct|union|enum)\b", stripped):
            return None
        match = re.search(r"(~?[A-Za-z_]\w*)\s*\(", re.sub(r"\b(alignas|decltype|__attribute__|noexcept)\s*\([^)]*\)+", "", stripped))
        return match.group(1) if match else ""
    return ""


def listed_waits(text):
    """`file:function` of each row of the table in docs/waits.md."""
    return re.findall(r"^\|\s*`?([\w./]+:[\w~]+)`?\s*\|", text, re.M)


def waits(tree):
    """Every wait of the product is a row of docs/waits.md, and every row is a wait."""
    text = tree.file("docs/waits.md")
    if text is None:
        return ["docs/waits.md:1: missing; write the table of waits, first column `file:function`"]
    listed = set(listed_waits(text))
    found, complaints = set(), []
    for source in tree.sources:
        if not source.is_product or source.module == "load":
            continue
        for number, what in source.hits(WAIT):
            site = f"{source.path}:{enclosing_function(source, number)}"
            found.add(site)
            if not {site, site.removeprefix("src/")} & listed:
                complaints.append(f"{source.path}:{number}: {what.rstrip('(')} is a wait that docs/waits.md does not name; add the "
                                  f"row `{site.removeprefix('src/')}` with its reason, or do without the wait")
    known = found | {site.removeprefix("src/") for site in found}
    for site in sorted(listed - known):
        complaints.append(f"docs/waits.md:1: {site} waits no more; remove the row")
    return complaints


def spin_locks(tree):
    """Whatever waits in base and core refuses to do so with a spin lock in hand."""
    complaints = []
    for source in tree.sources:
        if source.module not in ("base", "core") or not source.is_product:
            continue
        waits_there = [number for number, what in source.hits(WAIT) if "pause" not in what]
        if waits_there and not any("assert_no_spin_lock_held()" in line for line in source.code):
            complaints.append(f"{source.path}:{waits_there[0]}: waits without a look at the spin locks; call "
                              f"assert_no_spin_lock_held() (base/spin_locks_held.h) first")
    return complaints


RULES = [arrows, heavy_headers, header_shape, own_header_first, names, threads, volatile, memory_orders, clocks, shard_code, waits,
         spin_locks]
