"""Proves: the version is one everywhere and semantic; the changelog tells users what changes, in short lines and in order; and who opens an
issue is asked for what `forebay doctor --report` writes."""

import re
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2]
VERSION = re.search(r'FOREBAY_VERSION_TEXT "(.*)"', (SOURCES / "include/forebay/version.h").read_text())[1]
# Packaging says the version again, each file in its own words.
IN_PACKAGING = {
    "conda/meta.yaml": r'set version = "(.*?)"',
    "debian/changelog": r"\Aforebay \((.*?)-1\)",
    "easybuild/forebay-*.eb": r"(?m)^version = '(.*)'$",
    "rpm/forebay.spec": r"(?m)^Version: (.*)$",
    "spack/package.py": r'(?m)^    version\("(.*)"\)$',
}
MOST_WORDS = 50  # of a line of the changelog


def versions_of(changelog):
    """Of the headings, in order; None for what is not released."""
    for heading in re.findall(r"(?m)^## (.*)$", changelog):
        number = re.match(r"(\d+)\.(\d+)\.(\d+), \d{4}-\d\d-\d\d$", heading)
        yield tuple(int(each) for each in number.groups()) if number else None


def troubles_of(changelog):
    versions = list(versions_of(changelog))
    if None in versions[1:]:
        yield f"a heading is no version with a date: {versions}"
    numbers = [each for each in versions if each]
    if numbers != sorted(numbers, reverse=True):
        yield f"versions are not in order: {numbers}"
    for line in re.split(r"\n(?=- |\n|#)", changelog):
        if line.startswith("- ") and len(line.split()) > MOST_WORDS:
            yield f"a long line: {line}"


class HabitsTest(unittest.TestCase):
    def test_the_version_is_one(self):
        self.assertRegex(VERSION, r"^\d+\.\d+\.\d+$")
        self.assertIn(f"\nversion: {VERSION}\n", (SOURCES / "CITATION.cff").read_text())
        for manual in (SOURCES / "docs/man").glob("*.1"):
            self.assertIn(f'"forebay {VERSION}"', manual.read_text().splitlines()[0])
        for name, pattern in IN_PACKAGING.items():
            (path,) = (SOURCES / "packaging").glob(name)
            self.assertEqual(re.findall(pattern, path.read_text()), [VERSION], name)

    def test_the_changelog_is_for_users(self):
        changelog = (SOURCES / "CHANGELOG.md").read_text()
        self.assertEqual(list(troubles_of(changelog)), [])
        self.assertGreater(len(list(versions_of(changelog))), 0)
        for version in versions_of(changelog):
            self.assertTrue(version is None or version <= tuple(int(each) for each in VERSION.split(".")))

    def test_a_diary_would_be_found(self):
        good = "## Not released\n\n- One.\n\n## 0.3.0, 2027-01-02\n\n- Two.\n\n## 0.2.0, 2026-12-01\n"
        self.assertEqual(list(troubles_of(good)), [])
        self.assertEqual(len(list(troubles_of(good.replace("0.3.0", "0.1.9")))), 1)
        self.assertEqual(len(list(troubles_of(good.replace(", 2026-12-01", "")))), 1)
        self.assertEqual(len(list(troubles_of(good.replace("One.", "word " * 60)))), 1)

    def test_templates_ask_for_the_doctors_report(self):
        templates = sorted((SOURCES / ".github/ISSUE_TEMPLATE").glob("*.md"))
        self.assertGreater(len(templates), 1)
        manual = (SOURCES / "docs/man/forebay-doctor.1").read_text()
        for template in templates:
            text = template.read_text()
            self.assertRegex(text, r"^---\nname: .+\nabout: .+\n---\n")
            self.assertIn("\n    forebay doctor --report ", text)
            for option in re.findall(r"forebay doctor (--[a-z-]+)", text):
                self.assertIn(option.replace("-", "\\-"), manual)


if __name__ == "__main__":
    unittest.main()
