"""Proves that what its own user may not read, or what has too long a path, holds nothing else back: all else is carried
at once, the one thing is named, the exit is 3, `drain --resume` carries it when it can, and `clean --drop` throws it away
by name. Nothing in an unreadable directory is taken for deleted. Run by ../as_user, since root may read everything.
"""

import glob
import os
import re
import shlex
import time

import outputcase
from outputcase import BUSY, CONFLICT, UNDRAINED, USAGE, WAYS, OutputCase, files

# Nothing may be listed, or looked at, or read.
CLOSED, CLOSED_FILES = {"none": 0o000, "unlisted": 0o300, "unsearched": 0o600}, {"secret": 0o000, "write-only": 0o200}
SCRIPT = "\n".join(
    ["mkdir a none unlisted unsearched; for d in a none unlisted unsearched; do echo $d > $d/f; done; rm gone"]
    + [f"echo {name} > {name}; chmod {mode:o} {name}" for name, mode in CLOSED_FILES.items()]
    + [f"chmod {mode:o} {name}" for name, mode in CLOSED.items()]
    + ["echo last > last"]
)
# A path that is too long for the kernel, below a short one.
DEEP = """
import os
os.mkdir("deep"); os.chdir("deep")
for _ in range(25):
    os.mkdir("d" * 200); os.chdir("d" * 200)
open("f", "w").write("deep")
"""


class Unreadable(OutputCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() == 0:
            self.skipTest("root may read everything")

    def run_quickly(self, *args):
        began = time.monotonic()
        status = self.run_in(*args)
        self.assertLess(time.monotonic() - began, 20, "it waited for what cannot be read")
        return status

    def local(self, name):
        """In the tree; beside the case stand links to its neighbours."""
        found = glob.glob(f"{self.pool}/forebay-*/*/s0/tree/*/{name}")
        [path] = [each for each in found if not os.path.islink(os.path.dirname(each))]
        return path

    def resume(self, case):
        return self.forebay("drain", "--resume", "--quiet", "--case", case)

    def drop(self, case, name):
        return self.forebay("clean", "--yes", "--case", case, "--drop", name)

    def test_all_else_is_carried_and_the_rest_when_it_can_be_read(self):
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way, gone="input\n")
                self.assertEqual(self.run_quickly(case, way, SCRIPT), UNDRAINED, self.output)
                carried = {"a/f": "a\n", "last": "last\n", "gone": "input\n"}  # deletions come last
                self.assertEqual(files(case), carried)
                for name in (*CLOSED, *CLOSED_FILES):
                    self.assertIn(f"--drop {name}`", self.output)
                self.assertNotIn("events", self.output)

                self.assertEqual(self.resume(case), UNDRAINED, self.output)
                self.assertEqual(files(case), carried)
                self.assertIn("--drop none`", self.output)

                for name in ("unlisted", "unsearched", "secret"):
                    os.chmod(self.local(name), 0o700)
                self.assertEqual(self.resume(case), UNDRAINED, self.output)
                carried |= {"unlisted/f": "unlisted\n", "unsearched/f": "unsearched\n", "secret": "secret\n"}
                self.assertEqual(files(case), carried)

                self.assertEqual(self.drop(case, "none"), 0, self.output)
                self.assertEqual(self.drop(case, os.path.join(case, "write-only")), 0, self.output)
                self.assertEqual(self.resume(case), 0, self.output)
                del carried["gone"]
                self.assertEqual(files(case), carried)
                self.assertEqual(os.stat(f"{case}/unlisted").st_mode & 0o777, 0o700)
                self.assert_pool_is_empty()

    def test_each_is_dropped_by_the_command_that_the_message_shows(self):
        names = ("with space", "it's", "two\nlines", "-rf", "--case", "$HOME", os.fsdecode(b"\xff"), "a\\x0ab")
        case = self.case("the case")
        script = "; ".join(
            f"echo secret > {shlex.quote('./' + name)}; chmod 0 {shlex.quote('./' + name)}" for name in names
        )
        self.assertEqual(self.run_in(case, "namespace", script), UNDRAINED, self.output)
        commands = set(re.findall(r"`forebay (clean [^`]*--drop[^`]*)`", self.output))
        self.assertEqual(len(commands), len(names), self.output)
        for command in commands:
            line = f"{shlex.quote(outputcase.FOREBAY)} {command} --yes --pool {self.pool}"
            self.assertEqual(self.finish(self.start(["bash", "-c", line], self.directory)), 0, self.output)
        self.assertEqual(self.resume(case), 0, self.output)
        self.assertEqual(files(case), {})
        self.assert_pool_is_empty()

    def test_what_is_in_an_unreadable_directory_is_not_taken_for_deleted(self):
        script = "rm d/f; echo new > d/f; sleep 1; chmod 0 d"
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way)
                os.mkdir(f"{case}/d")
                with open(f"{case}/d/f", "w") as file:
                    file.write("old\n")
                self.assertEqual(self.run_quickly(case, way, script, "--drain-when", "end"), UNDRAINED, self.output)
                self.assertEqual(files(case), {"d/f": "old\n"})
                os.chmod(self.local("d"), 0o755)
                self.assertEqual(self.resume(case), 0, self.output)
                self.assertEqual(files(case), {"d/f": "new\n"})

    def test_one_file_of_a_time_holds_up_no_other(self):
        script = (
            "cd processor$OMPI_COMM_WORLD_RANK && for t in 1 2; do mkdir $t && echo U $t > $t/U && echo p $t > $t/p; done; "
            "[ $OMPI_COMM_WORLD_RANK = 0 ] || chmod 0 2/p"
        )
        for layout in ("verbatim", "collated"):
            with self.subTest(layout=layout):
                case = self.case(layout)
                for directory in ("system", "processor0/0", "processor1/0"):
                    os.makedirs(os.path.join(case, directory))
                with open(os.path.join(case, "system/controlDict"), "w") as file:
                    file.write("application solver;\npurgeWrite 0;\nwriteInterval 1;\n")
                line = [outputcase.FOREBAY, "run", "-q", "--pool", self.pool, "--layout", layout, "--"]
                launched = ["mpirun", "-n", "2", "--oversubscribe", "sh", "-c", script]
                self.assertEqual(self.finish(self.start(line + launched, case)), UNDRAINED, self.output)
                self.assertIn("--drop processor1/2/p`", self.output)
                found = files(case)
                for each in ("processor0/2/U", "processor0/2/p", "processor1/2/U"):
                    self.assertEqual(found.get(each), f"{each[-1]} 2\n", each)
                self.assertNotIn("processor1/2/p", found)
                self.assertEqual(self.drop(case, "processor1/2/p"), 0, self.output)
                self.assertEqual(self.resume(case), 0, self.output)
                self.assert_pool_is_empty()

    def test_a_resume_after_all_was_killed_carries_all_else(self):
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way, gone="input\n")
                written = os.path.join(self.directory, f"{way}-written")
                script = f"{SCRIPT}; touch '{written}'; sleep 100"
                process = self.start(self.line(way, script, "--drain-when", "end"), case)
                # A removal that the agent had not written down when it died is not done on the case.
                while not (os.path.exists(written) and self.is_journalled("deleted gone")) and process.poll() is None:
                    time.sleep(0.02)
                self.kill_all(process)
                carried = {"a/f": "a\n", "last": "last\n", "gone": "input\n"}
                for _ in range(2):
                    self.assertEqual(self.resume(case), UNDRAINED, self.output)
                    self.assertEqual(files(case), carried)
                    for name in (*CLOSED, *CLOSED_FILES):
                        self.assertIn(f"--drop {name}`", self.output)
                for name in (*CLOSED, *CLOSED_FILES):
                    os.chmod(self.local(name), 0o700)
                self.assertEqual(self.resume(case), 0, self.output)
                carried |= {
                    **{f"{name}/f": f"{name}\n" for name in CLOSED},
                    **{name: f"{name}\n" for name in CLOSED_FILES},
                }
                del carried["gone"]
                self.assertEqual(files(case), carried)
                self.assert_pool_is_empty()

    def is_journalled(self, words):
        for path in glob.glob(f"{self.pool}/forebay-*/*/s0/journal"):
            with open(path) as file:
                return any(words in line for line in file)
        return False

    def test_a_path_that_is_too_long_holds_up_nothing(self):
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way)
                script = f"echo first > first; /usr/bin/python3 -c '{DEEP}'; echo last > last"
                self.assertEqual(self.run_quickly(case, way, script), UNDRAINED, self.output)
                self.assertEqual((self.read(case, "first"), self.read(case, "last")), ("first\n", "last\n"))
                self.assertIn("--drop deep/", self.output)
                self.assertNotIn("events", self.output)
                self.assertEqual(self.drop(case, "deep"), 0, self.output)
                self.assertEqual(self.resume(case), 0, self.output)
                self.assert_pool_is_empty()

    def test_an_input_that_may_be_listed_only_does_not_hinder_the_run(self):
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way)
                os.mkdir(f"{case}/listed")
                with open(f"{case}/listed/f", "w") as file:
                    file.write("input\n")
                os.chmod(f"{case}/listed", 0o600)
                script = "cat listed/f 2> /dev/null || echo refused > result"
                self.assertEqual(self.run_quickly(case, way, script), 0, self.output)
                self.assertEqual(self.read(case, "result"), "refused\n")
                os.chmod(f"{case}/listed", 0o700)

    def test_a_renamed_input_that_the_user_has_removed_holds_up_nothing(self):
        # What the new name stands for is gone from the case: that alone cannot be carried.
        for way in ("namespace", "redirect"):
            with self.subTest(way=way):
                case = self.case(way, input="input\n")
                begun, go_on = os.path.join(self.directory, "begun"), os.path.join(self.directory, "go on")
                script = f"touch '{begun}'; while ! [ -e '{go_on}' ]; do sleep 0.02; done; mv input moved; echo z > z"
                process = self.start(self.line(way, script, "--drain-when", "end"), case)
                while not os.path.exists(begun) and process.poll() is None:
                    time.sleep(0.02)
                self.assertEqual(self.drop(case, "input"), BUSY, self.output)
                os.remove(os.path.join(case, "input"))
                with open(go_on, "w"):
                    pass
                self.assertEqual(self.finish(process), UNDRAINED, self.output)
                self.assertEqual(files(case), {"z": "z\n"})
                self.assertEqual(self.drop(case, "moved"), 0, self.output)
                self.assertIn(self.resume(case), (0, CONFLICT), self.output)
                self.assertEqual(files(case), {"z": "z\n"})
                os.remove(begun)
                os.remove(go_on)

    def test_only_names_in_the_case_of_a_run_that_is_dead_are_dropped(self):
        case = self.case("case")
        self.assertEqual(self.drop(case, "secret"), USAGE, self.output)
        self.assertEqual(self.run_in(case, "namespace", "echo s > secret; chmod 0 secret; ln -s / root"), UNDRAINED)
        for name in ("../other", "/etc/passwd", "", ".", "a//b", "nothing", "secret/below", "root/etc", f"{case}/../x"):
            self.assertEqual(self.drop(case, name), USAGE, f"{name}: {self.output}")
        self.assertEqual(self.forebay("clean", "--yes", "--drop", "secret"), USAGE, "without --case")
        self.assertEqual(self.resume(case), UNDRAINED, self.output)
        self.assertEqual(self.drop(case, "secret"), 0, self.output)
        self.assertEqual(self.resume(case), 0, self.output)


if __name__ == "__main__":
    outputcase.main()
