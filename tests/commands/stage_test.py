"""Proves: `forebay stage` copies what a run reads into the pool ahead of the run, verified, and goes on where it was
killed; the next run takes the copies, but only of what has not changed since."""

import os
import subprocess

import commandcase

MEGABYTE = 1 << 20


class StageTest(commandcase.CommandCase):
    def decompose(self, ranks=2, files=2, size=1000):
        for rank in range(ranks):
            for number in range(files):
                self.write(f"processor{rank}/constant/polyMesh/points{number}", os.urandom(size))
            for time_name in ("0", "5", "10"):
                self.write(f"processor{rank}/{time_name}/U", f"U of {rank} at {time_name}\n")
        self.write("constant/transportProperties", "nu 1;\n")
        self.write("constant/polyMesh/points", "the mesh in one piece")
        self.write("log.decomposePar", "not an input")

    def warm(self):
        """What the pool holds for the next run: path -> file."""
        found = {}
        for directory in self.in_pool("warm-*"):
            with open(os.path.join(directory, "index")) as file:
                for number, line in enumerate(file):
                    found[line.split()[0]] = os.path.join(directory, str(number))
        return found

    def what_a_program_finds(self, path):
        """By the way `path`, and as the solver that the case names, a program sees links as links."""
        solver = os.path.join(self.directory, "simpleFoam")
        with open(solver, "w") as file:
            file.write(f"#!/bin/sh\ntest -L {path} && echo a link || echo a copy\n")
        os.chmod(solver, 0o755)
        self.assertEqual(self.here("run", "--via", "path", "--", solver, cwd=self.case), 0, self.output)
        return self.done.stdout.strip()

    def test_the_next_run_finds_the_inputs_in_its_pool(self):
        self.write("mesh/points", "points\n")
        self.assertEqual(self.what_a_program_finds("mesh/points"), "a link")
        self.assertEqual(self.here("stage"), 0, self.output)
        self.assertEqual(self.what_a_program_finds("mesh/points"), "a copy")
        self.assertIn("in the pool already", self.output)
        self.assertEqual(self.in_pool("*"), [])  # taken, and gone with the run
        self.assertEqual(self.read("mesh/points"), "points\n")

    def test_what_changed_since_is_read_from_the_case(self):
        self.write("mesh/points", "old\n")
        self.assertEqual(self.here("stage"), 0, self.output)
        self.write("mesh/points", "new\n")
        os.utime(os.path.join(self.case, "mesh/points"), ns=(0, 0))
        self.assertEqual(self.here("run", "--", "sh", "-c", "cat mesh/points > seen", cwd=self.case), 0, self.output)
        self.assertEqual(self.read("seen"), "new\n")

    def test_inputs_that_are_to_be_copied_anyway_come_from_the_pool_too(self):
        self.write("mesh/points", "points\n")
        self.assertEqual(self.here("stage"), 0, self.output)
        self.assertEqual(
            self.here("run", "--copy", "mesh/*", "--", "sh", "-c", "cat mesh/points > seen", cwd=self.case),
            0,
            self.output,
        )
        self.assertIn("in the pool already", self.output)
        self.assertEqual(self.read("seen"), "points\n")

    def test_of_a_decomposed_case_what_its_ranks_read_is_staged(self):
        self.decompose()
        self.assertEqual(self.here("stage", "--ranks", "2"), 0, self.output)
        self.assertEqual(
            sorted(self.warm()),
            sorted(
                ["system/controlDict", "constant/transportProperties"]
                + [f"processor{rank}/constant/polyMesh/points{number}" for rank in (0, 1) for number in (0, 1)]
                + ["processor0/10/U", "processor1/10/U"]
            ),
        )

    def test_the_time_that_the_run_starts_from_is_the_one_that_is_staged(self):
        for entry, expected in (("startFrom startTime; startTime 5.0;", "5"), ("startFrom firstTime;", "0"), ("startFrom $x;", "10")):  # fmt: skip
            with self.subTest(entry):
                self.decompose(ranks=1)
                self.write("system/controlDict", commandcase.CONTROL + entry + "\n")
                self.assertEqual(self.here("stage"), 0, self.output)
                self.assertEqual([path for path in self.warm() if path.endswith("U")], [f"processor0/{expected}/U"])

    def test_a_node_stages_its_own_ranks_only(self):
        self.decompose(ranks=4)
        self.assertEqual(self.here("stage", "--ranks", "2-3"), 0, self.output)
        tops = {path.split("/")[0] for path in self.warm()}
        self.assertEqual(tops, {"system", "constant", "processor2", "processor3"})

    def test_each_socket_has_the_ranks_that_are_expected_on_it(self):
        self.decompose(ranks=2)
        pools = [os.path.join(self.pool, name) for name in ("a", "b")]
        for each in pools:
            os.mkdir(each)
        words = [word for each in pools for word in ("--pool", each)]
        two = {"HWLOC_SYNTHETIC": "pack:2 [numa] core:1 pu:1", "HWLOC_THISSYSTEM": "1"}
        self.assertEqual(self.call("stage", "--case", self.case, *words, **two), 0, self.output)
        for rank, each in enumerate(pools):
            index = f"{each}/forebay-{os.geteuid()}/"
            with open(os.path.join(index, os.listdir(index)[0], "index")) as file:
                text = file.read()
            self.assertIn(f"processor{rank}/", text)
            self.assertNotIn(f"processor{1 - rank}/", text)
        done = self.call("run", "--case", self.case, *words, "--via", "path", "--", "sh", "-c", "test ! -L processor1/10/U", cwd=self.case, **two)  # fmt: skip
        self.assertEqual(done, 0, self.output)
        self.assertEqual([os.listdir(f"{each}/forebay-{os.geteuid()}") for each in pools], [[], []])

    def kill_in_the_middle(self, files):
        """A stage dies as by SIGKILL where some files are there and some are not; what is there: path -> inode."""
        fault = {"FOREBAY_FAULT_PREFIX": self.pool, "FOREBAY_FAULT": f"rename:kill:after={files // 2}"}
        done = subprocess.run(
            [commandcase.FOREBAY, "stage", "--quiet", "--case", self.case, "--pool", self.pool],
            env=self.environment(FOREBAY_STAGE_THREADS="1", LD_PRELOAD=os.environ["FAULT_LIBRARY"], **fault),
        )
        self.assertNotEqual(done.returncode, 0)
        copied = self.copied()
        self.assertGreaterEqual(len(copied), 3)
        self.assertLess(len(copied), files, "the stage was over before it could be killed")
        return copied

    def copied(self):
        found = {}
        for top in self.in_pool("stage-*/tree"):
            for directory, _, names in os.walk(top):
                for name in names:
                    if not name.startswith(".fb-"):
                        path = os.path.join(directory, name)
                        found[os.path.relpath(path, top)] = os.stat(path).st_ino
        return found

    def test_a_killed_stage_goes_on_where_it_stopped_and_the_run_uses_it(self):
        files = 12
        for number in range(files):
            self.write(f"mesh/part{number}", os.urandom(MEGABYTE))
        before = self.kill_in_the_middle(files + 1)
        self.assertEqual(self.warm(), {}, "a set that is not whole must not be used")
        self.assertEqual(self.here("stage"), 0, self.output)
        self.assertIn(f"{len(before)} files of it there already", self.output)
        warm = self.warm()
        self.assertEqual(len(warm), files + 1)
        for path, inode in before.items():
            self.assertEqual(os.stat(warm[path]).st_ino, inode, f"{path} was copied again")
        for path, local in warm.items():
            with open(local, "rb") as copy, open(os.path.join(self.case, path), "rb") as original:
                self.assertEqual(copy.read(), original.read(), path)
        self.assertEqual(self.in_pool("stage-*"), [])
        self.assertEqual(self.here("run", "--via", "path", "--", "sh", "-c", "test $(find . -type l | wc -l) = 0", cwd=self.case), 0, self.output)  # fmt: skip
        self.assertIn(f"{files + 1} inputs", self.output)

    def test_a_file_that_changed_after_the_kill_is_copied_anew(self):
        files = 12
        for number in range(files):
            self.write(f"mesh/part{number}", os.urandom(MEGABYTE))
        before = self.kill_in_the_middle(files + 1)
        path = next(each for each in before if each.startswith("mesh/"))
        full = os.path.join(self.case, path)
        status = os.stat(full)
        self.write(path, b"x" * MEGABYTE)  # same size, and the old time put back
        os.utime(full, ns=(status.st_atime_ns, status.st_mtime_ns))
        self.assertEqual(self.here("stage"), 0, self.output)
        with open(self.warm()[path], "rb") as file:
            self.assertEqual(file.read(), b"x" * MEGABYTE)

    def test_staging_twice_copies_nothing_the_second_time(self):
        self.decompose()
        self.assertEqual(self.here("stage"), 0, self.output)
        first = {path: os.stat(local).st_ino for path, local in self.warm().items()}
        self.assertEqual(self.here("stage"), 0, self.output)
        self.assertEqual({path: os.stat(local).st_ino for path, local in self.warm().items()}, first)
        self.assertIn(f"{len(first)} files of it there already", self.output)

    def test_clean_removes_what_was_staged_and_what_was_interrupted(self):
        self.decompose()
        self.assertEqual(self.here("stage"), 0, self.output)
        os.makedirs(self.in_pool("warm-*")[0].replace("warm-", "stage-"), mode=0o700)
        self.assertEqual(self.here("clean", "--yes"), 0, self.output)
        self.assertEqual(self.in_pool("*"), [])

    def test_bad_input_is_refused_before_anything_is_made(self):
        self.decompose()
        refused = {
            ("--ranks", "3"): "3 ranks, but the case is decomposed into 2",
            ("--ranks", "1-2"): "decomposed into 2",
            ("--ranks", "x"): "8-15",
            ("--ranks", "0"): "8-15",
        }
        for words, message in refused.items():
            with self.subTest(words):
                self.assertEqual(self.here("stage", *words), 2, self.output)
                self.assertIn(message, self.output)
        self.assertEqual(self.call("stage", "--case", self.case + "x"), 2)
        self.assertIn("no such case", self.output)
        self.assertEqual(self.here("stage", "--pool", os.path.join(self.pool, "none")), 2)
        self.write(".forebay/plan.json", "{}")
        self.assertEqual(self.here("stage"), 7, self.output)
        self.assertEqual(os.listdir(self.pool), [])

    def test_more_than_the_pool_may_hold_is_refused(self):
        self.write("mesh/points", b"x" * 4 * MEGABYTE)
        code = self.call("stage", "--case", self.case, "--pool", self.pool, FOREBAY_POOL_BUDGET="5MB")
        self.assertEqual(code, 2, self.output)
        self.assertIn("to stage", self.output)
        self.assertEqual(os.listdir(self.pool), [])


if __name__ == "__main__":
    commandcase.main()
