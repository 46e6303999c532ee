"""What the campaign's judge takes for whole: planted cut, missing and changed files are found, in directories of ranks
and in collated files."""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../equivalence"), os.path.join(HERE, "../..")]

from cavity import ABSENT, CUT, OTHER, STATE, Case, Reference, name_of, payload  # noqa: E402
from plans import FOREIGN, KINDS, OBJECTS_EVERY, SEEDS, STATE_EVERY, TEN, plan_of  # noqa: E402

TIME = name_of(STATE_EVERY)
LINE = f"// {'* ' * 37}//\n\n"
CLOSING = f"\n\n// {'*' * 73} //\n"


def field(name, rank):
    return f"FoamFile\n{{\n    object {name};\n}}\n{LINE}value {rank * 1000};\n{CLOSING}".encode()


class Written(Reference):
    """An uninterrupted run of two ranks that was not run."""

    def __init__(self, directory):
        self.ranks, self.cache = 2, {}
        self.ended = os.path.join(directory, "ended")
        write(self.ended)


def write(case):
    for rank in range(2):
        for name in STATE:
            put(os.path.join(case, f"processor{rank}/{TIME}/{name}"), field(name, rank))


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def collated(name):
    blocks = (field(name, 0), payload(field(name, 1)) + b"\n")
    return b"".join(b"\n\n// Processor%d\n\n%d\n(%s)" % (i, len(block), block) for i, block in enumerate(blocks))


class JudgeTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="forebay-restart-judge-")
        self.addCleanup(holder.cleanup)
        self.directory = os.path.join(holder.name, "case")
        self.case = Case(self.directory, Written(holder.name))

    def newest(self):
        return self.case.newest(STATE)

    def test_a_rank_whose_file_is_cut_missing_or_changed_has_no_state(self):
        write(self.directory)
        self.assertEqual(self.newest(), STATE_EVERY)
        path = os.path.join(self.directory, f"processor1/{TIME}/phi")
        whole = field("phi", 1)
        for data, found in ((whole[:-9], CUT), (b"", CUT), (whole.replace(b"1000", b"1001"), OTHER), (None, ABSENT)):
            os.unlink(path)
            if data is not None:
                put(path, data)
            self.assertEqual(self.case.file(1, TIME, "phi"), found)
            self.assertIsNone(self.newest())
            put(path, whole)
            self.assertEqual(self.newest(), STATE_EVERY)

    def test_a_collated_file_must_hold_the_field_of_each_rank(self):
        for rank in range(2):
            os.makedirs(os.path.join(self.directory, f"processor{rank}"))
        for name in STATE:
            put(os.path.join(self.directory, f"processors2/{TIME}/{name}"), collated(name))
        put(os.path.join(self.directory, f"processors2/{TIME}/uniform/time"), field("time", 0))
        self.assertEqual(self.newest(), STATE_EVERY)
        for data, found in (
            (collated("U")[:-20], CUT),
            (collated("U").replace(b"value 1000", b"value 1001"), OTHER),
            (collated("U").split(b"\n\n// Processor1")[0], OTHER),
        ):
            put(os.path.join(self.directory, f"processors2/{TIME}/U"), data)
            self.assertEqual(self.case.file(1, TIME, "U"), found)
            self.assertIsNone(self.newest())

    def test_a_directory_of_a_rank_hides_the_group(self):
        write(self.directory)
        for name in STATE:
            put(os.path.join(self.directory, f"processors2/{TIME}/{name}"), collated(name))
        os.unlink(os.path.join(self.directory, f"processor0/{TIME}/U"))
        self.assertIsNone(self.newest())


class PlansTest(unittest.TestCase):
    def test_a_seed_is_one_plan_and_all_kinds_have_their_share(self):
        self.assertEqual([plan_of(seed) for seed in SEEDS], [plan_of(seed) for seed in SEEDS])
        kinds = [plan_of(seed).kind for seed in SEEDS]
        for kind in KINDS:
            self.assertGreaterEqual(kinds.count(kind), len(SEEDS) // len(KINDS))
        self.assertEqual({plan_of(seed).kind for seed in TEN}, set(KINDS))
        self.assertEqual({plan_of(seed).way for seed in TEN}, {"namespace", "redirect", "path"})

    def test_some_have_a_writer_beside_openfoams_and_some_end_before_the_first_state_with_u_and_p_written(self):
        for seeds, least in ((SEEDS, 20), (TEN, 1)):
            plans = [plan_of(seed) for seed in seeds]
            self.assertGreaterEqual(sum(FOREIGN in plan.objects for plan in plans), least)
            before = [plan for plan in plans if plan.moment == "step" and OBJECTS_EVERY <= plan.step < STATE_EVERY]
            self.assertGreaterEqual(sum("writeObjects" in plan.objects for plan in before), least)


if __name__ == "__main__":
    unittest.main()
