"""Proves that a name may become another kind of thing (a directory for a file, a link for a directory) and that names may be
swapped between kinds: what the case has under them goes first, and nothing that was only there is lost by it.
"""

import itertools
import os
import shutil
import stat
import time

import outputcase
from outputcase import UNDRAINED, WAYS, OutputCase, drawn

SCRIPTS = {
    "a file and a directory are swapped": "mv a t; mv d a; mv t d",
    "three names change in turn": "mv a t; mv d a; mv l d; mv t l",
    "a file becomes a directory": "rm a; mkdir a; echo new > a/new",
    "a moved file's name becomes a directory": "mv a b; mkdir a; mv b a/b",
    "a directory becomes a file that was in it": "mv d/e/deep t; rm -r d; mv t d",
    "a directory becomes a link, its files are elsewhere": "mv d/g g; mv d/e e; rm -r d; ln -s e d",
    "a link becomes a directory with what it led to": "rm l; mv d l; echo more >> l/g",
    "a link and a file are swapped": "mv l t; mv a l; mv t a",
    "an output changes twice": "echo o > o; nap; rm o; mkdir o; echo in > o/in; nap; rm -r o; ln -s a o; mv d o2; mv a d",
    "and modes": "mv a t; mv d a; mv t d; rm l; mkdir l; mv d l/d; mkdir d; mv a/e d/a; mkdir n; chmod 2750 n d/a; chmod 1711 l",
    "a file and a directory are swapped beside a pipe": "mkfifo pipe; nap; mv a t; mv d a; nap; mv t d; mv pipe p",
    "what is called like a time is none": "mkdir processor0 processors4; echo f > processor0/7; ln -s 7 processor0/8; nap; "
    "mv a processors4/1; ln -s ../d processors4/2; mv d processor0/9; echo late > processor0/5",
    "in a new directory": "mkdir n; mv a n/a; mv d n/d; mkdir a; mv n/d a/a; mv n/a d; echo last > n/last",
}
# What was carried before, under a name that stands for an input, too.
SCRIPTS_OF_KILLED = (
    "mv a t; mv d a; mv t d",
    "mv a b; nap; mkdir a; mv d/g a/g; rm -r d; mv b d",
    "mv a b; nap; mkdir a; echo new > a/new",
)


def entries(root):
    """Kind and mode of each name, and what it holds or where it leads."""
    found = {}
    for directory, directories, names in os.walk(root):
        for name in directories + names:
            path, holds = os.path.join(directory, name), ""
            if stat.S_ISFIFO(os.lstat(path).st_mode):
                continue  # is not carried
            if os.path.islink(path):
                holds = os.readlink(path)
            elif os.path.isfile(path):
                with open(path) as file:
                    holds = file.read()
            found[os.path.relpath(path, root)] = (oct(os.lstat(path).st_mode), holds)
    return found


class Kinds(OutputCase):
    faults = {}

    def environment(self):
        return {**super().environment(), **self.faults}

    def inputs(self, name):
        case = self.case(name, a="input a\n")
        os.makedirs(os.path.join(case, "d/e"))
        for path in ("d/g", "d/e/deep"):
            with open(os.path.join(case, path), "w") as file:
                file.write(f"input {path}\n")
        os.symlink("d/g", os.path.join(case, "l"))
        return case

    def empty_pool(self):
        """Of what a case before left, which failed."""
        for name in os.listdir(self.pool):
            shutil.rmtree(os.path.join(self.pool, name))

    def wait_for(self, path):
        until = time.monotonic() + 30
        while not os.path.exists(path) and time.monotonic() < until:
            time.sleep(0.01)
        self.assertTrue(os.path.exists(path), "waited for too long")

    def test_each_name_is_in_the_end_what_it_is_after_a_direct_run(self):
        for what, script in SCRIPTS.items():
            direct = self.inputs(f"{what}, direct")
            self.assertEqual(self.run_in(direct, "direct", script.replace("nap; ", "")), 0)
            for way, when in drawn(itertools.product(WAYS, ("live", "end")), what, 2):
                with self.subTest(what, way=way, when=when):
                    self.empty_pool()
                    case = self.inputs(f"{what}, {way}, {when}")
                    nap = "sleep 0.3; " if when == "live" else ""
                    options = ["--drain-when", when, "--set", "drain.settle=20ms"]
                    self.assertEqual(self.run_in(case, way, script.replace("nap; ", nap), *options), 0, self.output)
                    self.assertEqual(entries(case), entries(direct))
                    self.assert_pool_is_empty()

    def test_a_directory_takes_the_place_of_a_file_that_is_on_its_way(self):
        for then in ("mv o t; mv d o; mv t d", "rm o; mkdir -p o/x; mv d/e o/x; echo z > o/x/z"):
            script = f"echo new > o; sleep 0.25; {then}"
            direct = self.inputs("direct")
            self.assertEqual(self.run_in(direct, "direct", script), 0)
            for way in drawn(WAYS, then):
                with self.subTest(script, way=way):
                    case = self.inputs(way)
                    self.faults = {
                        "LD_PRELOAD": os.environ["FAULT_LIBRARY"],
                        "FOREBAY_FAULT_PREFIX": case,
                        "FOREBAY_FAULT_PROGRAM": "forebay",
                        "FOREBAY_FAULT": "rename:delay=400",
                    }
                    options = ["--set", "drain.settle=20ms", "--patience", "5s"]
                    self.assertEqual(self.run_in(case, way, script, *options), 0, self.output)
                    self.assertEqual(entries(case), entries(direct))
                    self.assert_pool_is_empty()
                shutil.rmtree(case)
            shutil.rmtree(direct)

    def test_what_others_put_into_a_directory_that_became_a_file_stays(self):
        for way in drawn(WAYS, "what others put"):
            with self.subTest(way=way):
                case = self.inputs(way)
                begun = os.path.join(self.directory, "begun")
                script = f"touch '{begun}'; while [ -e '{begun}' ]; do sleep 0.02; done; mv a t; mv d a; mv t d"
                process = self.start(self.line(way, script), case)
                self.wait_for(begun)
                with open(os.path.join(case, "d/hers"), "w") as file:
                    file.write("hers\n")
                os.remove(begun)
                self.assertEqual(self.finish(process), UNDRAINED, self.output)
                self.assertIn("the case holds files in it that this run does not know", self.output)
                hers = os.path.join(case, "d/hers")
                self.assertTrue(os.path.exists(hers))
                os.rename(hers, os.path.join(self.directory, "hers " + way))
                self.assertEqual(self.forebay("drain", "--resume", "--quiet", "--case", case), 0, self.output)
                direct = self.inputs(way + ", direct")
                self.assertEqual(self.run_in(direct, "direct", "mv a t; mv d a; mv t d"), 0)
                self.assertEqual(entries(case), entries(direct))
                self.assert_pool_is_empty()

    def test_a_resumed_run_loses_nothing_either(self):
        for script in SCRIPTS_OF_KILLED:
            for way in drawn(("namespace", "redirect"), script):
                with self.subTest(script, way=way):
                    self.empty_pool()
                    direct, case = (self.inputs(f"{way}, {len(script)}, {each}") for each in ("direct", "case"))
                    self.assertEqual(self.run_in(direct, "direct", script.replace("nap; ", "")), 0)
                    begun = os.path.join(self.directory, "begun")
                    line = script.replace("nap; ", "sleep 0.5; ") + f"; touch '{begun}'; sleep 60"
                    process = self.start(self.line(way, line, "--set", "drain.settle=20ms"), case)
                    self.wait_for(begun)
                    time.sleep(0.3)
                    self.kill_all(process)
                    os.remove(begun)
                    self.assertEqual(self.forebay("drain", "--resume", "--quiet", "--case", case), 0, self.output)
                    self.assertEqual(entries(case), entries(direct))
                    self.assert_pool_is_empty()


if __name__ == "__main__":
    outputcase.main()
