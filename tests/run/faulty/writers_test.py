"""Issue, "Programs that outlive the one that was started": the end waits for who still writes, says for whom, and gives
nothing its final name that might be cut."""

import os
import shutil
import signal
import sys
import time

import harness
from harness import UNDRAINED, FaultyCase, drawn, processes, wait_for

WAYS = ("namespace", "redirect", "path")

# Leaves its parent, its session, its standard files and its environment behind, and goes on writing.
DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
if "CLEAN" not in os.environ: os.execve(sys.executable, sys.orig_argv, {"CLEAN": "1"})
"""
WRITES = (
    DAEMON
    + """
with open("slow", "w") as file:
    for i in range(12):
        print(i, file=file, flush=True)
        time.sleep(0.1)
"""
)
# What it has mapped has no descriptor any more.
MAPPED = """
import mmap, os, time
with open("slow", "wb+") as file:
    file.truncate(36)
    memory = mmap.mmap(file.fileno(), 36)
if os.fork(): os._exit(0)
for i in range(12):
    memory[3 * i : 3 * i + 3] = b"%2d\\n" % i
    time.sleep(0.1)
"""
WHOLE = [str(i) for i in range(12)]
SLOWLY = "while read -r line; do echo $line; sleep 0.1; done"


class Holders(FaultyCase):
    def holders(self, name):
        """Processes that have a file of the tree open for writing."""
        found = []
        for home in self.homes():
            path = os.path.join(home, "tree/case", name)
            if not os.path.exists(path):
                continue
            wanted = os.stat(path)
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    for each in os.listdir(f"/proc/{pid}/fd"):
                        status = os.stat(f"/proc/{pid}/fd/{each}")
                        written = os.lstat(f"/proc/{pid}/fd/{each}").st_mode & 0o200
                        if written and (status.st_dev, status.st_ino) == (wanted.st_dev, wanted.st_ino):
                            found.append(int(pid))
                            break
                except OSError:
                    continue
        return found


class Writers(Holders):
    ranks = 0

    def script(self, text, *options, program="bash"):
        return self.start([program, "-c", text], ["--set", "drain.settle=600ms", *options])

    def lines(self, name):
        return [line.strip() for line in self.on_case().get(name, b"(missing)").decode().splitlines()]

    def assert_whole(self, process, name="slow", message=""):
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertEqual(self.lines(name), WHOLE, f"{message}: {self.output}")
        self.assert_nothing_left()

    def test_what_a_program_leaves_to_others_is_whole_when_the_run_ends(self):
        leaves = {
            "a process substitution": f"exec > >({SLOWLY} > slow); seq 0 11",
            "a process in the background": f"(seq 0 11 | {SLOWLY} > slow) & sleep 0.3",
        }
        for message, text in leaves.items():
            [way] = drawn(WAYS, message)
            with self.subTest(f"{way}: {message}"):
                self.assert_whole(self.script(text, "--via", way), message=message)
                os.remove(os.path.join(self.case, "slow"))

    def test_a_daemon_is_waited_for(self):
        self.assert_whole(self.script(WRITES, program=sys.executable))

    def test_who_has_a_file_mapped_is_waited_for(self):
        self.assert_whole(self.script(MAPPED, program=sys.executable))

    def test_who_opens_its_file_for_each_line_is_waited_for(self):
        self.assert_whole(self.script("(for i in $(seq 0 11); do echo $i >> slow; sleep 0.1; done) & sleep 0.3"))

    def test_who_has_not_yet_written_to_a_drained_file_is_waited_for(self):
        text = "seq 0 9 > slow; sleep 2; (sleep 1.5; seq 10 11) >> slow & sleep 0.1"
        self.assert_whole(self.script(text, "--set", "drain.settle=100ms"))

    def test_who_holds_a_file_for_ever_is_named_and_all_else_is_home(self):
        for way in ("path", *drawn(("namespace", "redirect"), "held")):
            with self.subTest(way):
                process = self.script(
                    "echo 1 > held; echo 2 > other; sleep 300 > /dev/null 2>&1 3>> held & exit 0",
                    "--via",
                    way,
                    "--patience",
                    "1s",
                )
                self.assertEqual(self.finish(process), UNDRAINED, self.output)
                [sleeper] = self.holders("held")
                self.assertEqual(self.on_case()["other"], b"2\n")
                for words in (f"sleep (process {sleeper})", "held", "drain.patience", "--resume"):
                    self.assertIn(words, self.output)
                self.assertNotIn("held", self.on_case())
                if way == "path":
                    self.assertEqual(self.resume(), UNDRAINED, self.output)
                    self.assertNotIn("held", self.on_case())
                    self.assertIn(f"sleep (process {sleeper}) has held open", self.output)
                os.kill(sleeper, signal.SIGKILL)
                self.assertEqual(self.resume(), 0, self.output)
                self.assertEqual(self.on_case()["held"], b"1\n")
                self.assert_nothing_left()
                os.remove(os.path.join(self.case, "held"))
                os.remove(os.path.join(self.case, "other"))

    def test_the_status_says_who_is_waited_for(self):
        process = self.script("echo 1 > held; sleep 300 > /dev/null 2>&1 3>> held & exit 0")
        wait_for(lambda: any(run["waits_for"] for run in self.status()), what="a word of whom is waited for")
        [sleeper] = self.holders("held")
        self.forebay("status", "--case", self.case, "--pool", self.pool)
        self.assertRegex(self.output, rf"waits, since\s+sleep \(process {sleeper}\) has held open for writing")
        os.kill(sleeper, signal.SIGKILL)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertEqual(self.on_case()["held"], b"1\n")

    def test_who_only_lives_on_is_told_of(self):
        began = time.monotonic()
        process = self.script("echo 1 > one; sleep 300 > /dev/null 2>&1 & exit 0")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertLess(time.monotonic() - began, 20)
        self.assertRegex(self.output, r"still running when all was home: sleep \(process \d+\)")
        self.assert_nothing_left()
        for pid in self.left_over_sleeps:
            os.kill(pid, signal.SIGKILL)

    def test_who_outlives_program_and_agent_is_waited_for(self):
        process = self.script("(for i in $(seq 0 11); do echo $i; sleep 0.15; done > slow) & sleep 1")
        wait_for(lambda: self.holders("slow"), what="the writer")
        os.kill(self.agent(), signal.SIGKILL)
        self.assert_whole(process)

    def test_who_writes_to_a_checkpoint_is_waited_for(self):
        text = f"mkdir restart; echo mesh > restart/mesh; (seq 0 11 | {SLOWLY} > restart/slow) & sleep 0.3"
        [way] = drawn(WAYS, "checkpoint")
        self.assert_whole(self.script(text, "--via", way, "--checkpoint", "restart"), "restart/slow", way)
        self.assertEqual(self.on_case()["restart/mesh"], b"mesh\n")

    def test_a_checkpoint_that_somebody_holds_open_is_not_carried(self):
        text = "mkdir restart; echo mesh > restart/mesh; echo 1 > restart/held; sleep 300 > /dev/null 2>&1 3>> restart/held &"
        process = self.script(text, "--checkpoint", "restart", "--patience", "1s")
        self.assertEqual(self.finish(process), UNDRAINED, self.output)
        [sleeper] = self.holders("restart/held")
        self.assertIn(f"sleep (process {sleeper})", self.output)
        self.assertNotIn("restart/held", self.on_case())
        os.kill(sleeper, signal.SIGKILL)
        self.assertEqual(self.resume(), 0, self.output)
        self.assertEqual(
            {name: self.on_case()[f"restart/{name}"] for name in ("mesh", "held")}, {"mesh": b"mesh\n", "held": b"1\n"}
        )
        self.assert_nothing_left()

    @property
    def left_over_sleeps(self):
        return processes.mentioning(self.pool, "sleep")


# A file of OpenFOAM, of lines that come slowly: collated are no others.
SLOW_FIELD = """
field() {
  printf 'FoamFile\\n{\\n    version 2.0;\\n    format ascii;\\n    class volScalarField;\\n    object %s;\\n}\\n\\n' "$1"
  for i in $(seq 0 11); do echo "$i"; sleep "$2"; done
  printf '\\n// ************************************************************************* //\\n'
}
"""


class WritersInTimes(Holders):
    """Whose file lies in a time of a rank, which is carried as a whole, or in a collated group."""

    ranks = 2
    layouts = ("verbatim", "collated")

    def ranks_leave(self, script, *options, before=":"):
        """Each rank writes a whole file of time 1, and leaves somebody else to write another."""
        program = f"field p 0 > 1/p; {before}; setsid bash {self.directory}/leave >&- 2>&- &"
        for name, text in (("leave", script), ("program", program)):
            with open(os.path.join(self.directory, name), "w") as file:
                file.write(f"{SLOW_FIELD}\n{text}\n")
        text = f"cd processor$OMPI_COMM_WORLD_RANK; mkdir 1; . {self.directory}/program; sleep 0.5"
        line = ["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "bash", "-c", text]
        return self.start(line, ["--set", "drain.settle=600ms", *options])

    def assert_times_are_whole(self):
        """In the group, or in each rank's directory where the time was not complete when the ranks ended."""
        case = self.on_case()
        places = ["processors2/1"] if "processors2/1/p" in case else ["processor0/1", "processor1/1"]
        found = {path for path in case if path.endswith(("/p", "/slow"))}
        self.assertEqual(found, {f"{place}/{name}" for place in places for name in ("p", "slow")}, self.output)
        for path in found:
            self.assertEqual(case[path].decode().count("\n".join(WHOLE)), 2 // len(places), f"{path}: {self.output}")
        self.assert_nothing_left()
        for place in places:
            shutil.rmtree(os.path.join(self.case, place))

    def test_it_is_waited_for(self):
        for layout in self.layouts:
            [way] = drawn(WAYS, layout)
            with self.subTest(way=way, layout=layout):
                process = self.ranks_leave("field slow 0.1 > 1/slow", "--via", way, "--layout", layout)
                self.assertEqual(self.finish(process), 0, self.output)
                self.assert_times_are_whole()

    def test_so_is_who_changes_a_file_of_a_whole_time(self):
        for layout in self.layouts:
            with self.subTest(layout):
                again = "sleep 1; : > 1/slow; field slow 0.1 >> 1/slow"
                process = self.ranks_leave(
                    f"exec 3>> 1/slow; {again}", "--layout", layout, before="field slow 0 > 1/slow"
                )
                self.assertEqual(self.finish(process), 0, self.output)
                self.assert_times_are_whole()

    def test_while_it_is_open_nothing_of_the_time_has_its_name(self):
        script = "[ $OMPI_COMM_WORLD_RANK = 1 ] || exec sleep 300 3>> 1/slow"
        for layout in self.layouts:
            with self.subTest(layout):
                process = self.ranks_leave(
                    script, "--layout", layout, "--patience", "1s", before="field slow 0 > 1/slow"
                )
                self.assertEqual(self.finish(process), UNDRAINED, self.output)
                [sleeper] = self.holders("processor0/1/slow")
                self.assertIn(f"sleep (process {sleeper})", self.output)
                here = {path for path in self.on_case() if path.endswith(("/p", "/slow"))}
                self.assertEqual({path for path in here if "processor1/" not in path}, set())
                os.kill(sleeper, signal.SIGKILL)
                self.assertEqual(self.resume(), 0, self.output)
                self.assert_times_are_whole()


if __name__ == "__main__":
    harness.main()
