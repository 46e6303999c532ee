"""A run tells where it stands: one line on a terminal, nothing there with --quiet, and none of it in the way of what the
program prints; `status` begins with a line for the whole job, and says what is true of the case."""

import json
import os
import pty
import re
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outputs"))
import outputcase  # noqa: E402
from outputcase import OutputCase  # noqa: E402

SIZE = 200_000
# Four times, and then it waits to be told.
WRITE = f"""
write() {{
  cd $1
  for i in 1 2 3 4; do
    mkdir -p $i/uniform; head -c {SIZE} /dev/urandom > $i/U; echo $i > $i/uniform/time; echo line $i; sleep 0.3
  done
}}
wait_for() {{ until [ -e $1 ]; do sleep 0.05; done; }}
"""
ONE_PIECE = WRITE + "write .; wait_for "
RANKS = WRITE + "write processor0 & write processor1; wait; wait_for "
DRAWN = "\r\033[K"


class Told(OutputCase):
    def begin(self, name, stdout, stderr, *options, script=ONE_PIECE, case=None):
        case = case or self.case(name)
        self.word = os.path.join(self.directory, f"stop-{name}")
        words = [outputcase.FOREBAY, "run", "--pool", self.pool, *options, "--", "sh", "-c"]
        process = subprocess.Popen(
            [*words, script + self.word],
            cwd=case, env=self.environment(), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
        )  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return case, process

    def end(self):
        with open(self.word, "w"):
            pass

    def terminal(self):
        """The end for a program, and a list in which all that it prints will be, when `closed` was called."""
        ours, theirs = pty.openpty()
        seen = []

        def read():
            while True:
                try:
                    part = os.read(ours, 4096)
                except OSError:  # nobody has the other end any more
                    return
                seen.append(part.decode())

        thread = threading.Thread(target=read)
        thread.start()

        def closed():
            os.close(theirs)
            thread.join(30)
            os.close(ours)

        return theirs, seen, closed

    def await_true(self, condition, what):
        ends = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), ends, what)
            time.sleep(0.1)

    def status(self, case, *options):
        said = subprocess.run(
            [outputcase.FOREBAY, "status", "--case", case, "--pool", self.pool, *options],
            env=self.environment(), stdout=subprocess.PIPE, check=True, text=True,
        )  # fmt: skip
        return said.stdout

    def job(self, case):
        jobs = json.loads(self.status(case, "--json"))["jobs"]
        return jobs[0] if jobs else None

    def test_on_a_terminal_one_line_is_drawn_over_while_the_output_goes_elsewhere(self):
        theirs, seen, closed = self.terminal()
        with open(os.path.join(self.directory, "out"), "w") as out:
            case, process = self.begin("drawn", out, theirs, "--set", "drain.bandwidth=150kB")
        self.await_true(lambda: "running   writes time 4; safe: time" in "".join(seen), seen)
        self.end()
        self.assertEqual(process.wait(60), 0)
        closed()
        text = "".join(seen)
        lines = text.split(DRAWN)
        drained = [line for line in lines if line.startswith("forebay: draining  ")]
        self.assertTrue(
            any(re.search(r"draining  \d+ % of \S+ .B, \S+ .?B/s, .* left; ", each) for each in drained), text
        )
        self.assertNotIn("\n", "".join(lines[1:-1]), "only the summary is more than a line")
        self.assertTrue(lines[-1].startswith("forebay: run "), lines[-1])
        self.assertEqual(self.read("out"), "".join(f"line {i}\n" for i in range(1, 5)))
        self.assertEqual(sorted(os.listdir(case)), ["1", "2", "3", "4"])

    def test_what_the_program_prints_on_a_terminal_is_left_alone(self):
        theirs, seen, closed = self.terminal()
        _, process = self.begin("shared", theirs, theirs)
        self.await_true(lambda: "line 4" in "".join(seen), seen)
        time.sleep(2)  # a line would be drawn by now
        before = "".join(seen)
        self.end()
        self.assertEqual(process.wait(60), 0)
        closed()
        self.assertEqual(before, "".join(f"line {i}\r\n" for i in range(1, 5)))

    def test_without_a_terminal_and_with_quiet_nothing_is_drawn(self):
        for name, options in (("plain", ()), ("quiet", ("--quiet",))):
            with open(os.path.join(self.directory, "err"), "w") as err:
                _, process = self.begin(name, subprocess.DEVNULL, err, *options)
            self.end()
            self.assertEqual(process.wait(60), 0)
            said = self.read("err")
            self.assertNotIn("\r", said)
            self.assertEqual(said.startswith("forebay: run ") if name == "plain" else said == "", True, said)
        theirs, seen, closed = self.terminal()
        _, process = self.begin("silent", subprocess.DEVNULL, theirs, "--quiet")
        self.end()
        self.assertEqual(process.wait(60), 0)
        closed()
        self.assertEqual(seen, [])

    def test_status_begins_with_what_is_safe_and_what_is_only_local(self):
        case, process = self.begin("held", subprocess.DEVNULL, subprocess.DEVNULL, "--quiet", "--drain-when", "end")
        self.await_true(lambda: (self.job(case) or {}).get("only_local", {}).get("files") == 8, "eight files")
        job = self.job(case)
        self.assertEqual([name for name in os.listdir(case) if name != ".forebay"], [])
        self.assertEqual(job["only_local"]["bytes"], 4 * (SIZE + 2))
        self.assertGreater(job["only_local"]["seconds"], 0)
        [where] = job["only_local"]["where"]
        self.assertTrue(where.startswith(self.pool), where)
        self.assertTrue(os.path.isdir(where), where)
        self.assertEqual((job["safe"], job["newest_begun"], job["held_back"]), (None, "4", []))
        first = self.status(case).splitlines()[0]
        self.assertIn("safe on all nodes: no time yet; only local: 800 kB in 8 files, for ", first)
        self.assertIn(f", in {where}; held back by room: nothing", first)
        self.end()
        self.assertEqual(process.wait(60), 0)

    def test_times_of_ranks_that_a_script_started_are_safe_when_they_are_home(self):
        """They were "no time yet" for as long as the solver ran in a script."""
        case = self.case("script")
        for rank in ("processor0", "processor1"):
            os.mkdir(os.path.join(case, rank))
        _, process = self.begin(
            "script",
            subprocess.DEVNULL,
            subprocess.DEVNULL,
            "-q",
            "--set",
            "drain.settle=200ms",
            script=RANKS,
            case=case,
        )
        self.await_true(lambda: (self.job(case) or {}).get("safe_of_script") == "3", "time 3")
        for rank in ("processor0", "processor1"):
            self.assertEqual(os.path.getsize(os.path.join(case, rank, "3", "U")), SIZE)
        self.assertIn("time 3 of the script's ranks", self.status(case).splitlines()[0])
        self.assertRegex(self.status(case), r"\n  safe +time 3 of the 2 ranks that the script started\n")
        self.end()
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(self.read(case, "processor1", "4", "uniform", "time"), "4\n")


if __name__ == "__main__":
    outputcase.main()
