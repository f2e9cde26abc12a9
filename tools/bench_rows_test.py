#!/usr/bin/env python3
"""Claims about the rows of a bench, on runs made by hand."""

import tempfile
import unittest
from pathlib import Path

from bench_rows import Percentile, Row, interval, is_void, markdown, markdown_into, peers_markdown, ratio_rows, table, value_row


def runs(*values, void=()):
    """Runs of which those in `void` have lost messages."""
    times = {"lag_us": {"p50": 0, "p99": 0}, "latency_us": {"p50": 1, "p99": 1}}
    return [{"x": value, "void": i in void, "void_reason": "missing: 9" if i in void else ""} | times for i, value in enumerate(values)]


def ratio(a, b, target="<= 1.3", pairs_min=3):
    return ratio_rows("a_over_b", {"a": a, "b": b}, "a", "b", lambda run: run["x"], target, pairs_min)


class BenchRows(unittest.TestCase):
    def test_the_value_is_the_median_of_the_pair_ratios_not_the_ratio_of_medians(self):
        _, row = ratio(runs(10, 40, 10, 40), runs(10, 40, 20, 20), pairs_min=1)
        self.assertEqual(row.value, 1.0)

    def test_a_quiet_machine_gives_a_verdict(self):
        same, row = ratio(runs(12, 12.1, 12, 11.9), runs(10, 10, 10.1, 10))
        self.assertFalse(same.void or row.void)
        self.assertTrue(row.ok)
        self.assertFalse(ratio(runs(14, 14, 14, 14), runs(10, 10, 10, 10))[1].ok)
        self.assertTrue(ratio(runs(14, 14, 14, 14), runs(10, 10, 10, 10), ">= 1.3")[1].ok)

    def test_a_target_may_be_about_the_upper_end_of_the_interval(self):
        self.assertTrue(Row("x", 1.0, 0.9, 1.09, "ratio", "high <= 1.1").ok)
        self.assertFalse(Row("x", 1.0, 0.9, 1.11, "ratio", "high <= 1.1").ok)

    def test_an_arm_that_differs_from_itself_voids_the_row(self):
        same, row = ratio(runs(10, 20, 10, 20), runs(10, 20, 10, 20))
        self.assertTrue(same.void and row.void)
        self.assertIsNone(row.ok)

    def test_void_runs_are_left_out(self):
        _, row = ratio(runs(10, 10, 10, 10, 90, 10, void=[4]), runs(10, 10, 10, 10, 10, 10))
        self.assertEqual(row.high, 1.0)
        self.assertFalse(row.void)

    def test_too_few_usable_pairs_void_the_row_and_keep_its_number(self):
        _, row = ratio(runs(10, 10, 10, 10, void=range(4)), runs(10, 10, 10, 10))
        self.assertTrue(row.void)
        self.assertEqual(row.value, 1.0)
        self.assertIn("void: 4 of 4 pairs, missing", row.note)

    def test_a_late_client_voids_a_run_for_the_percentiles_at_which_it_was_late(self):
        late_at_p99 = {"void": True, "void_reason": "the client was late itself: 9 us", "lag_us": {"p50": 1, "p99": 21},
                       "latency_us": {"p50": 10, "p99": 100}}
        self.assertTrue(is_void(late_at_p99, Percentile("p99")))
        self.assertFalse(is_void(late_at_p99, Percentile("p50")))
        self.assertFalse(is_void(late_at_p99))
        late_at_p50 = late_at_p99 | {"void": False, "void_reason": "", "lag_us": {"p50": 3, "p99": 0}}
        self.assertTrue(is_void(late_at_p50))
        self.assertIn("late", value_row("x", [late_at_p50], Percentile("p50"), "us", None).note)

    def test_one_usable_pair_leaves_the_row_void_and_not_unmeasured(self):
        same, row = ratio(runs(10, 10, 10, 10, void=[2, 3]), runs(10, 10, 10, 10, void=[1, 2, 3]), pairs_min=1)
        self.assertTrue(same.void and row.void)
        self.assertEqual(row.value, 1.0)

    def test_a_value_whose_runs_are_all_void_is_void(self):
        self.assertTrue(value_row("x", runs(1, 2, void=[0, 1]), lambda run: run["x"], "", "<= 5").void)
        row = value_row("x", runs(1, 9, void=[1]), lambda run: run["x"], "", "<= 5")
        self.assertTrue(row.ok)

    def test_the_interval_holds_the_median_and_repeats(self):
        values = [1.0, 1.1, 0.9, 1.2, 1.05, 0.95, 1.0, 1.3, 0.8, 1.0, 1.1]
        low, high = interval(values)
        self.assertTrue(0.8 <= low <= 1.0 <= high <= 1.3)
        self.assertEqual((low, high), interval(values))

    def test_an_unmeasured_row_is_shown_without_a_number(self):
        row = Row.unmeasured("x", "no such program")
        self.assertIsNone(row.ok)
        self.assertIn("no such program", table([row]))

    def test_markdown_has_a_line_for_each_row(self):
        about = {"version": "1", "commit": "c", "date": "d", "cpu": "p", "cores": 2, "kernel": "k", "steal": 0.01}
        page = markdown(about | {"rows": [row.as_dict() for row in ratio(runs(1, 1, 1, 1), runs(1, 1, 1, 1))]})
        self.assertIn("| a_over_b | 1 | 1 … 1 | ratio | <= 1.3 | met |", page)

    def test_the_table_of_peers_has_numbers_only_where_a_row_may_be_used(self):
        rows = [Row("p50_over_x", 0.5, 0.45, 0.55, "ratio", None), Row("one_over_x", 2.0, 1.9, 2.1, "ratio", None, void=True),
                Row.unmeasured("sat16_over_x", "no such program")]
        page = peers_markdown({"rows": [row.as_dict() for row in rows]}, ["x", "y"])
        self.assertIn("| x | 0.5 × (0.45 … 0.55) | not measured | not measured | void |", page)
        self.assertIn("| y | not measured |", page)

    def test_a_table_takes_the_place_of_the_one_before_and_of_nothing_else(self):
        with tempfile.NamedTemporaryFile("w+", suffix=".md") as file:
            page = Path(file.name)
            marks = "<!-- x: tools/bench_chat.py --markdown -->\n{}<!-- end of x -->\n"
            page.write_text("before\n" + marks.format("old\n") + "after\n")
            markdown_into(page, "x", "new\n")
            self.assertEqual(page.read_text(), "before\n" + marks.format("new\n") + "after\n")


if __name__ == "__main__":
    unittest.main()
