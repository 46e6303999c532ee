"""Proves: what a run says of itself (summary, report, status) is what it did.

Small scripts on a case without a mesh: no program of OpenFOAM is needed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "equivalence"))
import casetools  # noqa: E402

FOREBAY = ""


class FiguresCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = casetools.Workplace("figures")
        self.addCleanup(self.place.remove)
        self.case = os.path.join(self.place.directory, "case")
        self.path_of_report = os.path.join(self.place.directory, "report.json")
        os.makedirs(os.path.join(self.case, "system"))
        self.write("system/controlDict", "application none;\n")

    def write(self, path, text):
        path = os.path.join(self.case, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def words(self, *command, options=(), way=""):
        via = ["--via", way] if way else []
        report = ["--json", self.path_of_report]
        return [FOREBAY, "run", "--pool", self.place.pool, *via, *report, *options, "--", *command]

    def shell(self, line, script="true", options=(), way=""):
        """A line of a shell in the case in which FOREBAY stands for a run of the script, as people start one."""
        words = self.words("sh", "-c", script, options=options, way=way)
        line = line.replace("FOREBAY", " ".join("'" + word.replace("'", "'\\''") + "'" for word in words))
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.case, env=casetools.environment(), capture_output=True, timeout=60, text=True
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.path_of_report) as file:
            self.report = json.load(file)
        return done.stdout + done.stderr

    def run_script(self, script, options=(), way=""):
        return self.shell("FOREBAY", script, options, way)

    def forebay(self, *words):
        words = [FOREBAY, *words, "--pool", self.place.pool]
        done = subprocess.run(words, cwd=self.case, env=casetools.environment(), capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()


class Logs(FiguresCase):
    """`forebay run ... > log.solver` in the case: the log is staged like an input, and grows while the run lasts."""

    def test_the_log_of_a_run_is_no_changed_input(self):
        talk = "for i in 1 2 3; do echo $i; echo $i >&2; done"
        lines = (
            "FOREBAY > log.solver",
            "FOREBAY > log.solver 2>&1",
            "FOREBAY 2> err.log",
            "FOREBAY >> log.solver 2>> err.log",
            "FOREBAY 2>&1 | tee log.solver",
            "FOREBAY |& sed -u s/1/one/ | tee -a log.solver > copy.log",
            "FOREBAY > >(tee log.solver) 2> >(cat > err.log)",
            "nohup FOREBAY < /dev/null > nohup.out 2>&1",
        )
        for log in ("log.solver", "err.log", "copy.log", "nohup.out"):
            self.write(log, "of a run before\n")
        for line in lines:
            for way in casetools.drawn(("", "path"), line):
                with self.subTest(line, way=way):
                    said = self.shell(line, talk, way=way)
                    self.assertEqual(self.report["messages"], [], said)
        with open(os.path.join(self.case, "copy.log")) as file:
            self.assertIn("one\none\n2\n", file.read())

    def test_what_the_launcher_writes_itself_is_none_either(self):
        # As `srun -o slurm-%j.out` or `mpirun --output-filename` in the case.
        launcher = os.path.join(self.place.directory, "srun")
        with open(launcher, "w") as file:
            file.write('#!/bin/bash\nexec 5>> slurm-1.out\n(sleep 0.5; echo meanwhile >&5) &\n"$@"\n')
        os.chmod(launcher, 0o755)
        self.write("slurm-1.out", "")
        words = self.words(launcher, "sh", "-c", "sleep 1")
        done = subprocess.run(words, cwd=self.case, env=casetools.environment(SLURM_PROCID="0", SLURM_NTASKS="1"), capture_output=True, timeout=60, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("changed on the shared file system", done.stdout + done.stderr)

    def test_an_input_that_changes_on_the_case_is_still_told(self):
        self.write("log.old", "an input that was a log once\n")
        edit = f"echo more >> {self.case}/log.old; echo more >> {self.case}/system/controlDict"
        begun = os.path.join(self.place.directory, "begun")
        script = f"touch {begun}; sleep 1"
        said = self.shell(
            f"(while ! test -e {begun}; do sleep 0.05; done; {edit}) & FOREBAY > log; wait; cat log", script
        )
        (message,) = self.report["messages"]
        self.assertRegex(message, "^2 inputs changed on the shared file system.*log.old")
        self.assertIn(f"  ! {message}\n", said)


# Writes files as the functions say, and prints how many and how large they were.
WRITER = """
import os, sys, time
files = size = 0


def write(path, count=1000):
    global files, size
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"x" * count)
    files, size = files + 1, size + count


def decompose():
    for rank in range(4):
        for name in "abcdefghijkl":
            write(f"processor{rank}/constant/polyMesh/{name}", 4000)
        write(f"processor{rank}/0/p", 100)


def purge(pause=0.0):
    for step in range(1, 41):
        for name in "UpT":
            write(f"{step}/{name}", 5000)
        if step > 2:
            for name in "UpT":
                os.remove(f"{step - 2}/{name}")
            os.rmdir(f"{step - 2}")
        time.sleep(pause)


def log_and_restart():
    for step in range(1, 11):
        with open("postProcessing.dat", "ab" if step > 1 else "wb") as file:
            file.write(b"y" * 100)
        write("restart.new", 3000 + step)
        os.rename("restart.new", "restart")
    global files, size
    files, size = 11, 1000 + sum(3000 + step for step in range(1, 11))


def fill():
    for number in range(40):
        write(f"results/{number}", 400_000)
        time.sleep(0.05)


def log_and_link(pause):
    for step in range(1, 6):
        with open("log", "ab") as file:
            file.write(b"z" * 10)
        if os.path.lexists("latest"):
            os.remove("latest")
        os.symlink("log", "latest")
        write("state.new", 30)
        os.rename("state.new", "state")
        write("monitor", 20)
        os.chmod("monitor", 0o600 + step % 2)
        time.sleep(pause)


def scratch():
    for number in range(20):
        write(f"scratch/{number}", 200)
    write("result", 70)
    for number in range(20):
        os.remove(f"scratch/{number}")
    os.rmdir("scratch")


exec(sys.argv[1])
with open("truth", "w") as file:
    file.write(f"{files + 1} {size}")
"""


class Written(FiguresCase):
    def ways(self):
        return ["redirect", "path"] + (["namespace"] if casetools.namespaces_work() else [])

    def write_files(self, way, what, options=(), said=False):
        """What the run told, and the truth: files and bytes; or what it `said`."""
        words = self.words(sys.executable, "-c", WRITER, what, options=options, way=way)
        done = subprocess.run(words, cwd=self.case, env=casetools.environment(), capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path_of_report) as file:
            self.report = json.load(file)
        if said:
            return done.stdout.decode() + done.stderr.decode()
        with open(os.path.join(self.case, "truth")) as file:
            files, size = map(int, file.read().split())
            size += file.tell()
        local = self.report["local"]
        (line,) = re.findall(r"  written locally +(.*)\n", done.stderr.decode() + done.stdout.decode())
        self.assertEqual(line.startswith("at least "), local["at_least"], line)
        (told,) = self.report["stability"]
        self.assertEqual((told["written_bytes"], told["written_at_least"]), (local["bytes"], local["at_least"]))
        return local, files, size

    def fresh(self):
        subprocess.run(f"rm -rf {self.case}/[!s]*", shell=True, check=True)

    def test_of_a_short_program_every_file_is_counted(self):
        for options in ((), ("--drain-when", "end"), ("--layout", "collated")):
            for way in casetools.drawn(self.ways(), options):
                with self.subTest(way, options=options):
                    self.fresh()
                    local, files, size = self.write_files(way, "decompose()", options)
                    self.assertEqual(local, {"files": files, "bytes": size, "unseen_times": 0, "at_least": False})

    def test_of_one_that_removes_it_is_all_or_at_least_so_much(self):
        for what in ("purge()", "purge(0.02)", "log_and_restart()", "scratch()"):
            for way in casetools.drawn(self.ways(), what):
                with self.subTest(way, what=what):
                    self.fresh()
                    local, files, size = self.write_files(way, what)
                    if local["at_least"]:
                        self.assertLessEqual(local["files"], files)
                        self.assertLessEqual(local["bytes"], size)
                    else:
                        self.assertEqual((local["files"], local["bytes"]), (files, size))
                    there = sum(len(names) for at, _, names in os.walk(self.case) if "system" not in at)
                    self.assertGreaterEqual(local["files"], there)
                    self.assertGreaterEqual(local["files"], self.report["shared"]["files"])

    def test_inputs_that_are_copied_or_only_touched_are_not_written(self):
        self.write("constant/mesh", "m" * 10_000)
        for way in self.ways():
            with self.subTest(way):
                self.write("system/edited", "old")
                self.run_script(
                    "cat constant/mesh > /dev/null; echo longer > system/edited", ("--copy", "constant/*"), way
                )
                self.assertEqual(self.report["local"], {"files": 1, "bytes": 7, "unseen_times": 0, "at_least": False})

    def test_on_its_way_to_the_case_a_file_counts_once_and_how_often_it_went_again_is_told(self):
        for way in casetools.drawn(self.ways(), "how often"):
            with self.subTest(way):
                self.fresh()
                said = self.write_files(way, "log_and_link(0.3)", ("--set", "drain.settle=50ms"), said=True)
                shared = self.report["shared"]
                # log, latest, state, monitor and the truth; a link that was removed and made anew is another one.
                self.assertIn(shared["files"], range(5, 10), shared)
                self.assertGreaterEqual(shared["again"], 3, shared)
                self.assertIn(f"in {shared['files']} files; some changed and were carried again, ", said)
                self.fresh()
                said = self.write_files(way, "log_and_link(0)", ("--drain-when", "end"), said=True)
                self.assertEqual(
                    self.report["shared"], {"files": 5, "again": 0, "bytes": self.report["shared"]["bytes"]}
                )
                self.assertNotIn("carried again", said)

    def test_no_lag_is_told_where_no_time_became_safe(self):
        said = self.write_files("path", "decompose()", said=True)
        self.assertNotIn("drain lag", said)
        self.assertIsNone(self.report["drain_lag_seconds"])
        self.fresh()
        said = self.write_files("path", "[write(f'{step}/U') for step in (1, 2, 3)]", said=True)
        self.assertRegex(said, r"  drain lag +\d")
        self.assertGreaterEqual(self.report["drain_lag_seconds"], 0)

    def test_what_was_evicted_counts(self):
        local, files, size = self.write_files("redirect", "fill()", ("--budget", "8M", "--set", "drain.settle=100ms"))
        self.assertEqual(local, {"files": files, "bytes": size, "unseen_times": 0, "at_least": False})

    def test_status_never_shows_more_on_the_case_than_was_written(self):
        words = self.words(
            sys.executable, "-c", WRITER, "decompose(); time.sleep(3)", options=("--set", "drain.settle=100ms")
        )
        process = subprocess.Popen(
            words, cwd=self.case, env=casetools.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.addCleanup(process.communicate)
        seen = []

        def all_is_on_the_case():
            seen.append(self.forebay("status", "--case", self.case))
            return re.search(r"on the case +\S+ \S+ in 52 files, 0 entries to go", seen[-1])

        self.assertTrue(casetools.wait_for(all_is_on_the_case, 30), seen[-1])
        for text in seen:
            written = re.search(r"written locally +(at least )?.* in (\d+) files?", text)
            on_case = re.search(r"on the case +.* in (\d+) files?", text)
            if not written or " staging (" in text:
                continue  # before any program
            self.assertEqual(written[1], "at least ", text)
            self.assertGreaterEqual(int(written[2]), int(on_case[1]), text)
            self.assertNotIn("unit", text)


# writer DIRECTORIES NUMBER PAUSE: writes so many times there.
TIMES = """
import os, sys, time
places, number, pause = sys.argv[1].split(","), int(sys.argv[2]), float(sys.argv[3])
for step in range(1, number + 1):
    time.sleep(pause)
    for at in places:
        directory = os.path.join(at, str(step / 100))
        os.makedirs(directory)
        with open(os.path.join(directory, "U"), "w") as file:
            file.write("x" * 1000)
time.sleep(pause)
"""
PAUSE = 0.3


class Times(FiguresCase):
    """Figures of times are those of the program that wrote most of them on ranks, by name, or of none."""

    def setUp(self):
        super().setUp()
        self.program("wingFoam")
        self.program("rebuildAll")

    def ways(self):
        return ["redirect", "path"] + (["namespace"] if casetools.namespaces_work() else [])

    def program(self, name):
        """What is at work under this name is this Python."""
        shutil.copy(os.path.realpath(sys.executable), os.path.join(self.place.directory, name))
        with open(os.path.join(self.place.directory, "times.py"), "w") as file:
            file.write(TIMES)

    def line(self, name, directory=".", number=5, pause=PAUSE):
        return f"{self.place.directory}/{name} {self.place.directory}/times.py {directory} {number} {pause}"

    def fresh(self):
        subprocess.run(f"rm -rf {self.case}/[!s]*", shell=True, check=True)

    def solver_on_ranks(self, **more):
        return "for rank in 0 1 2; do " + self.line("wingFoam", "processor$rank", **more) + " & done; wait"

    def told(self):
        (told,) = self.report["stability"]
        program = self.report["written_time_program"]
        self.assertEqual(told["program"], program or "")
        self.assertEqual(self.report["written_time_seconds"] is None, program is None)
        self.assertIsNone(self.report["step_seconds"], "the case names no application")
        return program, told

    def assert_is_the_solvers(self, name, said, ranks):
        program, told = self.told()
        self.assertEqual((program, told["ranks"]), (name, ranks), said)
        self.assertTrue(2 <= told["times"] <= 4, told["times"])
        self.assertGreater(self.report["written_time_seconds"], 0.8 * PAUSE)
        self.assertRegex(said, rf"  per written time +\S+ \S+ \({name}\)\n")

    def test_of_a_script_it_is_the_solver_that_ran_on_ranks(self):
        script = self.solver_on_ranks() + "; " + self.line("rebuildAll", number=20, pause=0.05)
        for way in casetools.drawn(self.ways(), "on ranks"):
            with self.subTest(way):
                self.fresh()
                self.assert_is_the_solvers("wingFoam", self.run_script(script, way=way), 3)
        with self.subTest("again, over its times, as decomposePar -force clears them"):
            again = "rm -r processor*/0.0* 0.*; " + script
            self.assert_is_the_solvers("wingFoam", self.run_script(again, way=way), 3)

    def test_a_serial_solver_is_told_whether_or_not_it_is_run_by_a_script_that_keeps_a_log(self):
        self.fresh()
        said = self.run_script(
            self.line("wingFoam") + " | tee log.wingFoam; " + "mkdir VTK; sleep 0.2; touch VTK/a", way="path"
        )
        self.assert_is_the_solvers("wingFoam", said, 0)
        self.fresh()
        done = subprocess.run(self.words(*self.line("wingFoam").split()), cwd=self.case, env=casetools.environment(),
                              capture_output=True, timeout=60, text=True, check=True)  # fmt: skip
        with open(self.path_of_report) as file:
            self.report = json.load(file)
        self.assert_is_the_solvers("wingFoam", done.stdout + done.stderr, 0)

    def test_of_times_on_ranks_that_no_known_program_wrote_nothing_is_told(self):
        # One process writes for all ranks, as decomposePar -allTimes; what follows writes more times, in the case.
        once = self.line("rebuildAll", "processor0,processor1,processor2", pause=0.2)
        said = self.run_script(once + "; " + self.line("wingFoam", number=8, pause=0.1))
        self.assertEqual(self.told()[0], None, said)
        self.assertNotIn("per written time", said)
        self.assertNotIn("time per step", said)


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
