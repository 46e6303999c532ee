"""Seeds that fail are told, unless they are expected to; one that is expected to fail and passes is told, too."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from plan import SEEDS, plan_of  # noqa: E402
from tally import FAILED, NOT_RUN, PASSED, Tally, expected_failures  # noqa: E402


class TallyTest(unittest.TestCase):
    def setUp(self):
        self.told = []
        self.tally = Tally({1: (True, "a reason"), 2: (False, "another")}, self.told.append)

    def add(self, seed, outcome, *wrong):
        self.tally.add(plan_of(seed), outcome, wrong)

    def assert_told(self, words):
        self.assertTrue(any(words in line for line in self.told), self.told)

    def test_a_seed_that_fails_is_told_with_all_that_is_wrong(self):
        self.add(3, FAILED, "something is lost")
        self.assert_told("seed 3: FAILED")
        self.assert_told("something is lost")
        self.assertFalse(self.tally.summary())
        self.assert_told("failed: 3")

    def test_one_that_is_expected_to_is_told_with_its_reason(self):
        for seed in (1, 2):
            self.add(seed, FAILED, "something is lost")
        self.assert_told("seed 1: fails as expected")
        self.assert_told("expected: a reason")
        self.assertTrue(self.tally.summary())
        self.assert_told("0 passed, 2 failed as expected, 0 failed, 0 were not run")

    def test_one_that_is_expected_to_fail_and_passes_is_told(self):
        for seed in (1, 2, 3):  # the second fails only sometimes
            self.add(seed, PASSED)
        self.assert_told("seed 1 passes, and is expected to fail: a reason")
        self.assertTrue(self.tally.summary())
        self.assert_told("since they pass: [1]")

    def test_one_that_passes_is_told_where_each_is_asked_for(self):
        self.add(3, PASSED)
        self.assertEqual(self.told, [])
        self.tally.each = True
        self.add(3, PASSED)
        self.assert_told("seed 3: passed")

    def test_one_that_was_not_run_is_told(self):
        self.add(3, NOT_RUN, "no time is left")
        self.assertTrue(self.tally.summary())
        self.assert_told("seed 3: not run: no time is left")


class ExpectedTest(unittest.TestCase):
    def test_the_list_is_understood_and_names_seeds_that_are_run(self):
        with open(os.path.join(HERE, "expected_failures.txt")) as file:
            self.assertLessEqual(set(expected_failures(file)), set(SEEDS))

    def test_lines_without_a_reason_or_twice_are_refused(self):
        self.assertEqual(expected_failures(["# a\n", "\n", "3 sometimes: why\n"]), {3: (False, "why")})
        for lines in (["3\n"], ["3: \n"], ["3 often: why\n"], ["3: why\n", "3: why\n"]):
            with self.assertRaises(ValueError):
                expected_failures(lines)


if __name__ == "__main__":
    unittest.main()
