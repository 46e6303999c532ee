"""Proves: "an undecomposed case runs in one tree: decomposePar, blockMesh, snappyHexMesh and serial solvers work under
`forebay run` too", with the same results as direct runs; so does a whole script that calls them, and a parallel run
that follows, which "finds their results local". And: "A restart from a drained time gives bit-identical fields to an uninterrupted run, in both layouts."

Compared is what ../parity compares, on the case, but for what docs/run/limits.md allows. Of the tools' logs (log.*) the lines
with times, process, host and case do not count, and in restarts uniform/cumulativeContErr does not, which OpenFOAM itself writes with six digits, so that every restart, direct ones too, goes on from a rounded value.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "parity"))
import ballcase  # noqa: E402
import oracle  # noqa: E402
from oracle import casetools  # noqa: E402

FOREBAY = ""
TIMES = re.compile(rb"Date|Time  |PID|Host|Case|Exec|ExecutionTime|ClockTime|[0-9.e-]+ s\b|seconds")
ALLRUN = """#!/bin/sh
cd "${0%/*}" || exit 1
tool() { name=$1; echo "running $name"; "$@" > "log.$name" 2>&1 || { cat "log.$name"; exit 1; }; }
tool blockMesh
tool snappyHexMesh -overwrite
rm -rf 0
cp -r 0.orig 0
tool decomposePar
mkdir -p notes
date > /dev/null && echo "made $(ls -d processor* | wc -l) parts" | tee notes/parts
"""

OTHER_CASES = (
    ("redirect", "live", "damBreak", "interFoam"),
    ("redirect", "live", "movingCone", "pimpleFoam"),
    ("path", "end", "motorBike", "simpleFoam"),
)


def what_counts(name, data):
    """Of a file's content, so that two runs at two times and places can be compared."""
    if name.startswith("log."):
        return b"".join(line for line in data.splitlines(True) if not TIMES.search(line))
    return data


class ToolsTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = casetools.Workplace("tools")
        self.addCleanup(self.place.remove)

    def forebay(self, case, way, *words, options=()):
        return casetools.run(
            [
                FOREBAY,
                "run",
                "--quiet",
                "--case",
                case,
                "--pool",
                self.place.pool,
                "--via",
                way,
                *options,
                "--",
                *words,
            ],
            cwd=case,
        )

    def two(self, made):
        cases = []
        for side in ("direct", "forebay"):
            os.makedirs(os.path.join(self.place.directory, side), exist_ok=True)
            cases.append(os.path.join(self.place.directory, side, os.path.basename(made)))
            subprocess.run(["rm", "-rf", cases[-1]], check=True)
            casetools.copy_case(made, cases[-1])
        self.judge = self.oracle(made, content_of=what_counts)
        return cases

    def oracle(self, made, **more):
        directory = tempfile.mkdtemp(dir=self.place.directory)
        judge = oracle.Oracle(directory, self.place.pool, FOREBAY, **more)
        judge.start_from(made)
        return judge

    def equal(self, direct, forebay, way, what):
        # reconstructPar copies files in the order in which their directory lists them.
        settings = oracle.Settings(way, ordered=False)
        self.assertEqual(self.judge.compare_cases(direct, forebay, settings).lines(), [], what)

    def ways(self):
        return ["redirect", "path"] + (["namespace"] if casetools.namespaces_work() else [])

    def test_each_tool_by_each_way(self):
        """blockMesh, setFields, decomposePar, a parallel solver, reconstructPar, one after the other."""
        made = os.path.join(self.place.directory, "damBreak")
        casetools.make_case("damBreak", made, "--ranks", "2", "--steps", "3")
        subprocess.run(f"rm -rf {made}/processor* {made}/constant/polyMesh", shell=True, check=True)
        steps = [
            ["blockMesh"],
            ["setFields"],
            ["decomposePar"],
            ["mpirun", "-n", "2", "interFoam", "-parallel"],
            ["reconstructPar"],
            ["decomposePar", "-force"],
        ]
        for way in casetools.drawn(self.ways(), "each tool"):
            direct, forebay = self.two(made)
            for words in steps:
                with self.subTest(way=way, words=words):
                    casetools.run(words, cwd=direct)
                    self.forebay(forebay, way, *words)
                    self.equal(direct, forebay, way, words)

    def test_a_whole_script_and_a_parallel_run_after_it(self):
        made = os.path.join(self.place.directory, "cavity")
        ballcase.make(made)
        with open(os.path.join(made, "Allrun"), "w") as file:
            file.write(ALLRUN)
        os.chmod(os.path.join(made, "Allrun"), 0o755)
        # A script that leaves for its own directory by its path belongs to the other ways.
        for way in casetools.drawn([way for way in self.ways() if way != "path"], "a whole script"):
            with self.subTest(way):
                direct, forebay = self.two(made)
                casetools.run(["./Allrun"], cwd=direct)
                self.forebay(forebay, way, "./Allrun")
                self.equal(direct, forebay, way, "Allrun")
                self.assertTrue(os.path.isdir(os.path.join(forebay, "processor1", "constant", "polyMesh")))
                words = ["mpirun", "-n", "2", "icoFoam", "-parallel"]
                casetools.run(words, cwd=direct)
                self.forebay(forebay, way, *words)
                self.equal(direct, forebay, way, "the run after Allrun")

    def test_a_script_that_starts_the_ranks_itself(self):
        made = os.path.join(self.place.directory, "cavity")
        casetools.make_case("cavity", made, "--ranks", "2", "--steps", "3")
        script = (
            "mpirun -n 2 icoFoam -parallel > log.icoFoam && reconstructPar > log.reconstructPar && rm -r processor1"
        )
        for way in casetools.drawn(self.ways(), "a script of ranks"):
            with self.subTest(way):
                direct, forebay = self.two(made)
                casetools.run(["sh", "-c", script], cwd=direct)
                self.forebay(forebay, way, "sh", "-c", script)
                self.equal(direct, forebay, way, script)

    def test_a_parallel_run_finds_what_decomposePar_made_local(self):
        """Where reading a file marks its time of access, the case's mesh must not bear such a mark afterwards."""
        made = os.path.join(self.place.directory, "cavity")
        casetools.make_case("cavity", made, "--ranks", "2", "--steps", "3")
        subprocess.run(f"rm -rf {made}/processor*", shell=True, check=True)
        for way in casetools.drawn(self.ways(), "decomposePar"):
            with self.subTest(way):
                direct, forebay = self.two(made)
                words = ["mpirun", "-n", "2", "icoFoam", "-parallel"]
                for each in (["decomposePar"], words):
                    casetools.run(each, cwd=direct)
                self.forebay(forebay, way, "decomposePar")
                mesh = [os.path.join(forebay, f"processor{rank}", path) for rank in (0, 1)
                        for path in ("constant/polyMesh/faces", "constant/polyMesh/owner", "0/U")]  # fmt: skip
                accessed = [os.stat(path).st_atime_ns for path in mesh]
                report = os.path.join(self.place.directory, "report.json")
                self.forebay(forebay, way, *words, options=["--json", report])
                with open(report) as file:
                    self.assertIn("in the pool already", file.read())
                self.assertEqual([os.stat(path).st_atime_ns for path in mesh], accessed)
                self.equal(direct, forebay, way, words)
                with open(mesh[0], "rb") as file:
                    file.read()
                if os.stat(mesh[0]).st_atime_ns == accessed[0]:
                    print("(this file system does not mark reads)", end=" ")

    def test_what_was_edited_on_the_case_meanwhile_is_not_taken_from_the_pool(self):
        made = os.path.join(self.place.directory, "cavity")
        casetools.make_case("cavity", made, "--ranks", "2", "--steps", "3", "--format", "ascii")
        subprocess.run(f"rm -rf {made}/processor*", shell=True, check=True)
        direct, forebay = self.two(made)
        words = ["mpirun", "-n", "2", "icoFoam", "-parallel"]
        casetools.run(["decomposePar"], cwd=direct)
        self.forebay(forebay, "redirect", "decomposePar")
        for case in (direct, forebay):
            subprocess.run(["sed", "-i", "s/uniform (1 0 0)/uniform (2 0 0)/", *(f"{case}/processor{r}/0/U" for r in (0, 1))],
                           check=True)  # fmt: skip
        casetools.run(words, cwd=direct)
        self.forebay(forebay, "redirect", *words)
        self.equal(direct, forebay, "redirect", "after the edit")

    def test_clean_removes_what_was_kept_for_a_next_run(self):
        made = os.path.join(self.place.directory, "cavity")
        casetools.make_case("cavity", made, "--ranks", "2", "--steps", "3")
        subprocess.run(f"rm -rf {made}/processor*", shell=True, check=True)
        report = os.path.join(self.place.directory, "report.json")
        self.forebay(made, "redirect", "decomposePar", options=["--json", report])
        self.assertNotEqual(casetools.kept_warm(self.place.pool), [])
        with open(report) as file:
            report = json.load(file)
        self.assertEqual(report["messages"], [], "nothing is asked for")
        made_here = [os.path.join(at, name) for at, _, names in os.walk(made) if "/processor" in at for name in names]
        written = {"files": len(made_here), "bytes": sum(map(os.path.getsize, made_here))}
        self.assertEqual(report["local"], {**written, "unseen_times": 0, "at_least": False})
        (kept,) = (re.match(r"(\d+ files \(.*?\)) of the processor directories", each)[1] for each in report["notices"])
        # Status and clean name what there is alike, with the case and without.
        of_case, pool = ["--case", made], ["--pool", self.place.pool]
        for more in (of_case, []):
            told = casetools.run([FOREBAY, "status", *pool, *more], cwd=self.place.directory).stdout.decode()
            self.assertIn(f"kept for the next run: {kept} of {made}, in ", told)
            self.assertIn("no run of forebay has anything else", told)
        removed = casetools.run([FOREBAY, "clean", "--yes", *of_case, *pool], cwd=self.place.directory).stdout.decode()
        self.assertIn(f"kept for the next run: {kept} of {made}, in ", removed)
        self.assertEqual(casetools.kept_warm(self.place.pool), [])
        told = casetools.run([FOREBAY, "status", *pool], cwd=self.place.directory).stdout.decode()
        self.assertIn("no run of forebay has anything in this node's pools", told)
        self.assertNotIn("kept", told)

    def restart(self, layout, way, drain, name="pitzDaily", solver="simpleFoam", as_a_direct_restart=False):
        """From the half of a run, compared with an uninterrupted direct run, or with one that stopped there, too."""
        ranks, steps = 4, 6
        made = os.path.join(self.place.directory, name)
        if not os.path.isdir(made):
            casetools.make_case(name, made, "--ranks", str(ranks), "--steps", str(steps))
        last = casetools.control_entry(made, "endTime")
        half = f"{float(last) / 2:g}"
        direct, forebay = self.two(made)
        words = ["mpirun", "-n", str(ranks), solver, "-parallel"]

        def by_forebay():
            self.forebay(forebay, way, *words, options=["--layout", layout, "--drain-when", drain])

        def by_halves(case, run):
            casetools.set_control(case, "endTime", half)
            run()
            casetools.set_control(case, "startFrom", "latestTime")
            casetools.set_control(case, "endTime", last)
            self.assertEqual(
                os.path.isdir(os.path.join(case, "processor0", half)), case == direct or layout == "verbatim"
            )
            run()

        by_halves(forebay, by_forebay)
        if as_a_direct_restart:
            by_halves(direct, lambda: casetools.run(words, cwd=direct))
        else:
            casetools.run(words, cwd=direct)
        roots = [f"processor{rank}" for rank in range(ranks)]
        if layout == "collated":
            roots = [""]
            for case in (direct, forebay):
                casetools.run(["reconstructPar", "-time", last], cwd=case)
        for root in roots:
            times = [os.path.join(case, root, last) for case in (direct, forebay)]
            self.assertTrue(os.path.exists(os.path.join(times[0], "U")))
            judge = self.oracle(made, unlike=("cumulativeContErr",))
            self.assertEqual(judge.compare_cases(*times, oracle.Settings(way, layout, drain)).lines(), [])

    def test_a_restart_from_a_drained_time_verbatim(self):
        for way, when in casetools.drawn([("redirect", "live"), ("path", "end")], "verbatim"):
            self.restart("verbatim", way, when)

    def test_a_restart_of_other_cases_collated_is_what_a_direct_restart_is(self):
        """Of these cases OpenFOAM itself does not go on from its own files as an uninterrupted run does."""
        for way, when, case, solver in casetools.drawn(OTHER_CASES, "other cases"):
            with self.subTest(case):
                self.restart("collated", way, when, case, solver, as_a_direct_restart=True)

    def test_a_restart_from_a_drained_time_collated(self):
        namespace = [("namespace", "live")] if casetools.namespaces_work() else []
        for way, when in casetools.drawn([("redirect", "end"), *namespace], "collated"):
            self.restart("collated", way, when)


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    casetools.need_openfoam()
    unittest.main(verbosity=2)
