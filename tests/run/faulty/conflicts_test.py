"""Issue, "Faults": two runs on one case at once (second refuses), a name that already exists on the case, a case edited
on the shared side during the run; design.md, "Users' data comes first": deletions come last, only after every drain."""

import contextlib
import os
import time

import harness
from harness import BUSY, CONFLICT, UNDRAINED, FaultyCase, wait_for


class Edits(FaultyCase):
    def write(self, path, text):
        full = os.path.join(self.case, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text)

    def read(self, path):
        with open(os.path.join(self.case, path)) as file:
            return file.read()

    def script(self, text):
        return ["sh", "-c", text]

    def has(self, name, text):
        """The program has written it, whatever the case has."""
        with contextlib.suppress(OSError), open(os.path.join(*self.homes(), "tree", "case", name)) as file:
            return file.read() == text

    def start_with_result(self, then=":", options=(), fault=None):
        """A run whose program has written `result`, which the case does not have, and waits."""
        script = self.script(f"echo program > result; {self.until_told()}; {then}")
        process = self.start(script, ["--set", "drain.settle=1h", *options], fault)
        wait_for(lambda: self.has("result", "program\n"), what="what the program writes")
        return process

    def beside(self, directory, name):
        """Versions kept beside a name."""
        return [each for each in os.listdir(os.path.join(self.case, directory)) if each.startswith(name + ".forebay-")]


class Conflicts(Edits):
    def test_a_second_run_on_the_case_refuses_and_leaves_the_first_alone(self):
        first = self.start(self.solver("-steps", 10, "-delay", 100))
        self.solvers()
        report = self.report_file
        self.assertEqual(self.run_forebay(self.solver("-from", 100)), BUSY)
        self.assertIn("works on this case", self.output)
        self.report_file = report
        self.assertEqual(self.finish(first), 0, self.output)
        self.assertFalse(any("/100/" in path for path in self.ever_completed()), "the refused run started its program")
        self.assert_all_home()
        self.assert_nothing_left()

    def test_a_time_directory_made_on_the_shared_side_is_kept_and_so_is_the_runs(self):
        process = self.start(self.solver("-steps", 8, "-delay", 150))
        self.solvers()
        self.write("processor2/6/U", "somebody else's\n")
        self.assertEqual(self.finish(process), CONFLICT, self.output)
        self.assertIn("processor2/6", self.output)
        self.assertEqual(self.read("processor2/6/U"), "somebody else's\n")
        [name] = self.beside("processor2", "6")
        for field in harness.FIELDS:
            with open(os.path.join(self.case, "processor2", name, field), "rb") as file:
                data = file.read()
            self.assertEqual(data, harness.content(f"processor2/6/{field}", len(data)))
        for rank in (0, 1, 3):
            self.assertEqual(self.times_on_case(rank), list(range(1, 9)))
        self.assert_nothing_left()

    def test_a_file_made_on_the_shared_side_is_kept_and_so_is_the_runs(self):
        self.ranks = 0
        process = self.start_with_result()
        self.write("result", "user\n")
        self.tell()
        self.assertEqual(self.finish(process), CONFLICT, self.output)
        self.assertEqual(self.read("result"), "user\n")
        [name] = self.beside("", "result")
        self.assertEqual(self.read(name), "program\n")
        self.assertIn(name, self.output)

    def test_an_input_edited_by_user_and_program_is_kept_twice(self):
        self.ranks = 0
        self.write("setup", "original\n")
        process = self.start(
            self.script(f"echo program >> setup; {self.until_told()}"), ["--copy", "setup", "--set", "drain.settle=1h"]
        )
        wait_for(lambda: self.has("setup", "original\nprogram\n"), what="what the program writes")
        self.write("setup", "user\n")
        self.tell()
        self.assertEqual(self.finish(process), CONFLICT, self.output)
        self.assertEqual(self.read("setup"), "user\n")
        [name] = self.beside("", "setup")
        self.assertEqual(self.read(name), "original\nprogram\n")

    def test_an_edit_of_an_input_that_the_program_only_reads_stays(self):
        self.ranks = 0
        self.write("setup", "original\n")
        self.write("linked", "original\n")
        edit_is_seen = "until grep -q user setup; do sleep 0.02; done"  # a copy is made anew now and then
        process = self.start(self.script(f"{edit_is_seen}; cat setup linked > seen"), ["--copy", "setup"])
        wait_for(lambda: any(run["phase"] == "running" for run in self.status()), what="the program")
        self.write("linked", "user\n")
        self.write("setup", "user\n")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertEqual((self.read("setup"), self.read("linked")), ("user\n", "user\n"))
        self.assertEqual(self.read("seen"), "user\nuser\n")

    def test_conflict_and_undrained_together_keep_what_is_only_local(self):
        self.ranks = 0
        process = self.start_with_result(
            "echo late > late", ["--set", "drain.settle=100ms", "--patience", "2s"], fault=""
        )
        self.write("result", "user\n")
        wait_for(lambda: self.beside("", "result"), what="the version kept beside")
        self.set_fault("fsync:EIO")
        self.tell()
        self.finish(process)
        self.assertEqual(process.returncode, UNDRAINED, self.output)
        self.assertEqual(len(self.homes()), 1)
        self.assertIn(self.resume(fault=""), (0, CONFLICT), self.output)
        self.assertEqual(self.read("late"), "late\n")


class Deletions(Edits):
    ranks = 0

    def setUp(self):
        super().setUp()
        self.write("doomed", "an input\n")
        self.write("old/a", "a\n")
        self.write("old/b", "b\n")

    def exists(self, path):
        return os.path.lexists(os.path.join(self.case, path))

    def test_deletions_reach_the_case_at_the_end(self):
        process = self.start(
            self.script(f"rm -r doomed old; echo new > new; {self.until_told()}"), ["--set", "drain.settle=100ms"]
        )
        wait_for(lambda: self.exists("new"), what="the drained output")
        self.assertTrue(self.exists("doomed") and self.exists("old/a"), "a deletion came before the end")
        self.tell()
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertFalse(self.exists("doomed") or self.exists("old"))

    def test_nothing_is_deleted_while_something_is_undrained(self):
        script = self.script(f"{self.until_told()}; rm -r doomed old; echo new > new")
        process = self.start(script, ["--patience", "1s"], fault="")
        wait_for(lambda: any(run["phase"] == "running" for run in self.status()), what="the program")
        self.set_fault("fsync:EIO")
        self.tell()
        self.assertEqual(self.finish(process), UNDRAINED, self.output)
        self.assertTrue(self.exists("doomed") and self.exists("old/a"))
        self.assertEqual(self.resume(fault=""), 0, self.output)
        self.assertFalse(self.exists("doomed") or self.exists("old"))
        self.assertEqual(self.read("new"), "new\n")

    def test_an_input_that_the_user_changed_meanwhile_is_not_deleted(self):
        process = self.start(self.script(f"{self.until_told()}; rm -r doomed old"))
        wait_for(lambda: any(run["phase"] == "running" for run in self.status()), what="the program")
        self.write("doomed", "changed by the user\n")
        self.write("old/c", "new from the user\n")
        self.tell()
        self.assertEqual(self.finish(process), CONFLICT, self.output)
        self.assertEqual(self.read("doomed"), "changed by the user\n")
        self.assertEqual(self.read("old/c"), "new from the user\n")

    def test_an_entry_that_vanished_without_an_act_of_the_program_is_not_deleted(self):
        process = self.start(self.script(self.until_told()))
        agent = self.agent()
        wait_for(lambda: any(run["phase"] == "running" for run in self.status()), what="the program")
        os.kill(agent, 9)  # nobody sees it vanish
        time.sleep(0.1)
        [home] = self.homes()
        os.unlink(os.path.join(home, "tree", "case", "doomed"))
        self.tell()
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertTrue(self.exists("doomed"))


if __name__ == "__main__":
    harness.main()
