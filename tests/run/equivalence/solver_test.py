"""Proves: "for cavity, pitzDaily, motorBike and damBreak (1, 2, 4 ranks; binary and ascii; with and without purgeWrite,
writeCompression, functionObjects that write under postProcessing, runTimeModifiable edits made at a given step),
`diff -r` of the case after a direct run and after a forebay run is empty but for log times; modes, links and
modification order are kept too."

What is run (each value of a column meets at least two values of every other that matters; not the full product):

    case       ranks  format  purge  compressed  post  edit  way in     layout    drain
    cavity     serial binary  0      no          yes   no    redirect   verbatim  live
    cavity     4      ascii   2      yes         no    no    namespace  verbatim  live
    cavity     2      ascii   0      yes         yes   yes   path       verbatim  end
    cavity     2      binary  2      no          yes   no    redirect   collated  end
    cavity     1      ascii   0      yes         no    yes   redirect   verbatim  end
    pitzDaily  1      binary  1      no          yes   no    redirect   verbatim  end
    pitzDaily  2      binary  0      no          yes   no    namespace  verbatim  end
    pitzDaily  4      ascii   1      yes         no    yes   redirect   verbatim  live
    pitzDaily  4      ascii   2      yes         yes   no    path       collated  live
    damBreak   serial ascii   2      yes         no    yes   namespace  verbatim  end
    damBreak   2      ascii   0      no          no    no    redirect   verbatim  end
    damBreak   4      binary  0      no          yes   no    namespace  collated  live
    damBreak   4      binary  1      no          no    yes   namespace  collated  end
    movingCone 4      binary  0      no          no    no    redirect   collated  live
    motorBike  2      binary  1      no          yes   no    redirect   collated  live
    motorBike  4      ascii   0      yes         no    yes   namespace  verbatim  end
    motorBike  1      binary  0      no          yes   no    path       verbatim  live

"serial" is `forebay run -- icoFoam`, ranks 1 is `mpirun -n 1 icoFoam`. OpenFOAM compresses ascii only. Steps are
written one by one. "edit": the solver itself replaces system/fvSolution at a given time (timeActivatedFileUpdate);
reading it anew stops it until the test has edited system/controlDict on the shared side (every fourth step is to be
written from then on), so that both runs meet that edit at the same step. movingCone is there for its mesh, which moves:
each of its times has points of its own.

Compared is all that ../parity compares, in the local tree as the last rank sees it and on the case, but for what
docs/run/limits.md allows; the solver's log goes to the test, not into the case. With layout collated, where files lie
differently by request, both cases are also reconstructed by OpenFOAM's own reconstructPar, with the default file handler
and no flag, and compared again. These solvers do all alike each time, so one direct run is enough.
"""

import contextlib
import os
import re
import sys
import threading
import time
import unittest
from typing import NamedTuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "parity"))
import oracle  # noqa: E402
from oracle import casetools  # noqa: E402

FOREBAY = ""
SOLVERS = {
    "cavity": "icoFoam",
    "pitzDaily": "simpleFoam",
    "damBreak": "interFoam",
    "movingCone": "pimpleFoam",
    "motorBike": "simpleFoam",
}
STEPS = 6
LAST_AFTER_EDIT = 4  # of these steps the last one that is written when every so many are
LONG_AGO = time.time() - 1000  # OpenFOAM takes a dictionary for edited when it is more than ten seconds newer


class Run(NamedTuple):
    case: str
    ranks: object
    format: str
    purge: int
    compressed: bool
    post: bool
    edit: bool
    way: str
    layout: str
    when: str

    def name(self):
        words = [self.case, str(self.ranks), self.format, f"purge{self.purge}"]
        words += [word for word in ("compressed", "post", "edit") if getattr(self, word)]
        return "_".join(words + [self.way, self.layout, self.when])


RUNS = [
    Run("cavity", "serial", "binary", 0, False, True, False, "redirect", "verbatim", "live"),
    Run("cavity", 4, "ascii", 2, True, False, False, "namespace", "verbatim", "live"),
    Run("cavity", 2, "ascii", 0, True, True, True, "path", "verbatim", "end"),
    Run("cavity", 2, "binary", 2, False, True, False, "redirect", "collated", "end"),
    Run("cavity", 1, "ascii", 0, True, False, True, "redirect", "verbatim", "end"),
    Run("pitzDaily", 1, "binary", 1, False, True, False, "redirect", "verbatim", "end"),
    Run("pitzDaily", 2, "binary", 0, False, True, False, "namespace", "verbatim", "end"),
    Run("pitzDaily", 4, "ascii", 1, True, False, True, "redirect", "verbatim", "live"),
    Run("pitzDaily", 4, "ascii", 2, True, True, False, "path", "collated", "live"),
    Run("damBreak", "serial", "ascii", 2, True, False, True, "namespace", "verbatim", "end"),
    Run("damBreak", 2, "ascii", 0, False, False, False, "redirect", "verbatim", "end"),
    Run("damBreak", 4, "binary", 0, False, True, False, "namespace", "collated", "live"),
    Run("damBreak", 4, "binary", 1, False, False, True, "namespace", "collated", "end"),
    Run("movingCone", 4, "binary", 0, False, False, False, "redirect", "collated", "live"),
    Run("motorBike", 2, "binary", 1, False, True, False, "redirect", "collated", "live"),
    Run("motorBike", 4, "ascii", 0, True, False, True, "namespace", "verbatim", "end"),
    Run("motorBike", 1, "binary", 0, False, True, False, "path", "verbatim", "live"),
]


def prepare_edit(case, gate):
    """Lets the solver itself replace fvSolution at its second step by one that includes the pipe `gate`."""
    delta = float(casetools.control_entry(case, "deltaT"))
    solution = os.path.join(case, "system", "fvSolution")
    with open(solution) as file:
        text = file.read()
    with open(solution + ".edited", "w") as file:
        file.write(text + f'\n#include "{gate}"\n')
    with open(os.path.join(case, "system", "controlDict"), "a") as file:
        file.write(
            "\nfunctions { update { type timeActivatedFileUpdate; libs (utilityFunctionObjects);"
            f' fileToUpdate "<system>/fvSolution"; timeVsFile (({2 * delta} "<system>/fvSolution.edited")); }} }}\n'
        )
    for name in os.listdir(os.path.join(case, "system")):
        os.utime(os.path.join(case, "system", name), (LONG_AGO, LONG_AGO))


def edit_at_gate(case, gate, interval):
    """On the shared side, while the solver waits at the gate: what a user does with an editor that writes a new file
    and renames it."""
    descriptor = os.open(gate, os.O_WRONLY)  # until the solver has opened it for reading
    control = os.path.join(case, "system", "controlDict")
    with open(control) as file:
        text = file.read()
    with open(control + "~", "w") as file:
        file.write(re.sub(r"(?m)^writeInterval\s.*$", f"writeInterval {interval};", text))
    os.rename(control + "~", control)
    os.write(descriptor, b"// go on\n")
    os.close(descriptor)


def written_times(case):
    rank = os.path.join(case, "processor0")
    names = os.listdir(rank if os.path.isdir(rank) else case)
    return sorted(float(name) for name in names if re.fullmatch(r"[\d.e-]+", name))


class SolverTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = casetools.Workplace("equivalence")
        self.addCleanup(self.place.remove)

    @contextlib.contextmanager
    def editor(self, case):
        """Beside a run: who edits the case when the solver has come to the gate."""
        gate = os.path.join(self.place.directory, "gate")
        if os.path.exists(gate):
            os.remove(gate)
        os.mkfifo(gate)
        editor = threading.Thread(target=edit_at_gate, args=(case, gate, LAST_AFTER_EDIT), daemon=True)
        editor.start()
        yield
        editor.join(30)
        self.assertFalse(editor.is_alive(), "the solver never read the dictionary that it had replaced")
        os.remove(gate)
        open(gate, "w").close()  # later tools read the dictionary too

    def check(self, run):
        if run.way == "namespace" and not casetools.namespaces_work():
            self.skipTest("namespaces do not work here")
        made = os.path.join(self.place.directory, "made")
        options = ["--format", run.format, "--purge", str(run.purge), "--steps", str(STEPS)]
        options += ["--compression", "on" if run.compressed else "off"] + (["--post"] if run.post else [])
        casetools.make_case(run.case, made, "--ranks", str(1 if run.ranks == "serial" else run.ranks), *options)
        if run.edit:
            prepare_edit(made, os.path.join(self.place.directory, "gate"))
        os.mkdir(os.path.join(self.place.directory, "judged"))
        judge = oracle.Oracle(os.path.join(self.place.directory, "judged"), self.place.pool, FOREBAY)
        judge.start_from(made)
        words = [SOLVERS[run.case]]
        if run.ranks != "serial":
            words = ["mpirun", "-n", str(run.ranks), *words] + (["-parallel"] if run.ranks > 1 else [])
        editor = self.editor if run.edit else None
        (direct,) = judge.run_directly(words, times=1, around=editor)
        self.assertEqual(direct.status, 0, direct.errors)
        self.assert_as_asked(run, direct.case)
        settings = oracle.Settings(run.way, run.layout, run.when, ("--set", "drain.settle=200ms"))
        verdict = judge.run_under_forebay(words, settings, around=editor)
        self.assertEqual(verdict.lines(), [])
        if run.layout == "collated":
            self.assert_collated(run, verdict.run.case)
            self.assertEqual(judge.continued(verdict, ["reconstructPar"], settings).lines(), [])

    def assert_as_asked(self, run, case):
        last = LAST_AFTER_EDIT if run.edit else STEPS  # whatever was purged tells whether the edit came through
        self.assertAlmostEqual(written_times(case)[-1], last * float(casetools.control_entry(case, "deltaT")))
        compressed = any(name.endswith(".gz") for _, _, names in os.walk(case) for name in names)
        self.assertEqual(compressed, run.compressed)

    def assert_collated(self, run, case):
        groups = [name for name in os.listdir(case) if name.startswith("processors")]
        self.assertTrue(groups, "nothing was collated")
        if run.case == "movingCone":
            for name in os.listdir(os.path.join(case, groups[0])):
                points = os.path.join(case, groups[0], name, "polyMesh", "points")
                self.assertTrue(os.path.exists(points), points)


def add(run):
    setattr(SolverTest, "test_" + run.name(), lambda self: self.check(run))


for each in RUNS:
    add(each)

if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    casetools.need_openfoam()
    unittest.main(verbosity=2)
