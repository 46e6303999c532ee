"""Proves: whatever a message counts, it says "1 file" and "2 files": no text in the sources puts a number before a noun in the
plural by itself, but through plural(): that of base/text.h, of the Python package, or of the programs that the command starts. All
three say the same. (Benchmarks of fixed sizes are not searched.)"""

import importlib.util
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
PYTHON = (
    "python/forebay",
    "src",
    "bench/measure",
    "bench/run/io.py",
    "bench/run/predict",
    "bench/run/probe",
    "bench/run/report",
)
COUNTED = (
    "bits|bytes|calls|cells|checkpoints|conflicts|cores|cpus|directories|elements|entries|faces|fields|files|groups|images|inputs|items|levels"
    "|lines|links|messages|names|nodes|places|points|pools|processes|programs|ranks|runs|segments|sets|slots|sockets|states"
    "|steps|stores|threads|tiers|times|trajectories|units"
)
PLURAL = re.compile(rf"\{{[^{{}}]*\}} ((written|time|staged|more) )?({COUNTED})\b(?! as )")
BY_HAND = re.compile(r"""== 1 \? ""|!= 1 \? "s"|> 1 \? "s"|"ies"|\{['"]s['"] if |if \w+ [!=]= 1 else ['"]s['"]""")

# Of a case, so that it can be pasted.
COMMAND = re.compile(r"`forebay (?:drain|status|clean) [^`]*--case[^`]*")


# As src/base/tests/text_test.cpp has them.
PLURALS = """0 files, 1 file, 2 files, 0 directories, 1 directory, 2 directories, 0 days, 1 day, 2 days, 0 processes, 1 process,
2 processes, 0 boxes, 1 box, 2 boxes, 0 sets of files, 1 set of files, 2 sets of files, 0 batches, 1 batch, 2 batches"""
PLURALS = PLURALS.replace("\n", " ").split(", ")


def wrong_lines(text):
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith(("//", "#")) and (PLURAL.search(line) or BY_HAND.search(line)):
            yield f"{number}: {line.strip()}"


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


class WordsTest(unittest.TestCase):
    def test_in_pythons_messages_too(self):
        wrong = []
        for place in PYTHON:
            for path in sorted((ROOT / place).rglob("*.py")) or [ROOT / place]:
                if not {"tests", "bench"} & set(path.relative_to(ROOT / place).parts):
                    wrong += [f"{path.relative_to(ROOT)}:{each}" for each in wrong_lines(path.read_text())]
        self.assertEqual(wrong, [])

    def test_both_of_python_say_what_the_one_of_the_command_says(self):
        sys.path.insert(0, str(ROOT / "bench"))
        for path in (ROOT / "python/forebay/_words.py", ROOT / "bench/measure/figures.py"):
            plural = module(path).plural
            said = [
                plural(n, of_one)
                for of_one in ("file", "directory", "day", "process", "box", "set of files", "batch")
                for n in (0, 1, 2)
            ]
            self.assertEqual(said, PLURALS, path)

    def test_what_is_counted_has_its_number(self):
        wrong = []
        for path in sorted([*SOURCES.rglob("*.cpp"), *SOURCES.rglob("*.h")]):
            if not {"tests", "bench"} & set(path.parts):
                wrong += [f"{path.relative_to(SOURCES)}:{each}" for each in wrong_lines(path.read_text())]
        self.assertEqual(wrong, [])

    def test_a_wrong_one_would_be_found(self):
        for line in (
            'f"{n} items"',
            "f\"node{'s' if n != 1 else ''}\"",
            'f("{} files", n)',
            'f("{:g} steps", n)',
            'f("{} thread{}", n, n == 1 ? "" : "s")',
        ):
            self.assertEqual(len(list(wrong_lines(line))), 1, line)
        self.assertEqual(list(wrong_lines('f("{} of {}", plural(n, "file"), all)')), [])


class CommandsTest(unittest.TestCase):
    def test_the_commands_that_messages_tell_have_their_words_in_one_place(self):
        wrong = []
        for path in sorted(SOURCES.joinpath("run").rglob("*.cpp")):
            if not {"tests", "bench", "advice"} & set(path.parts):
                wrong += [f"{path}: {each}" for each in COMMAND.findall(path.read_text())]
        self.assertEqual(wrong, [], "src/run/advice/commands.h has them")

    def test_one_that_has_its_own_would_be_found(self):
        self.assertTrue(COMMAND.search('"; run `forebay drain --resume --case " + shell_word(path) + "`"'))
        self.assertTrue(COMMAND.search('fmt::format("`forebay status --case {}` shows it", path)'))
        self.assertFalse(COMMAND.search('"`forebay drain --resume` brings it home"'))


if __name__ == "__main__":
    unittest.main()
