"""What a running program appends to its logs and histories appears on the case, always as an exact beginning, by each way
in; after a kill a resumed run makes it whole."""

import contextlib
import glob
import itertools
import json
import os
import shutil
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
FORTRAN = """
program history
  use iso_c_binding
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  character(len=500) :: stop
  integer :: unit, number, ignored
  logical :: ends
  call get_command_argument(1, stop)
  open(newunit=unit, file='forces.dat', status='replace', action='write')
  ends = .false.
  number = 0
  do while (.not. ends)
    write(unit, '(a,i0)') 'line ', number
    flush(unit)
    number = number + 1
    ignored = usleep(30000)
    inquire(file=trim(stop), exist=ends)
  end do
  close(unit)
end program
"""
# Of so many bytes at once, and then a line now and then.
LARGE = """
import os, sys, time
block = b"".join(b"%15d\\n" % number for number in range(1 << 16))
with open("log", "wb", buffering=0) as log:
    for _ in range(int(sys.argv[2]) >> 20): log.write(block)
    number = 0
    while not os.path.exists(sys.argv[1]):
        log.write(b"line %d\\n" % number)
        number += 1
        time.sleep(0.05)
"""
LARGE_BYTES = int(os.environ.get("FOREBAY_TEST_LOG_BYTES", 128 << 20))
# Many files, by directories as of ranks, to each of which a line is added again and again.
MANY = """
import os, resource, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, 2 * (resource.getrlimit(resource.RLIMIT_NOFILE)[1],))
files = []
for number in range(int(sys.argv[2])):
    path = f"rank{number // 100:03}/postProcessing/probes/0/{number % 100:02}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    files.append(open(path, "w"))
number = 0
while not os.path.exists(sys.argv[1]):
    for file in files: print("line", number, file=file, flush=True)
    number += 1
    time.sleep(0.1)
"""
MANY_FILES = int(os.environ.get("FOREBAY_TEST_PROBES", 150))
GROWING = ("log.solver", "log.tee", "reopened.log", "postProcessing/probes/0/p", "anew.log", "rotated.log")


def numbers(text):
    """Of its lines, of which the last one may be cut."""
    return [int(line.split()[1]) for line in text.splitlines(keepends=True) if line.endswith("\n")]


class Growing(OutputCase):
    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.directory, "program.py")
        with open(self.program, "w") as file:
            file.write(PROGRAM)

    def begin(self, way):
        """A run that goes on until stop() is called."""
        case = self.case(way, **{"appended.log": "of the last run\n"})
        script = SCRIPT.format(program=self.program, stop=self.word(way))
        process = self.start(self.line(way, script, "--set", "drain.refresh=200ms"), case)
        self.addCleanup(lambda: process.poll() is None and self.kill_run(process))
        return case, process

    def word(self, way):
        return os.path.join(self.directory, f"stop-{way}")

    def stop(self, way):
        with open(self.word(way), "w"):
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
        self.in_each_way(self.appears)
        self.assert_pool_is_empty()

    def appears(self, way):
        case, process = self.begin(way)
        grown = {name: set() for name in GROWING}

        def all_grow():
            for name, lines in self.look(case).items():
                grown[name].add(lines)
            return all(len(each) > 3 for each in grown.values())

        self.wait_until(all_grow, process)
        self.wait_until(lambda: "log.solver" in self.growing(case), process)
        told = self.growing(case)["log.solver"]
        self.assertGreaterEqual(told["local_bytes"], told["case_bytes"])
        self.assertNotIn("history.bin", os.listdir(case))
        self.stop(way)
        self.assertEqual(self.finish(process), 0, self.output)
        lines = self.look(case)["log.solver"]
        self.assertGreaterEqual(lines, max(grown["log.solver"]))
        self.assertEqual(self.look(case)["reopened.log"], lines)
        self.assertEqual(self.read(case, "log.tee"), self.read(case, "log.solver"))
        self.assertEqual(self.read(case, "appended.log"), "of the last run\nbegun\nended\n")
        self.assertEqual(os.path.getsize(os.path.join(case, "history.bin")), 4 * lines)

    def test_a_log_that_was_there_before_is_appended_to(self):
        self.in_each_way(self.is_appended_to)

    def is_appended_to(self, way):
        case = self.case(way, **{"log": "of the last run\n"})
        script = f"exec >> log; i=0; until [ -e {self.word(way)} ]; do i=$((i + 1)); echo $i; sleep 0.03; done"
        process = self.start(self.line(way, script, "--set", "drain.refresh=200ms"), case)
        seen = set()

        def grows():
            seen.add(self.read(case, "log"))
            return len(seen) > 3

        self.wait_until(grows, process)
        self.stop(way)
        self.assertEqual(self.finish(process), 0, self.output)
        whole = self.read(case, "log")
        count = whole.count("\n")
        self.assertEqual(whole, "of the last run\n" + "".join(f"{i}\n" for i in range(1, count)))
        self.assertEqual([each for each in seen if not whole.startswith(each)], [])

    def test_after_a_kill_the_case_has_a_beginning_and_a_resumed_run_makes_it_whole(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.is_made_whole(way)
        self.assert_pool_is_empty()

    def is_made_whole(self, way):
        case, process = self.begin(way)
        self.wait_until(lambda: self.look(case).get("log.solver", 0) >= 20, process)
        self.kill_all(process)
        self.assertGreaterEqual(self.look(case)["log.solver"], 20)
        trees = glob.glob(os.path.join(self.pool, "*", "*", "*", "tree", way))
        whole = {name: self.read(trees[0], name) for name in (*GROWING, "appended.log")}
        self.assertEqual(self.forebay("drain", "--resume", "--case", case), 0, self.output)
        self.assertEqual({name: self.read(case, name) for name in whole}, whole)

    def test_what_somebody_edits_on_the_case_is_kept(self):
        case, process = self.begin("redirect")
        self.wait_until(lambda: self.look(case).get("log.solver", 0) >= 5, process)
        with open(os.path.join(case, "log.solver"), "w") as file:
            file.write("mine\n")
        [log] = glob.glob(os.path.join(self.pool, "*", "*", "*", "tree", "redirect", "log.solver"))
        size = os.path.getsize(log)
        self.wait_until(lambda: os.path.getsize(log) > size, process)  # there is more that the case does not get
        self.stop("redirect")
        self.assertEqual(self.finish(process), outputcase.CONFLICT, self.output)
        self.assertEqual(self.read(case, "log.solver"), "mine\n")
        beside = glob.glob(os.path.join(case, "log.solver.forebay-*"))
        self.assertGreaterEqual(len(numbers(self.read(beside[0]))), 5)

    def test_a_fortran_unit_that_is_flushed_grows(self):
        if not shutil.which("gfortran"):
            self.skipTest("no gfortran")
        program = os.path.join(self.directory, "history")
        with open(program + ".f90", "w") as file:
            file.write(FORTRAN)
        subprocess.run(["gfortran", "-o", program, program + ".f90"], check=True)

        def check(way):
            case = self.case(way)
            line = self.line(way, f"exec {program} {self.word(way)}", "--set", "drain.refresh=200ms")
            process = self.start(line, case)
            sizes = set()

            def grows():
                with contextlib.suppress(FileNotFoundError):
                    seen = numbers(self.read(case, "forces.dat"))
                    self.assertEqual(seen, list(range(len(seen))))
                    sizes.add(len(seen))
                return len(sizes) > 3

            self.wait_until(grows, process)
            self.stop(way)
            self.assertEqual(self.finish(process), 0, self.output)
            seen = numbers(self.read(case, "forces.dat"))
            self.assertEqual(seen, list(range(len(seen))))
            self.assertGreaterEqual(len(seen), max(sizes))

        self.in_each_way(check)

    def program_of(self, text, *arguments):
        """A case, and a run of this program in it."""
        program = os.path.join(self.directory, "another.py")
        with open(program, "w") as file:
            file.write(text)
        case = self.case("redirect")
        words = " ".join([sys.executable, program, self.word("redirect"), *map(str, arguments)])
        process = self.start(self.line("redirect", f"exec {words}", "--set", "drain.refresh=200ms"), case)
        self.addCleanup(lambda: process.poll() is None and self.kill_run(process))
        return case, process

    def test_a_large_log_is_there_and_goes_on_growing(self):
        case, process = self.program_of(LARGE, LARGE_BYTES)
        log = os.path.join(case, "log")
        block = b"".join(b"%15d\n" % number for number in range(1 << 16))
        sizes = set()

        def grows():
            if os.path.exists(log) and os.path.getsize(log) > LARGE_BYTES:
                sizes.add(os.path.getsize(log))
            return len(sizes) > 3

        self.wait_until(grows, process)
        self.stop("redirect")
        self.assertEqual(self.finish(process), 0, self.output)
        with open(log, "rb") as file:
            for number in range(LARGE_BYTES >> 20):
                self.assertTrue(file.read(len(block)) == block, number)
            seen = numbers(file.read().decode())
        self.assertEqual(seen, list(range(len(seen))))
        self.assert_pool_is_empty()

    def test_many_files_are_carried_in_a_tenth_of_the_time(self):
        """Seen by the first and the last of them: how long a refresh takes, and when the next one begins."""
        case, process = self.program_of(MANY, MANY_FILES)
        first, last = (
            os.path.join(case, f"rank{number // 100:03}/postProcessing/probes/0/{number % 100:02}")
            for number in (0, MANY_FILES - 1)
        )
        changes = {first: [], last: []}  # when each was carried: its time of modification is that of the program

        def three_refreshes():
            for path, moments in changes.items():
                moment = os.stat(path).st_ctime if os.path.exists(path) else 0
                if moment > (moments or [0])[-1]:
                    moments.append(moment)
            return len(changes[last]) > 3

        ends = time.monotonic() + (600 if MANY_FILES > 1000 else 60)
        while not three_refreshes() and time.monotonic() < ends:
            time.sleep(0.01)
        self.assertGreater(len(changes[last]), 3, f"of {len(outputcase.files(case))} files on the case")
        judged = 0
        for began, following in itertools.pairwise(changes[first][1:]):
            carried = [moment for moment in changes[last] if began <= moment < following]
            if not carried:
                continue
            took, judged = carried[0] - began, judged + 1
            print(
                f"{MANY_FILES} files: a refresh takes {took:.2f} s, the next one begins {following - began - took:.2f} s later"
            )
            self.assertGreater(following - began, 5 * took)
        self.assertGreater(judged, 0, changes)
        self.stop("redirect")
        self.assertEqual(self.finish(process), 0, self.output)
        lines = [text.splitlines() for text in outputcase.files(case).values()]
        self.assertEqual(len(lines), MANY_FILES)
        self.assertEqual({tuple(each) for each in lines}, {tuple(f"line {i}" for i in range(len(lines[0])))})
        self.assert_pool_is_empty()


if __name__ == "__main__":
    outputcase.main()
