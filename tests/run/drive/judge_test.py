"""The judge tells what is wrong: of a run that was as it should be nothing, and of each thing that is planted something."""

import dataclasses
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from judge import Event, Judge, Seen, World  # noqa: E402
from plan import plan_of, program_of  # noqa: E402

INPUTS = {"processor0": None, "processor0/0": None, "processor0/0/U": b"start"}
PLAN = dataclasses.replace(
    plan_of(1), ranks=2, start=("U", "p"), times=("1", "2", "3", "4"), state_every=1, between=("vorticity",), purge=0,
    purge_is_told=False, purged_by="file by file", written_by="each rank", late="before", lagging="", renamed="",
    moved_visit=None, logs=True, together=True, bytes=400, pause=0, spread=0, way="namespace", pool="roomy",
    death="none", moment="operation", who=0,
)  # fmt: skip


def events_of(program, *until):
    """Ranks take turns, an operation each; `until`: the last one that is done, of rank 0 or of each."""
    events, now = [], 0
    longest = max(map(len, program.of_rank))
    last = [*until, *len(program.of_rank) * until[-1:]] or len(program.of_rank) * [longest]
    for number in range(longest):
        for rank, operations in enumerate(program.of_rank):
            if number >= len(operations) or number > last[rank]:
                continue
            events += [Event(now, rank, "b", number), Event(now + 1, rank, "e", number)]
            now += 2
    if not until:
        events += [Event(now + rank, rank, "d", 0) for rank in range(len(program.of_rank))]
    return events


def left_by(program, seen):
    """What a run that is as it should be has on the case in the end."""
    world = World(program, seen)
    files = {path: each if isinstance(each, bytes) else each.bytes() for path, each in world.files.items()}
    return {**files, **dict.fromkeys(world.directories)}


class Case(unittest.TestCase):
    def run_of(self, **changes):
        self.plan = dataclasses.replace(PLAN, **changes)
        self.program = program_of(self.plan)
        self.seen = Seen(events=events_of(self.program), inputs=INPUTS, status=0, report={})
        self.seen.after = left_by(self.program, self.seen)

    def wrong(self):
        return Judge(self.plan, self.program, self.seen).judge()

    def assert_told(self, *words):
        wrong = self.wrong()
        self.assertTrue(any(all(word in line for word in words) for line in wrong), f"{words} in {wrong}")

    def number_of(self, kind, path):
        return [each.kind == kind and each.path == path for each in self.program.of_rank[0]].index(True)


class EndedWell(Case):
    def setUp(self):
        self.run_of()

    def test_nothing_is_wrong_with_a_good_run(self):
        self.assertEqual(self.wrong(), [])

    def test_a_file_that_is_missing(self):
        del self.seen.after["processor1/2/U"]
        self.assert_told("processor1/2/U is not on the case")

    def test_a_directory_that_is_missing(self):
        del self.seen.after["processor1/2/uniform"]
        self.assert_told("processor1/2/uniform is not on the case")

    def test_a_file_with_the_bytes_of_another(self):
        self.seen.after["processor1/2/U"] = self.seen.after["processor0/2/U"]
        self.assert_told("processor1/2/U is not whole")
        self.assert_told("processor1/2/U is another")

    def test_a_file_that_is_cut(self):
        self.seen.after["processor0/1/p"] = self.seen.after["processor0/1/p"][:-1]
        self.assert_told("processor0/1/p is not whole")

    def test_a_log_that_lacks_its_last_line(self):
        text = self.seen.after["processor0/log"]
        self.seen.after["processor0/log"] = text[: text.rindex(b"version")]
        self.assert_told("processor0/log is another")

    def test_a_removed_file_that_came_back(self):
        self.run_of(purge=1)
        self.seen.after["processor0/1/U"] = self.number_content("processor0/1/U")
        self.assert_told("processor0/1/U is on the case, though the program removed it")

    def test_after_a_dead_agent_it_may(self):
        self.run_of(purge=1, death="agent")
        self.seen.killed = True
        self.seen.after["processor0/1/U"] = self.number_content("processor0/1/U")
        self.assertEqual(self.wrong(), [])

    def number_content(self, path):
        [content] = World(self.program, self.seen).written[path]
        return content.bytes()

    def test_a_file_of_nobody(self):
        self.seen.after["processor0/1/X"] = b"x"
        self.assert_told("processor0/1/X is on the case, which nobody wrote")

    def test_a_status(self):
        self.seen.status = 3
        self.assert_told("ends with 3 instead of 0")

    def test_a_full_pool_that_is_not_told(self):
        self.fail_at("write", "processor0/3/U")
        self.seen.status = 0
        self.assert_told("ends with 0 instead of 6")
        self.seen.status = 6
        self.seen.after["processor0/3/U"] = b"cut"
        self.assertEqual(self.wrong(), [])

    def fail_at(self, kind, path):
        number = self.number_of(kind, path)
        self.seen.events = [
            dataclasses.replace(each, mark="f", error=28)
            if (each.rank, each.number, each.mark) == (0, number, "e")
            else each
            for each in self.seen.events
        ]
        self.seen.status = 6

    def test_of_what_could_not_be_written_anything_may_be_there_also_under_its_later_name(self):
        self.run_of(renamed="p")
        self.fail_at("write", "processor0/3/p.new")
        self.seen.after["processor0/3/p"] = b"cut"
        self.assertEqual(self.wrong(), [])

    def test_of_a_log_that_was_renamed_since_something_may_lack(self):
        self.run_of(times=("1", "2", "3", "4", "5", "6"))
        self.fail_at("append", "processor0/log")
        self.number_of("rename", "processor0/log")
        self.seen.when_killed = {"processor0/log.old": b"version 21\nversion 33\n"}
        self.assertEqual(self.wrong(), [])

    def test_of_an_open_file_whose_first_half_could_not_be_written_too(self):
        self.run_of(lagging="U")
        self.fail_at("open", "processor0/3/U")
        self.seen.after["processor0/3/U"] = b"the other half"
        self.assertEqual(self.wrong(), [])

    def test_what_is_left_behind(self):
        self.seen.left = (".forebay",)
        self.assert_told("left behind: .forebay")

    def test_a_claim_of_a_time_that_is_not_there(self):
        self.seen.report = {"last_complete": "5", "last_safe": "3"}
        self.assert_told("last_complete is 5")


class LookedAt(Case):
    def setUp(self):
        self.run_of(death="look")
        self.seen.when_killed = dict(self.seen.after)

    def test_a_file_under_its_name_that_is_not_whole_yet(self):
        self.seen.when_killed["processor0/4/U"] = self.seen.when_killed["processor0/4/U"][:200]
        self.assert_told("at the moment processor0/4/U is not whole")

    def test_a_log_may_lack_lines_then(self):
        self.seen.when_killed["processor0/log"] = b""
        self.assertEqual(self.wrong(), [])

    def test_a_time_that_was_called_safe_and_is_not_there(self):
        self.seen.safe_then = ("2",)
        self.assertEqual(self.wrong(), [])
        del self.seen.when_killed["processor1/2/phi"]
        self.assert_told("time 2 was called safe, and is not on the case")


class Crashed(Case):
    """All ranks die when they have begun time 4: of what they purged, time 3 is the last that all have left behind."""

    def setUp(self):
        self.run_of(purge=1, death="rank")
        until = self.number_of("mkdir", "processor0/4")
        self.seen.events = events_of(self.program, until)
        self.seen.killed, self.seen.status = True, 137
        self.seen.after = left_by(self.program, self.seen)

    def test_nothing_is_wrong_with_a_good_run(self):
        self.assertEqual(self.wrong(), [])

    def test_a_restart_point_that_the_program_had_not_purged_yet(self):
        del self.seen.after["processor1/3/phi"]
        self.assert_told("all ranks had left time 3")

    def test_a_restart_point_that_the_program_had_purged(self):
        """Time 3 goes when 4 has been written on this rank only."""
        until = self.number_of("purge", "processor0/3"), self.number_of("mkdir", "processor0/4")
        self.seen.events = events_of(self.program, *until)
        self.seen.after = left_by(self.program, self.seen)
        self.assertNotIn("processor0/3/U", self.seen.after)
        self.assert_told("all ranks had left time 3")
        world = World(self.program, Seen(events=events_of(self.program, until[0] - 1, until[1]), inputs=INPUTS))
        self.seen.after.update(
            {path: each.bytes() for path, each in world.files.items() if "/3/" in path and not isinstance(each, bytes)}
        )
        self.assertEqual(self.wrong(), [])

    def test_half_of_a_time_that_never_was_complete_comes_back(self):
        self.seen.after["processor0/4/U"] = b""
        self.assert_told("processor0/4/U")

    def test_a_safe_time_that_went(self):
        self.seen.when_killed, self.seen.safe_then = dict(self.seen.after), ("3",)
        self.assertEqual(self.wrong(), [])
        self.seen.after = {path: data for path, data in self.seen.after.items() if "/3" not in path}
        self.assert_told("time 3 was safe, and neither it nor a newer one")

    def test_a_status(self):
        self.seen.status = 0
        self.assert_told("ends with 0 instead of 137")


if __name__ == "__main__":
    unittest.main()
