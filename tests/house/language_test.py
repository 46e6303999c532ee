"""Proves: pages and comments get no harder to read. scripts/language.py finds each kind of sentence that it counts, passes what is good,
and no group of rooms has more of them than tests/house/language.txt grants."""

import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2]
sys.path += [str(SOURCES / "scripts"), str(SOURCES / "tests")]
import language  # noqa: E402
from pages import BY_TASK  # noqa: E402

LONG = "One " + "word " * 40 + "more."
HEADLESS = (
    "What is left of it goes home.",
    "Whoever opens it again gets an error.",
    "Those of the libraries are arguments of their calls.",
    "Of jobs at once each waits for the others.",
    "The others may go on.",
    "That the pool lacks a bit is no change.",
    "Where the agent keeps times.",
    "When it is first seen.",
    "By its number, for the agent alone.",
    "Written once, without a lock.",
)
GOOD = (
    "The agent frees what is left.",
    "What is a pool?",
    "Where pools lie on several mounts, each rank uses its own.",
    "With two jobs, one waits for the other.",
    "In a bucket items keep their order.",
    "Ranks that wait are told.",
    "Whether a record still counts.",
    "That is why it waits.",
)


def kinds_in(name, text):
    return dict(Counter(each.kind for each in language.findings_in(Path(name), text, Counter())))


class FindsTest(unittest.TestCase):
    def test_sentences_without_a_subject_in_each_kind_of_place(self):
        for sentence in HEADLESS:
            for name, text in (
                ("docs/faq.md", f"# A page\n\nIt works. {sentence}\n"),
                ("docs/faq.md", f"- {sentence}\n"),
                ("src/base/a.h", f"// {sentence}\nint a;\n"),
                ("src/base/a.h", f"int a;  // {sentence}\n"),
                ("src/base/a.h", f"/* It works.\n * {sentence} */\n\n"),
                ("python/a.py", f'def a():\n    """{sentence}"""\n'),
                ("python/a.py", f"a = 1  # {sentence}\n"),
            ):
                self.assertEqual(kinds_in(name, text), {"headless": 1}, text)

    def test_good_sentences_pass(self):
        for sentence in GOOD:
            for name, text in (("docs/faq.md", f"{sentence}\n"), ("src/base/a.h", f"// {sentence}\nint a;\n")):
                self.assertEqual(kinds_in(name, text), {}, text)

    def test_a_verb_needs_the_declaration_that_it_speaks_of(self):
        self.assertEqual(kinds_in("src/base/a.h", "// Removes the file.\nvoid remove();\n"), {})
        self.assertEqual(kinds_in("src/base/a.h", "// Removes the file.\n\nvoid remove();\n"), {"headless": 1})
        self.assertEqual(
            kinds_in("src/base/a.h", "// Takes no lock. Removes the file.\nvoid remove();\n"), {"headless": 1}
        )
        self.assertEqual(kinds_in("src/base/a.h", "int bytes;  // of the file\n"), {})

    def test_long_sentences_wide_lines_and_full_cells(self):
        self.assertEqual(kinds_in("docs/faq.md", f"It is good. {LONG[:119]}\n{LONG[119:]}\n"), {"long": 1, "wide": 1})
        self.assertEqual(kinds_in("docs/faq.md", f"| a | {LONG} |\n"), {"long": 1})
        self.assertEqual(kinds_in("docs/faq.md", "| a | One is. Two are. Three are. |\n"), {"cells": 1})
        half = LONG[: len(LONG) // 2]
        self.assertEqual(kinds_in("src/base/a.h", f"// {half}\n// {LONG[len(half) :]}\nint a;\n"), {"long": 1})
        self.assertEqual(kinds_in("src/base/a.h", "// " + "a" * 118 + "\nint a;\n"), {"wide": 1})

    def test_listings_strings_and_orders_to_tools_are_no_sentences(self):
        self.assertEqual(kinds_in("docs/faq.md", f"```sh\n{LONG}\n```\n\n    {LONG}\n"), {})
        self.assertEqual(kinds_in("src/base/a.cpp", 'auto a = "http://what is left goes home.";\n'), {})
        self.assertEqual(kinds_in("src/base/a.cpp", "a(/*what=*/1);  // NOLINT(what is left goes home.)\n"), {})


class UsersPagesTest(unittest.TestCase):
    def test_each_is_in_short_sentences_and_cells(self):
        for page in language.USERS_PAGES:
            path, seen = Path(f"docs/{page}.md"), Counter()
            found = language.findings_in(path, (SOURCES / path).read_text(), seen)
            kinds = ("wide", "cells", "long") if page in BY_TASK else ("wide", "cells")
            worst = [f"{each.kind}: {each.text}" for each in found if each.kind in kinds]
            self.assertEqual(worst, [], page)
            self.assertLess(seen["users' pages", "words"] / seen["users' pages", "sentences"], 25, page)

    def test_pages_by_task_are_among_them(self):
        self.assertLessEqual(set(BY_TASK), set(language.USERS_PAGES))


class BudgetTest(unittest.TestCase):
    def test_what_is_more_than_granted_is_told(self):
        tree = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (tree / "src/base").mkdir(parents=True)
        (tree / "src/base/a.h").write_text("// What is left goes home.\n\n")

        def told(granted):
            (tree / "budget").write_text(f"# headless, long, wide, cells\nusers' pages 0 0 0 0\n{granted}\n")
            words = [sys.executable, SOURCES / "scripts/language.py", "--budget", tree / "budget", tree]
            done = subprocess.run(words, capture_output=True, text=True)
            return done.returncode, done.stderr

        self.assertEqual(told("src 1 0 0 0"), (0, ""))
        of_it = "granted are 0\n  src/base/a.h:1: What is left goes home.\n"
        self.assertEqual(told("src 0 9 9 9"), (1, f"src: 1 headless, {of_it}"))
        self.assertEqual(told("src/run 9 9 9 9"), (1, f"src: 1 headless, {of_it}"))

    def test_no_group_has_more_than_granted(self):
        findings, seen, _ = language.look(SOURCES, [])
        budget = language.budget_of((SOURCES / "tests/house/language.txt").read_text())
        more = list(language.beyond(budget, findings))
        self.assertEqual(more, [], "write these anew; scripts/lint language --list tells all")
        self.assertGreater(sum(seen.values()), 5000)


if __name__ == "__main__":
    unittest.main()
