#!/usr/bin/env python3
"""Tests of table.py and rows.py with made-up results: python3 bench/fidelity/table_test.py"""
import unittest

import rows as row_sets
import table


def row(key, us, **more):
    base = {"key": key, "set": "measured", "class": "GEMM", "implementation": "xla", "chip": "v6e", "measured_us": us, "timing": "device",
            "source": "a.csv:1", "group": None, "program": {"kind": "plain"}}
    return base | more


class Errors(unittest.TestCase):
    def test_quantiles_are_between_order_statistics(self):
        self.assertEqual(table.median([3, 1, 2]), 2)
        self.assertAlmostEqual(table.quantile([0, 10], 0.9), 9)

    def test_a_class_of_four_is_not_scored(self):
        rows = [row(f"r{i}", 100) for i in range(4)]
        results = {r["key"]: {"us": 110} for r in rows}
        summary = table.summarise(table.measured_errors(rows, results), lambda r: r["class"])
        self.assertFalse(summary[0]["scored"])
        self.assertAlmostEqual(summary[0]["median"], 0.1)

    def test_bias_keeps_its_sign_and_worst_too(self):
        rows = [row("a", 100), row("b", 100), row("c", 100)]
        results = {"a": {"us": 90}, "b": {"us": 70}, "c": {"us": 101}}
        summary = table.summarise(table.measured_errors(rows, results), lambda r: r["class"])[0]
        self.assertAlmostEqual(summary["bias"], -0.1)
        self.assertAlmostEqual(summary["worst"], -0.3)

    def test_a_row_without_result_is_left_out(self):
        self.assertEqual(table.measured_errors([row("a", 1)], {}), [])

    def test_host_rows_share_one_launch_constant_a_source(self):
        rows = [row(f"h{i}", 1000 + 100 * i, timing="host", size=4096) for i in range(3)]
        results = {f"h{i}": {"us": 900 + 100 * i} for i in range(3)}
        self.assertEqual(table.launch_us(rows, results), {"a.csv": 100})
        for _, error in table.measured_errors(rows, results):
            self.assertAlmostEqual(error, 0)

    def test_the_launch_constant_is_of_the_small_rows_where_there_are_three(self):
        rows = [row(f"s{i}", 120 + i, timing="host", size=1024) for i in range(3)] + [row("h", 1100, timing="host", size=4096)]
        results = {f"s{i}": {"us": 20} for i in range(3)} | {"h": {"us": 900}}
        self.assertEqual(table.launch_us(rows, results), {"a.csv": 101})
        self.assertAlmostEqual(table.measured_errors(rows, results)[-1][1], 1001 / 1100 - 1)

    def test_small_host_rows_are_listed_only(self):
        self.assertIsNone(table.scored_class(row("a", 1, timing="host", size=1024)))


class Pairs(unittest.TestCase):
    def test_what_both_are_wrong_by_alike_cancels(self):
        rows = [row(f"r{i}", 100 * (i + 1)) for i in range(5)]
        errors = table.measured_errors(rows, {r["key"]: {"us": 0.5 * r["measured_us"]} for r in rows})
        found = table.paired(errors, lambda r: r["class"])["GEMM"]
        self.assertEqual(found["paired"]["pairs"], 6)  # 100 to 500 us: four neighbours, 200 and 400, 300 and 500
        self.assertAlmostEqual(found["paired"]["p90"], 0)
        self.assertEqual(found["paired_between_kernels"], {"pairs": 0, "p90": 0.0})

    def test_two_kernels_stand_apart(self):
        rows = [row("a", 100), row("b", 100), row("c", 100, implementation="pallas")]
        found = table.paired(table.measured_errors(rows, {"a": {"us": 100}, "b": {"us": 110}, "c": {"us": 50}}), lambda r: r["class"])["GEMM"]
        self.assertEqual((found["paired"]["pairs"], found["paired_between_kernels"]["pairs"]), (1, 2))
        self.assertAlmostEqual(found["paired"]["p90"], 0.1)
        self.assertAlmostEqual(found["paired_between_kernels"]["p90"], 1.0 + 0.9 * 0.2)  # of 1.0 and 1.2


class Ranks(unittest.TestCase):
    def test_sign(self):
        rows = [row("a", 100, group="g"), row("b", 120, group="g"), row("c", 105, group="g")]
        right, pairs, wrong = table.rank_pairs(rows, {"a": {"us": 10}, "b": {"us": 9}, "c": {"us": 8}})
        self.assertEqual((right, pairs), (1, 2))  # b over c holds, b over a does not, a and c differ by 5 %
        self.assertEqual(wrong[0][:2], ("b", "a"))

    def test_other_chips_do_not_pair(self):
        rows = [row("a", 100, group="g"), row("b", 200, group="g", chip="v5e")]
        self.assertEqual(table.rank_pairs(rows, {"a": {"us": 1}, "b": {"us": 2}})[1], 0)


class Tuned(unittest.TestCase):
    def test_place_of_the_published_choice(self):
        rows = [row(f"t{i}", None, set="tuned", group="7", published=i == 0) for i in range(4)]
        ranks = table.tuned_ranks(rows, {f"t{i}": {"us": us} for i, us in enumerate([12, 10, 20, 30])})
        self.assertEqual(len(ranks), 1)
        self.assertAlmostEqual(ranks[0][1], 1 / 3)
        self.assertAlmostEqual(ranks[0][2], 1.2)
        self.assertAlmostEqual(ranks[0][3], 2.0)

    def test_a_key_whose_published_choice_failed_says_nothing(self):
        rows = [row("t0", None, set="tuned", group="7", published=True), row("t1", None, set="tuned", group="7", published=False)]
        self.assertEqual(table.tuned_ranks(rows, {"t1": {"us": 1}}), [])

    def test_rows_are_legal_and_seeded(self):
        rows = row_sets.tuned_rows(5, 3)
        self.assertEqual([r["key"] for r in rows], [r["key"] for r in row_sets.tuned_rows(5, 3)])
        self.assertEqual(sum(r["published"] for r in rows), 5)
        for r in rows:
            for size, block in zip((r["program"]["batch"], r["program"]["out"], r["program"]["width"]), r["program"]["blocks"]):
                self.assertEqual(size % block, 0)


class Profile(unittest.TestCase):
    def test_a_window_beyond_its_array_is_excluded_and_named(self):
        rows = [{"key": "a", "set": "compiler", "chip": "v6e", "class": "transpose"}]
        results = {"a": {"ops": {"copy": 14083.0, "other": 700.0}, "profile": {
            "copy": {"estimate": 15525, "critical_path": 15525, "padded_windows": True}, "other": {"estimate": 700, "padded_windows": False}}}}
        pairs, excluded = table.profile_pairs(rows, results)
        self.assertEqual([p[2] for p in pairs], ["other"])
        self.assertIn("15525 prices it whole, ours is 14083", excluded[0][3])
        self.assertIn("| v6e | transpose | copy |", "\n".join(table.profile_report(rows, results)))

    def test_an_added_latency_is_excluded_and_named(self):
        rows = [row("p", None, set="compiler", **{"class": "softmax"})]
        results = {"p": {"ops": {"fusion": 1010, "reduce": 1135, "tiny": 5}, "profile": {
            "fusion": {"estimate": 1000, "critical_path": 1000}, "reduce": {"estimate": 1681, "critical_path": 1135}, "tiny": {"estimate": 50},
            "gone": {"estimate": 900}}}}
        pairs, excluded = table.profile_pairs(rows, results)
        self.assertEqual([p[2] for p in pairs], ["fusion"])
        self.assertAlmostEqual(pairs[0][5], 0.01)
        self.assertEqual({e[2] for e in excluded}, {"reduce", "tiny", "gone"})

    def test_the_report_prints_all_parts(self):
        rows = [row("a", 100, group="g"), row("b", 120, group="g"), row("p", None, set="compiler")]
        results = {"a": {"us": 101}, "b": {"us": 130}, "p": {"ops": {"f": 999}, "profile": {"f": {"estimate": 1000}}}}
        text = table.report(rows + [row("x", 1)], results, {"x": ("lower", "no such op")})
        for part in ("Measured time", "Ranks", "static profile", "no such op", "1 of 1 pairs"):
            self.assertIn(part, text)


class Sample(unittest.TestCase):
    def test_the_rule_is_stable_and_spreads_over_times(self):
        rows = [row(f"r{i:02}", i + 1.0, program={"kind": "plain"}) for i in range(40)]
        first = row_sets.sample(rows, 4)
        self.assertEqual([r["key"] for r in first], [r["key"] for r in row_sets.sample(list(reversed(rows)), 4)])
        self.assertEqual(sorted(int(r["key"][1:]) // 10 for r in first), [0, 1, 2, 3])

    def test_a_larger_sample_of_a_small_stratum_is_all_of_it(self):
        rows = [row(f"r{i}", i + 1.0) for i in range(3)]
        self.assertEqual(len(row_sets.sample(rows, 10)), 3)

    def test_groups_come_along(self):
        rows = [row(f"r{i}", i + 1.0, implementation=f"i{i}", group="g", program={"kind": "tokamax"}) for i in range(2)]
        rows += [row("far", 9.0, implementation="i0", program={"kind": "tokamax"})]
        self.assertTrue({"r0", "r1"} <= {r["key"] for r in row_sets.sample(rows, 2)})

    def test_real_rows(self):
        measured = row_sets.measured_rows()
        self.assertGreater(len(measured), 700)
        self.assertEqual(len({r["key"] for r in measured}), len(measured))
        self.assertEqual(len({r["folder"] for r in measured}), len(measured))
        self.assertEqual({r["chip"] for r in measured}, {"v6e", "v5e"})
        self.assertGreaterEqual(len(row_sets.compiler_rows()), 60)


if __name__ == "__main__":
    unittest.main()
