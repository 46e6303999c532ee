"""Proves that a file arrives as it is in the end, though its size and its time of modification tell nothing: stores through a
mapping move no time, and programs set old times again (cp -p, tar, rsync). Of files that the case has already, of copies
of inputs, and by a resume of a run that was killed.
"""

import os
import sys
import time

import outputcase
from outputcase import WAYS, OutputCase, drawn, files

LIVE = ("--set", "drain.settle=50ms")
# Where all is carried by then: another line in the same size.
NAP = "sleep 0.6; "
MAP = f"""{sys.executable} -c 'import mmap, sys
with open(sys.argv[1], "r+b") as file: m = mmap.mmap(file.fileno(), 0)
m[0] = m[0] + 1' """

CARRIED = {
    "through a mapping": f"head -c 65536 /dev/zero > f; {NAP}{MAP} f",
    "its old time is set again": f"echo a > f; touch -d 2020-01-01 f; {NAP}echo b > f; touch -d 2020-01-01 f",
    "another one of that time is copied over it": f"echo a > f; echo b > g; touch -d 2020-01-01 f g; {NAP}cp -p g f",
    "by its second name, which goes": f"echo a > f; touch -d 2020-01-01 f; {NAP}ln f g; echo b > g; touch -d 2020-01-01 f; rm g",
    "a time of a solver": f"mkdir 1; echo a > 1/U; touch -d 2020-01-01 1/U; mkdir 2; echo a > 2/U; {NAP}{MAP} 1/U",
}
# What replaces, and is replaced by, files of one size and one time.
INPUTS = {
    "renamed over it": "mv l2 l1",
    "copied over it": "cp -p l2 l1",
    "linked": "ln -f l2 l1",
    "unpacked": "tar xf tar",
    "a directory anew": "rm -r 0; cp -a 0.orig 0",
    "directories change places": "mv 0 x; mv 0.orig 0; mv x 0.orig",
    "two files change places": "mv l1 x; mv l2 l1; mv x l2",
    "through a mapping": f"{MAP} l1",
}


class SameTimes(OutputCase):
    def inputs(self, name):
        case = self.case(name, l1="1\n", l2="2\n")
        for directory, text in (("0", "1\n"), ("0.orig", "2\n")):
            os.mkdir(os.path.join(case, directory))
            with open(os.path.join(case, directory, "U"), "w") as file:
                file.write(text)
        script = "touch -d 2020-01-01 l1 l2 0/U 0.orig/U; mkdir t; cp -p l2 t/l1; tar -C t -cf tar l1; rm -r t"
        self.assertEqual(self.run_in(case, "direct", script), 0, self.output)
        return case

    def test_what_the_case_has_and_changes_last(self):
        for what, script in CARRIED.items():
            direct = self.case(f"{what}, direct")
            self.assertEqual(self.run_in(direct, "direct", script.replace(NAP, "")), 0, self.output)
            for way in drawn(WAYS, what):
                with self.subTest(what, way=way):
                    case = self.case(f"{what}, {way}")
                    self.assertEqual(self.run_in(case, way, script, *LIVE), 0, self.output)
                    self.assertEqual(files(case), files(direct))

    def test_inputs_that_are_copies(self):
        for what, script in INPUTS.items():
            direct = self.inputs(f"{what}, direct")
            self.assertEqual(self.run_in(direct, "direct", script), 0, self.output)
            for way in drawn(WAYS, what):
                with self.subTest(what, way=way):
                    case = self.inputs(f"{what}, {way}")
                    self.assertEqual(self.run_in(case, way, script, "--copy", "*"), 0, self.output)
                    self.assertEqual(files(case), files(direct))

    def test_inputs_that_were_staged_ahead(self):
        for way in ("namespace", "redirect"):
            with self.subTest(way=way):
                case = self.inputs(way)
                self.assertEqual(self.forebay("stage", "--case", case), 0, self.output)
                self.assertEqual(self.run_in(case, way, "cp -a 0.orig/. 0/; mv l2 l1"), 0, self.output)
                self.assertEqual((self.read(case, "0/U"), self.read(case, "l1")), ("2\n", "2\n"))

    def test_a_resume_compares_what_the_dead_run_had_carried(self):
        for way in WAYS:
            with self.subTest(way=way):
                case = self.inputs(way)
                begun = os.path.join(self.directory, f"begun {way}")
                script = f"echo a > f; {NAP}touch -r f t; echo b > f; touch -r t f; rm t; {MAP} l1; touch '{begun}'; sleep 60"
                process = self.start(self.line(way, script, "--copy", "l1", *LIVE), case)
                until = time.monotonic() + 30
                while not os.path.exists(begun) and time.monotonic() < until:
                    time.sleep(0.01)
                self.kill_all(process)
                self.assertEqual(self.forebay("drain", "--resume", "--quiet", "--case", case), 0, self.output)
                self.assertEqual((self.read(case, "f"), self.read(case, "l1")), ("b\n", "2\n"))
                self.assert_pool_is_empty()


if __name__ == "__main__":
    outputcase.main()
