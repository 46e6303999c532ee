"""Proves that programs which are not of the machine's usual kind are served: linked statically, under fakeroot, under
valgrind. Each copies an input of the case, in place of the script that began it and below a script that goes on. One of
musl is served where that can be, or refused with a line that says so.
"""

import os
import shutil
import struct
import subprocess

import outputcase
from outputcase import OutputCase

PROGRAM = r"""
#include <stdio.h>
int main(int count, char** words) {
  char line[100];
  FILE* in = count == 3 ? fopen(words[1], "r") : NULL;
  FILE* out = in && fgets(line, sizeof line, in) ? fopen(words[2], "w") : NULL;
  if (!out) return perror("program"), 1;
  return fputs(line, out) < 0 || fclose(out) != 0;
}
"""


class Foreign(OutputCase):
    def program(self, *options):
        path = os.path.join(self.directory, "program" + "".join(options))
        subprocess.run(["cc", "-x", "c", "-", *options, "-o", path], input=PROGRAM, text=True, check=True)
        return path

    def check(self, line, of_the_case=("", "{case}/")):
        """`line` runs a program that gets two names: relative ones, and those with the path of the case."""

        def serve(way):
            case = self.case(way, input="from the case\n")
            for number, place in enumerate(of_the_case):
                place = place.format(case=case)
                words = f"{line} {place}input {place}output-{number}"
                self.assertEqual(self.run_in(case, way, f"exec {words}"), 0, self.output)
                self.assertEqual(self.run_in(case, way, f"{words}.of-a-script; true"), 0, self.output)
                for name in (f"output-{number}", f"output-{number}.of-a-script"):
                    with open(os.path.join(case, name)) as file:
                        self.assertEqual(file.read(), "from the case\n", self.output)

        self.in_each_way(serve)
        self.assert_pool_is_empty()

    def test_a_program_that_is_linked_statically(self):
        self.check(self.program("-static"))

    def test_a_program_under_fakeroot(self):
        if not shutil.which("fakeroot"):
            self.skipTest("no fakeroot")
        self.check(f"fakeroot {self.program()}")

    def test_a_program_under_valgrind(self):
        if not shutil.which("valgrind"):
            self.skipTest("no valgrind")
        self.check(f"valgrind -q --tool=none {self.program()}", ("",))

    def test_a_program_that_is_named_by_a_relative_path_out_of_the_case(self):
        name = "../" + os.path.basename(self.program())

        def serve(way):
            case = self.case(way, input="from the case\n")
            line = [*self.line(way, "")[:-3], name, "input", "output"]
            self.assertEqual(self.finish(self.start(line, case)), 0, self.output)
            self.assertEqual(self.read(case, "output"), "from the case\n")

        self.in_each_way(serve)

    def test_a_program_of_musl_is_told_of_in_one_line(self):
        """No more of it than names its loader, which this machine need not have: so the kernel says ENOENT."""
        header = struct.pack(
            "<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0
        )
        loader = b"/lib/ld-musl-of-nobody.so.1\0"
        part = struct.pack("<IIQQQQQQ", 3, 4, 120, 0, 0, len(loader), len(loader), 1)
        program = os.path.join(self.directory, "of-musl")
        with open(program, "wb") as file:
            file.write(header + part + loader)
        os.chmod(program, 0o755)
        script = os.path.join(self.directory, "script")
        with open(script, "w") as file:
            file.write(f"#!{program}\n")
        os.chmod(script, 0o755)

        def check(way):
            for number, name in enumerate((program, script)):
                case = self.case(f"{way}-{number}", input="from the case\n")
                status = self.finish(self.start([*self.line(way, "")[:-3], name], case))
                self.assertEqual(status, 2 if way == "redirect" else 127, self.output)
                self.assertEqual("linked to musl" in self.output, way != "path", self.output)

        self.in_each_way(check)


if __name__ == "__main__":
    outputcase.main()
