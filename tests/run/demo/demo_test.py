"""Proves that `make demo` works: runs direct, with forebay and without output, whose results it finds equal; its table,
its chart and its page hold what they should. (Its program at the coarsest mesh, with few steps, on a plain directory.) Also
where there is neither OpenFOAM nor matplotlib.

demo_test.py DEMO FOREBAY [unittest arguments]
"""

import base64
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS / "run/equivalence")]
import casetools  # noqa: E402
from html_page import Page  # noqa: E402

DEMO = FOREBAY = ""
VOID = {"meta", "img"}


class WithoutOpenFoamTest(unittest.TestCase):
    """With the programs that every Linux has, and a Python that finds no matplotlib."""

    def test_a_program_of_ours_writes_and_all_but_the_chart_is_there(self):
        with tempfile.TemporaryDirectory(prefix="forebay-demo-test-") as directory:
            programs, hidden = Path(directory, "bin"), Path(directory, "python")
            for each in (programs, hidden):
                each.mkdir()
            for name in ("env", "bash", "diff", "sed", "realpath", "dirname"):
                (programs / name).symlink_to(shutil.which(name))
            (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['matplotlib'] = None\n")
            output, shared = Path(directory, "output"), Path(directory, "shared")
            shared.mkdir()
            done = subprocess.run(
                [DEMO, "--quick", "--shared", shared, "--output", output, "--forebay", FOREBAY],
                env=casetools.environment(PATH=str(programs), PYTHONPATH=str(hidden)),
                capture_output=True,
                text=True,
                timeout=100,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for words in ("no OpenFOAM here (no simpleFoam", "demo/writer.py", "no chart", f"a directory of {shared}"):
                self.assertIn(words, done.stdout)
            self.assertEqual(len(re.findall("^.*case after .*: equal$", done.stdout, re.M)), 4, done.stdout)
            self.assertRegex(done.stdout, r"\n  write interval 1 ( +\d+\.\d+){4}\n")
            self.assertEqual(sorted(path.name for path in output.iterdir()), ["index.html", "report.html"])
            page = Page((output / "index.html").read_text(), VOID)
            self.assertEqual((page.open, page.all("img"), len(page.all("svg"))), ([], [], 2))
            self.assertIn("a program that writes as OpenFOAM does", page.text)
            self.assertEqual(list(shared.iterdir()), [], "nothing is left on the shared file system")


class DemoTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="forebay-demo-test-")
        cls.addClassCleanup(directory.cleanup)
        cls.output = Path(directory.name, "output")
        cls.done = subprocess.run(
            [DEMO, "--quick", "--output", cls.output, "--forebay", FOREBAY],
            env=casetools.environment(OMPI_MCA_mpi_yield_when_idle="1"),  # beside other tests
            capture_output=True,
            text=True,
            timeout=150,
        )

    def setUp(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)

    def test_the_results_are_said_to_be_equal(self):
        said = re.findall(r"   case after (.*): (equal|DIFFERENT)", self.done.stdout)
        self.assertEqual(
            said,
            [
                *((f"6 steps, write interval {interval}, purgeWrite 1", "equal") for interval in (6, 3, 1)),
                ("4 steps, all kept", "equal"),
            ],
        )
        self.assertIn("a plain directory", self.done.stdout)

    def test_the_table_has_a_line_for_each_write_interval(self):
        self.assertRegex(self.done.stdout, r"\n  s/step +direct +forebay +no I/O +direct / forebay\n")
        for interval in (6, 3, 1):
            line = re.search(rf"\n  write interval {interval} (( +\d+\.\d+){{4}})\n", self.done.stdout)
            self.assertIsNotNone(line, self.done.stdout)
            direct, forebay, none, ratio = map(float, line[1].split())
            self.assertTrue(0 < none and 0 < direct and 0 < forebay, line[0])
            self.assertAlmostEqual(direct / forebay, ratio, delta=0.1 * ratio + 0.05)  # 0.0 where it is below 0.05

    def test_the_chart_is_a_picture(self):
        chart = (self.output / "steps.png").read_bytes()
        self.assertEqual(chart[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(chart[-8:-4], b"IEND")
        width, height = (int.from_bytes(chart[at : at + 4]) for at in (16, 20))
        self.assertTrue(width > 800 and height > 400, (width, height))

    def test_the_page_has_the_chart_the_table_the_timeline_and_the_checks(self):
        page = Page((self.output / "index.html").read_text(), VOID)
        self.assertEqual(page.open, [], "elements without an end")
        (image,) = page.all("img")
        chart = base64.b64decode(image["src"].removeprefix("data:image/png;base64,"))
        self.assertEqual(chart, (self.output / "steps.png").read_bytes())
        self.assertIn("width: min(100%, 520px)", image["style"], "its letters are as large as those around it")
        self.assertEqual(page.troubles_of_a_telephone(), [])
        ratios = [each for each in page.all("td") if each["data-label"] == "direct / forebay"]
        self.assertEqual(len(ratios), 3, "on a telephone each cell says what it is")
        self.assertEqual(len(page.all("tr")), 1 + 3)
        self.assertEqual([each["class"] for each in page.all("span")], ["good"] * 4)
        self.assertEqual(len(page.all("svg")), 2, "for desktops and for telephones")
        for what in ("compute and write", "first file to last", "to the shared directory", "2.3 k cells"):
            self.assertIn(what, page.text)
        # Each time is computed directly and with forebay, written locally, and carried to the case.
        spans = re.findall(r"(step|time) (\d+)( written locally| carried to the case|)(?=: )", page.text)
        for number in map(str, range(1, 5)):
            for span, count in (("step", 2), ("time", 2)):
                count *= 2
                self.assertEqual(sum(each[:2] == (span, number) for each in spans), count, (span, number))

    def test_the_page_leads_to_the_steps_of_both_runs(self):
        (link,) = Page((self.output / "index.html").read_text(), VOID).all("a")
        page = Page((self.output / link["href"]).read_text(), VOID)
        self.assertEqual(len(page.all("svg")), 4)
        for words in ("The course of A", "The longest between written times of B", "before time 4:"):
            self.assertIn(words, page.text)

    def test_results_that_differ_are_seen_and_not_forgotten(self):
        loader = importlib.machinery.SourceFileLoader("demo_run", DEMO)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo_run", loader))
        sys.modules["demo_run"] = module  # where its dataclass looks for itself
        loader.exec_module(module)
        demo = module.Demo(*[None] * 6)
        with tempfile.TemporaryDirectory() as directory:
            one, other = Path(directory, "one"), Path(directory, "other")
            for each, text in ((one, "same"), (other, "same")):
                each.mkdir()
                (each / "U").write_text(text)
            demo.check_equal("case", one, other)
            self.assertEqual(demo.checks, {"case": True})
            (other / "p").symlink_to("U")
            demo.check_equal("case", one, other)
            self.assertEqual(demo.checks, {"case": False})
            (other / "p").unlink()
            demo.check_equal("case", one, other)
            self.assertEqual(demo.checks, {"case": False}, "a later round does not make up for it")


if __name__ == "__main__":
    DEMO, FOREBAY = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    if "WithoutOpenFoamTest" not in sys.argv:
        casetools.need_openfoam()
    unittest.main(verbosity=1)
