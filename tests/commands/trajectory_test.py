"""Proves: `forebay trajectory` and `forebay inspect` tell what trajectories were kept and what of them is lost, exactly what the
library can and cannot read; rm takes away what was named and nothing else. Links and odd contents lead them nowhere."""

import json
import os
import random
import shutil
import subprocess
import sys
import unittest
import warnings

import commandcase
import forebay
import numpy as np

FAILED, BAD_INPUT, LOST, CONFLICT, BUSY = 1, 2, 4, 5, 7
PAGE = 4096


class TrajectoryTest(commandcase.CommandCase):
    def setUp(self):
        super().setUp()
        self.first, self.second = (os.path.join(self.pool, name) for name in ("first", "second"))
        for each in (self.first, self.second):
            os.mkdir(each)

    def opened(self, name="wake", **more):
        tiers = [forebay.pool(self.first, 400e3), forebay.shared(self.second, 1e7)]
        return forebay.Trajectory(tiers, name=name, keep=True, segment_bytes=1 << 16, **more)

    def keep(self, name="wake", steps=60):
        """On two tiers, with checksums on the second, a file system; "v" is stored as differences."""
        with self.opened(name) as states:
            states.declare("u", 1000)
            states.declare("v", 500, accepted_error=1e-4, codec="difference")
            for step in range(steps):
                values = np.sin(0.01 * np.arange(1000) + 0.01 * step)
                states.put(step, 0.5 * step, values, values[:500])

    def keep_small(self, pool, name, **more):
        with forebay.Trajectory([forebay.pool(pool, 1e6)], name=name, keep=True, **more) as states:
            states.declare("p", (3, 4))
            for step in range(20):
                states.put(step, 0.5 * step, np.full((3, 4), step))
        return os.path.join(pool, f"{name}-{more.get('rank', 0)}")

    def told(self, *words, status=0):
        self.assertEqual(self.call(*words, "--json"), status, self.output)
        return json.loads(self.done.stdout)["trajectories"]

    def change(self, path, change):
        with open(path, "rb") as file:
            content = bytearray(file.read())
        change(content)
        with open(path, "wb") as file:
            file.write(content)

    def test_ls_tells_what_is_there(self):
        self.keep()
        for rank in range(12):
            self.keep_small(self.first, "ranks", rank=rank, ranks=12)
        found = self.told("trajectory", "ls", self.first)
        self.assertEqual([each["rank"] for each in found if each["name"] == "ranks"], list(range(12)))
        [upper] = [each for each in found if each["name"] == "wake"]
        [lower] = self.told("trajectory", "ls", self.second)
        self.assertEqual((upper["tier"], upper["tiers"], lower["tier"]), (0, 2, 1))
        self.assertEqual(upper["store"], lower["store"])
        self.assertEqual(upper["steps"] + lower["steps"], 60)
        self.assertEqual((lower["first_step"], lower["first_time"]), (0, 0))
        self.assertEqual((upper["last_step"], upper["last_time"]), (59, 29.5))
        self.assertEqual([(each["name"], each["type"], each["count"]) for each in upper["fields"]], [("u", "float64", 1000), ("v", "float64", 500)])  # fmt: skip
        self.assertEqual([each["accepted_error"] for each in upper["fields"]], [0, 1e-4])
        self.assertEqual([each["fields"][0]["shape"] for each in found if each["name"] == "ranks"], [[3, 4]] * 12)
        self.assertIsNone(upper["in_use_by"])
        self.assertEqual(self.call("trajectory", "ls", self.first), 0)
        self.assertRegex(self.output, r"first/wake-0 .* steps, \d+ to 59 .*rank 0 of 1, tier 0 of 2")
        self.assertEqual(upper["not_looked_at"], [1])
        both = self.told("trajectory", "verify", self.first, self.second)
        self.assertEqual([each["not_looked_at"] for each in both if each["name"] == "wake"], [[], []])

    def test_a_directory_without_trajectories_is_empty_and_one_that_is_none_is_an_error(self):
        self.assertEqual(self.call("trajectory", "ls", self.first), 0, self.output)
        self.assertIn("no trajectory is kept in", self.output)
        for action in ("verify", "rm"):
            self.assertEqual(self.call("trajectory", action, self.first), BAD_INPUT, self.output)
        for action in ("ls", "verify", "rm"):
            self.assertEqual(self.call("trajectory", action, self.first + "/none"), BAD_INPUT, self.output)
            self.write("file", "text")
            self.assertEqual(self.call("trajectory", action, os.path.join(self.case, "file")), BAD_INPUT, self.output)

    @unittest.skipIf(os.geteuid() != 0, "only root can be another user")
    def test_another_users_is_listed_as_denied(self):
        self.keep_small(self.first, "mine")
        for each in (self.pool, self.first):
            os.chmod(each, 0o755)
        for words in ((self.first,), (self.first + "/mine-0",), ("--json", self.first)):
            command = [commandcase.FOREBAY, "trajectory", "ls", *words]
            done = subprocess.run(
                command, user=65534, group=65534, extra_groups=[], cwd="/", capture_output=True, text=True
            )
            self.assertEqual(done.returncode, FAILED, done.stdout + done.stderr)
            self.assertRegex(done.stderr, "first/mine-0: Permission denied; it may be another user's")

    def test_one_that_is_open_is_listed_with_its_process_and_neither_verified_nor_removed(self):
        other = self.keep_small(self.first, "other")
        self.keep()
        for mode in ("any", "read-only"):
            with self.opened(mode=mode):
                found = {each["name"]: each for each in self.told("trajectory", "ls", self.first)}
                self.assertEqual((found["wake"]["in_use_by"], found["other"]["in_use_by"]), (os.getpid(), None))
                # Those who only read do not disturb each other.
                expected = 0 if mode == "read-only" else BUSY
                self.assertEqual(self.call("trajectory", "verify", self.first), expected, self.output)
                words = ("trajectory", "rm", other, self.first + "/wake-0")
                self.assertEqual(self.call(*words), BUSY, self.output)
                self.assertIn(f"in use by a process: {self.first}/wake-0", self.output)
                self.assertIn("nothing was removed", self.output)
                self.assertTrue(os.path.exists(other + "/store"))
        self.assertEqual(self.call(*words), 0, self.output)
        self.assertEqual(os.listdir(self.first), [])

    def readable(self):
        """By the library: the steps of which every field can be read."""
        steps = []
        with warnings.catch_warnings(action="ignore"), self.opened(mode="partial") as states:
            for state in states:
                try:
                    step = state.step
                    [np.array(state[name]) for name in ("u", "v")]
                except forebay.TrajectoryError:
                    continue
                steps.append(step)
        return steps

    def test_verify_lists_as_lost_what_the_library_cannot_read(self):
        """Flips in every part of both files, pages of zeros, pages in each other's place, and files that were cut."""
        steps = 90  # how many of the first tier's segments have moved to the second differs by one from run to run
        self.keep(steps=steps)
        choose = random.Random(7)
        whole = {each: each + "-whole" for each in (self.first, self.second)}
        for each, copy in whole.items():
            shutil.copytree(each, copy)
        size = os.path.getsize(self.second + "/wake-0/segments")

        def flip(at):
            return lambda content: content.__setitem__(at, content[at] ^ (1 << choose.randrange(8)))

        def zeros(at):
            return lambda content: content.__setitem__(slice(at, at + PAGE), bytes(PAGE))

        def swap(at, other):
            def change(content):
                content[at : at + PAGE], content[other : other + PAGE] = content[other : other + PAGE], content[at : at + PAGE]  # fmt: skip

            return change

        def cut(at):
            return lambda content: content.__delitem__(slice(at, None))

        segments, pages = [(1 << 16) * n for n in range(size >> 16)], range(0, size - PAGE, PAGE)
        changes = [flip(choose.choice(segments) + choose.randrange(64 * 9)) for _ in range(12)]
        changes += [flip(choose.randrange(size)) for _ in range(24)]
        changes += [zeros(choose.choice(pages)) for _ in range(4)] + [zeros(segments[1])]
        changes += [swap(*choose.sample(pages, 2)) for _ in range(4)]
        changes += [cut(segments[2] + n) for n in (1, PAGE, 50000)]
        lost_some = 0
        for number, change in enumerate(changes):
            with self.subTest(number):
                for each, copy in whole.items():
                    shutil.rmtree(each)
                    shutil.copytree(copy, each)
                self.change(self.second + "/wake-0/segments", change)
                status = self.call("trajectory", "verify", "--json", self.first, self.second)
                found = json.loads(self.done.stdout)["trajectories"]
                read = self.readable()
                self.assertEqual(sum(each["steps"] for each in found), len(read), self.output)
                named = {step for each in found for loss in each["lost"] for step in loss["steps"]}
                self.assertEqual(named & set(read), set())
                any_lost = any(each["lost"] for each in found)
                self.assertEqual(status, LOST if any_lost else 0, self.output)
                self.assertLessEqual(steps - len(read) > 0, any_lost, "steps are missing, and nothing tells of it")
                lost_some += any_lost
        self.assertGreater(lost_some, len(changes) // 3)

    def test_a_damaged_step_is_named(self):
        self.keep()
        self.change(self.second + "/wake-0/segments", lambda content: content.__setitem__(-100, content[-100] ^ 1))
        self.assertEqual(self.call("trajectory", "verify", self.second), LOST, self.output)
        self.assertRegex(self.output, r"LOST: .* do not fit their checksums \(from byte \d+ of the file\): steps \d+\n")

    def test_what_has_no_checksum_is_not_called_whole(self):
        small = self.keep_small("/dev/shm" + self.pool.removeprefix("/dev/shm"), "plain")
        [found] = self.told("trajectory", "verify", small)
        self.assertEqual((found["steps"], found["unchecked_steps"], found["lost"]), (20, 20, []))
        self.assertEqual(self.call("trajectory", "verify", small), 0)
        self.assertIn("20 steps without a checksum", self.output)
        self.assertNotIn("every byte fits", self.output)

    def test_without_its_head_a_tier_is_read_by_that_of_another(self):
        self.keep()
        [whole] = self.told("trajectory", "verify", self.second)
        for damage in ("flip", "gone"):
            store = self.second + "/wake-0/store"
            if damage == "flip":
                self.change(store, lambda content: content.__setitem__(100, content[100] ^ 1))
            else:
                os.unlink(store)
            self.assertEqual(self.call("trajectory", "verify", self.second), LOST, self.output)
            self.assertIn(store if damage == "flip" else self.second + "/wake-0", self.output)
            found = self.told("trajectory", "verify", self.first, self.second, status=LOST)
            self.assertEqual(found[1]["steps"], whole["steps"])
            self.assertEqual(self.call("trajectory", "verify", self.first), 0)
            self.assertIn("tier 1 of it was not looked at", self.output)
            self.assertEqual([each["not_looked_at"] for each in found], [[1], [1]], "it may be any tier")

    def test_without_its_head_a_tier_is_read_by_that_of_its_own_store(self):
        """Two stores have one name; each directory is named before the others once."""
        self.keep()
        [whole] = self.told("trajectory", "verify", self.second)
        third, fourth = (os.path.join(self.pool, name) for name in ("third", "fourth"))
        os.rename(self.first, third)
        os.rename(self.second, fourth)
        for each in (self.first, self.second):
            os.mkdir(each)
        self.keep(steps=40)
        store = fourth + "/wake-0/store"
        os.unlink(store)
        directories = [self.first, self.second, third, fourth]
        for turned in range(4):
            words = directories[turned:] + directories[:turned]
            told = self.told("trajectory", "verify", *words, status=LOST)  # a head is
            found = {os.path.dirname(each["path"]): each for each in told}
            self.assertEqual(found[fourth]["store"], found[third]["store"])
            for key in ("steps", "first_step", "last_step", "lost"):
                self.assertEqual(found[fourth][key], whole[key], words)
        # Where its segments do not tell of which it is, nothing is guessed.
        with open(fourth + "/wake-0/segments", "r+b") as file:
            file.write(bytes([1]) * os.path.getsize(file.name))
        found = self.told("trajectory", "verify", *directories, status=LOST)
        self.assertIn(f'the head of the store (the file "store") is gone: {fourth}/wake-0', self.output)
        [lost] = [each for each in found if os.path.dirname(each["path"]) == fourth]
        self.assertNotIn("steps", lost)

    def test_a_tier_that_is_gone_is_lost_where_all_directories_were_named(self):
        self.keep()
        self.assertEqual(self.call("trajectory", "verify", self.first, self.second), 0, self.output)
        for gone, left in ((self.second, self.first), (self.first, self.second)):
            os.rename(gone + "/wake-0", self.pool + "/aside")
            for names in ((self.first, self.second), (left + "/wake-0", gone)):
                self.assertEqual(self.call("trajectory", "verify", *names), LOST, self.output)
                self.assertRegex(self.output, "LOST: tier [01] of it, which lies in none of the directories")
            self.assertEqual(self.call("trajectory", "verify", left), 0, self.output)
            self.assertIn("was not looked at", self.output)
            self.assertEqual(self.call("inspect", left + "/wake-0"), 0, self.output)
            os.rename(self.pool + "/aside", gone + "/wake-0")
        os.truncate(self.second + "/wake-0/segments", 1 << 16)
        for action in ("ls", "verify"):
            [lost] = self.told("trajectory", action, self.second, status=LOST)
            self.assertRegex(
                lost["lost"][0]["what"], r"\d+ segments? of \d+ of the \d+ steps that it held, up to step \d+"
            )
        os.unlink(self.second + "/wake-0/store")
        self.assertEqual(self.call("trajectory", "verify", self.first, self.second), LOST, self.output)

    def test_steps_that_were_rewound_or_dropped_are_neither_there_nor_lost(self):
        self.keep()
        with self.opened() as states:
            for step in (1, 2, 58):
                states.drop(step)
        found = self.told("trajectory", "verify", self.first, self.second)
        self.assertEqual((sum(each["steps"] for each in found), [each["lost"] for each in found]), (57, [[], []]))
        with self.opened() as states:
            states.rewind()
        found = self.told("trajectory", "verify", self.first, self.second)
        self.assertEqual([(each["steps"], each["lost"]) for each in found], [(0, []), (0, [])])

    def test_another_version_is_told_and_may_be_removed(self):
        path = self.keep_small(self.first, "old")
        self.change(path + "/store", lambda content: content.__setitem__(8, 99))
        for action in ("ls", "verify"):
            self.assertEqual(self.call("trajectory", action, self.first), CONFLICT, self.output)
            self.assertIn("version 99", self.output)
        self.assertEqual(self.call("trajectory", "rm", path), 0, self.output)
        self.assertEqual(os.listdir(self.first), [])

    def test_rm_takes_all_ranks_of_the_one_trajectory_that_is_there_and_guesses_no_name(self):
        for rank in range(3):
            self.keep_small(self.first, "one", rank=rank, ranks=3)
        other = self.keep_small(self.second, "other")
        another = self.keep_small(self.second, "another")
        self.assertEqual(self.call("trajectory", "rm", self.first, self.second), BAD_INPUT, self.output)
        self.assertIn("several trajectories (another, other)", self.output)
        self.assertEqual(len(os.listdir(self.first)), 3)
        self.assertEqual(self.call("trajectory", "rm", self.first, other + "/"), 0, self.output)
        self.assertEqual((os.listdir(self.first), os.listdir(self.second)), ([], ["another-0"]))
        self.assertEqual(self.call("trajectory", "rm", ".", cwd=another), 0, self.output)

    def test_rm_leaves_what_is_no_store_or_more_than_one(self):
        more = self.keep_small(self.first, "more")
        with open(more + "/notes", "w") as file:
            file.write("mine")
        headless = self.keep_small(self.first, "headless")
        os.unlink(headless + "/store")
        foreign = os.path.join(self.first, "foreign-0")
        os.mkdir(foreign)
        for name in ("store", "segments"):
            with open(os.path.join(foreign, name), "w") as file:
                file.write("of another program")
        linked = os.path.join(self.first, "linked-0")
        os.symlink(self.keep_small(self.second, "real"), linked)
        for path in (more, headless, foreign, linked, linked + "/"):
            self.assertEqual(self.call("trajectory", "rm", path), BAD_INPUT, self.output)
            self.assertIn(path.rstrip("/"), self.output)
        self.assertEqual(sorted(os.listdir(self.first)), ["foreign-0", "headless-0", "linked-0", "more-0"])
        self.assertEqual(sorted(os.listdir(more)), ["notes", "segments", "store"])
        self.assertTrue(os.path.exists(self.second + "/real-0/store"))

    def test_links_are_not_followed_and_pipes_are_not_waited_for(self):
        real = self.keep_small(self.second, "real")
        os.symlink(real, os.path.join(self.first, "linked-0"))
        for name, make in (("store", os.symlink), ("segments", os.symlink), ("pipe", None)):
            path = os.path.join(self.first, f"{name}-0")
            shutil.copytree(real, path)
            inside = os.path.join(path, "store" if name == "pipe" else name)
            os.unlink(inside)
            if make:
                make(os.path.join(real, name), inside)
            else:
                os.mkfifo(inside)
        for action in ("ls", "verify"):
            self.assertEqual(self.call("trajectory", action, self.first), LOST, self.output)
            self.assertEqual(self.output.count("no regular file"), 3, self.output)
            self.assertNotIn("20 steps", self.output)
            self.assertNotIn("linked-0", self.output)
        self.assertEqual(self.call("trajectory", "rm", self.first + "/segments-0"), BAD_INPUT, self.output)
        self.assertTrue(os.path.exists(real + "/segments"))

    def test_names_are_printed_so_that_they_do_no_harm(self):
        for name in (b"a\x1b[31m-0", b"b\n-0", b"c\xff-0"):
            os.rename(self.keep_small(self.first, "plain"), os.path.join(os.fsencode(self.first), name))
        done = subprocess.run([commandcase.FOREBAY, "trajectory", "ls", self.first], env=self.environment(), capture_output=True)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual([line.split(b"  ")[0].split(b"/")[-1] for line in done.stdout.splitlines()], [rb"a\x1b[31m-0", rb"b\x0a-0", rb"c\xff-0"])  # fmt: skip
        self.assertEqual([each["steps"] for each in self.told("trajectory", "verify", self.first)], [20, 20, 20])

    def test_inspect_says_what_one_is_by_its_directory_or_one_of_its_files(self):
        self.keep()
        path = self.first + "/wake-0"
        for named in (path, path + "/store", path + "/segments"):
            [found] = self.told("inspect", named)
            self.assertEqual((found["name"], found["path"], found["last_step"]), ("wake", path, 59))
        self.assertEqual(self.call("inspect", path), 0)
        self.assertIn("v: 500 float64, accepted error 0.0001", self.output)
        self.change(self.second + "/wake-0/segments", lambda content: content.__setitem__(-100, content[-100] ^ 1))
        self.assertEqual(self.call("inspect", self.second + "/wake-0"), LOST, self.output)
        self.assertEqual(self.call("inspect", "--no-verify", self.second + "/wake-0"), 0, self.output)
        self.assertEqual(self.call("inspect", path, self.second + "/wake-0"), BAD_INPUT, self.output)
        self.assertEqual(self.call("inspect", self.case), BAD_INPUT, self.output)
        self.assertIn("neither a checkpoint nor a directory with trajectories", self.output)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    commandcase.main()
