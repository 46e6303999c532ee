"""Proves: "Other programs through redirect and namespace: a shell script with pipes and redirections, Python, tar, git
init/add/commit, gcc building a small project, sqlite3, fio with verify, and dd: same result as without."

Each program runs on copies of one case: directly, and under `forebay run` by each way in (by path, too, where the
program does not name its own directory). What it leaves must be equal (../parity): in the local tree and on the case, but for
what docs/run/limits.md allows, and what two direct runs do not do alike (git writes the inode of each file into .git/index). These
programs are not known to tolerate links, so by namespace the redirection library is loaded beside, and by path the inputs
are copied.
"""

import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "parity"))
import oracle  # noqa: E402
from oracle import casetools  # noqa: E402

FOREBAY = ""
LONG_AGO = 1700000000

SHELL = r"""
set -e
sort data/words | uniq -c | sort -rn > counts
cat data/words data/numbers | tee both | wc -c > size
exec 3> by-descriptor; echo one >&3; echo two >&3; exec 3>&-
{ echo head; cat counts; } >> data/words
(cd data && pwd | sed 's,.*/,,' > ../where && echo up > ../data/../dots)
while read -r line; do echo "<$line>"; done < data/numbers > quoted
cat > here <<END
$(head -n 2 data/words)
END
mkdir -p new/deep && cp -p data/numbers new/deep/copy && mv counts new/counted
for i in 1 2 3 4 5; do echo $i > new/n$i; done; rm new/n[24]
find . -type f -size -100k -printf '%m %s %p\n' | sort > /tmp/list.$$; cat /tmp/list.$$; rm /tmp/list.$$
find . -type l -printf '%l %p\n' | sort
test ! -L data/words; test -f data/numbers; grep -r seven . | sort
./script.sh | tr a-z A-Z > from-script
diff data/numbers new/deep/copy && cmp both both
stat -c '%F %a %s %h %Y' data/numbers data/words.bak script.sh
"""

# What programs do to inputs that lie on the case.
CHANGES = {
    "remove_a_file": "rm data/words",
    "remove_all_below": "rm -r data",
    "remove_and_make_again": "rm data/words && echo new > data/words",
    "rename_a_file": "mv data/words data/renamed",
    "rename_into_another_directory": "mkdir made && mv data/words made/w && mv data/numbers .",
    "rename_over_another": "mv data/words data/numbers",
    "rename_a_directory": "mv data moved",
    "rename_a_directory_and_write_in_it": "mv data moved && echo more >> moved/words && echo new > moved/new",
    "rename_there_and_back": "mv data x && mv x data && mv data/words data/y && mv data/y data/words",
    "exchange_by_renames": "mv data/words t && mv data/numbers data/words && mv t data/numbers",
    "replace_a_directory_by_a_file": "rm -r data && echo file > data",
    "replace_a_file_by_a_directory": "rm data/words && mkdir data/words && echo in > data/words/in",
    "empty_directories": "mkdir -p e/f/g h && chmod 750 e/f && chmod 700 h",
    "remove_an_empty_directory": "rmdir empty",
    "remove_and_make_a_directory_again": "rm -r data && mkdir -m 711 data && echo a > data/a",
    "symbolic_links": "ln -s data/words to-words && ln -s nowhere dangling && ln -s . data/here && ln -s /etc/hosts abs",
    "retarget_a_link": "ln -sfn data/numbers link && rm broken",
    "replace_a_link_by_a_file": "rm link && echo plain > link",
    "write_through_a_link": "echo more >> link",
    "hard_links_between_outputs": "echo x > a && ln a b && mkdir d && ln b d/c && echo y >> a && echo z > alone",
    "hard_link_of_an_input": "ln data/numbers linked-input",
    "hard_link_then_remove": "echo x > a && ln a b && rm a",
    "modes_of_files": "chmod 600 data/words && chmod 755 data/numbers && echo x > private && chmod 400 private",
    "modes_of_directories": "chmod 700 data && mkdir -m 1777 t && mkdir -m 2755 g",
    "mode_of_the_case": "chmod 700 .",
    "set_id_bits": "cp /bin/true t && chmod 4755 t && chmod 2750 script.sh",
    "append": "echo more >> data/words && printf %s no-newline >> data/numbers",
    "truncate": ": > data/words && truncate -s 3 data/numbers && truncate -s 1M sparse",
    "edit_in_place": "sed -i s/one/ONE/ data/words data/numbers",
    "touch": "touch -d @1600000000 data/words && touch -d @1500000000 made && touch -h -d @1400000000 link",
    "read_only_input_replaced": "chmod 600 read-only && echo more >> read-only",
    "umask": "umask 077 && echo x > private && mkdir -p p/q && echo y > p/q/r && umask 0 && echo z > open && mkdir o",
    "write_then_remove": "for i in 1 2 3; do echo $i > t$i; sleep 0.05; done; rm t1 t3",
    "rewrite_many_times": "for i in $(seq 200); do echo $i > counter; done",
    "large_file": "seq 1 300000 > large && head -c 1000000 large >> large2",
    "long_and_odd_names": r"""
n=$(printf 'n%.0s' $(seq 255)); echo x > "$n"; mkdir "d$(printf '\n')e"; echo y > 'new
line'; echo z > "$(printf 'latin\351')"; echo w > ' -leading'; mkdir 'a b' && echo q > 'a b/"$(touch pwned)`x`'
mv 'odd
name' "$(printf 'was\377odd')"; rm "$(printf 'in\377put')"; echo more >> "$(printf 'o%.0s' $(seq 255))" """,
}

PYTHON = r"""
import glob, json, mmap, multiprocessing, os, pathlib, shutil, sqlite3, subprocess, tempfile
def square(i):
    pathlib.Path(f"squares/{i}").write_text(str(i * i))
    return i * i
if __name__ == "__main__":
    os.mkdir("squares")
    with multiprocessing.Pool(3) as pool:
        print(sum(pool.map(square, range(20))))
    with open("data/words", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0:3] = b"MMM"
    with tempfile.NamedTemporaryFile("w", dir="data", delete=False) as file:
        file.write("replaced")
    os.chmod(file.name, 0o640)
    os.replace(file.name, "data/numbers")
    shutil.copytree("data", "copied", symlinks=True)
    shutil.move("script.sh", "copied/script")
    with os.scandir(".") as entries:
        print(sorted((each.name, each.is_symlink(), each.is_file()) for each in entries))
    directory = os.open("data", os.O_RDONLY)
    with os.fdopen(os.open("by-descriptor", os.O_CREAT | os.O_WRONLY, 0o604, dir_fd=directory), "w") as file:
        file.write("at")
    os.rename("by-descriptor", "renamed", src_dir_fd=directory, dst_dir_fd=directory)
    os.symlink("renamed", "data/link")
    print(os.readlink("data/link"), os.path.realpath("data/link") == os.path.join(os.getcwd(), "data/renamed"))
    database = sqlite3.connect("some.db")
    database.execute("create table t (a, b)")
    database.executemany("insert into t values (?, ?)", [(i, str(i)) for i in range(1000)])
    database.commit()
    database.close()
    print(sorted(glob.glob("**/*", recursive=True)))
    json.dump({"a": 1}, open("some.json", "w"))
    os.truncate("data/words", 10)
    with open("sparse", "wb") as file:
        file.seek(100000)
        file.write(b"end")
    print(subprocess.run(["cat", "data/words"], capture_output=True).stdout)
    shutil.rmtree("empty")
"""

GIT = r"""
set -e
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000' HOME=/nonexistent
export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e GIT_CONFIG_NOSYSTEM=1
git init -q -b main . && git add data link script.sh && git commit -q -m first && git ls-files -s
echo more >> data/words && git status --short && git commit -q -a -m second && git log --format=%H
git mv data/numbers data/n && git rm -q data/words.bak && git commit -q -m third
git checkout -q -b other HEAD~1 && echo b > data/b && git add data/b && git commit -q -m fourth
git merge -q -m merged main && git -c gc.pruneExpire=now gc -q && git fsck && git log --format=%H
git status --short
"""

GCC = r"""
set -e
mkdir -p build && gcc -g0 -O1 -c source/a.c -o build/a.o && gcc -g0 -O1 -c source/main.c -o build/main.o
ar rcD build/liba.a build/a.o && gcc -g0 build/main.o -Lbuild -la -o build/program
gcc -g0 -shared -fPIC source/a.c -o build/liba.so
./build/program > printed && build/program | tee -a printed
LD_LIBRARY_PATH=$PWD/build ldd build/program > /dev/null
strip -D build/program -o build/stripped
"""

SQLITE = r"""
set -e
sqlite3 a.db 'create table t(a integer primary key, b); insert into t values(1, 2), (3, 4);'
sqlite3 a.db 'pragma journal_mode=wal; insert into t select a + 10, b from t; select count(*) from t;'
sqlite3 a.db 'begin; delete from t; rollback; update t set b = b * 2; vacuum; select * from t;'
sqlite3 a.db '.backup b.db' && sqlite3 b.db 'pragma integrity_check' && sqlite3 a.db .dump > dump.sql
"""

FIO = "fio --name=v --filename=fio.dat --rw=randwrite --bs=4k --size=2M --verify=crc32c --minimal > /dev/null"

DD = r"""
set -e
dd if=data/words of=copy bs=7 2> /dev/null
dd if=data/numbers of=data/words bs=1 seek=5 conv=notrunc 2> /dev/null
dd if=/dev/zero of=holes bs=4096 seek=100 count=1 conv=sparse 2> /dev/null
dd if=copy of=data/numbers bs=64 oflag=append conv=notrunc 2> /dev/null
dd if=holes of=direct bs=4096 conv=fsync 2> /dev/null
"""

# Knows nothing of a preloaded library.
STATIC = r"""
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  char text[64];
  FILE *in = fopen("data/numbers", "r"), *out = fopen("made", "w");
  while (in && out && fgets(text, sizeof text, in)) fputs(text, out);
  fclose(in), fclose(out);
  int file = open("data/words", O_WRONLY | O_APPEND);
  if (write(file, "appended\n", 9) != 9) return 1;
  close(file);
  mkdir("directory", 0750), rename("made", "directory/made"), symlink("directory", "way"), unlink("hard1");
  rename("data/words.bak", "directory/moved"), chmod("directory/made", 0604), rmdir("empty");
  return 0;
}
"""

TAR = r"""
set -e
tar --sort=name -cf all.tar data link script.sh empty hard1 hard2 && tar -tvf all.tar
mkdir out && tar -C out -xpf all.tar && tar -df all.tar
tar -czf - data | tar -xzf - -C out --strip-components=1
rm -r data && tar -xpf all.tar data
"""


class ProgramsTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = casetools.Workplace("programs")
        self.addCleanup(self.place.remove)
        self.number = 0

    def make_input(self):
        """A case with what programs meet: words, links, hard links, modes, an empty directory, odd names."""
        case = os.path.join(self.place.directory, "made", "case")
        shutil.rmtree(os.path.dirname(case), ignore_errors=True)
        for name in ("data", "empty", "source"):
            os.makedirs(os.path.join(case, name))
        files = {
            "data/words": "one two three\n" * 50,
            "data/numbers": "".join(f"{i}\n" for i in range(100)) + "seven\none\n",
            "data/words.bak": "old\n",
            "script.sh": "#!/bin/sh\necho called ${0##*/} $(cat data/words.bak)\n",
            "hard1": "one file\n",
            "read-only": "read only\n",
            "odd\nname": "odd\n",
            "o" * 255: "long\n",
            "source/a.h": "int a(int);\n",
            "source/a.c": '#include "a.h"\nint a(int i) { return i * 2; }\n',
            "source/main.c": '#include <stdio.h>\n#include "a.h"\nint main(void) { printf("%d\\n", a(21)); return 0; }\n',
        }
        for name, text in files.items():
            with open(os.path.join(case, name), "w") as file:
                file.write(text)
        with open(os.path.join(os.fsencode(case), b"in\xffput"), "w") as file:
            file.write("bytes\n")
        os.link(os.path.join(case, "hard1"), os.path.join(case, "hard2"))
        os.symlink("data/words", os.path.join(case, "link"))
        os.symlink("nowhere", os.path.join(case, "broken"))
        os.chmod(os.path.join(case, "script.sh"), 0o755)
        os.chmod(os.path.join(case, "read-only"), 0o400)
        os.chmod(os.path.join(case, "data/words.bak"), 0o640)
        for directory, directories, names in os.walk(os.fsencode(case), topdown=False):
            for each in directories + names:
                os.utime(os.path.join(directory, each), (LONG_AGO, LONG_AGO), follow_symlinks=False)
        return case

    def oracle(self, forebay=None):
        self.number += 1
        directory = os.path.join(self.place.directory, str(self.number))
        os.mkdir(directory)
        judge = oracle.Oracle(directory, self.place.pool, forebay or FOREBAY)
        judge.start_from(self.make_input())
        return judge

    def check(self, words, ways=("redirect", "namespace", "path"), after=None, flags=(), forebay=None, ordered=True):
        """In one of the ways, which tests/run/stress draws for programs of forty verbs."""
        judge = self.oracle(forebay)
        for run in judge.run_directly(words):
            self.assertEqual(run.status, 0, run.errors)
        possible = [way for way in ways if way != "namespace" or casetools.namespaces_work()]
        for way in casetools.drawn(possible, f"{self.id()} {self.number}"):
            with self.subTest(way=way):
                verdict = judge.run_under_forebay(words, oracle.Settings(way, options=flags, ordered=ordered))
                self.assertEqual(verdict.lines(), [])
                if after:
                    casetools.run(after, cwd=verdict.run.case)

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"no {program}")

    def test_shell_script_with_pipes_and_redirections(self):
        self.check(["sh", "-c", SHELL])

    def test_python(self):
        # Of processes that work at once nobody knows which writes first.
        self.check([sys.executable, "-c", PYTHON], ways=("redirect", "namespace"), ordered=False)

    def test_tar(self):
        self.check(["sh", "-c", TAR], ways=("redirect", "namespace"))

    def test_git(self):
        self.need("git")
        self.check(["sh", "-c", GIT])

    def test_gcc(self):
        self.need("gcc", "ar", "strip")
        self.check(["sh", "-c", GCC])

    def test_sqlite3(self):
        self.need("sqlite3")
        self.check(["sh", "-c", SQLITE])

    def test_fio_with_verify(self):
        """fio writes the time of day into its blocks, so its file is verified by fio itself on the case afterwards."""
        self.need("fio")
        for engine in ("psync", "mmap", "libaio", "io_uring"):
            words = ["sh", "-c", f"{FIO} --do_verify=1 --verify_backlog=64 --ioengine={engine}"]
            probe = subprocess.run(words, cwd=self.place.directory, capture_output=True)
            if probe.returncode != 0:
                continue  # not every machine lets everyone use every engine
            with self.subTest(engine):
                verify = ["sh", "-c", f"{FIO} --verify_only"]
                self.check(words, after=verify)

    def test_dd(self):
        self.check(["sh", "-c", DD])

    def test_static_binary(self):
        """By namespace, where nothing is interposed. What it appends to a linked input goes to the shared file."""
        self.need("gcc")
        if not casetools.namespaces_work():
            self.skipTest("namespaces do not work here")
        program = os.path.join(self.place.directory, "program")
        built = subprocess.run(["gcc", "-static", "-w", "-x", "c", "-o", program, "-"], input=STATIC, text=True,
                               capture_output=True)  # fmt: skip
        if built.returncode != 0:
            self.skipTest("no static C library")
        self.check([program], ways=("namespace", "path"))

    def test_ranks_that_run_one_after_the_other(self):
        """A launcher need not start all ranks before the first has ended."""
        launcher = os.path.join(self.place.directory, "mpiexec")
        with open(launcher, "w") as file:
            file.write('#!/bin/sh\nshift 2\nfor rank in 0 1 2; do PMI_RANK=$rank PMI_SIZE=3 "$@" || exit; done\n')
        os.chmod(launcher, 0o755)
        self.check([launcher, "-n", "3", "sh", "-c", "ls; echo $PMI_RANK > rank$PMI_RANK"])

    def test_an_input_gets_a_second_name_in_a_directory_that_stays_on_the_shared_file_system(self):
        script = """
            ln data/words empty/words && stat -c %h data/words empty/words && cat empty/words
            ln data/numbers empty/numbers && rm data/numbers && ls -R empty data
        """
        self.check(["sh", "-ec", script], ways=("redirect", "namespace"), flags=("--direct", "empty"))

    def test_inputs_are_copied_where_nothing_disguises_links(self):
        """forebay without its library, as it would be where nobody installed that."""
        alone = os.path.join(self.place.directory, "alone", "bin", "forebay")
        os.makedirs(os.path.dirname(alone))
        shutil.copy(FOREBAY, alone)
        self.check(["sh", "-c", SHELL], ways=("path", "namespace"), forebay=alone)
        made = self.make_input()
        words = ["run", "--case", made, "--pool", self.place.pool, "--via", "path", "--", "ls", "-l", "data"]
        done = casetools.run([alone, *words], cwd=made)
        self.assertIn(b"inputs are copied, not linked", done.stderr)


def add_change(name, script):
    setattr(ProgramsTest, "test_change_" + name, lambda self: self.check(["sh", "-ec", script]))


for each, text in CHANGES.items():
    add_change(each, text)

if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
