"""Issue, "Resume tells the truth": `forebay drain --resume` ends with 0 only when all is home, waits for whoever works on
it, and brings nothing into another case."""

import fcntl
import glob
import json
import os
import shutil
import signal
import subprocess
import time

import harness
from harness import FOREBAY, LOST, POOL_FULL, UNDRAINED, FaultyCase, processes, wait_for

FILES, SIZE = 20, 80_000
WRITES = f"for i in $(seq {FILES}); do head -c {SIZE} /dev/zero > f$i; done"


class Resume(FaultyCase):
    ranks = 0

    def start_slow(self, then="exit 0"):
        """A run that has written all, and has brought little of it home."""
        process = self.start(["sh", "-c", f"{WRITES}; {then}"], ["--drain-when", "end", "--bandwidth", "1M"])
        wait_for(lambda: any(os.path.getsize(each) == SIZE for each in self.in_tree(f"f{FILES}")), what="the last file")
        return process

    def in_tree(self, name):
        return glob.glob(os.path.join(self.pool, "*/*/s0/tree/case", name))

    def kill_all(self, process):
        self.kill_tree(process.pid)
        process.communicate()

    def begin_resume(self, *options):
        process = subprocess.Popen(
            [FOREBAY, "drain", "--resume", "--case", self.case, "--pool", self.pool, *options],
            env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.started.append(process)
        return process

    def whole_files(self, case=None):
        return sum(os.path.getsize(path) == SIZE for path in glob.glob(os.path.join(case or self.case, "f*")))

    def test_while_an_agent_drains_it_is_waited_for(self):
        process = self.start_slow()
        wait_for(self.on_case, what="the first files on the case")
        os.kill(process.pid, signal.SIGKILL)
        self.assertEqual(self.resume(), 0, self.output)
        self.assertEqual(self.whole_files(), FILES, self.output)
        self.assert_nothing_left()

    def test_a_server_that_refuses_to_remove_the_empty_mark_is_asked_again(self):
        process = self.start(["sh", "-c", "echo > f1"], fault="rmdir:ENOTEMPTY:count=3")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_nothing_left()
        process = self.start(["sh", "-c", "echo > f2"], fault="rmdir:ENOTEMPTY")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertIn(f"cannot remove {self.case}/.forebay: Directory not empty; nothing of the run", self.output)
        self.assertTrue(os.path.isfile(os.path.join(self.case, "f2")))
        self.assertEqual(os.listdir(os.path.join(self.case, ".forebay")), [])

    def test_while_the_program_runs_it_is_waited_for_and_an_interrupted_wait_ends_with_3(self):
        process = self.start_slow("sleep 2")
        self.kill_name(process, "forebay-agent")
        interrupted = self.begin_resume()
        time.sleep(0.7)
        interrupted.send_signal(signal.SIGINT)
        output, _ = interrupted.communicate(timeout=20)
        self.assertEqual(interrupted.returncode, UNDRAINED, output)
        self.assertIn("interrupted while waiting", output)
        self.assertEqual(self.resume(), 0, self.output)
        self.assertEqual(self.whole_files(), FILES)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_nothing_left()

    def test_of_several_at_once_one_works_and_all_tell_its_outcome(self):
        self.kill_all(self.start_slow())
        resumed = [self.begin_resume() for _ in range(3)]
        outcomes = []
        for each in resumed:
            output, _ = each.communicate(timeout=60)
            outcomes.append((each.returncode, self.whole_files(), output))
        self.assertEqual([outcome[:2] for outcome in outcomes], 3 * [(0, FILES)], outcomes)
        self.assert_nothing_left()

    def test_of_several_at_once_all_tell_that_something_is_left(self):
        self.kill_all(self.start_slow())
        os.mkdir(os.path.join(self.case, "f7"))  # in the way
        resumed = [self.begin_resume() for _ in range(2)]
        outcomes = [(each.communicate(timeout=60)[0], each.returncode) for each in resumed]
        self.assertNotEqual(outcomes[0][1], 0, outcomes)
        self.assertEqual(outcomes[0][1], outcomes[1][1], outcomes)

    def test_a_pool_that_is_gone_is_a_loss(self):
        process = self.start_slow("sleep 60")
        wait_for(lambda: glob.glob(os.path.join(self.case, ".forebay/node-*.json")), what="the node's report")
        self.kill_all(process)
        shutil.rmtree(os.path.join(self.pool, f"forebay-{os.geteuid()}"))
        for command in (self.resume, self.clean):
            self.assertEqual(command(), LOST, self.output)
            for words in ("its pool is gone", "safe on the case: no time", "--throw-away --throw-away"):
                self.assertIn(words, self.output)
        self.forebay("status", "--case", self.case, "--pool", self.pool)
        self.assertIn("its pool is gone", self.output)
        self.assertEqual(self.clean("--throw-away", "--throw-away"), 0, self.output)
        self.assertEqual(self.resume(), 0, self.output)

    def test_what_is_thrown_away_while_others_wait_is_no_success(self):
        self.kill_all(self.start_slow())
        lock = glob.glob(os.path.join(self.pool, "*/*/s0/agent.lock"))[0]
        waiting = []
        with open(lock, "r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            waiting = [self.begin_resume() for _ in range(2)]
            for each in waiting:
                wait_for(lambda each=each: self.has_open(each.pid, lock), what="a resume that waits")
                # Its other process, which has the lock's file open, must not go on alone.
                for pid in reversed(processes.tree(each.pid)):
                    os.kill(pid, signal.SIGSTOP)
        self.assertEqual(self.clean("--throw-away", "--throw-away"), 0, self.output)
        for each in waiting:
            for pid in processes.tree(each.pid):
                os.kill(pid, signal.SIGCONT)
            output, _ = each.communicate(timeout=30)
            self.assertEqual(each.returncode, LOST, output)
            self.assertIn("has removed what run", output)

    def has_open(self, pid, path):
        """It works in a process of its own."""
        files = [each for one in processes.tree(pid) for each in glob.glob(f"/proc/{one}/fd/*")]
        return any(os.path.realpath(each) == path for each in files)

    def test_without_its_journal_a_run_is_lost_and_it_is_told_where_its_files_are(self):
        self.kill_all(self.start_slow())
        os.remove(glob.glob(os.path.join(self.pool, "*/*/s0/journal"))[0])
        for command in (self.resume, self.clean):
            self.assertIn(command(), (LOST, UNDRAINED), self.output)
            self.assertIn("journal", self.output)
        self.assertEqual(self.resume(), LOST, self.output)
        self.assertIn(os.path.dirname(self.in_tree(f"f{FILES}")[0]), self.output)

    # What a tmp cleaner does to a dead run.

    def noted(self):
        """What the agent has noted of the files that the case does not have."""
        data = b""
        for path in glob.glob(os.path.join(self.pool, "*/*/s0/uncarried")):
            with open(path, "rb") as file:
                data += file.read()
        return data

    def start_and_let_see(self, script, last, options=("--drain-when", "end")):
        """Runs until the agent has seen `last`."""
        process = self.start(["sh", "-c", script], options)
        wait_for(lambda: b" " + last.encode() + b"\n" in self.noted(), what=f"a note of {last}")
        return process

    def pass_an_hour(self):
        """For the run: all that it left looks so much older."""
        before = time.time() - 3600
        for path in glob.glob(os.path.join(self.pool, "*/*/s0/uncarried")):
            os.utime(path, (before, before))
        for directory, _, names in os.walk(self.pool):
            for name in names:
                path = os.path.join(directory, name)
                if "/tree/" in path and not os.path.islink(path):
                    os.utime(path, (before, before))

    def test_what_a_cleaner_removed_from_a_dead_runs_pool_is_lost_by_name_and_the_loss_can_be_accepted(self):
        script = (
            f"{WRITES}; mkdir d 1; echo a > d/a; : > d/b; : > empty; echo p > 1/p; echo q > 1/q; : > last; sleep 60"
        )
        for removed, names in (
            (["f7", "1/p"], ["1/p", "f7"]),
            (["empty", "d"], ["d/a", "d/b", "empty"]),
            (["1"], ["1/p", "1/q"]),
        ):
            with self.subTest(removed=removed):
                process = self.start_and_let_see(script, "last")
                # It looks at times once a second.
                wait_for(lambda: b" q\n" in self.noted(), what="a note of time 1")
                self.kill_all(process)
                self.pass_an_hour()
                for name in removed:
                    [path] = self.in_tree(name)
                    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
                for command in (self.resume, self.clean, self.resume, self.clean):
                    self.assertEqual(command(), LOST, self.output)
                    self.assertIn(", ".join(names), self.output)
                self.assertEqual(self.whole_files(), FILES - removed.count("f7"))
                for name in names:
                    self.assertEqual(self.clean("--drop", name), 0, self.output)
                self.assertEqual(self.resume(), 0, self.output)
                self.assert_nothing_left()
                shutil.rmtree(self.case)
                self.make_case()

    def test_what_a_cleaner_removed_comes_home_when_it_is_put_back(self):
        process = self.start_and_let_see(f"{WRITES}; : > last; sleep 60", "last")
        self.kill_all(process)
        self.pass_an_hour()
        [path] = self.in_tree("f7")
        shutil.move(path, os.path.join(self.directory, "f7"))
        self.assertEqual(self.resume(), LOST, self.output)
        shutil.move(os.path.join(self.directory, "f7"), path)
        self.assertEqual(self.resume(), 0, self.output)
        self.assertEqual(self.whole_files(), FILES)
        self.assert_nothing_left()

    def test_what_was_carried_and_changed_since_is_missed_too(self):
        script = "echo 1 > a; echo 1 > b; while [ ! -e go ]; do sleep 0.1; done; echo 2 >> b; : > last; sleep 60"
        process = self.start(["sh", "-c", script], ["--drain-when", "live"], fault="")
        wait_for(lambda: {"a", "b"} <= set(self.on_case()), what="both on the case")
        self.set_fault("rename:EIO")
        with open(os.path.join(os.path.dirname(self.in_tree("a")[0]), "go"), "w"):
            pass
        wait_for(lambda: b" last\n" in self.noted(), what="a note of last")
        self.kill_all(process)
        self.pass_an_hour()
        for name in ("a", "b"):
            os.remove(self.in_tree(name)[0])
        self.assertEqual(self.resume(), LOST, self.output)
        self.assertIn(": b; all else", self.output)

    def test_what_the_program_removed_before_it_was_killed_is_not_missed(self):
        creates_and_removes = "i=0; while :; do i=$((i+1)); : > g$i; : > h$i; rm -f g$i h$((i-1)); done"
        for round_ in range(5):
            process = self.start(["sh", "-c", creates_and_removes], ["--drain-when", "end"])
            wait_for(lambda: self.noted().count(b"\n") > 3, what="some notes")
            time.sleep(0.05 * round_)
            self.kill_all(process)
            self.assertEqual(self.resume(), 0, self.output)
        process = self.start_and_let_see(f"{WRITES}; mkdir d; : > d/a; : > last; sleep 60", "last")
        # Many at once, and the agent has no look at it any more.
        os.kill(self.agent(), signal.SIGSTOP)
        for directory in self.in_tree(""):
            for name in glob.glob(os.path.join(directory, "f*")):
                os.remove(name)
            shutil.rmtree(os.path.join(directory, "d"))
        self.kill_all(process)
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_nothing_left()

    def test_of_a_program_that_outlived_forebay_nothing_is_missed(self):
        script = f"{WRITES}; : > last; while [ ! -e go ]; do sleep 0.1; done; rm f7; echo end > log; : > done; sleep 60"
        process = self.start_and_let_see(script, "last")
        [tree] = self.in_tree("")
        mine = [pid for pid in processes.tree(process.pid) if processes.name_of(pid).startswith("forebay")]
        for pid in mine:
            os.kill(pid, signal.SIGKILL)
        self.pass_an_hour()
        with open(os.path.join(tree, "go"), "w"):
            pass
        wait_for(lambda: self.in_tree("done"), what="the program's last file")
        for name in ("sh", "sleep"):  # both hold the run's output open
            for pid in processes.mentioning(self.directory, name):
                processes.kill(pid)
        process.communicate()
        self.assertEqual(self.resume(), 0, self.output)
        self.assertEqual(self.whole_files(), FILES - 1)

    def test_nothing_is_brought_into_a_case_that_took_the_name(self):
        self.kill_all(self.start_slow())
        other = self.case + "-renamed"
        os.rename(self.case, other)
        self.assertEqual(self.resume(), UNDRAINED, self.output)
        self.assertIn(f"it is {other} now", self.output)
        self.make_case()
        before = self.on_case()
        for command in (self.resume, self.clean):
            self.assertEqual(command(), UNDRAINED, self.output)
            self.assertIn("another directory", self.output)
        self.assertEqual(self.on_case(), before)
        self.forebay("status", "--case", self.case, "--pool", self.pool)
        self.assertIn(f"it is {other} now", self.output)
        # Under its new name it is the run's case.
        done = self.forebay("drain", "--resume", "--case", other, "--pool", self.pool)
        self.assertEqual(done, 0, self.output)
        self.assertEqual((self.whole_files(other), self.whole_files()), (FILES, 0), self.output)
        self.assertFalse(os.path.exists(os.path.join(other, ".forebay")))
        self.assert_nothing_left()

    def test_a_copy_of_the_case_is_not_the_case(self):
        self.kill_all(self.start_slow())
        os.rename(self.case, self.case + "-original")
        shutil.copytree(self.case + "-original", self.case)
        self.assertEqual(self.resume(), UNDRAINED, self.output)
        self.assertEqual(self.whole_files(), self.whole_files(self.case + "-original"))

    def test_a_case_that_a_link_leads_to_is_the_case(self):
        self.kill_all(self.start_slow())
        os.rename(self.case, self.case + "-moved")
        os.symlink(self.case + "-moved", self.case)
        self.assertEqual(self.resume(), 0, self.output)
        self.assertEqual(self.whole_files(), FILES)

    def test_another_user_is_not_told_that_all_is_home(self):
        if os.geteuid() != 0:
            self.skipTest("being another user needs root")
        self.kill_all(self.start_slow())
        mark = os.path.join(self.case, ".forebay")
        os.chown(mark, 12345, 12345)
        done = self.forebay("drain", "--resume", "--case", self.case, "--pool", self.directory)
        self.assertEqual(done, UNDRAINED, self.output)
        self.assertIn("not a private directory of this user", self.output)

    def kill_beside_another_node(self, phase, **drain):
        """The other node has told of `phase`, and of `drain` besides what this one has told."""
        process = self.start_slow()
        wait_for(lambda: glob.glob(os.path.join(self.case, ".forebay/node-*.json")), what="the node's report")
        self.kill_all(process)
        [own] = glob.glob(os.path.join(self.case, ".forebay/node-*.json"))
        with open(own) as file:
            report = json.load(file)
        report.update(node="other", phase=phase, drain={**report["drain"], **drain})
        with open(os.path.join(self.case, ".forebay/node-other.json"), "w") as file:
            json.dump(report, file)

    def test_what_another_node_has_told_is_told_when_the_mark_goes(self):
        self.kill_beside_another_node("done", trouble=POOL_FULL, messages=["a pool ran full there"])
        self.assertEqual(self.resume(), POOL_FULL, self.output)
        self.assertIn("a pool ran full there", self.output)
        self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")))
        self.assertEqual(self.whole_files(), FILES)

    def test_what_other_nodes_hold_is_not_home(self):
        self.kill_beside_another_node("draining")
        for _ in range(2):
            self.assertEqual(self.resume(), UNDRAINED, self.output)
            self.assertIn("other", self.output)
        self.assertEqual(self.whole_files(), FILES)

    def kill_name(self, process, name):
        found = [pid for pid in processes.tree(process.pid) if processes.name_of(pid) == name]
        self.assertTrue(found and processes.kill(found[0]), f"no {name}")


if __name__ == "__main__":
    harness.main()
