"""Proves: decide.cpp answers as the rules in Python do, whatever the simulated world asks; each mistake that mistakes.py plants
in it has its line."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import mistakes
import rules

SIMULATOR = ""


def states(each):
    return frozenset(tuple(state) for state in each)


def read(line):
    """A call of the core and its answer, lists that are keys as tuples."""
    call = json.loads(line)
    call["held"] = states(call["held"])
    ledger = call["ledger"]
    ledger["carried"], ledger["safe"] = states(ledger["carried"]), ledger["safe"] and tuple(ledger["safe"])
    call["reports"] = {node: (states(carried), drained) for node, (carried, drained) in call["reports"].items()}
    answer = {
        "free": lambda rank, of: ("free", str(rank), tuple(of)),
        "written": lambda names: ("written", frozenset(names)),
        "pace": lambda window: ("pace", window),
        "take": lambda of: ("take", tuple(of)),
        "carry": lambda of: ("carry", tuple(of)),
        "safe": lambda of: ("safe", tuple(of)),
        "end": lambda: ("end",),
    }
    return call, [answer[word](*rest) for word, *rest in call["actions"]]


class RulesTest(unittest.TestCase):
    def test_the_core_and_the_rules_decide_alike(self):
        with tempfile.TemporaryDirectory(prefix="forebay-rules-") as directory:
            path = os.path.join(directory, "decisions")
            command = [SIMULATOR, "--schedules", "300", "--decisions", path]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            kinds = set()
            with open(path) as file:
                for line in file:
                    call, answer = read(line)
                    self.assertCountEqual(rules.decide(call), answer, line)
                    kinds |= {word for word, *_ in answer}
        self.assertEqual(kinds, {"free", "written", "pace", "take", "carry", "safe", "end"})

    def test_each_line_that_a_mistake_replaces_is_in_the_rules_once(self):
        with open(mistakes.RULES, encoding="utf-8") as file:
            text = file.read()
        for name, (right, _) in mistakes.OF_THE_RULES.items():
            self.assertEqual(text.count(right), 1, name)


if __name__ == "__main__":
    SIMULATOR = sys.argv.pop(1)
    unittest.main()
