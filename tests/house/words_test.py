"""Proves: whatever a message counts, it says "1 file" and "2 files": no text in the sources puts a number before a noun in the
plural by itself, but through plural() of base/text.h."""

import re
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src"
COUNTED = (
    "bytes|calls|cells|checkpoints|conflicts|cores|cpus|directories|elements|entries|faces|files|groups|images|inputs|levels"
    "|lines|links|messages|names|nodes|places|points|pools|processes|programs|ranks|runs|segments|sets|slots|sockets|states"
    "|steps|stores|threads|tiers|times|trajectories|units"
)
PLURAL = re.compile(rf"\{{[^{{}}]*\}} ((written|time|staged|more) )?({COUNTED})\b")
BY_HAND = re.compile(r'== 1 \? ""|!= 1 \? "s"|> 1 \? "s"|"ies"')


def wrong_lines(text):
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("//") and (PLURAL.search(line) or BY_HAND.search(line)):
            yield f"{number}: {line.strip()}"


class WordsTest(unittest.TestCase):
    def test_what_is_counted_has_its_number(self):
        wrong = []
        for path in sorted([*SOURCES.rglob("*.cpp"), *SOURCES.rglob("*.h")]):
            if not {"tests", "bench"} & set(path.parts):
                wrong += [f"{path.relative_to(SOURCES)}:{each}" for each in wrong_lines(path.read_text())]
        self.assertEqual(wrong, [])

    def test_a_wrong_one_would_be_found(self):
        for line in ('f("{} files", n)', 'f("{:g} steps", n)', 'f("{} thread{}", n, n == 1 ? "" : "s")'):
            self.assertEqual(len(list(wrong_lines(line))), 1, line)
        self.assertEqual(list(wrong_lines('f("{} of {}", plural(n, "file"), all)')), [])


if __name__ == "__main__":
    unittest.main()
