"""What docs/run/watch.md tells to type beside a running case does what the page says, with OpenFOAM's own tools."""

import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "equivalence"), os.path.join(HERE, "..", "outputs")]
import casetools  # noqa: E402
import outputcase  # noqa: E402

PAGE = os.path.join(HERE, "../../../docs/run/watch.md")
ALLRUN = """#!/bin/sh
mpirun --mca mpi_yield_when_idle 1 -n 2 icoFoam -parallel > log.simpleFoam || exit
while [ -e lock ]; do sleep 0.1; done
"""
STOP = """
functions { stop { type abort; libs ("libutilityFunctionObjects.so"); file "$FOAM_CASE/STOP"; action writeNow; } }
"""
# Those of forebay itself are run by commands/documents, and by other tests here.
TYPED = {
    "tail -F log.simpleFoam",
    "foamListTimes -processor",
    "reconstructPar -newTimes",
    "touch STOP",
    "rm lock",
    "vi system/controlDict",
}


class Typed(outputcase.OutputCase):
    def environment(self):
        return casetools.environment(FOREBAY_CONFIG="")

    def make(self):
        case = os.path.join(self.directory, "case")
        casetools.make_case("cavity", case, "--ranks", "2", "--interval", "150", "--steps", "1")
        for key, value in (("endTime", "1000"), ("deltaT", "1e-5"), ("runTimeModifiable", "yes")):
            casetools.set_control(case, key, value)
        control = os.path.join(case, "system", "controlDict")
        with open(control, "a") as file:
            file.write(STOP)
        os.utime(control, (1e9, 1e9))  # OpenFOAM takes a file for changed when it is 10 s newer
        for name, text in (("Allrun", ALLRUN), ("lock", "")):
            with open(os.path.join(case, name), "w") as file:
                file.write(text)
        os.chmod(os.path.join(case, "Allrun"), 0o755)
        return case

    def type(self, words):
        self.assertIn(words, TYPED)
        done = subprocess.run(
            words.split(), cwd=self.case_, env={**self.environment(), "PWD": self.case_}, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout[-2000:]}{done.stderr}")
        return done.stdout

    def wait_until(self, condition, what):
        ends = time.monotonic() + 60
        while not (found := condition()):
            self.assertIsNone(self.process.poll(), "the run has ended")
            self.assertLess(time.monotonic(), ends, what)
            time.sleep(0.1)
        return found

    def in_log(self, words):
        try:
            return words in self.read(self.case_, "log.simpleFoam")
        except FileNotFoundError:
            return False

    def test_the_page_names_no_other_commands(self):
        with open(PAGE) as file:
            lines = re.findall(r"^    (\w.*?)(?: +#.*)?$", file.read(), re.M)
        self.assertEqual({line for line in lines if not line.startswith(("forebay", "job on", "grows "))}, TYPED)

    def test_what_is_typed_beside_a_running_case(self):
        self.case_ = self.make()
        words = ["run", "-q", "--pool", self.pool, "--set", "drain.refresh=1s", "--", "./Allrun"]
        self.process = self.start([outputcase.FOREBAY, *words], self.case_)
        self.addCleanup(lambda: self.process.poll() is None and self.kill_run(self.process))
        followed = os.path.join(self.directory, "followed")
        with open(followed, "w") as out:
            tail = subprocess.Popen(
                ["tail", "-n", "+1", "-F", "log.simpleFoam"], cwd=self.case_, stdout=out, stderr=subprocess.DEVNULL
            )
        self.addCleanup(tail.wait)
        self.addCleanup(tail.kill)
        reconstructed = 0
        for _ in range(2):
            times = self.wait_until(
                lambda: len(found := self.listed()) > reconstructed and found,  # noqa: B023
                "times are listed",
            )
            self.type("reconstructPar -newTimes")
            for name in times:
                self.assertTrue(os.path.exists(os.path.join(self.case_, name, "U")), name)
            reconstructed = len(times)
        self.wait_until(lambda: "Courant Number" in self.read(followed), "tail has followed")
        casetools.set_control(self.case_, "writePrecision", "7")  # as with an editor
        self.wait_until(lambda: self.in_log("Re-reading object controlDict"), "the edited controlDict is read")
        self.type("touch STOP")
        self.wait_until(lambda: self.in_log("\nEnd\n"), "the solver ends")
        self.wait_until(lambda: "STOP" not in os.listdir(self.case_), "the stop file goes")
        self.type("rm lock")
        self.assertEqual(self.finish(self.process), 0, self.output)
        log = self.read(self.case_, "log.simpleFoam")
        self.assertTrue(casetools.wait_for(lambda: self.read(followed) == log, 10), "tail has followed to the end")
        self.assertEqual(self.listed()[-1], re.findall(r"^Time = (\S+)$", log, re.M)[-1])
        self.assertEqual(casetools.leftovers(self.case_, self.pool), [])

    def listed(self):
        return re.findall(r"(?m)^(?!0$)[0-9.e-]+$", self.type("foamListTimes -processor"))


if __name__ == "__main__":
    casetools.need_openfoam()
    outputcase.main()
