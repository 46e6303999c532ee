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
from unittest import mock

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS / "run/equivalence")]
import casetools  # noqa: E402
from html_page import Page  # noqa: E402

DEMO = FOREBAY = ""
VOID = {"meta", "img"}
# As if sudo had started it.
SUDO = {
    "SUDO_USER": "somebody",
    "SUDO_UID": str(12345 if os.geteuid() == 0 else os.getuid()),
    "SUDO_GID": str(os.getgid()),
}
OF_EVERY_LINUX = ("awk", "basename", "bash", "cat", "chmod", "cksum", "cp", "diff", "dirname", "env", "find", "grep", "gunzip",
                  "gzip", "mkdir", "mktemp", "mpirun", "mv", "realpath", "rm", "sed", "sh", "ssh", "tail")  # fmt: skip


def demo_module():
    loader = importlib.machinery.SourceFileLoader("demo_run", DEMO)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo_run", loader))
    sys.modules["demo_run"] = module  # where its dataclass looks for itself
    loader.exec_module(module)
    return module


def the_residuals_are_of_a_running_solver(test, page):
    """As far as the case had them: not to the end."""
    told = re.search(
        r"as the case had it (\S+) s after the run began: (\d+) of (\d+) steps. The solver was running", page.text
    )
    test.assertIsNotNone(told, page.text)
    steps, of = int(told[2]), int(told[3])
    test.assertGreaterEqual(steps, 3)
    test.assertLessEqual(steps, of)
    test.assertEqual([each["aria-label"] for each in page.all("svg")].count("residuals by step"), 2)
    curves = [each["points"].split() for each in page.all("polyline")]
    test.assertGreaterEqual(len(curves), 2 * 3, "of some fields, for desktops and for telephones")
    test.assertEqual(max(map(len, curves)), steps)


class ResidualsTest(unittest.TestCase):
    """A log is drawn as it was found while the solver ran."""

    def setUp(self):
        demo_module()
        import residuals  # noqa: PLC0415

        self.residuals = residuals
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.log, self.ended = self.directory / "log", self.directory / "ended"

    def steps(self, first, last):
        return "".join(
            f"Time = {step}\n\nsmoothSolver:  Solving for Ux, Initial residual = {1 / step}, Final residual = 0, No Iterations 1\n"
            f"GAMG:  Solving for p, Initial residual = {0.5 / step}, Final\nGAMG:  Solving for p, Initial residual = 9, Final\n"
            for step in range(first, last + 1)
        )

    def test_the_first_residual_of_each_step_counts_and_a_cut_line_does_not(self):
        curves = self.residuals.curves_of(
            "Create mesh\n" + self.steps(1, 2) + "Time = 3\nSolving for Ux, Initial residual = 0.3"
        )
        self.assertEqual(curves, {"Ux": [1, 0.5], "p": [0.5, 0.25]})
        self.assertEqual(self.residuals.curves_of(""), {})

    def test_what_comes_to_the_case_when_the_solver_has_ended_is_not_drawn(self):
        program = f"cp {self.directory}/some {self.log}; sleep 1; touch {self.ended}; cp {self.directory}/all {self.log}; sleep 0.5"
        (self.directory / "some").write_text(self.steps(1, 4))
        (self.directory / "all").write_text(self.steps(1, 9))
        with subprocess.Popen(["sh", "-c", program]) as process:
            seen = self.residuals.watch(process, self.log, self.ended.exists, 0)
        self.assertEqual(seen.steps, 4)
        for narrow in (False, True):
            drawn = Page(self.residuals.draw(seen, narrow), VOID)
            self.assertEqual((drawn.open, len(drawn.all("polyline"))), ([], 2))
        with subprocess.Popen(["sh", "-c", program]) as process:
            self.assertIsNone(self.residuals.watch(process, self.log, self.ended.exists, 0), "it has ended before")


class OutputTest(unittest.TestCase):
    """Before anything is measured."""

    def setUp(self):
        self.output = Path(self.enterContext(tempfile.TemporaryDirectory()), "output")

    def refused(self, why):
        done = subprocess.run(
            [DEMO, "--quick", "--output", self.output, "--forebay", FOREBAY], capture_output=True, text=True, timeout=60
        )
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, f"{why}.*another --output")

    def test_what_is_not_the_demonstrations_is_not_replaced(self):
        for name, kind in (
            ("index.html", "page of the demonstration"),
            ("steps.png", "chart of the demonstration"),
            ("report.html", "page of forebay report"),
        ):
            with self.subTest(name):
                self.output.mkdir()
                (self.output / name).write_bytes(b"\x89PNG\r\n\x1a\nof a thesis")
                self.refused(f"{name} exists and is no {kind}")
                (self.output / name).rename(self.output / "thesis")
                (self.output / name).symlink_to("thesis")
                self.refused(f"{name} is a link to a file")
                self.assertEqual((self.output / "thesis").read_bytes()[8:], b"of a thesis")
                shutil.rmtree(self.output)

    def test_a_place_where_nothing_can_be_written_is_refused(self):
        self.output.touch()
        self.refused("is no directory")
        self.output = self.output / "below"
        self.refused("cannot make .*Not a directory")
        module = demo_module()
        parser = mock.Mock()
        with mock.patch.object(module.os, "access", return_value=False):
            module.make_output(parser, self.output.parent.parent)
        parser.error.assert_called_once()
        self.assertIn("you may not write in", parser.error.call_args.args[0])


class SudoTest(unittest.TestCase):
    """What only root can make, for a user who may become root."""

    def test_the_slow_directory_is_made_through_sudo_where_that_is_there(self):
        with tempfile.TemporaryDirectory() as directory:
            said, sudo = Path(directory, "said"), Path(directory, "sudo")
            sudo.write_text(
                f'#!/bin/sh\n[ "$1" = -n ] && shift; basename "$1" >> {said}; [ "$1" = true ] || echo "$2" >> {said}\n'
            )
            sudo.chmod(0o755)
            demo_module()
            from measure import shared  # noqa: PLC0415

            class Stdin:
                isatty = staticmethod(lambda: False)

            with (
                mock.patch.object(shared.os, "geteuid", return_value=12345),
                mock.patch.object(shared.sys, "stdin", Stdin),
                mock.patch.dict(os.environ, PATH=f"{directory}:{os.environ['PATH']}"),
            ):
                with shared.Shared(Path(directory, "slow"), through_sudo=True) as made:
                    self.assertTrue(made.slow)
                    self.assertIn("GlusterFS", made.description)
                self.assertEqual(said.read_text().split(), ["true", "slow-shared", "up", "slow-shared", "down"])
                # Where sudo refuses nothing is tried by it.
                sudo.write_text("#!/bin/sh\nexit 1\n")
                self.assertEqual(shared.sudo(), [])


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
                env=casetools.environment(PATH=str(programs), PYTHONPATH=str(hidden), **SUDO),
                capture_output=True,
                text=True,
                timeout=400,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for words in ("no OpenFOAM here (no simpleFoam", "demo/writer.py", f"a directory of {shared}"):
                self.assertIn(words, done.stdout)
            self.assertEqual(len(re.findall("^.*case after .*: equal$", done.stdout, re.M)), 4, done.stdout)
            self.assertRegex(done.stdout, r"\n  write interval 1 ( +\d+\.\d+){3}\n")
            self.assertEqual(sorted(path.name for path in output.iterdir()), ["index.html", "report.html"])
            page = Page((output / "index.html").read_text(), VOID)
            self.assertEqual((page.open, page.all("img"), len(page.all("svg"))), ([], [], 4))
            the_residuals_are_of_a_running_solver(self, page)
            for words in (
                "say nothing of the gain: they show that a program that writes as OpenFOAM does runs here",
                "forebay run -- demo/mpiexec -n 4 demo/writer.py",
            ):
                self.assertIn(words, page.text)
            self.assertEqual(list(shared.iterdir()), [], "nothing is left on the shared file system")
            self.assertIn("sudo has a PATH of its own", done.stdout)
            for each in (output, *output.iterdir()):
                self.assertEqual(each.stat().st_uid, int(SUDO["SUDO_UID"]), "`make demo` can replace it")


class ForeignOpenFoamTest(unittest.TestCase):
    """One that is no package: a tree with an etc/bashrc, which says where its programs and tutorials lie."""

    def setUp(self):
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="forebay-demo-test-")))
        self.tree = self.directory / "OpenFOAM-v0"
        self.programs = self.tree / "platforms/x/bin"
        self.programs.mkdir(parents=True)
        for name in ("simpleFoam", "blockMesh", "snappyHexMesh", "surfaceFeatureExtract", "decomposePar"):
            (self.programs / name).symlink_to(shutil.which(name))
        shutil.copytree("/usr/share/openfoam/etc", self.tree / "etc", ignore=lambda *_: ["bashrc"])
        examples = Path(os.environ.get("FOREBAY_OPENFOAM_EXAMPLES", "/usr/share/doc/openfoam-examples/examples"))
        for name in ("incompressible/simpleFoam/motorBike", "resources/geometry"):
            shutil.copytree(examples / name, self.tree / "tutorials" / name)
        others = self.directory / "bin"
        others.mkdir()
        for name in OF_EVERY_LINUX:
            (others / name).symlink_to(shutil.which(name))
        (self.tree / "etc/bashrc").write_text(
            f"export WM_PROJECT_DIR={self.tree} FOAM_TUTORIALS={self.tree}/tutorials PATH={self.programs}:{others}\n"
        )

    def inside(self, *words):
        """After its etc/bashrc."""
        env = {name: value for name, value in casetools.environment().items() if not name.startswith(("WM_", "FOAM_"))}
        script = '. "$0"; exec "$@"'
        return subprocess.run(["bash", "-c", script, self.tree / "etc/bashrc", *words], env=env, cwd=self.directory,
                              capture_output=True, text=True, timeout=120)  # fmt: skip

    def prepared(self):
        """What the demonstration would run, and what it said."""
        code = "import sys; sys.argv[1:] = []; import demo_test as t; t.DEMO = %r; m = t.demo_module()\n" % DEMO
        code += "from pathlib import Path; p = m.prepare('coarse', Path('scratch'), [], m.launch.environment()); print('runs:', p.about)"
        (self.directory / "scratch").mkdir(exist_ok=True)
        done = self.inside("/usr/bin/env", f"PYTHONPATH={Path(__file__).parent}", "/usr/bin/python3", "-c", code)
        shutil.rmtree(self.directory / "scratch")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_its_own_tutorials_are_run_by_its_own_programs(self):
        (self.programs / "simpleFoam").unlink()
        used = self.directory / "used"
        (self.programs / "simpleFoam").write_text(
            f'#!/bin/sh\necho foreign >> {used}\nexec {shutil.which("simpleFoam")} "$@"\n'
        )
        (self.programs / "simpleFoam").chmod(0o755)
        with (self.tree / "tutorials/incompressible/simpleFoam/motorBike/system/fvSolution").open("a") as file:
            file.write("// a tutorial of another OpenFOAM\n")
        self.assertIn("runs: OpenFOAM's motorBike, 2.3 k cells", self.prepared())
        self.assertIn("foreign", used.read_text())
        made = self.directory / "made"
        self.assertEqual(self.inside(casetools.MAKE_CASE, "motorBike", made).returncode, 0)
        self.assertIn("another OpenFOAM", (made / "system/fvSolution").read_text())

    def test_of_one_that_cannot_be_used_it_is_said_why_and_the_writer_writes(self):
        bashrc = self.tree / "etc/bashrc"
        as_it_should_be = bashrc.read_text()

        def of_another_mpi():
            (self.programs / "simpleFoam").unlink()
            (self.programs / "simpleFoam").write_text("#!/bin/sh\necho libmpi.so.12: cannot open >&2; exit 127\n")
            (self.programs / "simpleFoam").chmod(0o755)

        for what, spoil, words in (
            ("not sourced", lambda: bashrc.write_text(f"export PATH={self.programs}:{self.directory / 'bin'} WM_PROJECT_DIR=/nowhere\n"),
             "no /nowhere/etc/controlDict: source etc/bashrc of the OpenFOAM whose blockMesh is .*/platforms/x/bin/blockMesh"),
            ("other tutorials", lambda: shutil.rmtree(self.tree / "tutorials/incompressible"), "no .*/tutorials/incompressible/simpleFoam/motorBike"),
            ("another MPI", of_another_mpi, "libmpi.so.12: cannot open(.*\n)*.*simpleFoam did no step on 4 ranks; status 127"),
        ):  # fmt: skip
            with self.subTest(what):
                spoil()
                said = self.prepared()
                self.assertRegex(
                    said, rf"the OpenFOAM of PATH \({self.programs}/simpleFoam\) cannot be used: .*writer.py"
                )
                self.assertRegex(said, words)
                self.assertIn("runs: a program that writes as OpenFOAM does", said)
            bashrc.write_text(as_it_should_be)
            if what == "other tutorials":
                name = "incompressible/simpleFoam/motorBike"
                shutil.copytree(Path("/usr/share/doc/openfoam-examples/examples", name), self.tree / "tutorials" / name)


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
            timeout=400,
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
        """And no ratio, where nothing is slow."""
        self.assertRegex(self.done.stdout, r"\n  s/step +direct +forebay +no I/O\n")
        for interval in (6, 3, 1):
            line = re.search(rf"\n  write interval {interval} (( +\d+\.\d+){{3}})\n", self.done.stdout)
            self.assertIsNotNone(line, self.done.stdout)
            self.assertTrue(all(float(each) > 0 for each in line[1].split()), line[0])

    def test_where_nothing_is_slow_no_gain_is_shown(self):
        text = (self.output / "index.html").read_text()
        for words in ("at the speed of local memory", "Output added", "direct / forebay", "data:image/png"):
            self.assertNotIn(words, text)
        self.assertEqual(sorted(path.name for path in self.output.iterdir()), ["index.html", "report.html"])

    def test_on_a_slow_directory_chart_table_and_page_show_the_gain(self):
        """With figures that are made up; also over the page of one that showed none, and the other way round."""
        module = demo_module()
        demo = module.Demo(*[None] * 5, [], "motorBike", "mpirun")
        demo.shared = mock.Mock(description="slow")
        run = mock.Mock(wall_seconds=1.0, marks=[1.0, 2.0], started=0.0, times=["1"])
        told = {"drain_lag_seconds": 0.1, "timeline": [{"time": "1", "begun": 0.5, "complete": 0.9, "safe": 1.0}]}
        figures = (0.068, [0.07, 0.173, 0.561], [0.07, 0.067, 0.219])
        with tempfile.TemporaryDirectory() as directory:
            output = Path(directory)
            for demo.quick in (True, False):
                module.write_outputs(output, demo, "here", figures, (run, run, told), (None, 10))
                self.assertEqual((output / "steps.png").exists(), not demo.quick)
            self.the_chart_is_a_picture(output)
            page = Page((output / "index.html").read_text(), VOID)
            self.assertEqual(page.open, [], "elements without an end")
            (image,) = page.all("img")
            chart = base64.b64decode(image["src"].removeprefix("data:image/png;base64,"))
            self.assertEqual(chart, (output / "steps.png").read_bytes())
            self.assertIn("width: min(100%, 520px)", image["style"], "its letters are as large as those around it")
            self.assertEqual(page.troubles_of_a_telephone(), [])
            ratios = [each for each in page.all("td") if each["data-label"] == "direct / forebay"]
            self.assertEqual(len(ratios), 3, "on a telephone each cell says what it is")
            self.assertIn("Output added 493.0 ms to a step directly, 151.0 ms with forebay.", page.text)
            with mock.patch.object(module.importlib.util, "find_spec", return_value=None):
                self.assertEqual(module.draw_chart(demo, *figures, output / "none.png"), "", "without matplotlib")
            demo.quick = True
            module.write_outputs(output, demo, "here", figures, (run, run, told), (None, 10))
            self.assertFalse((output / "steps.png").exists(), "the chart of an earlier run")

    def the_chart_is_a_picture(self, output):
        chart = (output / "steps.png").read_bytes()
        self.assertEqual(chart[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(chart[-8:-4], b"IEND")
        width, height = (int.from_bytes(chart[at : at + 4]) for at in (16, 20))
        self.assertTrue(width > 800 and height > 400, (width, height))

    def test_the_page_has_the_table_the_timeline_and_the_checks(self):
        page = Page((self.output / "index.html").read_text(), VOID)
        self.assertEqual(page.open, [], "elements without an end")
        self.assertEqual(page.troubles_of_a_telephone(), [])
        self.assertEqual(len(page.all("tr")), 1 + 3)
        self.assertEqual([each["class"] for each in page.all("span")], ["good"] * 4)
        self.assertEqual(len(page.all("svg")), 4, "each for desktops and for telephones")
        the_residuals_are_of_a_running_solver(self, page)
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
        demo = demo_module().Demo(*[None] * 6)
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
    if not {"WithoutOpenFoamTest", "OutputTest", "ResidualsTest", "SudoTest"} & set(sys.argv):
        casetools.need_openfoam()
    unittest.main(verbosity=1)
