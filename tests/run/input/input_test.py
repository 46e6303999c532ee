"""Proves: "Bad input: no such case, ranks differ from the decomposition (an undecomposed case runs in one tree), pool
path not writable, launcher not found, unknown flags and configuration keys (with a suggestion): clear errors before
anything is touched."

Each wrong command line must end with status 2 and a message that holds the given words; the case and the pool must be
what they were, to the byte, with no control directory and nothing new in them. A program that only `forebay exec` can
look for gives 127. (A pool on a network file system needs a server: src/run/node/tests refuses it for machines that are
described there.)
"""

import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "equivalence"))
import casetools  # noqa: E402

FOREBAY = ""
CONTROL = "FoamFile { version 2.0; format ascii; class dictionary; object controlDict; }\napplication icoFoam;\n"


class InputTest(unittest.TestCase):
    def setUp(self):
        self.place = casetools.Workplace("input")
        self.addCleanup(self.place.remove)
        self.case = os.path.join(self.place.directory, "case")
        os.makedirs(os.path.join(self.case, "system"))
        with open(os.path.join(self.case, "system", "controlDict"), "w") as file:
            file.write(CONTROL)
        # Programs of these names that would leave a trace if they ever ran.
        self.programs = os.path.join(self.place.directory, "programs")
        os.mkdir(self.programs)
        for name in ("mpirun", "icoFoam", "tool"):
            path = os.path.join(self.programs, name)
            with open(path, "w") as file:
                file.write(f"#!/bin/sh\necho ran >> {self.place.directory}/ran\n")
            os.chmod(path, 0o755)

    def decompose(self, *ranks):
        for rank in ranks:
            os.makedirs(os.path.join(self.case, f"processor{rank}", "0"))

    def call(self, *words, cwd=None, before=(), **more):
        path = f"{self.programs}:{os.environ['PATH']}"
        return subprocess.run(
            [*before, FOREBAY, *words],
            cwd=cwd or self.place.directory,
            env=casetools.environment(PATH=path, **more),
            capture_output=True,
            text=True,
            timeout=60,
        )

    def refuses(self, words, expected, status=2, **more):
        before = casetools.snapshot(self.case), casetools.snapshot(self.place.pool)
        done = self.call(*words, **more)
        text = f"{words}: {done.stdout}{done.stderr}"
        self.assertEqual(done.returncode, status, text)
        for each in expected:
            self.assertIn(each, done.stderr, text)
        self.assertEqual((casetools.snapshot(self.case), casetools.snapshot(self.place.pool)), before, text)
        self.assertFalse(os.path.exists(os.path.join(self.place.directory, "ran")), text)

    def run_words(self, *command, options=()):
        return ["run", "--case", self.case, "--pool", self.place.pool, *options, "--", *command]

    def test_a_case_that_is_not_there(self):
        self.refuses(["run", "--case", self.case + "x", "--", "tool"], ["no such case", self.case + "x", "--case"])

    def test_a_case_that_is_a_file(self):
        path = os.path.join(self.case, "system", "controlDict")
        self.refuses(["run", "--case", path, "--", "tool"], ["not a directory", path])

    def test_a_case_that_cannot_be_written(self):
        if not casetools.namespaces_work():
            self.skipTest("a read-only mount needs a namespace")
        script = f'mount --bind {self.case} {self.case} && mount -o remount,bind,ro {self.case} && exec "$@"'
        before = ["unshare", "-r", "-m", "sh", "-c", script, "sh"]
        self.refuses(self.run_words("tool"), ["cannot write to the case", self.case, "Read-only"], before=before)

    def test_a_case_that_its_mode_protects(self):
        self.need_an_ordinary_user()
        os.chmod(self.case, 0o555)
        self.refuses(self.run_words("tool"), ["cannot write to the case", self.case, "Permission denied"])

    def test_a_pool_that_its_mode_protects(self):
        self.need_an_ordinary_user()
        os.chmod(self.place.pool, 0o555)
        self.refuses(self.run_words("tool"), ["not writable", self.place.pool])

    def need_an_ordinary_user(self):
        if os.geteuid() == 0:
            self.skipTest("no mode keeps root out; tests/run/ordinary runs this")

    def test_more_ranks_than_the_decomposition_has(self):
        self.decompose(0, 1)
        self.refuses(self.run_words("mpirun", "-n", "3", "icoFoam", "-parallel"), ["3 ranks", "decomposed into 2"])

    def test_fewer_ranks_than_the_decomposition_has(self):
        self.decompose(0, 1, 2)
        self.refuses(self.run_words("mpirun", "-n", "2", "icoFoam", "-parallel"), ["2 ranks", "decomposed into 3"])

    def test_ranks_of_a_solver_of_the_users_own(self):
        self.decompose(0, 1)
        self.refuses(self.run_words("mpirun", "-n", "3", "tool", "-parallel"), ["3 ranks", "decomposed into 2"])
        self.decompose(3)
        self.refuses(self.run_words("mpirun", "-n", "4", "tool", "-parallel"), ["processor2 is missing"])

    def test_ranks_that_only_the_launcher_knows(self):
        """Where the line gives no count, the node's agent refuses each rank, and no program starts."""
        if not shutil.which("mpirun"):
            self.skipTest("no mpirun")
        os.remove(os.path.join(self.programs, "mpirun"))
        self.decompose(0, 1)
        for slots in (3, 1):
            with self.subTest(slots):
                before = casetools.snapshot(self.case)
                done = self.call(*self.run_words("mpirun", "--host", f"localhost:{slots}", "tool", "-parallel"))
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(
                    f"{slots} rank{'' if slots == 1 else 's'}, but the case is decomposed into 2", done.stderr
                )
                self.assertFalse(os.path.exists(os.path.join(self.place.directory, "ran")), "a rank was let in")
                self.assertEqual(casetools.snapshot(self.case), before)
                self.assertEqual(casetools.leftovers(self.case, self.place.pool), [])

    def test_a_dry_run_prints_the_line_and_touches_nothing(self):
        self.decompose(0, 1)
        before = casetools.snapshot(self.case), casetools.snapshot(self.place.pool)
        done = self.call(*self.run_words("mpirun", "-n", "2", "icoFoam", "-parallel", options=["--dry-run"]))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, f"mpirun -n 2 {FOREBAY} exec --case {self.case} -- icoFoam -parallel\n")
        self.assertEqual((casetools.snapshot(self.case), casetools.snapshot(self.place.pool)), before)
        self.assertFalse(os.path.exists(os.path.join(self.place.directory, "ran")))

    def test_a_parallel_run_of_a_case_that_is_not_decomposed(self):
        self.refuses(self.run_words("mpirun", "-n", "2", "icoFoam", "-parallel"), ["not decomposed", "decomposePar"])

    def test_a_missing_processor_directory(self):
        self.decompose(0, 2)
        self.refuses(self.run_words("mpirun", "-n", "3", "icoFoam", "-parallel"), ["processor1 is missing"])

    def test_a_pool_that_is_not_there(self):
        path = os.path.join(self.place.pool, "none")
        self.refuses(["run", "--case", self.case, "--pool", path, "--", "tool"], ["pool path does not exist", path])

    def test_a_pool_that_is_a_file(self):
        path = os.path.join(self.case, "system", "controlDict")
        self.refuses(["run", "--case", self.case, "--pool", path, "--", "tool"], ["not a directory", path])

    def test_a_pool_that_cannot_be_written(self):
        if not casetools.namespaces_work():
            self.skipTest("a read-only mount needs a namespace")
        pool = self.place.pool
        script = f'mount --bind {pool} {pool} && mount -o remount,bind,ro {pool} && exec "$@"'
        self.refuses(self.run_words("tool"), ["not writable", pool], before=["unshare", "-r", "-m", "sh", "-c", script, "sh"])  # fmt: skip

    def test_a_pool_by_a_relative_path(self):
        self.refuses(["run", "--case", self.case, "--pool", "pool", "--", "tool"], ["not absolute", "pool"])

    def test_a_launcher_that_is_not_there(self):
        self.refuses(self.run_words("mpirum", "-n", "2", "icoFoam"), ["no such program", "mpirum", "PATH"])

    def test_a_program_that_is_not_there(self):
        self.refuses(self.run_words("nosuchprogram"), ["no such program", "nosuchprogram"])

    def test_an_option_of_the_launcher_that_is_not_known(self):
        self.refuses(
            self.run_words("mpirun", "-n", "2", "--frobnicate", "3", "icoFoam", "-parallel"),
            ["--frobnicate", "mpirun -n 2 --frobnicate 3 forebay exec -- icoFoam -parallel"],
        )

    def test_a_launch_line_without_a_program(self):
        self.refuses(self.run_words("mpirun", "-n", "2"), ["no program in the launch line"])

    def test_unknown_flags_are_met_with_the_nearest(self):
        near = {"--vai": "--via", "--lay-out": "--layout", "--drainwhen": "--drain-when", "--badget": "--budget"}
        for wrong, right in near.items():
            with self.subTest(wrong):
                self.refuses(["run", "--case", self.case, wrong, "x", "--", "tool"], [wrong, f"did you mean {right}?"])

    def test_unknown_commands_are_met_with_the_nearest(self):
        self.refuses(["rnu", "--", "tool"], ["did you mean `forebay run`?"])
        self.refuses(["stauts"], ["did you mean `forebay status`?"])

    def test_unknown_keys_are_met_with_the_nearest(self):
        self.refuses(self.run_words("tool", options=["--set", "drain.wehn=end"]), ["drain.wehn", "did you mean drain.when?"])  # fmt: skip
        self.refuses(self.run_words("tool"), ["FOREBAY_DRAIN_WEHN"], FOREBAY_DRAIN_WEHN="end")

    def test_unknown_keys_of_a_file_are_met_with_file_line_and_the_nearest(self):
        file = os.path.join(self.place.directory, "forebay.toml")
        with open(file, "w") as config:
            config.write('[drain]\nlayout = "verbatim"\nbandwith = "5M"\n')
        self.refuses(self.run_words("tool"), [file, "3", "bandwith", "bandwidth"], FOREBAY_CONFIG=file)

    def test_wrong_values_are_met_with_what_would_do(self):
        wrong = {
            "--via": ("teleport", "namespace"),
            "--layout": ("bundled", "collated"),
            "--drain-when": ("never", "live"),
            "--verify": ("maybe", "read-back"),
            "--bandwidth": ("5q", "bytes"),
            "--safe-interval": ("soon", "safe_interval"),
            "--budget": ("-1", "budget"),
        }
        for flag, (value, hint) in wrong.items():
            with self.subTest(flag):
                self.refuses(self.run_words("tool", options=[f"{flag}={value}"]), [value, hint])
        self.refuses(self.run_words("tool", options=["--set", "drain.when"]), ["KEY=VALUE", "drain.when"])
        self.refuses(self.run_words("tool", options=["--set", "pool.low_water=0.99"]), ["low_water"])

    def test_a_report_that_could_not_be_written_is_known_before_the_run(self):
        for path in (os.path.join(self.place.directory, "none", "report.json"), self.place.directory):
            with self.subTest(path):
                self.refuses(self.run_words("tool", options=["--json", path]), [path])

    def test_a_program_without_dashes(self):
        for words in (["icoFoam"], ["mpirun", "-n", "2", "icoFoam"], ["icoFoam", "--help-me"], [], ["--"]):
            with self.subTest(words):
                self.refuses(["run", "--case", self.case, *words], ["behind `--`"])

    def test_exec_without_a_run(self):
        self.refuses(["exec", "--case", self.case, "--", "tool"], ["no run of forebay", "forebay run"])
        self.refuses(["exec", "--", "tool"], ["no run of forebay", "forebay run"])
        self.refuses(["exec", "--case", self.case, "tool"], ["behind `--`"])

    def test_other_commands_name_a_case_that_is_not_there(self):
        for words in (["status"], ["drain", "--resume"], ["clean", "--yes"]):
            with self.subTest(words):
                self.refuses([*words, "--case", self.case + "x"], ["no such case", self.case + "x"])
        self.refuses(["drain", "--case", self.case], ["--resume"])

    def test_a_program_that_only_exec_can_look_for(self):
        """The launcher is there, the program is not: exec says 127, and nothing is left behind."""
        if not shutil.which("mpirun"):
            self.skipTest("no mpirun")
        os.remove(os.path.join(self.programs, "mpirun"))
        self.decompose(0, 1)
        before = casetools.snapshot(self.case)
        done = self.call(*self.run_words("mpirun", "-n", "2", "nosuchFoam", "-parallel"))
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertIn("cannot run nosuchFoam", done.stderr)
        self.assertIn("PATH", done.stderr)
        self.assertEqual(casetools.snapshot(self.case), before)
        self.assertEqual(casetools.leftovers(self.case, self.place.pool), [])

    def test_every_command_has_help_with_examples(self):
        for words in (
            [],
            ["run"],
            ["exec"],
            ["status"],
            ["drain"],
            ["clean"],
            ["restartable"],
            ["plan"],
            ["doctor"],
            ["bench"],
        ):
            with self.subTest(words):
                done = self.call(*words, "--help")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("Usage: forebay", done.stdout)
                self.assertGreaterEqual(done.stdout.count("forebay " + " ".join(words)), 2, done.stdout)

    def test_the_version_is_told(self):
        done = self.call("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^(forebay )?\d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
