"""OpenFOAM itself ends well by `forebay stop`: serial, on ranks, collated, by each way in. The last time is whole, and the
case's controlDict is the one that was there."""

import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "equivalence"))
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outputs"))
import casetools  # noqa: E402
import outputcase  # noqa: E402

INTERVAL = 100
SERIAL, RANKS = ["icoFoam"], ["mpirun", "--mca", "mpi_yield_when_idle", "1", "-n", "2", "icoFoam", "-parallel"]
# Name: way in, when, the program, options of forebay.
RUNS = {
    "serial-namespace": ("namespace", "now", SERIAL, []),
    "serial-redirect": ("redirect", "next-write", SERIAL, []),
    "serial-path": ("path", "next-write", SERIAL, []),
    "ranks-namespace": ("namespace", "next-write", RANKS, []),
    "ranks-redirect": ("redirect", "now", RANKS, []),
    "ranks-path": ("path", "now", RANKS, []),
    "ranks-collated": ("redirect", "next-write", RANKS, ["--layout", "collated"]),
    "script": ("redirect", "now", ["sh", "-c", "icoFoam > log.icoFoam"], []),
}


class Solver(outputcase.OutputCase):
    def environment(self):
        return casetools.environment(FOREBAY_CONFIG="")

    def make(self, ranks):
        """Cavity, whose run would go on for hours."""
        case = os.path.join(self.directory, f"cavity-{ranks}")
        casetools.make_case("cavity", case, "--ranks", str(ranks), "--interval", str(INTERVAL), "--steps", "1")
        for key, value in (("endTime", "1000"), ("deltaT", "1e-5"), ("startFrom", "latestTime"), ("purgeWrite", "3")):
            casetools.set_control(case, key, value)
        casetools.set_control(case, "runTimeModifiable", "yes")
        return case

    def times(self, case):
        return sorted((name for name in os.listdir(case) if re.fullmatch(r"\d.*", name)), key=float)

    def files(self, time):
        return sorted(
            os.path.relpath(os.path.join(directory, name), time)
            for directory, _, names in os.walk(time)
            for name in names
        )

    def test_the_solver_ends_well(self):
        made = {ranks: self.make(ranks) for ranks in (1, 2)}
        runs = {}
        for name, (way, _, program, options) in RUNS.items():
            case = os.path.join(self.directory, name)
            casetools.copy_case(made[2 if program is RANKS else 1], case)
            words = [outputcase.FOREBAY, "run", "-q", "--pool", self.pool, "--via", way, *options, "--", *program]
            runs[name] = case, self.start(words, case)
        stops = {}
        for name, (case, _) in runs.items():
            self.assertTrue(casetools.wait_for(lambda case=case: os.path.isdir(os.path.join(case, ".forebay"))), name)
            words = [outputcase.FOREBAY, "stop", "--case", case, "--when", RUNS[name][1]]
            stops[name] = self.start(words, self.directory)
        for name, (case, process) in runs.items():
            with self.subTest(run=name):
                self.assertEqual(self.finish(process, 180), 0, self.output[-2000:])
                self.ended_well(name, case)
                said, _ = stops[name].communicate(timeout=60)
                self.assertEqual(stops[name].returncode, 0, said)
                self.assertIn("exit status 0", said)
        self.assert_pool_is_empty()

    def ended_well(self, name, case):
        _, when, program, options = RUNS[name]
        log = self.read(case, "log.icoFoam") if name == "script" else self.output
        self.assertRegex(log, r"\nEnd\n")
        control = os.path.join("system", "controlDict")
        original = os.path.join(self.directory, f"cavity-{2 if program is RANKS else 1}")
        self.assertEqual(self.read(case, control), self.read(original, control))
        self.assertEqual(os.listdir(os.path.join(case, "system")).count("controlDict"), 1)
        where = case if program is not RANKS else os.path.join(case, "processors2" if options else "processor1")
        last = self.times(where)[-1]
        self.assertLessEqual({"U", "p", "phi", "uniform/time"}, set(self.files(os.path.join(where, last))))
        for field in () if options else ("U", "p", "phi"):  # collated files have blocks instead
            with open(os.path.join(where, last, field), "rb") as file:
                self.assertRegex(file.read()[-100:], rb"// \*{20,} //\s*$", field)
        steps = round(float(last) / 1e-5)
        self.assertEqual(re.findall(r"^Time = (\S+)$", log, re.M)[-1], last)
        if when == "next-write":
            self.assertEqual(steps % INTERVAL, 0)
        self.assertEqual(casetools.leftovers(case, self.pool) if name == "script" else [], [])
        if program is SERIAL:  # what is there is a state to go on from
            direct = subprocess.run(
                ["foamListTimes", "-case", case], env=self.environment(), capture_output=True, text=True, check=False
            )
            self.assertEqual(direct.stdout.split()[-1:], [last], direct.stderr)


if __name__ == "__main__":
    casetools.need_openfoam()
    outputcase.main()
