"""What somebody puts on the case, changes or removes there is seen by the running program, by each way in; what the program
does with it reaches the case."""

import glob
import json
import os
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outputs"))
import outputcase  # noqa: E402
from outputcase import OutputCase  # noqa: E402

# Tells again and again what it sees, in a file outside the case, and does what it is told there.
PROGRAM = r"""
import json, os, sys, time
report, orders = sys.argv[1:]
def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return None
def files(root):
    found = {os.path.join(at, name) for at, _, names in os.walk(root) for name in names}
    return {os.path.relpath(path, root): read(path) for path in found}
seen = 0
done = []
while True:
    if os.path.lexists("STOP"):
        os.remove("STOP")
        seen += 1
    told = {"seen": seen, "files": files("."), "done": done, "links": {}}
    for name in os.listdir("."):
        if os.path.islink(name):
            told["links"][name] = os.readlink(name)
    with open(report + ".new", "w") as file:
        json.dump(told, file)
    os.replace(report + ".new", report)
    order = json.loads(read(orders) or "[]")
    for path, text in order[len(done):]:
        if text is None:
            sys.exit(0)
        with open(path, "w") as file:
            file.write(text)
        done.append(path)
    time.sleep(0.02)
"""
# A look a second, and time for a loaded machine.
SOON = 20


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Begun:
    """A run of the program, until end()."""

    def __init__(self, test, way, *options):
        self.test, self.given = test, []
        self.case = test.case(way, lock="", kept="kept\n")
        for directory in ("system", "constant", "settings", "elsewhere", "0"):
            os.mkdir(self.at(directory))
        write(self.at("system", "controlDict"), "endTime 10;\n")
        self.report, self.orders, self.json = (
            os.path.join(test.directory, f"{name}-{way}") for name in ("report", "orders", "json")
        )
        script = f"exec python3 {test.program} {self.report} {self.orders}"
        self.process = test.start(test.line(way, script, "--json", self.json, *options), self.case)
        test.addCleanup(lambda: self.process.poll() is None and test.kill_run(self.process))
        self.wait_until(lambda: os.path.exists(self.report))

    def at(self, *names):
        return os.path.join(self.case, *names)

    def order(self, path, text):
        """The program writes this file (text None: it ends)."""
        self.given.append([path, text])
        write(self.orders + ".new", json.dumps(self.given))
        os.replace(self.orders + ".new", self.orders)
        if text is not None:
            self.wait_until(lambda: self.told()["done"][-1:] == [path])

    def told(self):
        with open(self.report) as file:
            return json.load(file)

    def wait_until(self, condition):
        ends = time.monotonic() + SOON
        while not condition():
            self.test.assertIsNone(self.process.poll(), "the run has ended")
            self.test.assertLess(time.monotonic(), ends, "it was not seen")
            time.sleep(0.05)

    def end(self, status=0):
        self.order("", None)
        self.test.assertEqual(self.test.finish(self.process), status, self.test.output)
        with open(self.json) as file:
            return json.load(file)


class Control(OutputCase):
    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.directory, "program.py")
        write(self.program, PROGRAM)

    def messages(self, case):
        """What `status` says now."""
        said = subprocess.run(
            [outputcase.FOREBAY, "status", "--json", "--case", case, "--pool", self.pool],
            env=self.environment(), stdout=subprocess.PIPE, check=False, text=True,
        )  # fmt: skip
        runs = json.loads(said.stdout)["runs"] if said.returncode == 0 else []
        return " ".join(runs[0]["drain"]["messages"]) if runs else ""

    def test_what_is_changed_on_the_case_reaches_the_program(self):
        self.in_each_way(self.reaches)
        self.assert_pool_is_empty()

    def reaches(self, way):
        run = Begun(self, way, "--watch", "settings/")
        at = run.at

        # Each time that somebody wants it to.
        for count in (1, 2):
            write(at("STOP"), "")
            run.wait_until(lambda count=count: run.told()["seen"] >= count)
            run.wait_until(lambda: not os.path.exists(at("STOP")))
            self.assertEqual(run.told()["seen"], count)
        # As an editor writes it, and as a shell does.
        write(at("system", "edited"), "endTime 20;\n")
        os.replace(at("system", "edited"), at("system", "controlDict"))
        write(at("system", "topoSetDict"), "actions ();\n")
        os.remove(at("lock"))
        os.makedirs(at("constant", "newRegion", "polyMesh"))
        write(at("constant", "newRegion", "polyMesh", "points"), "0 0 0\n")
        os.symlink("kept", at("linked"))
        write(at("control_file"), "control_interval 1\n")
        write(at("settings", "gain"), "0.5\n")
        write(at("elsewhere", "unseen"), "\n")
        write(at("0", "unseen"), "\n")
        expected = {
            "system/controlDict": "endTime 20;\n",
            "system/topoSetDict": "actions ();\n",
            "constant/newRegion/polyMesh/points": "0 0 0\n",
            "linked": "kept\n",
            "kept": "kept\n",
            "control_file": "control_interval 1\n",
            "settings/gain": "0.5\n",
        }
        run.wait_until(lambda: run.told()["files"] == expected)
        self.assertEqual(run.told()["links"].get("linked"), "kept")
        # Once more, where it is not looked at from the beginning; and what the program makes of one.
        write(at("constant", "newRegion", "more"), "more\n")
        write(at("control_file"), "control_interval 2\n")
        os.remove(at("system", "topoSetDict"))
        os.remove(at("linked"))
        expected.update({"constant/newRegion/more": "more\n", "control_file": "control_interval 2\n"})
        del expected["system/topoSetDict"], expected["linked"]
        run.wait_until(lambda: run.told()["files"] == expected)
        run.order("control_file", "done\n")
        run.wait_until(lambda: self.read(run.case, "control_file") == "done\n")
        report = run.end()
        left = {**expected, "control_file": "done\n", "elsewhere/unseen": "\n", "0/unseen": "\n"}
        self.assertEqual(outputcase.files(run.case), left)
        told = " ".join(report["messages"])
        for name in ("control_file", "newRegion", "STOP", "gain"):
            self.assertNotIn(name, told)

    def test_where_both_made_or_changed_a_name_both_versions_stay_and_it_is_told_at_once(self):
        self.in_each_way(self.conflicts)

    def conflicts(self, way):
        run = Begun(self, way, "--drain-when", "end", "--copy", "system/*")
        case = run.case
        for name in ("both", "system/controlDict"):
            run.order(name, "the program's\n")
            write(os.path.join(case, name), "somebody's\n")
        names = ("both", "controlDict")
        run.wait_until(lambda: all(name in self.messages(case) for name in names))
        run.end(outputcase.CONFLICT)
        for name in ("both", "system/controlDict"):
            self.assertEqual(self.read(case, name), "somebody's\n")
            beside = glob.glob(os.path.join(case, name + ".forebay-*"))
            self.assertEqual([self.read(path) for path in beside], ["the program's\n"])

    def test_after_a_kill_what_was_shown_is_no_output(self):
        self.in_each_way(self.is_no_output)
        self.assert_pool_is_empty()

    def is_no_output(self, way):
        run = Begun(self, way)
        case = run.case
        write(os.path.join(case, "system", "topoSetDict"), "actions ();\n")
        os.makedirs(os.path.join(case, "constant", "new"))
        write(os.path.join(case, "constant", "new", "file"), "new\n")
        os.remove(os.path.join(case, "lock"))
        shown = ("system/topoSetDict", "constant/new/file")
        run.wait_until(lambda: set(shown) <= set(run.told()["files"]) and "lock" not in run.told()["files"])
        identities = [os.stat(os.path.join(case, name)) for name in shown]
        self.kill_run(run.process)
        self.assertEqual(self.forebay("drain", "--resume", "--case", case), 0, self.output)
        self.assertEqual([os.stat(os.path.join(case, name)).st_ino for name in shown], [i.st_ino for i in identities])
        left = {"kept": "kept\n", "system/controlDict": "endTime 10;\n", "system/topoSetDict": "actions ();\n"}
        self.assertEqual(outputcase.files(case), {**left, "constant/new/file": "new\n"})
        self.assertNotIn("changed", self.output)


if __name__ == "__main__":
    outputcase.main()
