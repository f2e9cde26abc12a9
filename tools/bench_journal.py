#!/usr/bin/env python3
"""Compares the journal with its floor and its rivals and writes a row per claim: `./dev bench journal [--json FILE] [--small]`.

The floor is one pwrite and one fdatasync for the same bytes in the same batches. Rivals are SQLite (WAL, synchronous=FULL) and
RocksDB (synced writes), fed by the same writers through the same rings. What the journal costs those who do not wait for it is
measured on the server, all of whose threads share a core then. Arms are interleaved A B … B A, as in the bench of chat.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_host import ROOT, about, cpu_ticks
from bench_rows import Percentile, Row, ratio_rows, table, value_row
from chat_arms import Bench, Taut

RIVALS = ("sqlite", "rocksdb")
SIZES = {"": 1024, "_200": 200}  # by the end of a row's name
LOADED = 64  # writers
# What a writer of many does between two records, at most: so that records come at any time and not all at once.
THINK_US = 200
# The linger that docs/operations.md recommends where the committer shares a core with a shard.
LINGER_US = 5_000


class Plan:
    """How much is measured; --small only sees that everything can be."""

    def __init__(self, small):
        self.blocks = 1 if small else 6  # a block is A B … B A: two pairs
        self.pairs_min = 2 if small else 11
        self.seconds = 0.2 if small else 1.5
        self.warmup = 0.1 if small else 0.3
        self.rate_seconds = 0.3 if small else 3


p50, p99 = Percentile("p50"), Percentile("p99")


def throughput(run):
    return run["throughput_per_s"]


def bytes_per_s(run):
    return run["bytes_per_s"]


class Runs:
    """Starts the program, each run in a fresh directory of the disk that is measured."""

    def __init__(self, program, folder, plan):
        self.program, self.folder, self.plan = program, Path(folder), plan

    def one(self, arm, **options):
        with tempfile.TemporaryDirectory(dir=self.folder) as directory:
            flags = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
            done = subprocess.run([self.program, "--arm", arm, "--directory", directory, *flags], capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)

    def missing(self, rival):
        """Why a rival cannot be measured; empty: it can."""
        try:
            self.one(rival, seconds=0.01, warmup=0)
        except RuntimeError as error:
            return str(error)
        return ""

    def interleave(self, arms, size, writers):
        """arm -> its runs in time order. The floor repeats the batches that the journal had last."""
        load = {"bytes": size, "writers": writers, "seconds": self.plan.seconds, "warmup": self.plan.warmup}
        if writers > 1:
            load["think_us"] = THINK_US
        batches = self.folder / "batches"
        runs = {arm: [] for arm in arms}
        for _ in range(self.plan.blocks):
            for arm in [*arms, *reversed(arms)]:
                more = {"batches_file": batches} if arm in ("taut", "floor") else {}
                runs[arm].append(self.one(arm, **load, **more))
        return runs


def compare(runs, plan, rivals, reasons):
    rows = []
    for end, size in SIZES.items():
        for name, writers in (("one", 1), ("64w", LOADED)):
            measured = runs.interleave(["taut", "floor", *rivals], size, writers)
            if writers == 1:
                rows += ratio_rows("ack_p50_one" + end, measured, "taut", "floor", p50, "<= 1.6", plan.pairs_min)
            else:
                rows += ratio_rows("ack_p50_loaded" + end, measured, "taut", "floor", p50, "<= 2.2", plan.pairs_min)
                rows += ratio_rows("bytes_over_floor_64w" + end, measured, "taut", "floor", bytes_per_s, ">= 0.9", plan.pairs_min)
                rows.append(value_row("batch_64w" + end, measured["taut"], lambda run: run["batch_mean"], "records", None))
            rows.append(value_row(f"records_{name}{end}", measured["taut"], throughput, "1/s", None))
            for rival in RIVALS:
                metric = f"{name}_over_{rival}{end}"
                if rival in rivals:
                    rows += ratio_rows(metric, measured, "taut", rival, throughput, ">= 1.0", plan.pairs_min)
                else:
                    rows.append(Row.unmeasured(metric, reasons[rival]))
    mails = [runs.one("mail")["mail_ns"] / 1_000 for _ in range(plan.pairs_min)]
    return [*rows, Row.of_values("shard_cpu_per_record", mails, "us", "<= 0.3")]


def compare_delivery(plan):
    """Latency of messages with the journal and without, 20,000/s of 1 KB, server on one core."""
    off, on = Taut("adaptive"), Taut("adaptive", mode="durable", linger_us=LINGER_US)
    with Bench(ROOT / "build/release/taut", attempts=1 if plan.blocks == 1 else 3) as bench:
        runs = bench.interleave([on, off], plan.blocks, {"rate": 20_000, "seconds": plan.rate_seconds, "warmup": plan.warmup})
    rows = ratio_rows("delivery_p50_on_over_off", runs, on, off, p50, "<= 1.05", plan.pairs_min)
    return rows + ratio_rows("delivery_p99_on_over_off", runs, on, off, p99, "<= 1.3", plan.pairs_min)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="where the rows go")
    parser.add_argument("--small", action="store_true", help="only see that every row can be measured, in under 60 s")
    parser.add_argument("--directory", default=ROOT / ".cache", type=Path, help="on the disk that is measured")
    parser.add_argument("--program", default=ROOT / "build/release/journal_compare", type=Path, help="what is run")
    options = parser.parse_args()

    plan, ticks = Plan(options.small), cpu_ticks()
    options.directory.mkdir(exist_ok=True)
    folder = tempfile.mkdtemp(prefix="bench-journal-", dir=options.directory)
    try:
        runs = Runs(options.program, folder, plan)
        reasons = {rival: runs.missing(rival) for rival in RIVALS}
        rows = compare(runs, plan, [rival for rival in RIVALS if not reasons[rival]], reasons) + compare_delivery(plan)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report = about(ROOT / "build/release/taut", ticks) | {"small": options.small, "settings": vars(plan), "rows": [row.as_dict() for row in rows]}
    print(table(rows))
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
