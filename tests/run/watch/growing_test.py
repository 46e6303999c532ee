"""What a running program appends to its logs and histories appears on the case, always as an exact beginning, by each way
in; after a kill a resumed run makes it whole."""

import glob
import json
import os
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outputs"))
import outputcase  # noqa: E402
from outputcase import WAYS, OutputCase  # noqa: E402

# Each line has its number, so that a file tells by itself whether it is a beginning.
PROGRAM = r"""
import logging.handlers, os, sys, time
os.makedirs("postProcessing/probes/0", exist_ok=True)
probes = open("postProcessing/probes/0/p", "w")
binary = open("history.bin", "wb")
rotated = logging.getLogger("rotated")
rotated.addHandler(logging.handlers.RotatingFileHandler("rotated.log", maxBytes=600, backupCount=1))
rotated.setLevel(logging.INFO)
number = -1
while not os.path.exists(sys.argv[1]):
    number += 1
    print(f"line {number}", flush=True)
    print(f"line {number}", file=probes, flush=True)
    rotated.info(f"line {number}")
    with open("reopened.log", "a") as reopened:
        reopened.write(f"line {number}\n")
    binary.write(b"\0\1\2\3")
    binary.flush()
    if number % 50 == 0:
        anew = open("anew.log", "w")
    print(f"line {number}", file=anew, flush=True)
    time.sleep(0.03)
"""
# A script that starts the program, as everybody does; a log that was there before; and the shell's own.
SCRIPT = "exec >> appended.log; echo begun; python3 {program} {stop} | tee log.tee > log.solver; echo ended"
GROWING = ("log.solver", "log.tee", "reopened.log", "postProcessing/probes/0/p", "anew.log", "rotated.log")


def numbers(text):
    """Of its lines, of which the last one may be cut."""
    return [int(line.split()[1]) for line in text.splitlines(keepends=True) if line.endswith("\n")]


class Growing(OutputCase):
    def begin(self, way):
        """A run that goes on until stop() is called."""
        case = self.case(way, **{"appended.log": "of the last run\n"})
        program = os.path.join(self.directory, "program.py")
        with open(program, "w") as file:
            file.write(PROGRAM)
        self.word = os.path.join(self.directory, f"stop-{way}")
        script = SCRIPT.format(program=program, stop=self.word)
        return case, self.start(self.line(way, script, "--set", "drain.refresh=200ms"), case)

    def stop(self):
        with open(self.word, "w"):
            pass

    def wait_until(self, condition, process):
        ends = time.monotonic() + 60
        while not condition():
            self.assertIsNone(process.poll(), "the run has ended")
            self.assertLess(time.monotonic(), ends)
            time.sleep(0.1)

    def look(self, case):
        """What the case has of the files; each must be a beginning."""
        found = {}
        for name in GROWING:
            try:
                text = self.read(case, name)
            except FileNotFoundError:
                continue
            seen = numbers(text)
            self.assertNotIn("\0", text, name)
            self.assertEqual(seen, list(range(seen[0], seen[0] + len(seen))) if seen else [], (name, text))
            found[name] = len(seen)
        return found

    def growing(self, case):
        """As `status` tells it."""
        said = subprocess.run(
            [outputcase.FOREBAY, "status", "--json", "--case", case, "--pool", self.pool],
            env=self.environment(), stdout=subprocess.PIPE, check=False, text=True,
        )  # fmt: skip
        runs = json.loads(said.stdout)["runs"] if said.returncode == 0 else []
        return runs[0]["drain"]["growing"] if runs else {}

    def test_what_is_appended_appears_while_the_program_works(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.appears(way)

    def appears(self, way):
        case, process = self.begin(way)
        grown = {name: set() for name in GROWING}

        def all_grow():
            for name, lines in self.look(case).items():
                grown[name].add(lines)
            return all(len(each) > 3 for each in grown.values())

        self.wait_until(all_grow, process)
        told = self.growing(case)["log.solver"]
        self.assertGreaterEqual(told["local_bytes"], told["case_bytes"])
        self.assertNotIn("history.bin", os.listdir(case))
        self.stop()
        self.assertEqual(self.finish(process), 0, self.output)
        lines = self.look(case)["log.solver"]
        self.assertGreaterEqual(lines, max(grown["log.solver"]))
        self.assertEqual(self.look(case)["reopened.log"], lines)
        self.assertEqual(self.read(case, "log.tee"), self.read(case, "log.solver"))
        self.assertEqual(self.read(case, "appended.log"), "of the last run\nbegun\nended\n")
        self.assertEqual(os.path.getsize(os.path.join(case, "history.bin")), 4 * lines)
        self.assert_pool_is_empty()

    def test_a_log_that_was_there_before_is_appended_to(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.is_appended_to(way)

    def is_appended_to(self, way):
        case = self.case(way, **{"log": "of the last run\n"})
        self.word = os.path.join(self.directory, f"end-{way}")
        script = f"exec >> log; i=0; until [ -e {self.word} ]; do i=$((i + 1)); echo $i; sleep 0.03; done"
        process = self.start(self.line(way, script, "--set", "drain.refresh=200ms"), case)
        seen = set()

        def grows():
            seen.add(self.read(case, "log"))
            return len(seen) > 3

        self.wait_until(grows, process)
        self.stop()
        self.assertEqual(self.finish(process), 0, self.output)
        whole = self.read(case, "log")
        count = whole.count("\n")
        self.assertEqual(whole, "of the last run\n" + "".join(f"{i}\n" for i in range(1, count)))
        self.assertEqual([each for each in seen if not whole.startswith(each)], [])

    def test_after_a_kill_the_case_has_a_beginning_and_a_resumed_run_makes_it_whole(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.is_made_whole(way)

    def is_made_whole(self, way):
        case, process = self.begin(way)
        self.wait_until(lambda: self.look(case).get("log.solver", 0) >= 20, process)
        self.kill_all(process)
        self.assertGreaterEqual(self.look(case)["log.solver"], 20)
        trees = glob.glob(os.path.join(self.pool, "*", "*", "*", "tree", way))
        whole = {name: self.read(trees[0], name) for name in (*GROWING, "appended.log")}
        self.assertEqual(self.forebay("drain", "--resume", "--case", case), 0, self.output)
        self.assertEqual({name: self.read(case, name) for name in whole}, whole)
        self.assert_pool_is_empty()

    def test_what_somebody_edits_on_the_case_is_kept(self):
        case, process = self.begin("redirect")
        self.wait_until(lambda: self.look(case).get("log.solver", 0) >= 5, process)
        with open(os.path.join(case, "log.solver"), "w") as file:
            file.write("mine\n")
        [log] = glob.glob(os.path.join(self.pool, "*", "*", "*", "tree", "redirect", "log.solver"))
        size = os.path.getsize(log)
        self.wait_until(lambda: os.path.getsize(log) > size, process)  # there is more that the case does not get
        self.stop()
        self.assertEqual(self.finish(process), outputcase.CONFLICT, self.output)
        self.assertEqual(self.read(case, "log.solver"), "mine\n")
        beside = glob.glob(os.path.join(case, "log.solver.forebay-*"))
        self.assertGreaterEqual(len(numbers(self.read(beside[0]))), 5)


if __name__ == "__main__":
    outputcase.main()
