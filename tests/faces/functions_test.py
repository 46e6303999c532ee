"""Proves: docs/functions.md has every function of every language and none that there is not; the pages beside it are no longer
than a screen.

functions_test.py SOURCES
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop())
PAGE = (ROOT / "docs/functions.md").read_text()
LANGUAGES = ("C", "C++", "Fortran", "Python")
# What is said of a language beside names of its own.
NO_NAMES = {"o", "t", "with", "len", "next"}


def text_of(pattern):
    return "\n".join(path.read_text() for path in sorted(ROOT.glob(pattern)))


def fortran():
    """The sources, of which the build writes some."""
    with tempfile.TemporaryDirectory() as written:
        for template in ROOT.glob("fortran/*.f90.in"):
            subprocess.run([ROOT / "fortran/write.py", template, f"{written}/{template.stem}"], check=True)
        files = [f"{written}/forebay_c.f90", f"{written}/forebay_arrays_c.f90"]
        subprocess.run([ROOT / "scripts/declarations.py", ROOT / "include/forebay", *files], check=True)
        return text_of("fortran/*.f90") + "\n".join(path.read_text() for path in pathlib.Path(written).iterdir())


def rows():
    """Of each table's rows the cells, by language."""
    for section in PAGE.split("\n## ")[1:]:
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line[:1] == "|"]
        prefix = (re.findall(r"`(forebay_[a-z_]*)\.\.\.`", lines[0][0]) or [""])[0]
        languages = [cell.split(":")[0] for cell in lines[0]]
        for cells in lines[2:]:
            row = dict.fromkeys(LANGUAGES, "") | dict(zip(languages, cells, strict=False))
            yield row | {"C": [prefix + name for name in re.findall(r"`(\w+)`", row["C"])]}


def words(cell):
    return set(re.findall(r"[A-Za-z_]\w*", " ".join(re.findall(r"`([^`]+)`", cell)))) - NO_NAMES


class FunctionsTest(unittest.TestCase):
    def test_the_functions_of_c_are_those_of_the_headers(self):
        headers = re.sub(r"/\*.*?\*/", " ", text_of("include/forebay/*.h"), flags=re.S)
        declared = re.findall(r"\b(forebay_\w+)\([^()]*\);", headers)
        self.assertEqual(sorted(name for row in rows() for name in row["C"]), sorted(declared))

    def test_there_are_the_names_that_it_gives_in_other_languages(self):
        sources = {
            "C++": text_of("include/forebay/*.hpp"),
            "Fortran": fortran(),
            "Python": text_of("python/forebay/*.py") + " forebay",
        }
        for language, source in sources.items():
            known = set(re.findall(r"\w+", source))
            given = set().union(*(words(row[language]) for row in rows()))
            self.assertGreater(len(given), 10, language)
            self.assertEqual(given - known, set(), language)

    def test_it_has_every_method_of_fortran_and_python(self):
        bound = ",".join(re.findall(r"^    procedure :: (.*)$", fortran(), re.M))
        methods = {part.split("=>")[0].strip() for part in bound.split(",")} - {"made"}
        given = set().union(*(words(row["Fortran"]) for row in rows()))
        self.assertGreater(len(methods), 30)
        self.assertEqual(methods - given, set())
        stubs = "".join(text_of(f"python/forebay/{name}.pyi") for name in ("trajectory", "schedule", "arrays"))
        methods = set(re.findall(r"^ *def ([a-z]\w*)", stubs, re.M)) - {"args", "pointer"}
        given = set().union(*(words(row["Python"]) for row in rows()))
        self.assertGreater(len(methods), 20)
        self.assertEqual(methods - given, set())

    def test_a_page_is_a_screen(self):
        for name in ("lifetimes", "threads", "forks", "open-modes"):
            self.assertIn(f"](store/{name}.md)", PAGE)
            self.assertLessEqual(len((ROOT / f"docs/store/{name}.md").read_text().splitlines()), 40, name)


if __name__ == "__main__":
    unittest.main()
