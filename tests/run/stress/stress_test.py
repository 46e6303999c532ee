"""Proves that stress.py finds what a broken forebay does, and takes away the lines that have nothing to do with it; that a seed
always stands for the same; and that all verbs of the player are drawn.

stress_test.py [unittest arguments]
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from programs import FIXED, stress_of  # noqa: E402
from stress import minimised  # noqa: E402

# Stands for `forebay run ... -- PROGRAM`: it runs the program here, and then what $AFTER does to the case.
STAND_IN = """#!/bin/sh
[ "$1" != stage ] || exit 0
while [ "$1" != -- ]; do shift; done; shift
"$@"; status=$?
sh -c "$AFTER"
exit $status
"""
# What it does to the case, and a seed whose program shows it.
AFTER, SEED = "find . -type f -exec chmod 644 {} +", 6


class StressTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        os.chmod(place.name, 0o755)
        self.forebay = os.path.join(place.name, "forebay")
        with open(self.forebay, "w") as file:
            file.write(STAND_IN)
        os.chmod(self.forebay, 0o755)

    def stress(self, after, seeds):
        return subprocess.run(
            [os.path.join(HERE, "stress.py"), "--seeds", seeds, "--jobs", "2"],
            env={**os.environ, "FOREBAY": self.forebay, "AFTER": after},
            capture_output=True,
            text=True,
        )

    def test_a_mistake_is_found_and_printed_as_a_script_that_shows_it(self):
        done = self.stress(AFTER, str(SEED))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        script = done.stdout[done.stdout.index("/") : done.stdout.rindex("\n0 passed")]
        for after, status in ((AFTER, 1), (":", 0)):
            again = subprocess.run(
                ["sh", "-c", script], env={**os.environ, "AFTER": after}, capture_output=True, text=True
            )
            self.assertEqual(again.returncode, status, script + again.stdout + again.stderr)

    def test_lines_that_a_failure_does_not_need_are_taken_away(self):
        def fails(stress):
            kinds = [each.kind for each in stress.program]
            return "increment" in kinds and "rename" in kinds[kinds.index("increment") :] and bool(stress.start)

        seed = next(seed for seed in FIXED if fails(stress_of(seed)))
        found = minimised(stress_of(seed), fails)
        self.assertEqual([each.kind for each in found.program], ["increment", "rename"])
        self.assertEqual((len(found.start), found.copies, found.staged), (1, "", False))

    def test_nothing_is_found_where_all_is_equal(self):
        done = self.stress(":", "1-8")
        self.assertEqual((done.returncode, done.stdout), (0, "8 passed, 0 failed [], 0 failed once []\n"), done.stderr)

    def test_a_seed_always_stands_for_the_same(self):
        printed = set()
        for hashes in "12":  # the order of sets changes with it
            words = [sys.executable, os.path.join(HERE, "programs.py"), "17"]
            printed.add(subprocess.check_output(words, env={**os.environ, "PYTHONHASHSEED": hashes}))
        self.assertEqual(len(printed), 1, printed)

    def test_every_verb_of_the_player_is_drawn(self):
        with open(os.path.join(HERE, "../drive/verbs.c")) as file:
            verbs = set(re.findall(r'\{"(\w+)", \w+\}', file.read()))
        drawn = {each.kind for seed in FIXED for each in stress_of(seed).program}
        self.assertGreater(len(verbs), 30)
        self.assertEqual(verbs - drawn, set())


if __name__ == "__main__":
    unittest.main()
