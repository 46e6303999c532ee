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

FILES = 20
WRITES = f"for i in $(seq {FILES}); do head -c 80000 /dev/zero > f$i; done"


class Resume(FaultyCase):
    ranks = 0

    def start_slow(self, then="exit 0"):
        """A run that has written all, and has brought little of it home."""
        process = self.start(["sh", "-c", f"{WRITES}; {then}"], ["--drain-when", "end", "--bandwidth", "1M"])
        wait_for(lambda: self.in_tree(f"f{FILES}"), what="the last file")
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
        return sum(os.path.getsize(path) == 80_000 for path in glob.glob(os.path.join(case or self.case, "f*")))

    def test_while_an_agent_drains_it_is_waited_for(self):
        process = self.start_slow()
        wait_for(self.on_case, what="the first files on the case")
        os.kill(process.pid, signal.SIGKILL)
        self.assertEqual(self.resume(), 0, self.output)
        self.assertEqual(self.whole_files(), FILES, self.output)
        self.assert_nothing_left()

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
                os.kill(each.pid, signal.SIGSTOP)
        self.assertEqual(self.clean("--throw-away", "--throw-away"), 0, self.output)
        for each in waiting:
            os.kill(each.pid, signal.SIGCONT)
            output, _ = each.communicate(timeout=30)
            self.assertEqual(each.returncode, LOST, output)
            self.assertIn("has removed what run", output)

    def has_open(self, pid, path):
        directory = f"/proc/{pid}/fd"
        return any(os.path.realpath(os.path.join(directory, each)) == path for each in os.listdir(directory))

    def test_without_its_journal_a_run_is_lost_and_it_is_told_where_its_files_are(self):
        self.kill_all(self.start_slow())
        os.remove(glob.glob(os.path.join(self.pool, "*/*/s0/journal"))[0])
        for command in (self.resume, self.clean):
            self.assertIn(command(), (LOST, UNDRAINED), self.output)
            self.assertIn("journal", self.output)
        self.assertEqual(self.resume(), LOST, self.output)
        self.assertIn(os.path.dirname(self.in_tree(f"f{FILES}")[0]), self.output)

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
