"""OpenFOAM's own stop file (the function object `abort`) and an edited controlDict end a solver, by each way in: without them it
would go on for hours."""

import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "equivalence"))
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outputs"))
import casetools  # noqa: E402
import outputcase  # noqa: E402
from outputcase import WAYS  # noqa: E402

STOP = """
functions
{
    stop
    {
        type abort;
        libs ("libutilityFunctionObjects.so");
        file "$FOAM_CASE/STOP";
        action writeNow;
    }
}
"""


class Solver(outputcase.OutputCase):
    def environment(self):
        return casetools.environment(FOREBAY_CONFIG="")

    def test_the_solver_ends(self):
        made = os.path.join(self.directory, "cavity")
        casetools.make_case("cavity", made, "--ranks", "1", "--interval", "2000", "--steps", "1")
        for key, value in (("endTime", "1000"), ("deltaT", "1e-5")):
            casetools.set_control(made, key, value)
        casetools.set_control(made, "runTimeModifiable", "yes")
        with open(os.path.join(made, "system", "controlDict"), "a") as control:
            control.write(STOP)
        runs = {}
        for way, by in (*((way, "STOP") for way in WAYS), ("path", "endTime")):
            case = os.path.join(self.directory, f"{way}-{by}")
            casetools.copy_case(made, case)
            # OpenFOAM takes a file for changed when it is 10 s newer (fileModificationSkew).
            os.utime(os.path.join(case, "system", "controlDict"), (1e9, 1e9))
            options = ["--copy", "system/*"] if by == "endTime" else []
            words = [outputcase.FOREBAY, "run", "--pool", self.pool, "--via", way, *options, "--", "icoFoam"]
            with open(case + ".log", "w") as log:
                process = subprocess.Popen(words, cwd=case, env=self.environment(), stdout=log, stderr=log)
            self.addCleanup(self.kill_all, process)
            runs[way, by] = case, process
        for (_, by), (case, _) in runs.items():
            self.assertTrue(casetools.wait_for(lambda case=case: "0.02" in os.listdir(case)), os.listdir(case))
            if by == "STOP":
                with open(os.path.join(case, "STOP"), "w"):
                    pass
            else:
                casetools.set_control(case, "endTime", "1e-5")
        for (way, by), (case, process) in runs.items():
            with self.subTest(way=way, by=by):
                status = process.wait(60)
                log = self.read(case + ".log")
                self.assertEqual(status, 0, log[-2000:])
                self.assertRegex(log, r"\nEnd\n")
                self.assertNotIn("STOP", os.listdir(case))
        self.assert_pool_is_empty()


if __name__ == "__main__":
    casetools.need_openfoam()
    outputcase.main()
