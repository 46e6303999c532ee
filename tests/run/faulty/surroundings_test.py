"""A user may take away what a program does without: large files, a stack, open descriptors, a reader of what it says. The
program finds it as it was, forebay does without, and all is on the case."""

import os
import shlex
import subprocess
import unittest

import harness
from harness import FOREBAY, FaultyCase, may_mount

WAYS = ("namespace", "redirect", "path")
# What the program is given, as it finds it, and an output.
PROGRAM = (
    "ulimit -f > limits; ulimit -s >> limits; ulimit -n >> limits; grep -E 'Sig(Blk|Ign)' /proc/self/status > signals; "
    "for fd in 0 1 2; do [ -e /proc/self/fd/$fd ] && echo $fd; done > descriptors; seq 300000 > output; true"
)
OUTPUTS = ("limits", "signals", "descriptors", "output")
# Signals 32 and 33 are those of glibc's threads: a process that starts one takes them, whoever ignored them before.
OF_LIBC = 3 << 31


class Surroundings(FaultyCase):
    ranks = 0

    def run_in(self, setting, way):
        """`setting`: a line of the shell, with the command in place of {}. Returns its status."""
        command = ["sh", "-c", PROGRAM]
        if way:
            command = [FOREBAY, "run", "--case", self.case, "--pool", self.pool, "--via", way, "--", *command]
        done = subprocess.run(
            ["bash", "-c", setting.format(shlex.join(command))],
            cwd=self.case,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
        outputs = {}
        for name in OUTPUTS:
            path = os.path.join(self.case, name)
            if os.path.exists(path):
                with open(path) as file:
                    outputs[name] = file.read()
                if name == "signals":
                    outputs[name] = [int(line.split()[1], 16) & ~OF_LIBC for line in outputs[name].splitlines()]
                os.unlink(path)
        return done.returncode, outputs

    def check(self, setting):
        direct = self.run_in(setting, None)
        self.assertEqual(set(direct[1]), set(OUTPUTS), direct)
        for way in WAYS:
            with self.subTest(way):
                self.assertEqual(self.run_in(setting, way), direct)
                self.assert_nothing_left()

    def test_files_of_two_megabytes_at_most(self):
        self.check("ulimit -f 2048; {}")

    def test_a_stack_of_64_kilobytes(self):
        self.check("ulimit -s 64; {}")

    def test_words_go_nowhere(self):
        self.check("{} >&- 2>&-")

    def test_no_descriptor_is_open(self):
        self.check("{} <&- >&- 2>&-")

    def test_few_descriptors(self):
        self.check("ulimit -n 64; {}")

    def test_the_reader_goes_away(self):
        self.check("({} 2>&1; echo $? > ../status) | true; exit $(cat ../status)")

    def test_the_user_ignores_broken_pipes_and_large_files(self):
        self.check("trap '' PIPE XFSZ; {}")


@unittest.skipUnless(may_mount(), "mounting a pool that is noexec needs root")
class NoexecPool(FaultyCase):
    ranks = 0

    def test_it_is_told_before_the_program_begins_what_cannot_be_used_there(self):
        self.mount(self.pool, "size=100m,noexec,mode=0700")
        program = ["sh", "-c", "printf '#!/bin/sh\\necho it ran\\n' > tool; chmod +x tool; echo begins; ./tool"]
        for way in WAYS:
            with self.subTest(way):
                self.assertEqual(self.run_forebay(program, ["--via", way]), 126, self.output)
                told, begins = self.output.find(f"{self.pool} is mounted noexec"), self.output.find("begins")
                self.assertGreaterEqual(told, 0, self.output)
                self.assertLess(told, begins, self.output)
        environment = self.environment(FOREBAY_POOL_PATHS=self.pool)
        doctor = subprocess.run([FOREBAY, "doctor"], env=environment, capture_output=True, text=True, check=True)
        self.assertIn("mounted noexec", doctor.stdout)


if __name__ == "__main__":
    harness.main()
