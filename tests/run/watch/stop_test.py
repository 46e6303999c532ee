"""`forebay stop` lets an OpenFOAM program end well, from any host that has the case, and the case's own controlDict stays
as it is. A program that looks for a newer controlDict stands for OpenFOAM here; solver_stop_test.py has the real one."""

import glob
import json
import os
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outputs"))
import outputcase  # noqa: E402
from outputcase import USAGE, WAYS, OutputCase  # noqa: E402

CONTROL = """application program;
stopAt endTime; // comment
runTimeModifiable yes;
functions { a { stopAt b; } }
// ***"""
# As OpenFOAM does: a file that is more than 10 s newer is read again, and the last entry counts. Whatever is in the
# dictionary "before" is what the program does first, and "after" what it does when it was told to end.
PROGRAM = r"""
import os, re, sys, time
path = "system/controlDict"
{before}
old = os.stat(path).st_mtime
open("begun", "w").close()
while os.stat(path).st_mtime <= old + 10:
    time.sleep(0.02)
text = open(path).read()
told = re.findall(r"^stopAt +(\w+);", text, re.M)
{after}
open("told", "w").write(told[-1])
"""


class Stopped(OutputCase):
    def openfoam_case(self, name, control=CONTROL):
        case = self.case(name)
        os.mkdir(os.path.join(case, "system"))
        with open(os.path.join(case, "system", "controlDict"), "w") as file:
            file.write(control)
        return case

    def begin(self, way, before="", after="", control=CONTROL, name=None, options=()):
        case = self.openfoam_case(name or way, control)
        program = os.path.join(self.directory, f"program-{name or way}.py")
        with open(program, "w") as file:
            file.write(PROGRAM.format(before=before, after=after))
        # 1 s: what the program itself wrote is carried soon.
        options = ("--set", "drain.settle=1s", *options)
        return case, self.start(self.line(way, f"exec python3 {program}", *options), case)

    def await_file(self, process, *path):
        ends = time.monotonic() + 60
        while not os.path.exists(os.path.join(*path)):
            self.assertIsNone(process.poll(), "the run has ended")
            self.assertLess(time.monotonic(), ends)
            time.sleep(0.05)

    def stop(self, case, *options, prefix=()):
        return subprocess.Popen(
            [*prefix, outputcase.FOREBAY, "stop", "--case", case, *options],
            env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def refused(self, case, words):
        process = self.stop(case)
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, USAGE, said)
        self.assertIn(words, said)

    def control(self, case):
        return self.read(case, "system", "controlDict")

    def test_the_program_ends_and_the_case_keeps_its_control_dict(self):
        """All ways at once: what takes time is that agents look for requests every few seconds."""
        runs = {way: self.begin(way) for way in WAYS}
        for case, process in runs.values():
            self.await_file(process, case, "begun")
        stops = {way: self.stop(case, "--when", "now") for way, (case, _) in runs.items()}
        for way, (case, process) in runs.items():
            with self.subTest(way=way):
                self.assertEqual(self.finish(process), 0, self.output)
                said, _ = stops[way].communicate(timeout=60)
                self.assertEqual(stops[way].returncode, 0, said)
                self.assertIn("has ended with exit status 0", said)
                self.assertEqual(self.read(case, "told"), "writeNow")
                self.assertEqual(self.control(case), CONTROL)
                self.assertEqual(sorted(os.listdir(case)), ["begun", "system", "told"])
                self.assertEqual(os.listdir(os.path.join(case, "system")), ["controlDict"])
        self.assert_pool_is_empty()

    def test_a_host_that_has_only_the_case_may_ask(self):
        login = ("unshare", "-r", "-u", "sh", "-c", 'hostname login && exec "$@"', "sh")
        if subprocess.run([*login, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("no user namespaces")
        case, process = self.begin("redirect")
        self.await_file(process, case, "begun")
        stop = self.stop(case, "--no-wait", prefix=login)
        said, _ = stop.communicate(timeout=60)
        self.assertEqual(stop.returncode, 0, said)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertEqual(self.read(case, "told"), "nextWrite")
        self.assertEqual(self.control(case), CONTROL)

    def test_what_the_program_itself_wrote_is_on_the_case(self):
        """Before it was asked to end, and then: the second with its own stopAt, which is said."""
        own = 'open(path, "a").write("\\nown 1;\\n")'
        rewritten = 'open(path, "w").write(text)'
        before, wrote_before = self.begin("redirect", before=own, name="before")
        after, wrote_after = self.begin("namespace", after=rewritten, name="after")
        stops = []
        for case, process in ((before, wrote_before), (after, wrote_after)):
            self.await_file(process, case, "begun")
            stops.append(self.stop(case))
        self.assertEqual(self.finish(wrote_before), 0, self.output)
        self.assertEqual(self.control(before), CONTROL + "\nown 1;\n")
        self.assertEqual(self.finish(wrote_after), 0, self.output)
        self.assertIn("stopAt nextWrite;", self.control(after))
        for stop in stops:
            self.assertEqual(stop.wait(60), 0, stop.communicate())
        self.assert_pool_is_empty()

    def test_an_edit_of_the_case_does_not_take_it_back_without_a_word(self):
        """The program looks again later, as OpenFOAM does before it writes."""
        later = "time.sleep(5)\ntold = re.findall(r'^stopAt +(\\w+);', open(path).read(), re.M)"
        edited = CONTROL + "\nwriteInterval 7;\n"
        reports = {way: os.path.join(self.directory, f"report-{way}") for way in WAYS}
        runs = {way: self.begin(way, after=later, options=("--json", reports[way])) for way in WAYS}
        stops = {}
        for way, (case, process) in runs.items():
            self.await_file(process, case, "begun")
            stops[way] = self.stop(case)
        for way, (case, _) in runs.items():
            self.assertIn("is asked to end", stops[way].stdout.readline())
            with open(os.path.join(case, "system", "edited"), "w") as file:
                file.write(edited)
            os.replace(os.path.join(case, "system", "edited"), os.path.join(case, "system", "controlDict"))
        for way, (case, process) in runs.items():
            with self.subTest(way=way):
                self.assertEqual(self.finish(process), 0, self.output)
                self.assertEqual(self.read(case, "told"), "nextWrite")
                self.assertEqual(self.control(case), edited)
                self.assertEqual(stops[way].wait(60), 0)
                stops[way].stdout.close()
                with open(reports[way]) as file:
                    self.assertIn("controlDict has changed on the case", " ".join(json.load(file)["notices"]))

    def test_after_a_kill_the_case_keeps_its_control_dict(self):
        case, process = self.begin("redirect", after="open('told', 'w').close(); time.sleep(60)")
        self.await_file(process, case, "begun")
        stop = self.stop(case)
        self.await_file(process, case, "told")
        self.kill_all(process)
        said, _ = stop.communicate(timeout=60)
        self.assertNotEqual(stop.returncode, 0, said)  # it names the case, too, and so was killed
        self.assertIn("its program is asked to end", said)
        self.assertEqual(self.forebay("drain", "--resume", "--case", case), 0, self.output)
        self.assertEqual(self.control(case), CONTROL)
        self.assertEqual(glob.glob(os.path.join(case, "**", "*.forebay-*"), recursive=True), [])

    def test_the_exit_status_of_the_run_is_told(self):
        case, process = self.begin("namespace", after="sys.exit(9)")
        self.await_file(process, case, "begun")
        stop = self.stop(case)
        self.assertEqual(self.finish(process), 9, self.output)
        said, _ = stop.communicate(timeout=60)
        self.assertEqual(stop.returncode, 9, said)
        self.assertIn("exit status 9", said)

    def test_where_nothing_would_obey_it_is_refused(self):
        off = CONTROL.replace("runTimeModifiable yes", "runTimeModifiable no")
        case, process = self.begin("path", control=off)
        self.await_file(process, case, "begun")
        self.refused(case, "runTimeModifiable is no (line 3)")
        self.assertEqual(self.control(case), off)
        self.kill_all(process)
        self.refused(case, "is not alive")
        self.assertEqual(self.forebay("drain", "--resume", "--case", case), 0, self.output)
        self.refused(case, "no run of forebay works on this case")
        other = self.case("other")
        process = self.start(self.line("redirect", "touch begun; sleep 60", "--set", "drain.settle=0s"), other)
        self.await_file(process, other, "begun")
        self.refused(other, "none of OpenFOAM")
        self.kill_all(process)
        self.refused(os.path.join(self.directory, "nowhere"), "no such case")


if __name__ == "__main__":
    outputcase.main()
