"""Proves that programs which are not of the machine's usual kind are served: linked statically, under fakeroot, under
valgrind. Each copies an input of the case, in place of the script that began it and below a script that goes on.
"""

import os
import shutil
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


if __name__ == "__main__":
    outputcase.main()
