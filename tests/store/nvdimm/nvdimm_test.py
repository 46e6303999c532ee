"""Stores on real persistent memory: what the tests of the rooms say there, and what a power cut leaves.

nvdimm_test.py SEGMENT_TEST TRAJECTORY_TEST CUT_STORE [unittest arguments]
FOREBAY_TEST_SEED repeats a run, FOREBAY_TEST_CUTS says how often the power is cut on each kind of memory.
"""

import os
import random
import re
import sys
import unittest

from machine import Computer, check_host

PROGRAMS = []

PREPARE = """set -e
ndctl create-namespace --force --reconfig=namespace0.0 --mode=fsdax --map=mem
ndctl create-namespace --force --reconfig=namespace1.0 --mode=devdax --map=mem
mkfs.ext4 -q -F -b 4096 /dev/pmem0
"""
MOUNT = """set -e
mkdir -p /mnt/pmem
mount -t ext4 -o dax /dev/pmem0 /mnt/pmem
cat /sys/bus/nd/devices/region0/persistence_domain
"""
# Where the tests of the rooms make their pools.
POOLS = """mkdir -p /mnt/pmem/shm /mnt/pmem/tmp
chmod 1777 /mnt/pmem/shm /mnt/pmem/tmp
mount --bind /mnt/pmem/shm /dev/shm
mount --bind /mnt/pmem/tmp /tmp
export FOREBAY_TEST_DEVICE=/dev/dax1.0 FOREBAY_TEST_KILLS=5 FOREBAY_TEST_ROUNDS=8 GTEST_COLOR=no
"""
# What is about other media, or takes minutes where the processor is emulated.
SEGMENT = (
    "-PersistentMemory.*:Medium.IsKnownByWhatLiesBeneath:Medium.PutsSegmentsOnTmpfsTogether"
    ":WriterTest.RubbishIsWalkedWithoutHarm:Medium.AFileThatIsCut*:DeviceTest.Flips*"
)
TRAJECTORY = (  # a file that is cut under an open store lies on other media there, and the emulated processor is too slow for it
    "-Lost.TheEndOfAFileUnderAnOpenStore:Damage.*:Flips.*:Operations.*:Kept.AMillion*:Kept.ANewStep*:Kept.OnADiskFileSystemWithASyncForEachCommit"
    ":Log.*:CapacityOf.*:KeptEncoded.*:CSchedule*:Random*:Encoded.*:Ahead.*:OfStates/Capacity.*"
    ":Checks.AreOnWhereTheFirstTierIsAFile"
    ":Checks.CostAGet*:Checks.AreComparedAtEveryReadOfAMappedFile:Checks.ComeWithTheMediumAndNotWithTheStore"
)
# What differs where the caches are spared: that stores last without a flush.
SPARED = "Crash.*:NotKept.*:OnADevice.*:Kept.*" + TRAJECTORY


def prepared(persistence="mem-ctrl"):
    computer = Computer(PROGRAMS)
    said, status = computer.run(PREPARE, 120, persistence=persistence)
    if status != 0:
        computer.close()
        raise AssertionError(f"the NVDIMMs cannot be prepared: {said}")
    return computer


class RoomsTest(unittest.TestCase):
    def check(self, persistence, domain, trajectory):
        computer = prepared(persistence)
        self.addCleanup(computer.close)
        tests = f"segment_test --gtest_filter='{SEGMENT}'\ntrajectory_test --gtest_filter='{trajectory}'\n"
        said, status = computer.run(MOUNT + POOLS + tests, 400, persistence=persistence)
        print(said)
        self.assertEqual(status, 0, said[-4000:])
        self.assertEqual(said.splitlines()[0], domain)
        self.assertEqual(len(re.findall(r"\[  PASSED  \] \d+ tests", said)), 2, said[-4000:])
        self.assertNotIn("SKIPPED", said)

    def test_stores_work_where_flushes_are_needed(self):
        self.check("mem-ctrl", "memory_controller", TRAJECTORY)

    def test_stores_work_where_the_caches_are_spared(self):
        self.check("cpu", "cpu_cache", SPARED)


class PowerTest(unittest.TestCase):
    """A program stores and drops states and says over the serial console how many of its operations are acknowledged.
    After each cut it finds what the last one left, to the byte, and goes on from there."""

    def setUp(self):
        self.seed = int(os.environ.get("FOREBAY_TEST_SEED") or random.randrange(1 << 32))
        self.cuts = int(os.environ.get("FOREBAY_TEST_CUTS") or 3)
        self.random = random.Random(self.seed)
        print(f"FOREBAY_TEST_SEED={self.seed}, {self.cuts} cuts")

    def run_until_cut(self, computer, pools, least, after_open, after_boot):
        """The operations acknowledged before the power went, and all that was said on the console."""
        running = computer.boot(MOUNT + f"cut_store {self.seed} {least} {pools}")
        said = []

        def listen(seconds, until=None):
            for line in running.lines(seconds):
                said.append(line)
                if until and re.match(until, line):
                    break

        if after_boot is None:
            listen(60, "found|wrong|the job")
            if after_open > 0:
                listen(60, "acknowledged|wrong|the job")
                listen(after_open)
        else:
            listen(after_boot)
        said += running.cut_power()
        text = "\n".join(said)
        self.assertNotIn("wrong", text)
        self.assertNotIn("the job ended", text)
        found = re.findall(r"^found (\d+)$", text, re.MULTILINE)
        self.assertTrue(found or after_boot is not None, f"the store was not opened: {text[-3000:]}")
        acknowledged = [int(n) for n in re.findall(r"^(?:found|acknowledged) (\d+)$", text, re.MULTILINE)]
        return max([least, *acknowledged]), text

    def check(self, pools, media):
        computer = prepared()
        self.addCleanup(computer.close)
        acknowledged = 0
        for cut in range(self.cuts):
            # Sometimes while it boots and opens the store; a boot takes about as long as this.
            early = cut > 0 and self.random.random() < 0.2
            before = acknowledged
            acknowledged, said = self.run_until_cut(
                computer, pools, before, self.random.uniform(0.001, 3), self.random.uniform(2, 8) if early else None
            )
            print(f"cut {cut}: {acknowledged} operations acknowledged")
            if not early:
                self.assertIn(f"opened on {media}", said)
                self.assertGreater(acknowledged, before)
        self.run_until_cut(computer, pools, acknowledged, 0, None)

    def test_every_acknowledged_state_outlives_the_power_on_a_file_system(self):
        self.check("/mnt/pmem /mnt/pmem/below", "fsdax and fsdax")

    def test_every_acknowledged_state_outlives_the_power_on_a_device(self):
        self.check("/dev/dax1.0 /mnt/pmem/below", "devdax and fsdax")


if __name__ == "__main__":
    PROGRAMS = sys.argv[1:4]
    check_host()
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
