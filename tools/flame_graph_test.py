#!/usr/bin/env python3
"""Stacks become boxes of the right width, and profilers' output becomes stacks."""

import unittest
import xml.dom.minidom

import flame_graph
import profile_server

PERF = """taut 1 10.1:    1003009 cpu-clock:
\tffffffff8225a6c6 do_syscall_64+0x76 ([kernel.kallsyms])
\t           cf503 read+0x23 (/usr/lib/x86_64-linux-gnu/libc.so.6)
\t           2724a taut::Shard::turn(taut::ShardProgram&)+0x7a (/x/taut)

taut 1 10.2:    1003009 cpu-clock:
\t           2724a taut::Shard::turn(taut::ShardProgram&)+0x7a (/x/taut)

"""


class FlameGraphTest(unittest.TestCase):
    def test_weights_of_callees_add_up_in_their_callers(self):
        root = flame_graph.read(["a;b 3", "a;c 1", "a 2", "no weight", ""])
        self.assertEqual((root.weight, root.children["a"].weight, root.children["a"].children["b"].weight), (6, 6, 3))

    def test_boxes_stand_side_by_side_within_their_caller(self):
        root = flame_graph.read(["a;b 3", "a;c 1"])
        boxes = {frame.name: (x, width, depth) for frame, x, width, depth in flame_graph.boxes(root, 0.0, 0, root.weight)}
        self.assertEqual(boxes, {"all": (0, 1, 0), "a": (0, 1, 1), "b": (0, 0.75, 2), "c": (0.75, 0.25, 2)})

    def test_the_drawing_is_well_formed_whatever_the_names(self):
        drawing = flame_graph.draw(flame_graph.read(['std::map<int, "x">&;operator<< 1']), "a < b", "samples")
        xml.dom.minidom.parseString(drawing)

    def test_nothing_is_still_a_drawing(self):
        xml.dom.minidom.parseString(flame_graph.draw(flame_graph.read([]), "empty", "samples"))


class ProfilerOutputTest(unittest.TestCase):
    def test_perf_samples_become_stacks_from_the_outside_in(self):
        self.assertEqual(dict(profile_server.collapse_perf(PERF)),
                         {"taut::Shard::turn(taut::ShardProgram&);read;do_syscall_64_[k]": 1, "taut::Shard::turn(taut::ShardProgram&)": 1})

    def test_bpftrace_stacks_hold_names_and_addresses(self):
        self.assertEqual(profile_server.frames_of("\n    main+19\n    0x7f01\n"), ["main", 0x7F01])


if __name__ == "__main__":
    unittest.main()
