"""Proves: a checkpoint that a killed program left in the pools of two nodes comes home by `forebay drain --resume` on each of
them, in any order, at once, and killed anywhere; until then nothing is lost, and then nothing else is left.

    resume_test.py MPIEXEC PROGRAM FOREBAY FAULT_LIBRARY groups|lab
"""

import glob
import json
import os
import subprocess
import sys
import unittest

from two_nodes import Groups, Nodes, TwoNodes, drawn, wait_for

ARGUMENTS = []
MACHINE = Groups
HOME = ["a.h5", "a.h5.json"]
UNDRAINED, LOST = 3, 4
A_LITTLE = "delay=1500ms"


class KilledOnTwoNodes(unittest.TestCase):
    steps = ("2",)

    @classmethod
    def setUpClass(cls):
        machine = MACHINE()
        cls.addClassCleanup(machine.close)
        cls.nodes = TwoNodes(machine, *ARGUMENTS)
        contents = []
        for step in (*reversed(cls.steps), "1"):
            cls.nodes.done(step)
            contents.append(cls.nodes.content())
        cls.undisturbed, cls.before, cls.contents = contents[0], contents[-1], contents
        cls.nodes.killed(*cls.steps)
        cls.nodes.keep()

    def setUp(self):
        self.nodes.come_back()
        self.checkpoint = self.nodes.machine.seen(os.path.join(self.nodes.case, "a.h5"))
        self.assertEqual(self.nodes.on_case(), HOME)
        self.assertEqual(self.nodes.content(), self.before)

    def expect_nothing_lost(self):
        """The file is the one before or the new one, whole; the new one's images are there as long as it is not."""
        content = self.nodes.content()
        self.assertIn(content, self.contents)
        for node in range(2):
            self.assertGreaterEqual(self.nodes.records(node), self.contents.index(content), node)

    def expect_at_home(self):
        self.assertEqual(self.nodes.on_case(), HOME)
        self.assertEqual(self.nodes.content(), self.undisturbed)
        inspected = subprocess.run(
            [self.nodes.forebay_command, "inspect", "--json", os.path.join(self.nodes.case, "a.h5")],
            capture_output=True,
        )
        self.assertEqual(inspected.returncode, 0, inspected.stderr)
        self.assertEqual(json.loads(inspected.stdout)["step"], int(self.steps[-1]))
        beside = json.loads(self.nodes.content("a.h5.json"))
        self.assertEqual((beside["method"], beside["ranks"]), ("staged", 3))
        for node in range(2):
            self.assertEqual(self.nodes.held(node), [])
            self.assertEqual(self.nodes.drain(node), (0, "nothing to resume on this node\n"))

    def bring_home(self):
        """As a user does who is told to run it once more: on both nodes until it is at home."""
        told = []
        for _ in range(4):
            ends = [self.nodes.drain(node) for node in range(2)]
            told += ends
            self.expect_nothing_lost()
            if all(status == 0 for status, _ in ends):
                return
        self.fail(f"not at home after {told}")

    def expect_told(self, node, status, *words):
        ended, told = self.nodes.drain(node)
        self.assertEqual(ended, status, told)
        for word in (self.checkpoint, *words):
            self.assertIn(word, told)


class TwoCheckpointsTest(KilledOnTwoNodes):
    steps = ("2", "3")

    def test_the_older_one_comes_first(self):
        for order in ((0, 1), (1, 0)):
            with self.subTest(order):
                self.nodes.come_back()
                seen = [self.before]
                for node in order * 4:
                    self.assertIn(self.nodes.drain(node)[0], (0, UNDRAINED))
                    self.expect_nothing_lost()
                    if self.nodes.content() != seen[-1]:
                        seen.append(self.nodes.content())
                self.assertEqual([self.contents.index(each) for each in seen], [2, 1, 0])
                self.expect_at_home()

    def test_the_next_program_brings_home_both(self):
        for begun in ((), (0, 1), (1, 0, 1)):
            with self.subTest(begun):
                self.nodes.come_back()
                for node in begun:
                    self.nodes.drain(node)
                self.assertIn("step 3\n", self.nodes.done())
                self.expect_at_home()


FLIP = """with open(path, "r+b") as file:
    content = bytearray(file.read())
    content[len(content) // 3] ^= 1
    file.seek(0)
    file.write(content)"""
CUT = "os.truncate(path, os.path.getsize(path) // 2)"
CUT_AND_GROWN = "size = os.path.getsize(path)\nos.truncate(path, size // 2)\nos.truncate(path, size)"
THE_OTHER_ONE = "shutil.copyfile(path[:-1] + str(1 - int(path[-1])), path)"
GONE = "os.unlink(path)"


@unittest.skipIf("lab" in sys.argv, "the pools are the same there")
class DamagedTest(KilledOnTwoNodes):
    steps = ("2", "3")

    def test_what_has_changed_since_it_was_staged_is_lost_and_the_other_one_comes_home(self):
        flips = [(FLIP, node, slot) for node in range(2) for slot in range(2)]
        others = [(CUT, 1, 1), (CUT_AND_GROWN, 0, 1), (THE_OTHER_ONE, 0, 1), (THE_OTHER_ONE, 1, 0), (GONE, 0, 0)]
        for how, node, slot in flips + others:
            with self.subTest(how, node=node, slot=slot):
                self.nodes.come_back()
                self.nodes.change(node, f"slot-{slot}", how)
                ends = []
                for each in (node, 1 - node) * 3:
                    ends.append(self.nodes.drain(each))
                    self.assertIn(self.nodes.content(), self.contents)
                self.assertEqual(self.contents.index(self.nodes.content()), slot)
                named = [status for status, told in ends if f"/slot-{slot}" in told]
                self.assertEqual(set(named), {LOST}, ends)
                for each in range(2):
                    self.nodes.throw_away(each)
                self.assertEqual(self.nodes.on_case(), HOME)

    def test_a_damaged_record_is_lost(self):
        self.nodes.change(0, "slot-1.record", FLIP)
        status, told = self.nodes.drain(0)
        self.assertEqual(status, LOST, told)
        self.assertIn("slot-1.record", told)


class ResumeTest(KilledOnTwoNodes):
    def test_the_node_of_rank_0_last(self):
        self.expect_told(1, UNDRAINED, "part of node 1 of 2 is brought home", "where rank 0 was")
        self.assertEqual(self.nodes.content(), self.before)
        self.expect_told(0, 0, "brought home")
        self.assertEqual(self.nodes.content(), self.undisturbed)
        self.expect_told(1, 0, "brought home")
        self.expect_at_home()

    def test_the_node_of_rank_0_first(self):
        for _ in range(2):
            self.expect_told(0, UNDRAINED, "node 1 has not carried its part", "here once more")
            self.assertEqual(self.nodes.content(), self.before)
            self.expect_nothing_lost()
        self.expect_told(1, UNDRAINED, "part of node 1 of 2 is brought home")
        self.expect_nothing_lost()
        self.expect_told(0, 0, "brought home")
        self.expect_told(1, 0, "brought home")
        self.expect_at_home()

    def test_on_both_at_once(self):
        for order in ((0, 1), (1, 0)):
            with self.subTest(order):
                self.nodes.come_back()
                for _ in range(4):
                    runs = [self.nodes.forebay(node, "drain", "--resume") for node in order]
                    told = [run.communicate(timeout=60)[0] for run in runs]
                    for run in runs:
                        self.assertIn(run.returncode, (0, UNDRAINED), told)
                    self.expect_nothing_lost()
                    if all(run.returncode == 0 for run in runs):
                        break
                self.expect_at_home()

    @unittest.skipIf("lab" in sys.argv, "the calls are the same there")
    def test_killed_at_every_call(self):
        for node in range(2):
            for calls in range(*drawn((0, 1), "calls"), 100, 2):  # each second one today, the others another day
                with self.subTest(node=node, calls=calls):
                    self.nodes.come_back()
                    if node == 0:  # so that there is something to give a name
                        self.assertEqual(self.nodes.drain(1)[0], UNDRAINED)
                    status, told = self.nodes.drain(node, faults=f"all:kill:after={calls}")
                    self.expect_nothing_lost()
                    self.bring_home()
                    self.expect_at_home()
                if status in (0, UNDRAINED):
                    self.assertGreater(calls, 10, told)
                    break
            else:
                self.fail("it never came to its end")

    def test_a_node_begins_anew_while_the_file_gets_its_name(self):
        # Held where it opens what it wants to write, at the latest: the call that it was before the file had its name.
        for calls in (1, 2):
            with self.subTest(calls):
                self.nodes.come_back()
                self.assertEqual(self.nodes.drain(1)[0], UNDRAINED)
                again = self.nodes.forebay(1, "drain", "--resume", faults=f"open:{A_LITTLE}:after={calls}:count=1")
                self.assertEqual(self.nodes.drain(0)[0], 0)
                again.communicate(timeout=60)
                self.bring_home()
                self.expect_at_home()

    def test_a_node_tells_its_part_once_more_while_the_file_gets_its_name(self):
        self.assertEqual(self.nodes.drain(1)[0], UNDRAINED)
        naming = self.nodes.forebay(0, "drain", "--resume", faults=f"fsync:{A_LITTLE}:after=1:count=1")
        wait_for(lambda: not glob.glob(os.path.join(self.nodes.case, ".fb-*-1")), 30, "node 0 has heard it")
        self.nodes.drain(1)
        self.assertIn("brought home", naming.communicate(timeout=60)[0])
        self.bring_home()
        self.expect_at_home()

    def test_the_next_program_brings_home_what_a_node_has_begun(self):
        for begun in ((), (0,), (1,), (0, 1)):
            with self.subTest(begun):
                self.nodes.come_back()
                for node in begun:
                    self.assertEqual(self.nodes.drain(node)[0], UNDRAINED)
                self.assertIn("step 2\n", self.nodes.done())
                self.expect_at_home()

    def test_a_program_that_has_a_third_node_brings_it_home(self):
        if MACHINE is not Groups:
            self.skipTest("the lab has two nodes")
        self.assertIn("step 2\n", self.nodes.done_on_three())
        self.expect_at_home()

    def test_what_one_node_carries_at_its_second_try_leaves_nothing(self):
        # The part that the other one told at the first try is heard at the second, where it is slower.
        self.assertIn("step 2\n", self.nodes.done())
        self.nodes.done("3", faults=("fsync:EIO:count=1", f"fsync:{A_LITTLE}:after=1"))
        self.assertEqual(self.nodes.on_case(), HOME)
        self.assertIn("step 3\n", self.nodes.done())

    def test_of_what_only_one_node_had_committed_the_next_program_leaves_nothing(self):
        self.nodes.forget(1)
        self.expect_told(0, UNDRAINED, "node 1 has not carried its part")
        self.assertNotEqual(self.nodes.on_case(), HOME)
        self.assertIn("step 1\n", self.nodes.done())
        self.assertEqual((self.nodes.on_case(), self.nodes.content()), (HOME, self.before))

    def test_of_what_is_thrown_away_nothing_is_left(self):
        for order in ((0, 1), (1, 0)):
            with self.subTest(order):
                self.nodes.come_back()
                for node in range(2):
                    self.assertEqual(self.nodes.drain(node)[0], UNDRAINED)
                for node in order:
                    self.assertEqual(self.nodes.throw_away(node)[0], 0)
                    self.assertEqual(self.nodes.held(node), [])
                self.assertEqual((self.nodes.on_case(), self.nodes.content()), (HOME, self.before))


if __name__ == "__main__":
    ARGUMENTS = sys.argv[1:5]
    MACHINE = {"groups": Groups, "lab": Nodes}[sys.argv[5]]
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
