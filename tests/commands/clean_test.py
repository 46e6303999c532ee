"""Proves: `forebay clean` also works when the case itself is gone, with the same care for data that is nowhere else, and
removes nothing of a run that lives."""

import fcntl
import glob
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time

import commandcase
from commandcase import processes

BAD_INPUT, UNDRAINED, LOST = 2, 3, 4


class CleanTest(commandcase.CommandCase):
    def test_where_there_is_nothing_to_remove_it_says_so(self):
        self.assertEqual(self.here("clean"), 0, self.output)
        self.assertEqual(self.output, f"nothing to remove of {self.case}\n")
        self.assertEqual(self.call("clean", "--pool", self.pool), 0, self.output)
        self.assertEqual(self.output, "nothing to remove\n")

    def wait_for(self, condition):
        until = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), until, "waited in vain")
            time.sleep(0.01)

    def start(self, writes="echo result > result", drain_when="end"):
        """A run that has written what `writes` says and waits; its processes."""
        log = open(os.path.join(self.directory, "log"), "w")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [commandcase.FOREBAY, "run", "--case", self.case, "--pool", self.pool, "--drain-when", drain_when, "--",
             "sh", "-c", f"{writes}; : > {self.directory}/written; exec sleep 60"],
            cwd=self.case, env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(self.kill, process)
        self.wait_for(lambda: os.path.exists(os.path.join(self.directory, "written")))
        self.wait_for(lambda: "sleep" in map(processes.name_of, processes.tree(process.pid)))
        return process

    def kill(self, process):
        """The whole run at once, as a batch system or a full memory does it."""
        if process.poll() is not None:
            return
        everyone = processes.tree(process.pid)
        for sign in (signal.SIGSTOP, signal.SIGKILL):
            for pid in everyone:
                processes.kill(pid, sign)
        process.wait()
        self.wait_for(lambda: not any(processes.is_alive(pid) for pid in everyone))
        self.wait_for(self.agent_is_gone)

    def agent_is_gone(self):
        """Its threads may outlive it by a moment, and its lock with them."""
        for path in self.in_pool("*/s0/agent.lock"):
            with open(path) as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
        return True

    def run_name(self):
        return os.path.basename(os.path.dirname(self.in_pool("*/s0")[0]))

    def answered(self, answer, *words):
        """At a terminal; the exit status."""
        ours, theirs = pty.openpty()
        line = [commandcase.FOREBAY, "clean", "--case", self.case, "--pool", self.pool, *words]
        process = subprocess.Popen(line, env=self.environment(), stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        os.write(ours, answer.encode() + b"\n")
        self.output = ""
        try:
            while part := os.read(ours, 4096):
                self.output += part.decode()
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        return process.wait(timeout=30)

    def test_nothing_is_removed_before_it_is_listed_and_somebody_has_said_so(self):
        self.assertEqual(self.here("stage"), 0, self.output)
        (kept,) = self.in_pool("*")
        self.assertEqual(self.here("clean"), BAD_INPUT, self.output)
        self.assertRegex(
            self.done.stdout,
            rf"to remove:\n  kept for the next run: 1 file \(.*\) of {re.escape(self.case)}, in {re.escape(kept)} \(",
        )
        self.assertIn("give --yes", self.done.stderr)
        self.assertEqual(self.answered("n"), BAD_INPUT)
        self.assertIn("nothing was removed", self.output)
        self.assertEqual(self.in_pool("*"), [kept])
        self.assertEqual(self.answered("y"), 0, self.output)
        self.assertIn(f"{kept}: removed", self.output)
        self.assertEqual(self.in_pool("*"), [])
        self.assertEqual(self.here("clean"), 0, "nothing to ask: " + self.output)

    def test_what_is_thrown_away_is_listed_first_too(self):
        self.kill(self.start())
        for words in (["--throw-away", "--throw-away"], ["--drop", "result"]):
            self.assertEqual(self.here("clean", *words), BAD_INPUT, self.output)
            self.assertIn("only here", self.done.stdout)
        self.assertEqual(self.here("drain", "--resume"), 0, self.output)
        self.assertEqual(self.read("result"), "result\n")

    def test_a_case_that_is_gone_can_be_cleaned_when_told_twice(self):
        self.kill(self.start())
        shutil.rmtree(self.case)
        self.assertEqual(self.here("clean", "--yes"), UNDRAINED, self.output)
        for words in ("only here", "the first is result", "the case is gone", "--throw-away --throw-away"):
            self.assertIn(words, self.output)
        self.assertEqual(self.here("clean", "--yes", "--throw-away"), UNDRAINED, self.output)
        self.assertEqual(len(self.in_pool("*/s0")), 1)
        self.assertEqual(self.here("status"), 0, self.output)
        self.assertIn(self.case, self.output)
        self.assertEqual(self.here("drain", "--resume"), UNDRAINED, self.output)
        for words in (self.case, "No such file or directory", "when the case is back", "forebay clean"):
            self.assertIn(words, self.output)
        self.assertEqual(len(self.in_pool("*/s0")), 1)
        self.assertEqual(self.here("clean", "--yes", "--throw-away", "--throw-away"), 0, self.output)
        self.assertEqual(self.in_pool("*"), [])
        self.assertEqual(self.here("clean", "--yes"), 2, self.output)
        self.assertIn("no such case", self.output)

    def temporaries(self):
        return glob.glob(f"{self.case}/**/.fb-*", recursive=True, include_hidden=True)

    def test_what_was_on_its_way_to_the_case_goes_with_the_run_that_is_thrown_away(self):
        others = os.path.join(self.case, "results/.fb-0123456789abcdef")
        for pool_is_gone in (True, False):
            process = self.start(writes="mkdir -p results; head -c 500M /dev/zero > results/big", drain_when="live")
            self.wait_for(self.temporaries)
            self.kill(process)
            self.assertEqual(len(self.temporaries()), 1)
            if pool_is_gone:
                shutil.rmtree(os.path.dirname(self.in_pool("*/s0")[0]))
            self.write(others, "its name is another's")
            self.assertEqual(self.here("clean", "--yes", "--throw-away", "--throw-away"), 0, self.output)
            self.assertEqual(self.temporaries(), [others])
            self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")))
            os.remove(others)
            shutil.rmtree(os.path.join(self.case, "results"))

    def test_what_was_left_for_a_case_that_was_gone_comes_home_when_it_is_back(self):
        self.kill(self.start())
        away = self.case + "-away"
        os.rename(self.case, away)
        self.assertEqual(self.here("drain", "--resume"), UNDRAINED, self.output)
        os.rename(away, self.case)
        self.assertEqual(self.here("drain", "--resume"), 0, self.output)
        self.assertEqual(self.read("result"), "result\n")
        self.assertEqual(self.in_pool("*"), [])

    def test_where_a_pool_is_named_what_others_hold_stays(self):
        self.kill(self.start())
        found, run = f"/dev/shm/forebay-{os.geteuid()}", self.run_name()
        os.makedirs(found, 0o700, exist_ok=True)
        self.addCleanup(shutil.rmtree, os.path.join(found, run), ignore_errors=True)
        before = os.path.dirname(self.in_pool("*/s0")[0])
        with open(os.path.join(before, "s0/run.json"), "r+") as file:
            tells = file.read().replace(before, os.path.join(found, run))
            file.seek(0)
            file.truncate()
            file.write(tells)
        shutil.move(before, found)
        self.assertEqual(self.here("clean", "--yes", "--throw-away", "--throw-away"), UNDRAINED, self.output)
        self.assertIn(f"in another pool: {found}/{run}/s0", self.output)
        self.assertTrue(os.path.exists(os.path.join(self.case, ".forebay")), self.output)
        self.assertEqual(self.call("clean", "--yes", "--case", self.case), UNDRAINED, self.output)
        self.assertIn(run, self.output)

    def test_a_run_that_lives_keeps_its_mark_where_another_pool_is_named(self):
        process = self.start()
        other = ["clean", "--yes", "--case", self.case, "--pool", self.directory, "--throw-away", "--throw-away"]
        self.assertEqual(self.call(*other), 0, self.output)
        self.assertIn("is alive: kept", self.output)
        self.assertTrue(os.path.exists(os.path.join(self.case, ".forebay")))
        self.kill(process)
        # What it left lies in no pool that is named or found, but where its plan says.
        for words in (other, ["clean", "--yes", "--case", self.case, "--throw-away", "--throw-away"]):
            self.assertEqual(self.call(*words), UNDRAINED, self.output)
            self.assertIn(f"in another pool: {self.in_pool('*/s0')[0]}", self.output)
            self.assertTrue(os.path.exists(os.path.join(self.case, ".forebay")))
        shutil.rmtree(os.path.dirname(self.in_pool("*/s0")[0]))
        self.assertEqual(self.call(*other[:-2]), LOST, self.output)
        self.assertIn("its pool is gone", self.output)
        self.assertEqual(self.call(*other), 0, self.output)
        self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")))

    def test_a_mark_whose_process_is_another_program_by_now_can_be_removed(self):
        self.kill(self.start())
        shutil.rmtree(os.path.dirname(self.in_pool("*/s0")[0]))
        path = os.path.join(self.case, ".forebay/plan.json")
        with open(path) as file:
            plan = json.load(file)
        plan["submit_pid"] = os.getpid()
        with open(path, "w") as file:
            json.dump(plan, file)
        self.assertEqual(self.here("clean", "--yes"), LOST, self.output)
        self.assertEqual(self.here("clean", "--yes", "--throw-away", "--throw-away"), 0, self.output)
        self.assertFalse(os.path.exists(os.path.dirname(path)))

    def test_a_run_that_was_killed_as_it_began_is_none(self):
        home = os.path.join(self.pool, f"forebay-{os.geteuid()}", "20260101-000000-1/s0")
        os.makedirs(home, mode=0o700)
        for words in (["status"], ["drain", "--resume"], ["clean", "--yes"]):
            self.assertEqual(self.call(*words, "--pool", self.pool), 0, self.output)
        with open(os.path.join(home, "journal"), "w"):
            pass
        for words, status in ((["clean", "--yes"], 1), (["drain", "--resume"], 1)):
            self.assertEqual(self.call(*words, "--pool", self.pool), status, self.output)
            self.assertIn("run.json: No such file", self.output)
        self.assertNotIn("nobody", self.output)

    def test_a_run_that_was_killed_while_its_tree_was_made_has_lost_nothing(self):
        self.kill(self.start())
        (home,) = self.in_pool("*/s0")
        shutil.rmtree(os.path.join(home, "tree", "case"))
        with open(os.path.join(home, "journal"), "r+b") as file:
            file.truncate(len(file.readline()))
        self.assertEqual(self.here("status"), 0, self.output)
        with open(os.path.join(home, "run.json"), "r+") as file:
            tells = json.load(file)
            file.seek(0)
            file.truncate()
            json.dump({**tells, "ranks": {}}, file)
        self.assertEqual(self.here("drain", "--resume"), 0, self.output)
        self.assertNotIn("emptied", self.output)
        self.assertEqual(self.in_pool("*"), [])
        self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")))

    def test_what_is_damaged_is_told_and_stays(self):
        self.kill(self.start())
        (tells,) = self.in_pool("*/s0/run.json")
        with open(tells, "w") as file:
            file.write("{")
        for words in (["clean", "--yes"], ["drain", "--resume"], ["clean", "--yes", "--throw-away", "--throw-away"]):
            for of_case in ([], ["--case", self.case]):
                self.assertEqual(self.call(*words, *of_case, "--pool", self.pool), LOST, self.output)
                self.assertIn(tells, self.output)
        self.assertTrue(os.path.exists(os.path.join(self.case, ".forebay")))
        self.assertEqual(self.in_pool("*/s0/run.json"), [tells])

    def test_a_case_that_is_gone_is_known_by_the_path_that_was_typed(self):
        os.symlink(self.directory, os.path.join(self.directory, "link"))
        self.kill(self.start())
        shutil.rmtree(self.case)
        for case, cwd in ((os.path.join(self.directory, "link", "case") + "/", "/"), ("case", self.directory)):
            self.assertEqual(
                self.call("clean", "--yes", "--case", case, "--pool", self.pool, cwd=cwd), UNDRAINED, self.output
            )

    def test_what_was_staged_for_a_case_that_is_gone_can_be_cleaned(self):
        self.assertEqual(self.here("stage"), 0, self.output)
        shutil.rmtree(self.case)
        self.assertEqual(self.here("clean", "--yes"), 0, self.output)
        self.assertEqual(self.in_pool("*"), [])

    def test_a_report_that_was_being_written_does_not_keep_a_resumed_run_alive(self):
        self.kill(self.start())
        self.write(".forebay/node-other.json.123.new", "{")
        self.assertEqual(self.here("drain", "--resume"), 0, self.output)
        self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")))

    def test_a_run_that_lives_stays(self):
        process = self.start()
        self.assertEqual(self.here("clean", "--yes", "--throw-away", "--throw-away"), 0, self.output)
        self.assertIn("is alive: kept", self.output)
        self.kill(process)

    def test_what_a_program_that_outlived_its_agent_works_in_stays(self):
        process = self.start()
        everyone = processes.tree(process.pid)
        (sleeper,) = (pid for pid in everyone if processes.name_of(pid) == "sleep")
        for pid in everyone:  # the keeper before the agent
            if pid != sleeper:
                os.kill(pid, signal.SIGKILL)
        process.wait()
        self.wait_for(self.agent_is_gone)
        self.assertEqual(self.here("clean", "--yes", "--throw-away", "--throw-away"), 0, self.output)
        self.assertIn("is alive: kept", self.output)
        os.kill(sleeper, signal.SIGKILL)
        self.wait_for(lambda: not processes.is_alive(sleeper))
        self.assertEqual(self.here("clean", "--yes"), UNDRAINED, self.output)


if __name__ == "__main__":
    commandcase.main()
