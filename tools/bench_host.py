"""What the numbers of a bench depend on."""

import os
import platform
import subprocess
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cpu_ticks():
    """(stolen, all) since boot."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return ticks[7], sum(ticks)


def about(taut, ticks):
    """The program, the machine, and how much of it was stolen since `ticks`."""
    said = subprocess.run([taut, "version"], capture_output=True, text=True).stdout.split()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    model = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    steal, total = (now - then for now, then in zip(cpu_ticks(), ticks))
    return {"version": said[-1] if said else "", "commit": commit, "date": date.today().isoformat(), "kernel": platform.release(),
            "cpu": model[0] if model else platform.machine(), "cores": os.cpu_count(), "steal": steal / max(total, 1)}
