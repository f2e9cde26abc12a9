#!/usr/bin/env python3
"""Runs one module's micro-benches and writes their medians as rows: `./dev bench MODULE [--json FILE] [--small]`."""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile

REPETITIONS = 5


def measure(program, small):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [program, f"--benchmark_out={report.name}", "--benchmark_out_format=json",
                   f"--benchmark_min_time={0.01 if small else 0.5}", f"--benchmark_repetitions={1 if small else REPETITIONS}"]
        subprocess.run(command, check=True)
        return json.load(report)


def rows_of(report):
    """One row per benchmark: median, lowest and highest of its repetitions. No target: these are to be compared by hand."""
    values = {}
    for run in report["benchmarks"]:
        if run.get("run_type") == "iteration":
            values.setdefault((run["run_name"], run["time_unit"]), []).append(run["real_time"])
    return [{"metric": re.sub(r"\s+", "_", name), "value": sorted(v)[len(v) // 2], "low": min(v), "high": max(v), "unit": unit,
             "target": None, "ok": True, "void": False} for (name, unit), v in values.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--json", metavar="FILE", help="where the rows go")
    parser.add_argument("--small", action="store_true", help="only see that they run")
    options = parser.parse_args()
    rows = rows_of(measure(options.program, options.small))
    if options.json:
        with open(options.json, "w") as out:
            json.dump({"kernel": platform.release(), "cores": os.cpu_count(), "rows": rows}, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
