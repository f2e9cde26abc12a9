#!/usr/bin/env python3
"""Compares taut with its floors and with its peers and writes a row per claim: `./dev bench chat [--json FILE] [--small]`.

docs/benchmarks.md tells the method. In short: server on core 0, busy-polling client on core 1, arms interleaved
A B … B A, at least 11 pairs, medians of pair ratios with a bootstrap interval, and before each ratio the same ratio of
an arm with itself (A/A), measured in the same blocks.
"""

import argparse
import json
import sys
from pathlib import Path

from chat_arms import ROOT, Bench, Relay, Taut
from chat_peers import PEERS
from bench_rows import Percentile, Row, markdown, markdown_into, peers_markdown, ratio_rows, table, value_row


class Plan:
    """How much is measured; --small only sees that everything can be."""

    def __init__(self, small):
        self.blocks = 1 if small else 6  # a block is A B … B A: two pairs
        self.pairs_min = 2 if small else 11
        self.rate_seconds = 0.3 if small else 3
        self.flood_seconds = 0.2 if small else 2
        self.disturbed_seconds = 0.3 if small else 5
        self.crowd_pairs, self.crowd_seconds = (250, 0.5) if small else (2_500, 15)
        self.receivers = 100 if small else 1_000
        self.warmup = 0.1 if small else 1
        self.attempts = 1 if small else 3  # of a run in which the client was late itself
        self.allocation_messages = 100_000 if small else 1_000_000
        self.idle_base, self.idle_more = (100, 1_000) if small else (1_000, 10_000)
        self.idle_seconds = 1 if small else 5


p50, p99, p999 = (Percentile(name) for name in ("p50", "p99", "p999"))


def throughput(run):
    return run["throughput_per_s"]


def cpu(run):
    return run["server"]["cpu_us_per_msg"]


def compare_at_20k(bench, plan):
    """Latency of the two ways to wait, each against the relay that waits the same way."""
    adaptive, spin = Taut("adaptive"), Relay("spin")
    load = {"rate": 20_000, "seconds": plan.rate_seconds, "warmup": plan.warmup}
    runs = bench.interleave([adaptive, spin], plan.blocks, load)
    rows = ratio_rows("p50_adaptive_over_spin", runs, adaptive, spin, p50, "<= 1.3", plan.pairs_min)
    rows += ratio_rows("p999_over_relay", runs, adaptive, spin, p999, "<= 1.5", plan.pairs_min)
    rows.append(value_row("vcs_per_msg", runs[adaptive], lambda r: r["server"]["voluntary_per_msg"], "switches/msg", "<= 0.05"))
    park, epoll = Taut("park"), Relay("epoll")
    runs = bench.interleave([park, epoll], plan.blocks, load)
    return rows + ratio_rows("p50_park_over_epoll", runs, park, epoll, p50, "<= 1.15", plan.pairs_min)


def better_relay(runs, relays):
    """The relay with the higher median throughput, so that taut is never compared with the weaker floor."""
    return max(relays, key=lambda relay: sorted(map(throughput, runs[relay]))[len(runs[relay]) // 2])


def compare_flooded(bench, plan):
    """Throughput with 16 and with 1 message in flight per pair, against relays that acknowledge as taut does."""
    taut = Taut("adaptive")
    relays = [Relay("epoll", ack=True), Relay("spin", ack=True)]
    rows = []
    for metric, inflight, target in (("sat16_over_ackrelay", 16, ">= 0.5"), ("one_over_ackrelay", 1, ">= 0.9")):
        load = {"inflight": inflight, "seconds": plan.flood_seconds, "warmup": plan.warmup}
        runs = bench.interleave([taut, *relays], plan.blocks, load)
        rows += ratio_rows(metric, runs, taut, better_relay(runs, relays), throughput, target, plan.pairs_min)
    return rows


# What is measured of each peer, by load: the row's name is this one and "_over_" and the peer's.
PEER_LOADS = [
    ({"rate": 20_000}, {"p50": p50, "cpu20k": cpu}),
    ({"inflight": 16}, {"sat16": throughput, "cpu": cpu}),
    ({"inflight": 1}, {"one": throughput}),
]
PEER_TARGETS = {"sat16_over_nats": ">= 1.0", "cpu_over_nats": "<= 1.0"}


def peer_metrics(peer):
    return [f"{name}_over_{peer}" for _, measures in PEER_LOADS for name in measures]


def compare_peers(bench, plan):
    """The same load on the servers of others. One that is not on this machine leaves its rows, with the reason."""
    taut = Taut("adaptive")
    reasons = {peer: peer.missing(bench) for peer in PEERS}
    peers = [peer for peer in PEERS if not reasons[peer]]
    rows = [Row.unmeasured(metric, reasons[peer]) for peer in PEERS if reasons[peer] for metric in peer_metrics(peer)]
    for load, measures in PEER_LOADS:
        seconds = plan.rate_seconds if "rate" in load else plan.flood_seconds
        runs = bench.interleave([taut, *peers], plan.blocks, load | {"seconds": seconds, "warmup": plan.warmup})
        for peer in peers:
            for name, measure in measures.items():
                metric = f"{name}_over_{peer}"
                rows += ratio_rows(metric, runs, taut, peer, measure, PEER_TARGETS.get(metric), plan.pairs_min)
    return rows


# Other ways to reach the same server, each compared with WebSocket and JSON over plain TCP.
CARRIERS = {name: Taut("adaptive", carrier=name) for name in ("tls", "compact")}


def compare_carriers(bench, plan):
    """What a carrier costs: latency, in which the client's own part is, too, and CPU of the server."""
    plain = Taut("adaptive")
    load = {"rate": 5_000, "seconds": plan.rate_seconds, "warmup": plan.warmup}
    runs = bench.interleave([plain, *CARRIERS.values()], plan.blocks, load)
    rows = []
    for name, arm in CARRIERS.items():
        rows += ratio_rows(f"p50_{name}_over_plain", runs, arm, plain, p50, None, plan.pairs_min)
        rows += ratio_rows(f"cpu_{name}_over_plain", runs, arm, plain, cpu, None, plan.pairs_min)
    return rows


# Who misbehaves (`taut load chat --disturb`): the row, the percentile of the well-behaved that it is about, its target.
DISTURBED = {
    "stalled": ("p999_under_stalled_reader", p999, "<= 1.5"),
    "storm": ("p999_under_reconnect_storm", p999, "<= 1.5"),
    "flood": ("p999_under_flood", p999, "<= 1.5"),
    "flaps": ("p999_under_presence_flaps", p999, "<= 1.5"),
    "scrapes": ("p99_under_scrapes", p99, "high <= 1.1"),  # unchanged: not even the interval's upper end is above
}


def compare_disturbed(bench, plan):
    """The same well-behaved pairs with and without somebody who misbehaves, on a server with the rates of its defaults."""
    quiet = Taut("adaptive", rates=True)
    arms = {kind: Taut("adaptive", rates=True, client=(("disturb", kind),)) for kind in DISTURBED}
    load = {"rate": 5_000, "arrivals": "poisson", "seconds": plan.disturbed_seconds, "warmup": plan.warmup}
    runs = bench.interleave([quiet, *arms.values()], plan.blocks, load)
    rows = []
    for kind, (metric, measure, target) in DISTURBED.items():
        rows += ratio_rows(metric, runs, arms[kind], quiet, measure, target, plan.pairs_min)
    return rows


def compare_visits(bench, plan):
    """Visitors who connect, say hello and one message, and go, against visitors who stay."""
    visit, kept = (Taut("adaptive", client=(("keep", keep),)) for keep in ("false", "true"))
    load = {"program": "visits", "seconds": plan.flood_seconds, "warmup": plan.warmup}
    runs = bench.interleave([visit, kept], plan.blocks, load)
    rows = [value_row("visits_per_s", runs[visit], throughput, "1/s", None), value_row("visit_p99", runs[visit], p99, "us", None),
            value_row("kept_p99", runs[kept], p99, "us", None), value_row("visit_cpu", runs[visit], cpu, "us", None)]
    return rows + ratio_rows("kept_over_visits", runs, kept, visit, throughput, None, plan.pairs_min)


def fan_out(bench, plan):
    """One message to a visitor with a thousand connections, one at a time; latency is that of the last of them."""
    taut = Taut("adaptive")
    load = {"program": "fanout", "receivers": plan.receivers, "seconds": plan.flood_seconds, "warmup": plan.warmup}
    runs = bench.interleave([taut], plan.blocks, load)[taut]
    return [value_row("fanout_per_s", runs, throughput, "deliveries/s", None), value_row("fanout_last_p99", runs, p99, "us", None),
            value_row("fanout_cpu", runs, cpu, "us/delivery", None)]


def serve_a_crowd(bench, plan):
    """5,000 connections with 100,000 messages a minute between them, evenly at random and in bursts."""
    arms = {"crowd": Taut("adaptive", client=(("arrivals", "poisson"),)), "burst": Taut("adaptive", client=(("arrivals", "bursts"),))}
    load = {"pairs": plan.crowd_pairs, "rate": 1_667, "seconds": plan.crowd_seconds, "warmup": plan.warmup}
    runs = bench.interleave(list(arms.values()), max(1, plan.blocks // 2), load)
    return [value_row(f"{name}_{part}", runs[arm], measure, "us", target) for name, arm in arms.items()
            for part, measure, target in (("p99", p99, "<= 15000"), ("p999", p999, "<= 28000"))]


def compare_at_1k(bench, plan):
    """What spinning costs when there is little to do."""
    adaptive, park = Taut("adaptive"), Taut("park")
    load = {"rate": 1_000, "seconds": plan.rate_seconds, "warmup": plan.warmup}
    runs = bench.interleave([adaptive, park], plan.blocks, load)
    return ratio_rows("cpu_1k_over_park", runs, adaptive, park, cpu, "<= 2", plan.pairs_min)


def count_allocations(bench, plan):
    """Heap allocations while both directions run on 4 shards, after every table of a conversation has grown to its limit."""
    with bench.serve(Taut("adaptive", shards=4, pinned=False)) as server:
        counted = bench.allocations_under_load(server, plan.allocation_messages)
    return [Row("allocs_per_msg", counted["allocations"] / counted["messages"], None, None, "allocations/msg", "<= 0",
                note=f"{counted['allocations']} in {counted['messages']} messages")]


def weigh_idle_visitors(bench, plan):
    """Growth of the server's own count of bytes, and of its resident set, from a few idle visitors to many."""
    with bench.serve(Taut("adaptive")) as server:
        with bench.crowd(server, plan.idle_base):
            before = server.bytes_in_use()
            with bench.crowd(server, plan.idle_more):
                after = server.bytes_in_use()
    per_visitor = {kind: (after[kind] - before[kind]) / plan.idle_more for kind in before}
    return [Row("bytes_per_idle", per_visitor["used"], None, None, "bytes", "<= 1024"),
            Row("rss_per_idle", per_visitor["resident"], None, None, "bytes", None)]


def watch_it_rest(bench, plan):
    """CPU and wakes of a server whose visitors have stopped talking a second ago."""
    with bench.serve(Taut("adaptive")) as server, bench.crowd(server, 10):
        bench.load(server, {"rate": 20_000, "seconds": 1, "warmup": 0})
        rest = server.at_rest(after_seconds=1, seconds=plan.idle_seconds)
    return [Row("idle_cpu", 100 * rest["cpu_share"], None, None, "% of a core", "<= 1"),
            Row("idle_wakes", rest["switches_per_s"], None, None, "1/s", "<= 20")]


# Each part and the rows that it owes, so that a part that fails leaves its rows in the report.
PARTS = {
    compare_at_20k: ["p50_adaptive_over_spin", "p999_over_relay", "vcs_per_msg", "p50_park_over_epoll"],
    compare_flooded: ["sat16_over_ackrelay", "one_over_ackrelay"],
    compare_peers: [metric for peer in PEERS for metric in peer_metrics(peer)],
    compare_carriers: [f"{measure}_{name}_over_plain" for name in CARRIERS for measure in ("p50", "cpu")],
    compare_disturbed: [metric for metric, _, _ in DISTURBED.values()],
    compare_visits: ["visits_per_s", "visit_p99", "kept_p99", "visit_cpu", "kept_over_visits"],
    fan_out: ["fanout_per_s", "fanout_last_p99", "fanout_cpu"],
    serve_a_crowd: ["crowd_p99", "crowd_p999", "burst_p99", "burst_p999"],
    compare_at_1k: ["cpu_1k_over_park"],
    count_allocations: ["allocs_per_msg"],
    weigh_idle_visitors: ["bytes_per_idle", "rss_per_idle"],
    watch_it_rest: ["idle_cpu", "idle_wakes"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="where the rows go")
    parser.add_argument("--small", action="store_true", help="only see that every row can be measured, in under 120 s")
    parser.add_argument("--part", action="append", choices=[p.__name__ for p in PARTS], help="only this part; may repeat")
    parser.add_argument("--taut", default=ROOT / "build/release/taut", type=Path, help="the program to measure")
    parser.add_argument("--markdown", metavar="FILE", help="measure nothing: FILE's rows into docs/benchmarks.md, its peers into README.md")
    options = parser.parse_args()
    if options.markdown:
        report = json.loads(Path(options.markdown).read_text())
        markdown_into(ROOT / "docs/benchmarks.md", "rows", markdown(report))
        markdown_into(ROOT / "README.md", "peers", peers_markdown(report, [str(peer) for peer in PEERS]))
        return 0

    plan = Plan(options.small)
    rows, failures = [], []
    with Bench(options.taut, plan.attempts) as bench:
        for part, metrics in PARTS.items():
            if options.part and part.__name__ not in options.part:
                continue
            try:
                rows += part(bench, plan)
            except Exception as error:  # the other parts are still worth measuring
                failures.append(f"{part.__name__}: {error}")
                rows += [Row.unmeasured(metric, str(error)) for metric in metrics]
        report = bench.about() | {"small": options.small, "settings": vars(plan), "rows": [row.as_dict() for row in rows]}
    print(table(rows))
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    for failure in failures:
        print(f"bench_chat: not measured: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
