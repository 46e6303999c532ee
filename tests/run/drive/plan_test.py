"""A seed gives one plan, wherever and whenever it is asked for, and what the program leaves does not depend on which of its
ranks is faster."""

import collections
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from plan import DEATHS, FIXED, SEEDS, Content, Lines, plan_of, program_of  # noqa: E402


def printed(seed, hashes):
    line = [sys.executable, os.path.join(HERE, "plan.py"), str(seed)]
    return subprocess.run(line, env={**os.environ, "PYTHONHASHSEED": hashes}, capture_output=True, check=True).stdout


class PlanTest(unittest.TestCase):
    def test_a_seed_gives_the_same_plan_in_every_process(self):
        for seed in (1, 7, 1999):
            self.assertEqual(printed(seed, "1"), printed(seed, "2"))

    def test_seeds_differ(self):
        self.assertEqual(len({plan_of(seed).describe() for seed in SEEDS}), len(SEEDS))

    def test_all_that_can_happen_happens_in_the_fixed_seeds_too(self):
        for seeds in (FIXED, SEEDS):
            plans = [plan_of(seed) for seed in seeds]
            for name, wanted in (
                ("death", set(DEATHS)),
                ("ranks", {1, 2, 3, 4}),
                ("way", {"namespace", "redirect", "path"}),
                ("pool", {"roomy", "budget", "small"}),
                ("carrying", {"fast", "slow bytes", "slow calls"}),
                ("purged_by", {"file by file", "whole", "child", "rank 0"}),
                ("written_by", {"each rank", "child", "rank 0"}),
                ("moment", {"operation", "end"}),
            ):
                self.assertEqual({getattr(plan, name) for plan in plans}, wanted, name)
            self.assertTrue(any(len(set(plan.times)) < len(plan.times) for plan in plans), "no times are written again")
            self.assertTrue(any(plan.lagging for plan in plans))

    def test_between_two_meetings_a_path_is_one_rank_s_alone(self):
        for seed in range(1, 301):
            program = program_of(plan_of(seed))
            owners = collections.defaultdict(set)  # (how many meetings before, path) -> ranks
            for rank, operations in enumerate(program.of_rank):
                meetings = 0
                for each in operations:
                    meetings += each.kind == "meet"
                    for path in {each.path, each.to} - {"-"}:
                        owners[meetings, path].add(rank)
            self.assertEqual({key for key, ranks in owners.items() if len(ranks) > 1}, set(), f"seed {seed}")

    def test_who_dies_in_the_middle_of_a_file_does_so_in_a_file(self):
        for seed in SEEDS:
            plan = plan_of(seed)
            if plan.death == "cut":
                cut = [each for each in program_of(plan).of_rank[plan.who] if each.kind == "cut"]
                self.assertEqual(len(cut), 1, f"seed {seed}")
                self.assertNotEqual(cut[0].path, "-", f"seed {seed}")


class ContentTest(unittest.TestCase):
    def test_every_content_has_its_size_and_is_like_no_other(self):
        found = [Content(path, version, 250).bytes() for path in ("processor0/1/U", "1/p") for version in (1, 20)]
        self.assertEqual([len(each) for each in found], 4 * [250])
        self.assertEqual(len(set(found)), 4)

    def test_a_log_is_whole_after_each_line(self):
        self.assertEqual(
            [each.bytes() for each in Lines((3, 5)).beginnings()], [b"", b"version 3\n", b"version 3\nversion 5\n"]
        )


if __name__ == "__main__":
    unittest.main()
