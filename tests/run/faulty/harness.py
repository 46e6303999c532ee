"""A decomposed case without a mesh, the small solver, and forebay around them."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import processes  # noqa: E402
from drawn import drawn  # noqa: E402,F401

FOREBAY = os.environ["FOREBAY"]
STEPFOAM = os.environ["STEPFOAM"]
FAULT_LIBRARY = os.environ["FAULT_LIBRARY"]
RANKS = 4
LATE = "uniform/functionObjects/functionObjectProperties"
FIELDS = ["U", "p", "phi", "uniform/time"]
SKIPPED = 77
GO = "go"  # the name of a file

# Exit codes of the command.
UNDRAINED, LOST, CONFLICT, POOL_FULL, BUSY = 3, 4, 5, 6, 7


def content(path, size):
    """What the solver writes under a path, so that every file tells whether it is whole."""
    line = f"{path} {size}\n".encode()
    return (line * (size // len(line) + 1))[: size - 4] + b"END\n"


def is_whole(path, data):
    return data == content(path, len(data))


def wait_for(condition, seconds=30, what=""):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited in vain for {what or condition}")


def unread(descriptor):
    """What waits to be read from one that does not block, piece by piece."""
    while True:
        try:
            yield os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


class FaultyCase(unittest.TestCase):
    ranks = RANKS
    purge = 0
    fault_prefix = None  # where it is not the case that fails

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="forebay-faulty-", dir="/tmp")
        self.pool = tempfile.mkdtemp(prefix="forebay-faulty-pool-", dir="/dev/shm")
        self.mounts = []
        self.started = []
        self.case = os.path.join(self.directory, "case")
        self.records = os.path.join(self.directory, "records")
        os.mkdir(self.records)
        self.make_case()

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                self.kill_tree(process.pid)
                process.wait()
        self.kill_left_overs()
        for mount in reversed(self.mounts):
            subprocess.run(["umount", "-l", mount], check=False)
        for directory in (self.directory, self.pool):
            shutil.rmtree(directory, ignore_errors=True)

    def make_case(self):
        os.makedirs(os.path.join(self.case, "system"))
        with open(os.path.join(self.case, "system/controlDict"), "w") as file:
            file.write(f"application stepFoam;\npurgeWrite {self.purge};\nwriteInterval 1;\n")
        for rank in range(self.ranks):
            mesh = os.path.join(self.case, f"processor{rank}/constant/polyMesh")
            os.makedirs(mesh)
            with open(os.path.join(mesh, "points"), "w") as file:
                file.write(f"points of {rank}\n")

    def mount(self, path, options, kind="tmpfs"):
        os.makedirs(path, mode=0o700, exist_ok=True)
        subprocess.run(["mount", "-t", kind, "-o", options, kind, path], check=True)
        self.mounts.append(path)

    # Processes.

    def solver(self, *options):
        line = [STEPFOAM, "-record", self.records, *map(str, options)]
        if self.ranks == 0:
            return line
        return ["mpirun", "-n", str(self.ranks), "--oversubscribe", "--bind-to", "none", *line]

    def environment(self, fault=None, **more):
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **more)
        environment.pop("FOREBAY_CONFIG", None)
        if fault is not None:
            self.fault_file = os.path.join(self.directory, "fault")
            self.set_fault(fault)
            environment.update(
                LD_PRELOAD=FAULT_LIBRARY,
                FOREBAY_FAULT_PREFIX=self.fault_prefix or self.case,
                FOREBAY_FAULT_FILE=self.fault_file,
                FOREBAY_FAULT_PROGRAM="forebay",
            )
        return environment

    def set_fault(self, rules):
        """Turns faults of the case's file system on and off; the library looks at this file at each call."""
        temporary = self.fault_file + ".new"
        with open(temporary, "w") as file:
            file.write(rules)
        os.rename(temporary, self.fault_file)

    def line(self, command, options=()):
        self.report_file = os.path.join(self.directory, "report.json")
        return [
            FOREBAY,
            "run",
            "--case",
            self.case,
            "--pool",
            self.pool,
            "--json",
            self.report_file,
            *options,
            "--",
            *command,
        ]

    def start(self, command, options=(), fault=None, **popen):
        # With a session of its own the whole tree can be found and killed.
        process = subprocess.Popen(
            self.line(command, options),
            env=self.environment(fault),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="surrogateescape",
            **{"start_new_session": True, "cwd": self.case, **popen},
        )
        self.started.append(process)
        return process

    def until_told(self):
        """What a script waits by for tell()."""
        return f"until [ -e '{self.records}/{GO}' ]; do sleep 0.02; done"

    def tell(self):
        with open(os.path.join(self.records, GO), "w"):
            pass

    def wait_for_output(self):
        """Until the program has made its file `out`."""
        wait_for(lambda: self.homes() and os.path.exists(os.path.join(self.homes()[0], "tree/case/out")), what="a file")

    def leave_dead_run(self):
        """All of a run is killed when its program has made a file that the case does not have."""
        process = self.start(["sh", "-c", "echo 1 > out; sleep 60"], ["--drain-when", "end"])
        self.wait_for_output()
        self.kill_tree(process.pid)
        self.kill_left_overs()
        process.wait()

    def finish(self, process, seconds=60):
        try:
            self.output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"forebay run does not end; {self.describe_pool()}") from None
        self.read_report()
        return process.returncode

    def read_report(self):
        self.report = None
        if os.path.exists(self.report_file):
            with open(self.report_file) as file:
                self.report = json.load(file)

    def run_forebay(self, command, options=(), fault=None, seconds=60):
        return self.finish(self.start(command, options, fault), seconds)

    def forebay(self, *words, fault=None, seconds=60):
        done = subprocess.run(
            [FOREBAY, *words], env=self.environment(fault), capture_output=True, timeout=seconds, check=False
        )
        self.output = (done.stdout + done.stderr).decode(errors="surrogateescape")
        return done.returncode

    def resume(self, **more):
        return self.forebay("drain", "--resume", "--quiet", "--case", self.case, "--pool", self.pool, **more)

    def clean(self, *words):
        return self.forebay("clean", "--yes", "--case", self.case, "--pool", self.pool, *words)

    def status(self):
        done = subprocess.run(
            [FOREBAY, "status", "--json", "--case", self.case, "--pool", self.pool],
            env=self.environment(),
            capture_output=True,
            timeout=30,
            check=False,
        )
        return json.loads(done.stdout)["runs"]

    def kill_tree(self, pid):
        """With the agents and their keepers: without a launcher these are nobody's children once the program has ended."""
        agents = self.of_this_test("forebay-agent")
        keepers = {processes.parent_of(each) for each in agents} & set(self.of_this_test("forebay"))
        killed = [*processes.tree(pid), *keepers, *agents]
        for each in killed:
            processes.kill(each)
        self.wait_for_ends(killed)

    def of_this_test(self, name):
        """Processes called `name` whose arguments or environment tell that they belong to this test."""
        return processes.mentioning(self.directory, name)

    def kill_left_overs(self):
        for _ in range(50):  # who keeps an agent may begin another one meanwhile
            left = [pid for name in ("forebay", "forebay-agent", "stepFoam") for pid in self.of_this_test(name)]
            if not left:
                return
            for pid in left:
                processes.kill(pid)
            self.wait_for_ends(left)

    @staticmethod
    def wait_for_ends(pids):
        """Until then they hold their locks; one that its server holds is not waited for."""
        ends = time.monotonic() + 2
        while any(map(processes.is_alive, pids)) and time.monotonic() < ends:
            time.sleep(0.005)

    def agent(self):
        """The agent's process, as soon as there is one."""
        return wait_for(lambda: self.of_this_test("forebay-agent"), what="the agent")[0]

    def solvers(self):
        """The processes of the run that was started last."""

        def all_of_them():
            if self.started[-1].poll() is not None:
                raise AssertionError(f"the run ended first: {self.started[-1].communicate()[0]}")
            found = self.of_this_test("stepFoam")
            return len(found) == max(self.ranks, 1) and found

        return wait_for(all_of_them, what="the solver")

    def homes(self):
        base = os.path.join(self.pool, f"forebay-{os.geteuid()}")
        if not os.path.isdir(base):
            return []
        return [os.path.join(base, run, "s0") for run in sorted(os.listdir(base))]

    def describe_pool(self):
        text = ""
        for home in self.homes():
            for name in ("agent.log", "status.json"):
                try:
                    with open(os.path.join(home, name), errors="replace") as file:
                        text += f"{name}: {file.read()}\n"
                except OSError:
                    pass
        return text

    # What is where.

    def newest_completed(self):
        """The newest time of which the solver completed every file on every rank, whether it purged it then or not."""
        done = self.ever_completed()
        times = {int(path.split("/")[1]) for path in done if path.split("/")[1].isdigit()}
        return max(
            (
                each
                for each in times
                if all(
                    f"processor{rank}/{each}/{name}" in done for rank in range(self.ranks) for name in FIELDS + [LATE]
                )
            ),
            default=0,
        )

    def newest_followed(self):
        """The newest time of which every rank completed every file before it completed one of a later time."""
        done = self.ever_completed()
        begun = [
            max((int(path.split("/")[1]) for path in done if path.startswith(f"processor{rank}/")), default=0)
            for rank in range(self.ranks)
        ]
        return min(self.newest_completed(), min(begun) - 1)

    def recorded(self):
        """The solver's own records, in order: "+" when it completed a file, "-" when it removed one, path, size."""
        for name in set(os.listdir(self.records)) - {GO}:
            with open(os.path.join(self.records, name)) as file:
                for line in file.read().splitlines():
                    mark, path, size = line.split(" ")
                    yield mark, path, int(size)

    def completed(self):
        """What the solver completed and did not remove again, with sizes."""
        files = {}
        for mark, path, size in self.recorded():
            if mark == "+":
                files[path] = size
            else:
                files.pop(path, None)
        return files

    def ever_completed(self):
        return {path: size for mark, path, size in self.recorded() if mark == "+"}

    def on_case(self, below=""):
        """Files of times on the case: path -> content."""
        files = {}
        root = os.path.join(self.case, below)
        for directory, _, names in os.walk(root):
            for name in names:
                path = os.path.relpath(os.path.join(directory, name), self.case)
                if "constant/" in path or path.startswith(("system/", ".forebay/")):
                    continue
                try:
                    with open(os.path.join(directory, name), "rb") as file:
                        files[path] = file.read()
                except FileNotFoundError:
                    pass  # a temporary directory that has got its name meanwhile
        return files

    def assert_case_is_whole(self, allow_cut=()):
        """Nothing half-written under a final name, no temporary left."""
        for path, data in self.on_case().items():
            self.assertNotIn(".fb-", path, "a temporary name is left on the case")
            if path not in allow_cut:
                self.assertTrue(is_whole(path, data), f"{path} is not whole: {len(data)} bytes, {data[:60]!r}")

    def assert_all_home(self, extra=()):
        """Everything that the solver completed and kept is on the case, and nothing else."""
        files = self.on_case()
        completed = self.completed()
        self.assertEqual(sorted(set(completed) - set(files)), [], "completed by the program, not on the case")
        self.assertEqual(sorted(set(files) - set(completed) - set(extra)), [], "on the case, not of the program")
        for path, size in completed.items():
            self.assertEqual(files[path], content(path, size), path)

    def assert_nothing_left(self):
        """No pool, no mark on the case."""
        self.assertEqual(self.homes(), [])
        self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")), "the control directory is left")

    def times_on_case(self, rank=0):
        directory = os.path.join(self.case, f"processor{rank}")
        return sorted((int(name) for name in os.listdir(directory) if name.isdigit()))

    def complete_times_on_case(self):
        """Times that have every field of every rank."""
        return [
            each
            for each in self.times_on_case()
            if all(
                os.path.exists(os.path.join(self.case, f"processor{rank}/{each}/{field}"))
                for rank in range(self.ranks)
                for field in FIELDS
            )
        ]


def main():
    sys.stdout.reconfigure(errors="backslashreplace")
    unittest.main()
