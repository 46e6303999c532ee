"""The listings of a document, each a whole program: compiled without a warning, and run.

SOURCES INCLUDE LIBRARIES C FORTRAN MODULES MORE     are the arguments of every test that uses this; FORTRAN may be
                                                     empty, and MORE is the test's own: words separated by ';'
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import typing
import unittest

COMPILED = {"c": ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"], "fortran": ["-std=f2008", "-Wall", "-Werror"]}


class Tools(typing.NamedTuple):
    sources: str
    include: str
    libraries: str
    c: str
    fortran: str
    modules: str
    more: list


class Listing(typing.NamedTuple):
    language: str
    name: str
    needs: str
    text: str


def listings_of(path):
    with open(path) as file:
        text = file.read()
    head = r"(?:<!-- listing: (?P<name>\S+?)(?:; needs: (?P<needs>\w+))? -->\n)?"
    for match in re.finditer(head + r"```(?P<language>\w*)\n(?P<text>.*?)^```$", text, re.S | re.M):
        yield Listing(match["language"], match["name"], match["needs"], match["text"])


class DocumentCase(unittest.TestCase):
    document, libraries, modules = "", (), ()  # "docs/store/trajectory.md", ("forebay",), ("forebay_fortran",)
    tools: Tools

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="forebay-document-")
        cls.listings = list(listings_of(os.path.join(cls.tools.sources, cls.document)))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory, ignore_errors=True)

    def compiled(self, listing, source):
        program = os.path.join(self.directory, listing.name.replace(".", "-"))
        found = ["-L", self.tools.libraries, f"-Wl,-rpath,{self.tools.libraries}"]
        libraries = [*found, *(f"-l{name}" for name in self.libraries), "-lm"]
        if listing.language == "c":
            words = [self.tools.c, *COMPILED["c"], source, "-I", self.tools.include]
        else:
            beside = os.path.dirname(self.tools.modules)
            faces = [os.path.join(beside, f"lib{name}.a") for name in self.modules]
            words = [self.tools.fortran, *COMPILED["fortran"], source, "-I", self.tools.modules, *faces]
        done = subprocess.run([*words, "-o", program, *libraries], cwd=self.directory, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [program]

    def python(self, listing):
        return [sys.executable]

    def run_listing(self, name, *launch):
        (listing,) = (each for each in self.listings if each.name == name)
        if listing.language == "fortran" and not self.tools.fortran:
            self.skipTest("there is no Fortran compiler")
        source = os.path.join(self.directory, name)
        with open(source, "w") as file:
            file.write(listing.text)
        if listing.language == "python":
            program = [*self.python(listing), source]
        else:
            program = self.compiled(listing, source)
        done = subprocess.run([*launch, *program], cwd=self.directory, capture_output=True, text=True, timeout=300)
        if listing.needs and done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def all_have_a_name_and_are_run_in(self, test):
        with open(test) as file:
            here = file.read()
        for listing in self.listings:
            self.assertIsNotNone(listing.name, f"a listing without a name:\n{listing.text}")
            self.assertIn(f'"{listing.name}"', here)


def main():
    words = sys.argv[1:8]
    del sys.argv[1:8]
    DocumentCase.tools = Tools(*words[:6], words[6].split(";"))
    unittest.main(module="__main__")
