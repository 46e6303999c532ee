"""Proves that a program of the case finds what lies beside it as it is now, not as it was before the run: its libraries
($ORIGIN), its prefix, its neighbours, whichever way it asks where it lies.
"""

import os
import shutil
import subprocess
import sys

import outputcase
from outputcase import WAYS, OutputCase, files

LIBRARY = 'const char* word(void) {{ return "{}"; }}\n'
# Says what it finds beside itself: its library, a plug-in, and data, by each name of itself that a process has.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern const char* word(void);

static void beside(const char* what, const char* self) {
  char path[2 * PATH_MAX], line[100] = "nothing\n", resolved[PATH_MAX] = "";
  snprintf(path, sizeof path, "%s", self);
  if (strrchr(path, '/')) *strrchr(path, '/') = '\0'; else strcpy(path, ".");
  strcat(path, "/../share/data");
  FILE* file = fopen(path, "r");
  if (file && !fgets(line, sizeof line, file)) strcpy(line, "empty\n");
  printf("%s: %s", what, line);
  if (realpath(self, resolved) && realpath(path, path))
    printf("%s\n", strncmp(resolved, path, strlen(path) - strlen("share/data")) == 0 ? "neighbours" : resolved);
}

static void plug_in(const char* path) {
  void* handle = dlopen(path, RTLD_NOW);
  const char* (*function)(void) = handle ? (const char* (*)(void))dlsym(handle, "more") : NULL;
  printf("%s: %s\n", path, function ? function() : dlerror());
}

int main(int count, char** words) {
  char self[PATH_MAX] = "";
  Dl_info info;
  printf("library: %s\n", word());
  plug_in("$ORIGIN/../lib/more.so");
  plug_in("${ORIGIN}/../lib/more.so");
  (void)!readlink("/proc/self/exe", self, sizeof self - 1);
  beside("/proc/self/exe", self);
  beside("AT_EXECFN", (const char*)getauxval(AT_EXECFN));
  beside("argv[0]", words[0]);
  if (dladdr((void*)word, &info)) beside("dladdr", info.dli_fname);
  return count != 1;
}
"""
# Rebuilds what lies beside the program, and asks it.
REBUILD = "cp ../new/word.so lib/libword.so; cp ../new/more.so lib/more.so; cp ../new/data share/data; "


def build(root):
    """root/bin/program, and beside it one version of what it uses ("old"); the other version in root/../new."""
    new = os.path.join(os.path.dirname(root), "new")
    for directory in (new, *(os.path.join(root, name) for name in ("bin", "lib", "share"))):
        os.makedirs(directory, exist_ok=True)

    def compiler(source, *words):
        command = ["cc", "-x", "c", "-", *words]
        subprocess.run(command, input=source, text=True, check=True)

    for version, word, more, data in (
        ("old", f"{root}/lib/libword.so", f"{root}/lib/more.so", f"{root}/share/data"),
        ("new", f"{new}/word.so", f"{new}/more.so", f"{new}/data"),
    ):
        compiler(LIBRARY.format(version), "-shared", "-fPIC", "-o", word, "-Wl,-soname,libword.so")
        compiler(LIBRARY.format(version).replace("word", "more"), "-shared", "-fPIC", "-o", more)
        with open(data, "w") as file:
            file.write(f"{version}\n")
    runpath = ["-Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib", "-x", "none", f"{root}/lib/libword.so", "-ldl"]
    compiler(PROGRAM, "-o", f"{root}/bin/program", *runpath)


class Programs(OutputCase):
    def built(self):
        root = os.path.join(self.directory, "built")
        if not os.path.exists(root):
            build(root)
        return root

    def with_programs(self, name):
        case = os.path.join(self.directory, name)
        shutil.copytree(self.built(), case, symlinks=True)
        return case

    def compare(self, script, fill, ways=WAYS, place=lambda text, case: text):
        """What `script` prints, with `fill` done to each case first; `place` takes the case's own path out of it."""
        direct = self.with_programs("direct")
        fill(direct)
        self.assertEqual(self.run_in(direct, "direct", script.format(case=direct)), 0, self.output)
        printed = place(self.output, direct)
        for way in ways:
            with self.subTest(way):
                case = self.with_programs(way)
                fill(case)
                self.assertEqual(self.run_in(case, way, script.format(case=case)), 0, self.output)
                found = place(self.output, case)
                self.assertTrue(found.endswith(printed), f"{found}\nand directly\n{printed}")
                self.assertEqual({path for path in files(case)}, {path for path in files(direct)})
                self.assert_pool_is_empty()
        return printed

    def test_a_program_finds_what_the_run_rebuilt_beside_it(self):
        relative = REBUILD + "bin/program; ln -s bin here; here/program"
        printed = self.compare(relative, lambda case: None)
        self.assertEqual((printed.count("new"), printed.count("old")), (2 * 7, 0), printed)
        for name in ("direct", *WAYS):
            shutil.rmtree(os.path.join(self.directory, name))
        # By `path` these are the case's own. By PATH argv[0] tells no place.
        absolute = REBUILD + "{case}/bin/program; PATH={case}/bin:$PATH; program"
        printed = self.compare(absolute, lambda case: None, ("namespace", "redirect"))
        self.assertEqual((printed.count("new"), printed.count("old")), (2 * 7 - 1, 0), printed)

    def test_scripts_and_environments_of_the_case_find_their_own_place(self):
        """By `path` the place is the tree's."""

        def fill(case):
            with open(f"{case}/bin/where", "w") as file:
                file.write(
                    '#!/bin/sh\nself=$(readlink -f "$0"); echo "$self"; cat "$(dirname "$self")/../share/data"\n'
                )
            os.chmod(f"{case}/bin/where", 0o755)
            for kind in ("--copies", "--symlinks"):
                command = [os.path.realpath(sys.executable), "-m", "venv", kind, "--without-pip", f"{case}/{kind[2:]}"]
                subprocess.run(command, check=True)

        # As Python finds itself, and as the kernel tells.
        ask = "import os, sys; own = sys.executable; print(sys.prefix, own, os.path.realpath(own), os.readlink(sys.argv[1]))"
        python = f'for kind in copies symlinks; do $kind/bin/python -c "{ask}" /proc/self/exe; done'
        script = f"{REBUILD} bin/where; {{case}}/bin/where; {python}"
        printed = self.compare(script, fill, ("namespace", "redirect"), lambda text, case: text.replace(case, "CASE"))
        self.assertIn("CASE/copies CASE/copies/bin/python CASE/copies/bin/python", printed)
        self.assertEqual(printed.count("new\n"), 2, printed)

    def test_the_run_itself_is_a_program_of_the_case(self):
        """It is started by its absolute path, and by PATH, and its library changes while it works."""
        for way in WAYS:
            case = self.with_programs(way)
            with open(f"{case}/bin/driver.c", "w") as file:
                file.write(f'#include <stdlib.h>\nint main(void) {{ return system("{REBUILD} bin/program"); }}\n')
            subprocess.run(["cc", f"{case}/bin/driver.c", "-o", f"{case}/bin/driver"], check=True)
            for how in (f"{case}/bin/driver", "bin/driver", "driver"):
                with self.subTest(way=way, how=how):
                    command = [outputcase.FOREBAY, "run", "-q", "--pool", self.pool, "--via", way, "--", how]
                    environment = {**self.environment(), "PATH": f"{case}/bin:{os.environ['PATH']}"}
                    done = subprocess.run(
                        command, cwd=case, env=environment, capture_output=True, text=True, timeout=60, check=False
                    )
                    words = (done.returncode, done.stdout.count("new"), done.stdout.count("old"))
                    self.assertEqual(words, (0, 7, 0), done)


if __name__ == "__main__":
    outputcase.main()
