#!/usr/bin/env python3
"""Claims about the peers of a chat bench, without any of them."""

import unittest
from unittest import mock

import bench_chat
from chat_peers import Peer, program


class FakeBench:
    """Every arm does the same, each run of it a little differently."""

    def interleave(self, arms, blocks, _load):
        self.arms = [str(arm) for arm in arms]
        run = {"void": False, "latency_us": {"p50": 10}, "lag_us": {"p50": 0}, "server": {"cpu_us_per_msg": 2}, "throughput_per_s": 5}
        return {arm: [run] * (2 * blocks) for arm in arms}


class ChatPeers(unittest.TestCase):
    def test_a_peer_that_is_not_installed_says_what_to_install(self):
        peer = Peer("x", "x", lambda _bench, _port: [program("no-such-server")])
        self.assertEqual(peer.missing(None), "no-such-server is not installed: apt-get install no-such-server")
        self.assertIsNone(Peer("sh", "x", lambda _bench, _port: [program("sh")]).missing(None))

    def test_a_missing_peer_leaves_its_rows_and_the_others_are_measured(self):
        here = Peer("here", "x", lambda _bench, _port: [program("sh")])
        gone = Peer("gone", "x", lambda _bench, _port: [program("no-such-server")])
        bench = FakeBench()
        with mock.patch.object(bench_chat, "PEERS", [here, gone]):
            rows = {row.metric: row for row in bench_chat.compare_peers(bench, bench_chat.Plan(small=True))}
        self.assertEqual(bench.arms, ["taut adaptive", "here"])
        self.assertEqual(rows["p50_over_here"].value, 1)
        self.assertEqual({metric for metric in rows if not metric.startswith("aa_")},
                         set(bench_chat.peer_metrics(here) + bench_chat.peer_metrics(gone)))
        for metric in bench_chat.peer_metrics(gone):
            self.assertTrue(rows[metric].void)
            self.assertIn("no-such-server", rows[metric].note)


if __name__ == "__main__":
    unittest.main()
