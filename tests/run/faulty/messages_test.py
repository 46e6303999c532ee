"""Whenever forebay ends with 3, 4, 5 or 6 its words name the cause, the paths (ten of many, and how many more) and a command
that can be pasted: in every situation here, on a case whose name needs quotes. docs/troubleshooting.md has a row for each."""

import glob
import os
import re
import shlex
import shutil
import subprocess

import harness
from harness import CONFLICT, FOREBAY, LOST, POOL_FULL, UNDRAINED, FaultyCase, may_mount, wait_for
from pages import DOCS, messages_of, says

MANY = "for i in $(seq 11 22); do echo x > f$i; done"
TEN = ", ".join(f"f{i}" for i in range(11, 21)) + " and "


class Messages(FaultyCase):
    ranks = 0

    def make_case(self):
        self.case = os.path.join(self.directory, "the case's own")
        super().make_case()

    def home(self, name=""):
        return os.path.join(self.homes()[0], name)

    def noted(self):
        try:
            with open(self.home("uncarried"), "rb") as file:
                return file.read()
        except (OSError, IndexError):
            return b""

    def in_tree(self, name):
        return os.path.join(self.home("tree"), os.path.basename(self.case), name)

    def start_and_let_see(self, rest, options=(), fault=None):
        """Until the agent has seen what a script wrote that goes on with `rest`."""
        options = ["--drain-when", "end", "--patience", "1s", *options]
        process = self.start(["sh", "-c", f"{MANY}; : > last; {rest}"], options, fault)
        wait_for(lambda: b" last\n" in self.noted(), what="a note of the last file")
        return process

    def start_and_kill(self):
        """All at once, and long ago."""
        process = self.start_and_let_see("sleep 60")
        self.kill_tree(process.pid)
        self.kill_left_overs()
        process.communicate()
        wait_for(lambda: not any(run["alive"] for run in self.status()), what="their end")
        os.utime(self.home("uncarried"), (0, 0))

    # Each makes one, and returns the status with words of its cause and of its paths.

    def the_case_takes_nothing(self):
        process = self.start_and_let_see(self.until_told(), fault="")
        self.set_fault("rename:EIO")
        self.tell()
        return self.finish(process), "Input/output error", TEN

    def the_case_is_full(self):
        process = self.start_and_let_see(self.until_told(), fault="")
        self.set_fault("write:ENOSPC")
        self.tell()
        return self.finish(process), "No space left", TEN

    def a_resume_finds_the_same(self):
        self.start_and_kill()
        return self.resume(fault="rename:EIO"), "Input/output error", "f11"

    def a_file_stays_open(self):
        holds = 'sh -c "exec > open; exec sleep 20" & sleep 0.5'
        return self.run_forebay(["sh", "-c", holds], ["--patience", "1s"]), "open for writing", "open"

    def the_case_has_another_name(self):
        self.start_and_kill()
        os.rename(self.case, self.case + " now")
        return self.resume(), "the case's own now", self.case

    def something_is_left_when_it_is_cleaned(self):
        self.start_and_kill()
        return self.clean(), "data that is only here", "f11"

    def a_pool_is_emptied(self):
        self.start_and_kill()
        os.remove(self.home("run.json"))
        return self.resume(), "removed from its pool", self.home("run.json")

    def a_pool_is_gone(self):
        self.start_and_kill()
        home = self.homes()[0]
        shutil.rmtree(os.path.dirname(home))
        return self.resume(), "its pool is gone", home

    def a_pool_is_emptied_during_the_run(self):
        process = self.start_and_let_see(self.until_told())
        home = self.homes()[0]
        os.remove(self.home("run.json"))
        self.tell()
        return self.finish(process), "emptied", home

    def the_journal_is_gone(self):
        self.start_and_kill()
        journal = self.home("journal")
        os.remove(journal)
        return self.resume(), "the journal is gone", journal

    def the_journal_is_damaged(self):
        self.start_and_kill()
        with open(self.home("journal"), "r+b") as file:
            file.seek(30)
            file.write(b"#")
        return self.resume(), "damaged", self.home("journal")

    def files_of_the_pool_are_gone(self):
        self.start_and_kill()
        for name in glob.glob(self.in_tree("f*")):
            os.remove(name)
        os.utime(self.in_tree("last"), (0, 0))
        return self.resume(), "removed from the pool", TEN

    def the_case_changes_too(self):
        process = self.start_and_let_see(self.until_told())
        for name in range(11, 23):
            with open(os.path.join(self.case, f"f{name}"), "w") as file:
                file.write("of somebody else\n")
        self.tell()
        return self.finish(process), "changed", "2 names more"

    def the_pool_is_full(self):
        self.mount(self.pool, "size=8m,mode=700")
        return self.run_forebay(["sh", "-c", "head -c 20M /dev/zero > big; exit 0"]), "full", "big"

    def situations(self):
        yield UNDRAINED, self.the_case_takes_nothing
        yield UNDRAINED, self.the_case_is_full
        yield UNDRAINED, self.a_resume_finds_the_same
        yield UNDRAINED, self.a_file_stays_open
        yield UNDRAINED, self.the_case_has_another_name
        yield UNDRAINED, self.something_is_left_when_it_is_cleaned
        yield LOST, self.a_pool_is_emptied
        yield LOST, self.a_pool_is_gone
        yield LOST, self.a_pool_is_emptied_during_the_run
        yield LOST, self.the_journal_is_gone
        yield LOST, self.the_journal_is_damaged
        yield LOST, self.files_of_the_pool_are_gone
        yield CONFLICT, self.the_case_changes_too
        if may_mount():
            yield POOL_FULL, self.the_pool_is_full

    def paste(self, command):
        """As somebody would who has it from a terminal."""
        path = os.path.dirname(FOREBAY) + ":" + os.environ["PATH"]
        done = subprocess.run(
            ["sh", "-c", command], env={**self.environment(), "PATH": path}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
        )  # fmt: skip
        self.assertNotIn(done.returncode, (2, 126, 127), f"{command}: {done.stdout}")

    def test_cause_paths_and_a_command_that_can_be_pasted(self):
        page = (DOCS / "troubleshooting.md").read_text()
        explained = [(status, each) for status, messages in messages_of(page) for each in messages]
        for expected, situation in list(self.situations()):
            with self.subTest(situation.__name__):
                status, cause, paths = situation()
                said = self.output
                self.assertEqual(status, expected, said)
                self.assertIn(cause, said)
                self.assertIn(paths, said)
                self.assertTrue(any(status == of and says(each, said) for of, each in explained), f"no row: {said}")
                commands = re.findall("`((?:forebay|find|cp|rm) [^`]+)`", said)
                helpful = [each for each in commands if "--throw-away" not in each and not each.startswith("rm ")]
                self.assertTrue(helpful, f"no command: {said}")
                self.assertTrue(
                    any(os.path.realpath(self.case) in " ".join(shlex.split(each)) for each in helpful), said
                )
                for command in helpful:
                    if " clean " not in command:
                        self.paste(command)
            self.tearDown()
            self.setUp()


if __name__ == "__main__":
    harness.main()
