#!/usr/bin/env python3
"""Profiles the server under a scenario: `./dev profile NAME [--seconds N]`.

Writes to .cache/profile/NAME/: on_cpu.svg (perf, the CPU clock), off_cpu.svg (bpftrace, where threads slept and how long),
allocations.txt (bpftrace, who called malloc). What the host does not allow is said in one line, and the rest goes on.
"""

import argparse
import contextlib
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import flame_graph

ROOT = Path(__file__).resolve().parent.parent
TAUT = ROOT / "build/profile/taut"
TRACE_PATIENCE_SECONDS = 60  # for bpftrace to compile, to attach and to look up names

SCENARIOS = {
    "chat20k": ["--pairs", "64", "--rate", "20000"],
    "chat16": ["--pairs", "64", "--inflight", "16"],
    "chat1": ["--pairs", "64", "--inflight", "1"],
    "chat1k": ["--pairs", "64", "--rate", "1000"],
}

OFF_CPU = """
tracepoint:sched:sched_switch /pid == %PID%/ { @from[tid] = nsecs; @kernel[tid] = kstack(12); @user[tid] = ustack(48); }
tracepoint:sched:sched_switch /@from[args->next_pid]/ {
  @slept[@kernel[args->next_pid], @user[args->next_pid]] = sum(nsecs - @from[args->next_pid]);
  delete(@from[args->next_pid]);
}
END { clear(@from); clear(@kernel); clear(@user); }
"""

# The program brings its own malloc, which counts. At its first instruction the frame pointer is still the caller's: the
# direct caller is the return address.
MALLOC = f"""
uprobe:{TAUT}:malloc /pid == %PID%/ {{ @calls[*(uint64*)reg("sp"), ustack(16)] = count(); }}
END {{ printf("@done\\n"); }}
"""


def say(text):
    print(f"profile: {text}", flush=True)


@contextlib.contextmanager
def running(command, **options):
    """A child that is asked to end, then made to."""
    process = subprocess.Popen([str(c) for c in command], **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def trace(program, pid, seconds, prefix=()):
    """What a bpftrace program prints when it is interrupted `seconds` after it began to trace; '' when it never began."""
    text = "BEGIN { printf(\"begun\\n\"); }\n" + program.replace("%PID%", str(pid))
    command = [*prefix, "bpftrace", "-B", "line", "-q", "-e", text]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
                               start_new_session=True)
    killer = threading.Timer(seconds + TRACE_PATIENCE_SECONDS, lambda: os.killpg(process.pid, signal.SIGKILL))
    killer.start()
    try:
        for line in process.stdout:
            if line.strip() == "begun":
                time.sleep(seconds)
                os.killpg(process.pid, signal.SIGINT)
                return process.stdout.read()
        return ""
    finally:
        process.wait()
        killer.cancel()


# -- stacks -------------------------------------------------------------------------------------------------------


def collapse_perf(script):
    """perf script's text as collapsed stacks; kernel frames end in _[k]."""
    stacks = Counter()
    for block in script.split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip()]
        frames = []
        for line in lines[1:]:
            match = re.match(r"\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(([^()]*|\[.*\])\)$", line)
            if match:
                kernel = "kernel" in match.group(2) or match.group(2).endswith(".ko")
                frames.append(match.group(1).replace(";", ":") + ("_[k]" if kernel else ""))
        if frames:
            stacks[";".join(reversed(frames))] += 1
    return stacks


class Symbols:
    """Names for addresses of a running process: its maps, and addr2line for the files in them."""

    def __init__(self, pid):
        self.maps = []
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \S+\s+(/\S+)", line)
            if match:
                begin, end, offset = (int(match.group(i), 16) for i in (1, 2, 3))
                self.maps.append((begin, end, offset, match.group(4)))
        self.names = {}

    def resolve(self, addresses):
        """Looks up many at once: one addr2line per file."""
        by_file = {}
        for address in addresses:
            for begin, end, offset, path in self.maps:
                if begin <= address < end:
                    by_file.setdefault(path, []).append((address, address - begin + offset))
        for path, pairs in by_file.items():
            # An address in a file is not an offset in it where segments are shifted; position-independent files shift none.
            out = subprocess.run(["addr2line", "-f", "-C", "-e", path, *(hex(o) for _, o in pairs)], capture_output=True, text=True)
            lines = out.stdout.splitlines()
            for (address, _), name, place in zip(pairs, lines[0::2], lines[1::2]):
                shown = Path(path).name if name == "??" else name
                where = re.sub(r"^.*/src/", "", place.split(" ")[0]) if "/src/" in place else ""
                self.names[address] = shown + (f" ({where})" if where else "")

    def name(self, frame):
        return frame if isinstance(frame, str) else self.names.get(frame, hex(frame))


def on_cpu(pid, seconds, folder):
    data = folder / "perf.data"
    result = subprocess.run(["perf", "record", "-q", "-F", "997", "-e", "cpu-clock", "--call-graph", "fp", "-p", str(pid), "-o", data,
                             "--", "sleep", str(seconds)], capture_output=True, text=True)
    if not data.exists():
        say(f"no on-CPU graph: perf record is not allowed here ({result.stderr.strip().splitlines()[-1:]})")
        return
    script = subprocess.run(["perf", "script", "-i", data], capture_output=True, text=True).stdout
    write_graph(folder / "on_cpu.svg", collapse_perf(script), f"on CPU, {seconds:g} s", "samples")


def off_cpu(pid, seconds, folder, symbols):
    # The tracepoints are files of tracefs; where it is not mounted, mount it for bpftrace alone.
    mount = "mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; exec \"$@\""
    text = trace(OFF_CPU, pid, seconds, ["unshare", "-m", "sh", "-c", mount, "sh"])
    raw = {}
    for key, value in re.findall(r"@slept\[(.*?)\]: (\d+)", text, re.S):
        kernel, _, user = key.partition("\n, ")
        raw[(*reversed(frames_of(user)), *reversed([f"{f}_[k]" for f in frames_of(kernel)]))] = int(value) // 1_000
    if not raw:
        say("no off-CPU graph: bpftrace saw no sched_switch (it needs root, tracefs and BPF)")
        return
    symbols.resolve({f for stack in raw for f in stack if isinstance(f, int)})
    stacks = Counter()
    for stack, weight in raw.items():
        stacks[";".join(symbols.name(f) for f in stack)] += weight
    write_graph(folder / "off_cpu.svg", stacks, f"off CPU, {seconds:g} s", "us asleep")


def frames_of(text):
    """The lines of one bpftrace stack, innermost first: names, or addresses where it found none."""
    lines = [re.sub(r"\+\d+$", "", line.strip()) for line in text.splitlines() if line.strip()]
    return [int(line, 16) if line.startswith("0x") else line for line in lines]


def allocations(pid, seconds, folder, symbols):
    text = trace(MALLOC, pid, seconds)
    if "@done" not in text:
        say("no allocations: bpftrace cannot place uprobes here (it needs root and BPF)")
        return
    raw = []
    for caller, stack, count in re.findall(r"@calls\[(\d+),(.*?)\]: (\d+)", text, re.S):
        raw.append((int(count), [int(caller), *frames_of(stack)[1:]]))
    symbols.resolve({f for _, stack in raw for f in stack if isinstance(f, int)})
    sites = Counter()
    for count, stack in raw:
        names = [symbols.name(f) for f in stack]
        # Newer kernels put the direct caller into the stack themselves.
        sites[" < ".join(names[1:] if names[0] in names[1:2] else names)] += count
    lines = [f"{sum(sites.values())} calls of malloc in {seconds:g} s, by call site\n"]
    lines += [f"{count:10}  {site}\n" for site, count in sites.most_common()]
    (folder / "allocations.txt").write_text("".join(lines))
    say(f"{folder.relative_to(ROOT)}/allocations.txt: {lines[0].strip()}")


def write_graph(path, stacks, title, unit):
    (path.with_suffix(".stacks")).write_text("".join(f"{stack} {weight}\n" for stack, weight in stacks.items()))
    path.write_text(flame_graph.draw(flame_graph.read(f"{s} {w}" for s, w in stacks.items()), title, unit))
    say(f"{path.relative_to(ROOT)}: {sum(stacks.values()):,} {unit}")


# -- the run ------------------------------------------------------------------------------------------------------


def ready_url(server):
    line = server.stdout.readline()
    match = re.search(r"ws=(\S+)", line)
    if not match:
        raise SystemExit("profile: the server did not start; its reason is above")
    return f"ws://{match.group(1)}/v1/chat"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("--seconds", type=float, default=5, help="per graph")
    parser.add_argument("--wait", default="adaptive", help="the server's waiting strategy")
    options = parser.parse_args()

    folder = ROOT / ".cache/profile" / options.scenario
    folder.mkdir(parents=True, exist_ok=True)
    secret = folder / "secret"
    secret.write_text(secrets.token_hex(32))
    server_command = ["taskset", "-c", "0", TAUT, "serve", "--listen", "127.0.0.1:0", "--secret-file", secret, "--group", "sales",
                      "--shards", "1", "--wait", options.wait, "--rate-visitor", "0", "--rate-agent", "0"]
    with running(server_command, stdout=subprocess.PIPE, text=True) as server:
        url = ready_url(server)
        load_seconds = 3 * options.seconds + 20
        client = ["taskset", "-c", str(min(1, (os.cpu_count() or 1) - 1)), TAUT, "load", "chat", "--url", url, "--secret-file", secret,
                  "--seconds", load_seconds, *SCENARIOS[options.scenario]]
        with running(client, stdout=subprocess.DEVNULL) as load:
            time.sleep(2)
            if load.poll() is not None:
                raise SystemExit("profile: the load ended early; its reason is above")
            symbols = Symbols(server.pid)
            on_cpu(server.pid, options.seconds, folder)
            off_cpu(server.pid, options.seconds, folder, symbols)
            allocations(server.pid, options.seconds, folder, symbols)
    secret.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
