"""Proves: the formulas reproduce what the seeds measured, and each does what its own words say. Neither files of a run nor
clocks are needed."""

import math
import re
import sys
import unittest
from dataclasses import replace
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from run.predict import fit, machine, model, seeds, told, units  # noqa: E402
from run.predict.model import Case, Medium, Operations, Settings, Shared  # noqa: E402

POINTS = 0.05  # by which a row may miss the seed beyond the study's own error
# What the study's own fit says of each row that it was fitted to, in the order of seeds.toml (report, A2 and A3).
STUDY = {
    "shared file system (000, 001, 003)": (7.67, 7.84, 13.32, 7.67, 7.88, 66.62, 29.76, 208.47, 92.58, 10844, 72292),
    "fsdax (000)": (7.700, 7.856, 9.411, 7.700, 7.856, 9.411, 2.230),
    "n3d, files on NVM (003)": (8500, 9200),
    "n3d, NVM as memory (003)": (8643, 8643),
    "Code_Saturne, one writer, GPFS (002)": (1276, 1303, 1330, 1357),
    "Code_Saturne, MPI-IO, GPFS (002)": (90.0, 78.9, 69.2, 60.6),
    "Code_Saturne, one writer, HECToR (002)": (901, 901, 901, 901),
    "Code_Saturne, MPI-IO, HECToR (002)": (701, 701, 701, 701),
    "Code_Saturne, sizes of files (002)": (1.692, 3.302, 11.59, 13.56, 26.48, 92.9),
    "solver, 13 billion cells (002)": (70.2, 50.2, 43.5),
    "solver, 105 billion cells (002)": (680.6, 340.3),
}
LARGE = Case(960, 20, 1.47, 7.5e9 / 960, 8, 3, purge=1)  # seed 000, 20 nodes, every step
LINES = seeds.table()
TMPFS = Medium(1, 24e9, ((1, 1.6e9), (2, 1.8e9)), in_memory=True)
SLOW = Shared(1e9, 20e6)


def nextgenio():
    loaded = machine.load(["nextgenio"])
    return loaded.shared(), loaded.medium()


class SeedsTest(unittest.TestCase):
    def test_every_number_that_the_study_fits_is_met_within_its_error_and_five_points(self):
        for group, study in STUDY.items():
            lines = [line for line in LINES if line.group == group and line.seed is not None]
            for line, its in zip(lines, study, strict=True):
                with self.subTest(group=group, row=line.name):
                    self.assertLessEqual(abs(line.error), abs(its / line.seed - 1) + POINTS)
        self.assertEqual({line.group for line in LINES}, set(STUDY))

    def test_the_numbers_are_those_of_the_documents(self):
        seen = {line.name: line.seed for line in LINES}
        for name, value in {"Lustre, 5 x 4 nodes, every step": 58.97, "fsdax, 20 nodes, every step": 2.23,
                            "the case to fsdax0 of 20 nodes": 208.461, "n3d large, Lustre, 30 TB": 80000}.items():  # fmt: skip
            self.assertEqual(seen[name], value)

    def test_rows_that_are_not_fitted_say_so(self):
        text = told.seeds_text()
        for line in LINES:
            self.assertEqual(line.seed is None, line.error is None)
            [printed] = [each for each in text.splitlines() if each.startswith(f"{line.group}: {line.name} ")]
            self.assertEqual(line.seed is None, "not fitted" in printed)
        self.assertIn("Lustre, 16 nodes", text)
        self.assertIn("001's small case", text)

    def test_each_row_is_predicted_by_a_fit_that_did_not_see_it(self):
        alone = {line.name: line.left_out for line in LINES if line.group.startswith("shared")}
        for name, left_out in {"Lustre, 4 nodes, every step": -0.217, "Lustre, 5 x 4 nodes, every step": 0.277,
                               "n3d medium, Lustre, 4.5 TB": 0.224, "n3d large, Lustre, 30 TB": -0.183}.items():  # fmt: skip
            self.assertAlmostEqual(alone[name], left_out, delta=POINTS)
        self.assertIsNone(alone["the case to fsdax0 of 20 nodes"], "the parameter of staging is its own")
        self.assertIsNone(alone["Lustre, 20 nodes, every step"], "the only one that so many processes slow down")
        self.assertEqual(sum(line.left_out is None for line in LINES if line.seed is not None), 2)
        self.assertEqual(told.seeds_text().count("says nothing"), 2)

    def test_what_was_believed_before_answers_where_nothing_was_seen(self):
        """A product of two, and one of them by itself: the other is known by both, and by neither if the product goes."""
        seen, answer = {"product": 12.0, "first": 3.0}, (lambda p: p[1])
        says = {"product": lambda p: p[0] * p[1], "first": lambda p: p[0]}
        for names, part in ((("product", "first"), 0.0), (("first",), 1.0), (("product",), 0.5)):
            errors = lambda p, names=names: [math.log(says[name](p) / seen[name]) for name in names]  # noqa: E731
            self.assertAlmostEqual(fit.part_of_prior(errors, answer, fit.fit(errors, [2.0, 5.0])), part, delta=0.01)

    def test_contradictions_are_told(self):
        text = told.seeds_text()
        for each in ("0.265", "288,000", "metadata only", "13.3 %", "1.9"):
            self.assertIn(each, text[text.index("contradict themselves") :])

    def test_the_page_of_the_experiments_has_the_document_s_own_figure(self):
        """Where a document contradicts itself, both stand there."""
        page = (Path(__file__).resolve().parents[4] / "docs/seeds.md").read_text()
        [row] = [line for line in page.splitlines() if line.startswith("| 4 |")]
        self.assertIn("0.256 GB/s on Lustre (its 7.5 GB in 28.28 s are 0.265)", row)

    def test_the_preset_has_what_the_fit_gives(self):
        shared, medium = nextgenio()
        by_name = {group["name"]: seeds.fitted(group) for group in seeds.SEEDS["group"]}
        fitted = by_name["shared file system (000, 001, 003)"][:4] + by_name["fsdax (000)"][:2]
        has = (shared.operations_per_s, shared.clients_double, shared.write, shared.write_kept, medium.fixed, medium.write[0][1])  # fmt: skip
        for value, of_fit in zip(has, fitted, strict=True):
            self.assertAlmostEqual(value / of_fit, 1, delta=0.005)

    def test_the_headline_of_the_seed_follows_from_the_preset(self):
        outcome = model.predict(LARGE, *nextgenio(), Settings())
        for value, seen in ((outcome.direct, 29.77), (outcome.live, 2.23), (outcome.end, 2.23), (outcome.step, 1.47)):
            self.assertAlmostEqual(value / seen, 1, delta=POINTS)
        self.assertEqual(model.verdict(*model.days(LARGE, *nextgenio(), Settings()))[0], "pays")


class FormulasTest(unittest.TestCase):
    def test_a_rate_between_measured_numbers_of_processes(self):
        points = ((4, 12.0), (1, 4.0), (24, 8.0))
        for n, rate in ((0.5, 2.0), (1, 4.0), (2.5, 8.0), (4, 12.0), (14, 10.0), (24, 8.0), (100, 8.0)):
            self.assertAlmostEqual(model.curve(points, n), rate)

    def test_an_operation_takes_twice_as_long_with_as_many_processes_as_double_it(self):
        shared = Shared(1000, 1e9, clients_double=200)
        one = Operations(creates=1)
        for processes, seconds in ((0, 0.001), (200, 0.002), (400, 0.003)):
            self.assertAlmostEqual(shared.seconds(one, processes), seconds)
        self.assertAlmostEqual(replace(shared, share=0.5).seconds(one, 200), 0.004)

    def test_each_operation_has_its_price_and_a_create_s_stands_in(self):
        asked = Operations(creates=1, renames=10, unlinks=100, syncs=1000)
        self.assertAlmostEqual(Shared(10, 1e9).seconds(asked, 1), 111.1)
        priced = Shared(10, 1e9, renames_per_s=100, unlinks_per_s=1000, syncs_per_s=1e4)
        self.assertAlmostEqual(priced.seconds(asked, 1), 4 * 0.1)
        self.assertAlmostEqual(replace(priced, syncs_per_s=None).seconds(asked, 1), 3 * 0.1 + 100)
        self.assertAlmostEqual(priced.faster(2, 3).seconds(asked, 1), 2 * 0.1, msg="a good day is one of all of them")

    def test_data_go_as_fast_as_the_narrower_of_server_and_links(self):
        shared = Shared(1, 1e9, write_kept=2e9, client=4e8)
        for nodes, kept, seconds in ((1, False, 2.5), (2, False, 1.25), (10, False, 1.0), (10, True, 0.5)):
            self.assertAlmostEqual(shared.data(1e9, nodes, kept), seconds)

    def test_caches_take_a_burst_that_is_out_before_the_next(self):
        case = Case(10, 1, step=1.0, bytes=1e8, files=1, dirs=0)
        # (server in B/s, every, seconds per step): 1 GB behind a step of a second; metadata take 10 ms
        for write, every, seconds in ((2e9, 1, 1.01), (0.5e9, 1, 2.0), (0.5e9, 2, 1.005), (0.25e9, 2, 2.0)):
            per_step, metadata, _ = model.direct(replace(case, every=every), Shared(1000, write))
            self.assertAlmostEqual(per_step, seconds)
            self.assertAlmostEqual(metadata, 0.01)

    def test_purging_doubles_the_operations(self):
        self.assertEqual(LARGE.operations, Operations(creates=11 * 960, unlinks=11 * 960))
        self.assertEqual(replace(LARGE, purge=0).operations, Operations(creates=11 * 960))

    def test_jobs_meet_at_the_server_only_while_they_wait(self):
        case = Case(10, 1, step=1.0, bytes=1, files=10, dirs=0, every=100)
        alone = model.direct(case, Shared(1000, 1e9))[1]
        beside = model.direct(replace(case, jobs=5), Shared(1000, 1e9))[1]
        self.assertTrue(alone < beside < 1.01 * alone, (alone, beside))
        always = model.direct(replace(case, jobs=5, every=1, step=1e-9), Shared(1000, 1e9))[1]
        self.assertAlmostEqual(always, 5 * alone, delta=0.01 * alone)

    def test_a_collated_drain_makes_a_file_per_node(self):
        shared, settings = Shared(1000, 1e12), Settings()
        verbatim = model.drain(replace(LARGE, purge=0), shared, settings)[0]
        collated = model.drain(replace(LARGE, purge=0), shared, replace(settings, collated=True))[0]
        self.assertAlmostEqual(verbatim, (11 + 1 + 12) * 960 / 1000, msg="creates, a rename, and syncs of each rank")
        self.assertAlmostEqual(verbatim / collated, 48)

    def test_a_cap_on_the_drain_is_of_each_node(self):
        case = Case(2, 2, 1, 1e8, 1, 1)
        self.assertAlmostEqual(model.drain(case, Shared(1e9, 1e9), Settings(bandwidth=2e7))[1], 5.0)

    def test_the_lag_of_a_drain_that_keeps_up_grows_with_its_load(self):
        lags = [model.lag(rho, 0) for rho in (0.1, 0.5, 0.9, 0.99)]
        self.assertEqual(lags, sorted(lags))
        self.assertLess(lags[0], 1.3)

    def test_the_mark_leaves_room_for_two_written_steps(self):
        for per_step, high, low in ((1, 85, 60), (10, 8, 6), (20, 3, 2.4), (50, 0.6, 0.48)):
            found = model.marks(per_step, Settings(), 100)
            self.assertAlmostEqual(found[0], high)
            self.assertAlmostEqual(found[1], low)

    def test_a_program_is_held_when_the_pool_is_full(self):
        """What a release build was seen to do: held from step 10 and 14 on, 7.3 and 7.2 s behind the last step."""
        for case, cap, budget, held, per_step, tail in (
            (Case(2, 1, 0.5, 10e6, 1, 1, steps=40), 20e6, 200e6, 10, 1.0, 7.3),
            (Case(2, 1, 0.3, 5e6, 1, 1, steps=60), 15e6, 150e6, 14, 0.667, 7.2),
        ):
            outcome = model.predict(case, replace(SLOW, write=cap), TMPFS, Settings(bandwidth=cap, budget=budget))
            self.assertFalse(outcome.keeps_up)
            self.assertAlmostEqual(outcome.held_live, held, delta=4)
            self.assertAlmostEqual(outcome.drain, per_step, delta=0.01)
            self.assertAlmostEqual(outcome.tail_live / tail, 1, delta=0.25)
            free = outcome.held_live * outcome.period
            self.assertAlmostEqual(outcome.run_live, free + (case.steps - outcome.held_live) * per_step + outcome.tail_live, delta=0.1)  # fmt: skip

    def test_a_larger_pool_holds_the_program_later_or_never(self):
        case = Case(2, 1, 0.5, 10e6, 1, 1, steps=60)
        runs = [model.predict(case, SLOW, TMPFS, Settings(budget=budget)) for budget in (2e8, 4e8, 4e9)]
        self.assertLess(runs[0].held_live, runs[1].held_live)
        self.assertIsNone(runs[2].held_live)
        self.assertGreater(runs[2].tail_live, runs[0].tail_live)

    def test_times_that_are_purged_wait_for_the_safety_interval(self):
        case = Case(2, 1, 0.3, 5e6, 1, 1, steps=60, purge=1)
        outcome = model.predict(case, replace(SLOW, write=15e6), TMPFS, Settings())
        self.assertEqual((outcome.arrives, outcome.held_live, outcome.keeps_up), (60, None, True))
        self.assertAlmostEqual(outcome.tail_live, outcome.drain)
        often = model.predict(case, replace(SLOW, write=15e6), TMPFS, Settings(safe_interval=3))
        self.assertAlmostEqual(often.arrives, 3 / often.period)
        slower = model.predict(replace(case, step=4.0), replace(SLOW, write=1e6), TMPFS, Settings(safe_interval=1))
        self.assertAlmostEqual(slower.arrives, 10 / slower.period, msg="a drain of 10 s that never waits")
        several = model.predict(replace(case, purge=3), replace(SLOW, write=15e6), TMPFS, Settings())
        self.assertAlmostEqual(several.tail_live, 3 * several.drain, msg="all that is kept was held until the end")

    def test_all_that_is_kept_is_drained_at_the_end(self):
        case = Case(2, 1, 5.0, 10e6, 1, 1, steps=20)
        outcome = model.predict(case, SLOW, TMPFS, Settings(budget=1e9))
        self.assertTrue(outcome.keeps_up)
        self.assertAlmostEqual(outcome.tail_end, 20 * outcome.drain)
        self.assertAlmostEqual(outcome.pool_end, 20 * 20e6)
        purged = model.predict(replace(case, purge=3), SLOW, TMPFS, Settings(budget=1e9))
        self.assertAlmostEqual(purged.tail_end, 3 * purged.drain)
        small = model.predict(case, SLOW, TMPFS, Settings(budget=2e8))
        self.assertIsNone(small.held_end, "a drain that keeps up gives room at once")

    def test_a_bad_day_is_worse_in_everything_and_a_wider_spread_is_worse(self):
        bad, likely, good = model.days(LARGE, *nextgenio(), Settings())
        for key in ("direct", "live", "drain", "run_direct", "run_live", "run_end"):
            self.assertTrue(getattr(bad, key) >= getattr(likely, key) >= getattr(good, key), key)
        self.assertAlmostEqual(bad.metadata / likely.metadata, model.MODEL_FACTOR)
        self.assertGreater(model.days(LARGE, *nextgenio(), Settings(), 2.5)[0].direct, bad.direct)

    def test_verdicts(self):
        lumi = machine.load(["lumi-p"])
        parts = (lumi.shared(), lumi.medium())
        case = Case(2560, 20, 0.6, 7.5e9 / 2560, 9, 3, every=10, steps=2000)
        likely = model.predict(case, *parts, Settings())
        for value, minutes in ((likely.run_direct, 39.3), (likely.run_live, 42.0)):  # the first is the study's example
            self.assertAlmostEqual(value / 60 / minutes, 1, delta=0.02)
        self.assertEqual(model.verdict(*model.days(case, *parts, Settings(), 2.5))[0], "does not pay")
        self.assertEqual(model.best_change(case, *parts, Settings())[0], "--layout collated")
        collated = model.days(case, *parts, Settings(collated=True), 2.5)
        self.assertEqual(model.verdict(*collated)[0], "pays")
        self.assertAlmostEqual(collated[1].run_live / 60, 20.1, delta=0.2)

    def test_it_pays_where_only_creates_are_slow(self):
        """A run of 4 ranks on the slow directory, where a create takes 10 ms, that was 1.2 times faster with forebay."""
        slow = machine.load(["slow-shared"])
        case = Case(4, 1, 0.31, 640e3, 9, 3, steps=30)
        for settings in (Settings(), Settings(collated=True)):
            days = model.days(case, slow.shared(), slow.medium(), settings, slow.spread, slow.local_spread)
            word, ratio, _ = model.verdict(*days)
            self.assertEqual(word, "pays", (settings, ratio))
        dear = replace(slow.shared(), renames_per_s=None, syncs_per_s=None)
        self.assertGreater(
            model.drain(case, dear, Settings())[0], 1.8 * model.drain(case, slow.shared(), Settings())[0]
        )
        with_purge = replace(case, purge=2)
        self.assertLess(model.direct(with_purge, slow.shared())[1], 1.3 * model.direct(case, slow.shared())[1])

    def test_what_does_not_fit_does_not_pay(self):
        case = replace(LARGE, step=1.0, purge=3)
        shared, medium = nextgenio()
        for budget, fits in ((4 * 375e6, True), (3.9 * 375e6, False)):
            days = model.days(case, shared, medium, Settings(budget=budget))
            self.assertEqual((days[1].fits, model.verdict(*days)[0] == "pays"), (fits, fits))

    def test_a_drain_that_just_keeps_up_is_no_division_by_nothing(self):
        case = Case(1, 1, 1.0, 1e6, 0, 0, steps=50)
        outcome = model.predict(case, SLOW, Medium(1, 1e9, ((1, 1e30),)), Settings(bandwidth=1e6))
        self.assertAlmostEqual(outcome.drain / outcome.period, 1)
        self.assertIsNone(outcome.held_live)

    def test_no_change_is_advised_where_none_helps(self):
        case = Case(2, 1, 100.0, 1e3, 1, 1)
        self.assertIsNone(model.best_change(case, SLOW, TMPFS, Settings()))


class FitTest(unittest.TestCase):
    def test_a_line_in_logarithms_is_found(self):
        seen = {1: 3.0, 2: 12.0, 4: 48.0}
        found = fit.fit(lambda p: [math.log(p[0] * x ** p[1] / y) for x, y in seen.items()], [1.0, 1.0], prior=1e-6)
        self.assertAlmostEqual(found[0], 3, places=4)
        self.assertAlmostEqual(found[1], 2, places=4)

    def test_what_nothing_tells_of_stays_as_believed(self):
        found = fit.fit(lambda p: [math.log(p[0] / 5)], [1.0, 7.0])
        self.assertAlmostEqual(found[0], 5, delta=0.05)
        self.assertAlmostEqual(found[1], 7)

    def test_runs_correct_what_made_them_slow_and_leave_the_rest(self):
        few_large = fit.Run(Case(4, 1, 1, 1e9, 1, 0), drain=20.0)
        many_small = fit.Run(Case(4, 1, 1, 1e3, 1000, 0), drain=30.0)
        found = fit.calibrated(Shared(4000, 1e9), [few_large], Settings())
        self.assertAlmostEqual(found.write / 2e8, 1, delta=0.05)
        self.assertAlmostEqual(found.operations_per_s, 4000, delta=40)
        found = fit.calibrated(Shared(4000, 1e9), [few_large, many_small], Settings())
        self.assertAlmostEqual(found.write / 2e8, 1, delta=0.05)
        operations = (4 * 1000 + 4 + 4 * 1000 + 4) / 30  # creates, renames and syncs
        self.assertAlmostEqual(found.operations_per_s / operations, 1, delta=0.05)
        both_too_slow = fit.calibrated(Shared(40, 1e7), [few_large, many_small], Settings())
        self.assertAlmostEqual(both_too_slow.operations_per_s / operations, 1, delta=0.1)
        found = fit.calibrated(Shared(4000, 1e9, renames_per_s=8000), [few_large, many_small], Settings())
        self.assertAlmostEqual(found.renames_per_s / found.operations_per_s, 2, msg="one factor for all of them")

    def report(self, times, ended=100.0, drained=0, busy=None):
        """`busy`: (begin, end) of when the drain worked; None: the agent was killed, and tells no course."""
        edges = sorted({0.0, ended, *(edge for span in busy or () for edge in span)})
        spans = list(zip(edges, edges[1:], strict=False))
        worked = [end - begin if (begin, end) in (busy or ()) else 0.0 for begin, end in spans]
        course = {"begin": [b for b, _ in spans], "end": [e for _, e in spans], "busy": worked}
        return {
            "timeline": [{"time": str(i), "begun": 0, "complete": c, "safe": s} for i, (c, s) in enumerate(times)],
            "stability": [] if busy is None else [{"node": "n1", "course": course}],
            "nodes": [{"node": "n1", "drain": {"safe_times": drained}}],
            "shared": {"bytes": 100.0, "files": 20},
            "ranks": 2,
            "step_seconds": 1.0,
            "stage_seconds": 1.0,
            "program_seconds": ended - 1,
        }

    def test_the_time_that_a_drain_worked_is_read_from_a_report(self):
        for times, seconds in (
            (((0, 5),), 5.0),
            (((0, 5), (1, 9), (2, 13)), (5 + 4 + 4) / 3),  # behind each other
            (((0, 5), (10, 14)), (5 + 4) / 2),
            (((0, 5), (6, -1)), 5.0),  # one that never became safe
        ):
            run = fit.run_of_report(self.report(times), 1)
            self.assertAlmostEqual(run.drain, seconds)
        long = fit.run_of_report(self.report(((0, 5), (1, 9)), drained=10), 1)
        self.assertEqual(long.case.bytes, 100 / (10 * 2), "the timeline has the newest times only")
        found_late = fit.run_of_report(self.report(((0, 5), (-1, 9)), ended=1.5), 1)
        self.assertAlmostEqual(found_late.drain, (5 + 4) / 2, msg="what only the end has found was carried, too")
        self.assertEqual((run.case.bytes, run.case.files), (50.0, 10))
        with self.assertRaisesRegex(ValueError, "no time"):
            fit.run_of_report(self.report(((0, -1),)), 1)

    def test_no_time_is_taken_off_a_drain_that_did_not_wait(self):
        """A time that all ranks have left is carried at once, whatever drain.settle is."""
        quick = self.report(((10, 10.5), (12, 12.7)), busy=[(10, 10.5), (12, 12.7)])
        self.assertAlmostEqual(fit.run_of_report(quick, 1).drain, 0.6)
        slow = self.report(((10, 15), (12, 19)), busy=[(10, 15), (15, 19)])
        self.assertAlmostEqual(fit.run_of_report(slow, 1).drain, 4.5)

    def test_what_a_held_time_waited_is_no_work(self):
        """With purgeWrite times wait for the safety interval or the end, and then for each other only."""
        held = self.report(((10, 100.5), (50, 101.5)), busy=[])
        self.assertAlmostEqual(fit.run_of_report(held, 1).drain, (0.5 + 1.0) / 2)
        interval = self.report(((10, 62),), busy=[(60, 62)])
        self.assertAlmostEqual(fit.run_of_report(interval, 1).drain, 2.0)

    def test_drains_that_differ_widen_the_interval(self):
        run = fit.run_of_report(self.report(((0, 1), (10, 11), (20, 24), (30, 34), (40, 41))), 1)
        self.assertAlmostEqual(run.quartiles, 4, msg="quartiles 1 and 4 s, median 1 s")
        self.assertEqual(fit.run_of_report(self.report(((0, 1),)), 1).quartiles, 1)


class MachineTest(unittest.TestCase):
    def test_every_preset_says_where_each_value_comes_from(self):
        names = machine.presets()
        self.assertEqual(sorted(names), ["archer2-hdd", "archer2-nvme", "frontier", "lumi-p", "nextgenio", "nfs", "slow-shared"])  # fmt: skip
        for name in names:
            loaded = machine.load([name])
            for place, value in loaded.values.items():
                self.assertRegex(value.source, "^(measured|documented|assumed): .{3}", (name, place))
            model.days(LARGE, loaded.shared(), loaded.medium(), Settings(), loaded.spread)

    def test_no_interval_is_narrower_than_the_quartiles_that_are_cited(self):
        for name in machine.presets():
            values = machine.load([name]).values
            cited = values["shared", "write"].source + values.get(("shared", "spread"), machine.Value(1, "")).source
            found = re.search(r"median (\d+).*quartiles (\d+) and (\d+)", cited)
            if found:
                median, low, high = map(float, found.groups())
                self.assertGreaterEqual(values["shared", "spread"].value, max(median / low, high / median), name)

    def test_quartiles_of_what_was_measured_widen_the_interval(self):
        text = 'name="x"\n[{}]\nquartiles={{value=5,from="measured: here"}}'
        nfs = machine.load(["nfs"])
        for table, key in (("shared", "drain"), ("medium", "live")):
            wide = machine.Machine("", machine.merged([nfs.values, machine.parse(text.format(table), "x").values]))
            case = Case(4, 1, 1e-6, 1e6, 9, 3, purge=2 if table == "medium" else 0)
            bad, likely, good = (getattr(day, key) for day in model.days(case, wide.shared(), wide.medium(), Settings(), wide.spread, wide.local_spread))  # fmt: skip
            self.assertGreaterEqual(bad / likely, 4.99, table)
            self.assertGreaterEqual(likely / good, 4.99, table)

    def test_an_old_profile_is_read_and_a_create_s_price_stands_in(self):
        for more, count in (("", 3), ('renames_per_s={value=70,from="measured: here"}\n', 2)):
            old = machine.parse(f'name="x"\n[shared]\noperations_per_s={{value=50,from="measured: here"}}\n{more}', "x")
            rows = [row for row in told.of_machine(old) if "a create's price stands in" in row[2]]
            self.assertEqual(len(rows), count)
            self.assertEqual({value for _, value, _ in rows}, {"50"})

    def test_measured_values_stay_and_others_are_replaced_by_later_ones(self):
        place = ("shared", "operations_per_s")

        def one(source, value):
            return machine.parse(f'name="x"\n[shared]\noperations_per_s={{value={value},from="{source}"}}', "x").values[
                place
            ]

        measured, other, assumed = one("measured: here", 1), one("measured: there", 2), one("assumed: so", 3)
        for order, wins in (
            ((measured, assumed), 1),
            ((assumed, measured), 1),
            ((measured, other), 2),
            ((assumed,), 3),
        ):
            self.assertEqual(machine.merged([{place: each} for each in order])[place].value, wins)

    def test_what_is_wrong_is_named_with_its_path_and_what_to_do(self):
        entry = '{ value = 1000, from = "assumed: so" }'
        for text, said in (
            ("name = ", "m.toml: not TOML"),
            ("[shared]", 'name is missing; write name = "my cluster"'),
            ('name = "x"\n[share]\nx = 1', "unknown table share; did you mean shared?"),
            (f'name = "x"\n[shared]\noperation_per_s = {entry}', "did you mean operations_per_s?"),
            ('name = "x"\n[shared]\nwrite = "1GB"', "m.toml: shared.write: write { value = "),
            (
                'name = "x"\n[shared]\nwrite = { value = "1GB", from = "hearsay" }',
                "must begin with measured, documented or assumed",
            ),  # fmt: skip
            ('name = "x"\n[shared]\nwrite = { value = "1XB", from = "assumed" }', "cannot be '1XB'; it takes a size"),
            ('name = "x"\n[shared]\nshare = { value = 2, from = "assumed" }', "a part of 1"),
            ('name = "x"\n[shared]\noperations_per_s = { value = -1, from = "assumed" }', "a number above 0"),
            ('name = "x"\n[shared]\noperations_per_s = { value = nan, from = "assumed" }', "a number above 0"),
            ('name = "x"\n[medium]\nwrite = { value = [1, 2], from = "assumed" }', "pairs like"),
        ):
            with self.subTest(text), self.assertRaises(machine.BadInput) as caught:
                machine.parse(text, "m.toml")
            self.assertIn("m.toml", str(caught.exception))
            self.assertIn(said, str(caught.exception))

    def test_figures_have_plain_units(self):
        for seconds, said in ((0.9999, "1 s"), (0.00001, "0.01 ms"), (0.0123, "12.3 ms"), (119.96, "120 s"), (7300, "2.03 h"), (1e7, "2778 h")):  # fmt: skip
            self.assertEqual(units.span(seconds), said)
        for size, said in ((999.9e6, "1 GB"), (999, "999 B"), (1234e12, "1234 TB"), (0, "0 B")):
            self.assertEqual(units.human(size), said)

    def test_sizes(self):
        for text, size in (("7.5MB", 7.5e6), ("2GiB", 2**31), (1000, 1000), ("1e9", 1e9), ("12", 12)):
            self.assertEqual(units.size(text), size)


if __name__ == "__main__":
    unittest.main()
