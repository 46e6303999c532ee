"""Proves: the README's first page can be believed: its chart is drawn from the figures that the text has, its links lead
somewhere, and what it is, for whom, the gain, the cost and when not to use it stand before anything else."""

import importlib.util
import re
import sys
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2]
sys.path.append(str(SOURCES / "tests"))
from pages import anchors_of, links_of  # noqa: E402

README = (SOURCES / "README.md").read_text()


def figure():
    spec = importlib.util.spec_from_file_location("first_figure", SOURCES / "demo/first_figure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class FrontTest(unittest.TestCase):
    def test_the_chart_is_what_its_script_draws(self):
        drawn = (SOURCES / "docs/first_figure.svg").read_text()
        self.assertEqual(drawn, figure().svg(), "demo/first_figure.py > docs/first_figure.svg")

    def test_the_figures_are_those_of_the_chart_and_of_the_page_that_they_come_from(self):
        made = figure()
        first = README.split("\n## ")[0]
        (row,) = [line for line in (SOURCES / "docs/seeds.md").read_text().splitlines() if line.startswith("| 1 |")]
        for told in ([r[1] for r in reversed(made.ROWS)], [r[2] for r in reversed(made.ROWS)]):
            self.assertIn(", ".join(map(str, told)), row)
        self.assertIn(f"without output {made.WITHOUT_OUTPUT}", row)
        known = {made.WITHOUT_OUTPUT, *(value for _, *values in made.ROWS for value in values)}
        gain = first.split("**Gain:**")[1].split("**Safe:**")[0]
        self.assertLessEqual({int(each) for each in re.findall(r"\b\d{2,3}\b", gain)} - {10}, known)

    def test_what_a_reader_needs_first_comes_first(self):
        lines = README.split("![")[0].splitlines()
        self.assertLess(len(lines), 22)
        for word in ("**For**", "**Gain:**", "**Safe:**", "**Cost:**", "**Not for you**"):
            self.assertEqual(sum(word in line for line in lines), 1, word)

    def test_links_lead_somewhere(self):
        for page in (*SOURCES.glob("*.md"), *SOURCES.glob("docs/**/*.md")):
            for link, anchor in links_of(page.read_text()):
                target = page.parent / link if link else page
                self.assertTrue(target.exists(), f"{page}: {link}")
                if anchor:
                    self.assertIn(anchor, anchors_of(target.read_text()), f"{page}: {link}")


if __name__ == "__main__":
    unittest.main()
