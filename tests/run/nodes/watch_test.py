"""Who looks at the case of a run over several nodes while it works: the logs of all ranks grow there, times are whole for
the ranks of all nodes, what somebody puts there is seen on every node, and `status` tells from any of them where the whole
job stands.

watch_test.py FOREBAY [unittest arguments]
"""

import json
import os
import re
import sys
import time
import unittest

from cluster import Lab, common_times, parallel, times_of, wait_for

FOREBAY = ""
RANKS = 4
REFRESH = 1.0  # seconds
FILES = ("U", "p", "uniform/time")
# Each rank writes a log, a history and times, tells what it sees of the case, and goes on until it is told to end. The
# first removes the stop file, as OpenFOAM's function object does.
PROGRAM = """
import json, os, sys, time
hold, rank = sys.argv[1], int(os.environ["OMPI_COMM_WORLD_RANK"])
own = f"processor{rank}"
logs = [open(f"{own}/log", "w")]
if rank == 0:
    os.makedirs("postProcessing/probes/0")
    logs.append(open("postProcessing/probes/0/p", "w"))
def read(path):
    try:
        with open(path) as file: return file.read()
    except OSError: return None
seen = 0
turn = 0
while os.path.exists(hold):
    for log in logs: print("line", turn, file=log, flush=True)
    if turn %% 25 == 0:
        for name in %r:
            path = f"{own}/{turn // 25 + 1}/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file: file.write(f"{name} of {rank}\\n" * 100)
    seen += os.path.exists("STOP")
    told = {"stop": os.path.exists("STOP"), "seen": seen, "dictionary": read("system/topoSetDict"), "times": turn // 25 + 1}
    if rank == 0 and told["stop"] and turn %% 25 == 24: os.remove("STOP")
    with open(f"{hold}.{rank}.new", "w") as file: json.dump(told, file)
    os.replace(f"{hold}.{rank}.new", f"{hold}.{rank}")
    turn += 1
    time.sleep(0.02)
""" % (FILES,)


class Watched(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)

    def setUp(self):
        shared = self.lab.shared
        self.case, self.hold = os.path.join(shared, "case"), os.path.join(shared, "hold")
        for path in ("system", *(f"processor{rank}/0" for rank in range(RANKS))):
            os.makedirs(os.path.join(self.case, path))
        with open(os.path.join(shared, "program.py"), "w") as file:
            file.write(PROGRAM)
        for path in (os.path.join(self.case, "system/controlDict"), self.hold):
            with open(path, "w") as file:
                file.write("application any;\n")
        self.run_ = self.lab.start(
            "n1", FOREBAY, "run", "--case", self.lab.seen(self.case), "--set", f"drain.refresh={REFRESH:g}s",
            "--safe-interval", "12s", "--", *parallel(), sys.executable, "/mnt/shared/program.py", self.lab.seen(self.hold),
            directory=self.case,
        )  # fmt: skip
        self.addCleanup(lambda: self.run_.poll() is None and self.run_.kill())

    def told(self, rank):
        try:
            with open(f"{self.hold}.{rank}") as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def read(self, name):
        try:
            with open(os.path.join(self.case, name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def wait(self, condition, seconds, what):
        def holds():
            self.assertIsNone(self.run_.poll(), "the run has ended")
            self.look_at_times()
            return condition()

        began = time.monotonic()
        wait_for(holds, seconds, what)
        return time.monotonic() - began

    def write(self, name, text):
        with open(os.path.join(self.case, name), "w") as file:
            file.write(text)

    def look_at_times(self):
        """Whoever finds one where the first rank has it finds all of it."""
        found = times_of(self.case, 0)
        for name in found:
            missing = [
                f"processor{rank}/{name}/{file}"
                for rank in range(RANKS)
                for file in FILES
                if not os.path.exists(os.path.join(self.case, f"processor{rank}", name, file))
            ]
            self.assertEqual(missing, [], f"of the times {sorted(found, key=int)}")
        self.assertEqual(found, {str(number) for number in range(1, len(found) + 1)}, "in the order of writing")

    def logs(self):
        """How many lines the case has of each; it has exact beginnings of them."""
        found = {}
        for name in [f"processor{rank}/log" for rank in range(RANKS)] + ["postProcessing/probes/0/p"]:
            text = self.read(name)
            lines = text.count("\n")
            expected = "".join(f"line {number}\n" for number in range(lines + 1))
            self.assertTrue(expected.startswith(text), f"{name}: {text[-200:]}")
            found[name] = lines
        return found

    def first_line(self, node):
        status, said = self.lab.run(node, FOREBAY, "status", "--case", self.lab.seen(self.case))
        self.assertEqual(status, 0, said)
        return said.splitlines()[0]

    def test_all_that_one_node_shows_is_shown_by_several(self):
        self.wait(lambda: all(self.told(rank) for rank in range(RANKS)), 60, "all ranks work")
        seen = {}

        def all_grow():
            for name, lines in self.logs().items():
                seen.setdefault(name, set()).add(lines)
            return all(len(each - {0}) > 2 for each in seen.values())

        self.wait(all_grow, 30, "the logs of all ranks grow")
        self.control_files()
        self.status_of_the_job()
        self.wait(lambda: len(times_of(self.case, 0)) > 10, 30, "times come while the program works")
        os.unlink(self.hold)
        output = self.run_.communicate(timeout=60)[0]
        self.assertEqual(self.run_.returncode, 0, output)
        self.logs()
        for rank in range(RANKS):
            self.assertEqual(len(times_of(self.case, rank)), self.told(rank)["times"])
        self.assertNotIn("STOP", os.listdir(self.case))
        self.assertEqual(self.read("system/topoSetDict"), "actions ();\n")

    def control_files(self):
        self.write("system/topoSetDict", "actions ();\n")
        self.wait(lambda: all(self.told(rank)["dictionary"] for rank in range(RANKS)), 10, "the new dictionary is seen")
        self.write("STOP", "")
        self.wait(lambda: self.told(0)["seen"], 5, "STOP is seen by the first rank")
        self.wait(lambda: "STOP" not in os.listdir(self.case), 10, "what the program removes goes from the case")
        self.wait(lambda: not any(self.told(rank)["stop"] for rank in range(RANKS)), 10, "and on all nodes")

    def status_of_the_job(self):
        self.wait(lambda: "safe on all nodes: time" in self.first_line("n2"), 30, "a time that is safe everywhere")
        for node in ("n1", "n2"):
            line = self.first_line(node)
            [time_] = re.findall(r"safe on all nodes: time (\S+);", line)
            self.assertIn(time_, common_times(self.case, RANKS), line)
            self.assertIn("held back by room: nothing", line)


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
