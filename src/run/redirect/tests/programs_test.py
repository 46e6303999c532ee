"""Ordinary programs leave the same case behind, and print the same, as in a plain directory."""

import os
import shutil
import sys

from harness import Pair, PlacedPair, finish, report, skip, write

SHELL = r"""
set -eu
cd "$1"
pwd; /bin/pwd
cat input.txt | tr a-z A-Z > upper.txt
cat <<HERE >> input.txt
appended $(wc -l < input.txt)
HERE
exec 5<> rw.txt; read -r line <&5; echo "read $line"; echo more >&5; exec 5>&-
for name in one two three; do echo "$name" > "made-$name"; done
names=$(ls | sort); echo "$names" > listing.txt
mkdir -p deep/er/est && cd deep/er && echo here > est/file && cd .. && echo "$PWD" && cat er/est/file
cd "$1/processor0" && echo rank >> 0/U && cat ../input.txt > copy.txt && cd ..
mv made-one renamed; rm made-two; cp input.txt copied; ln copied hard; ln -s input.txt soft; chmod 600 two.txt
sed -i s/sed/SED/ sed.txt
sort -o sort.txt sort.txt
[ -f input.txt ] && [ ! -L input.txt ] && [ -d processor0 ] && [ ! -L processor0 ] && echo types
if (set -C; echo no > two.txt) 2>/dev/null; then echo clobbered; else echo kept; fi
./script.sh arg; sh script.sh; "$1/script.sh" absolute; bash -c '. ./script.sh sourced'
touch -d 2001-01-01 touched.txt; stat -c '%n %Y' touched.txt; stat -c '%n %s %F' touched.txt input.txt
wc -c < big.bin; tee copy-of-big.bin < big.bin | cksum; truncate -s 1000 big.bin
test -e ../outside.txt; cat ../outside.txt; echo changed > ../outside.txt
echo *.txt; echo processor*/0/U
find . -name '*.txt' -type f | sort; find . -type l | sort; du -a --apparent-size deep | cut -f2 | sort
rm -r removed; rmdir processor9; rm -rf processor1
cd "$1" && (cd /; cat "$1/input.txt"; ls "$1/processor0")
name=$(mktemp -p "$1" XXXXXX); echo "${#name}"; rm "$name"; install -m 750 script.sh installed.sh
"""

PYTHON = r"""
import glob, os, pathlib, shutil, sqlite3, subprocess, sys, tempfile
case = sys.argv[1]
os.chdir(case)
print(os.getcwd(), pathlib.Path.cwd(), os.path.realpath("processor0/.."), os.path.realpath("soft-to-come"))
print(sorted((e.name, e.is_symlink(), e.is_dir(follow_symlinks=False), e.stat().st_size if e.is_file() else 0) for e in os.scandir(".")))
print(sorted(glob.glob("**/*.txt", recursive=True)), sorted(str(p) for p in pathlib.Path(case).rglob("U")))
with open("input.txt", "r+") as file:
    file.seek(3); file.write("PY")
pathlib.Path("two.txt").write_text("rewritten")
pathlib.Path("sub/new").parent.mkdir(exist_ok=True); pathlib.Path("sub/new").touch()
os.replace("sed.txt", "sub/sed.txt")
shutil.copytree("processor0", "copied", symlinks=True); shutil.copy2("big.bin", "sub"); shutil.move("touched.txt", "moved.txt")
shutil.move("processor0/0/U", "sub/U"); shutil.move("sub/U", "processor1/0/U0"); shutil.rmtree("processor1/constant")
shutil.rmtree("removed"); os.chmod("sort.txt", 0o604); os.utime("rw.txt", ns=(1, 2)); os.truncate("big.bin", 77)
os.symlink(os.path.join(case, "input.txt"), "absolute"); print(open("absolute").read(), os.readlink("absolute"), os.path.islink("input.txt"))
with open("absolute", "a") as file: file.write("through the link")
os.link("input.txt", "hard"); print(os.stat("hard").st_nlink)
print(subprocess.run(["cat", "input.txt"], cwd=case, capture_output=True).stdout)
print(subprocess.check_output([case + "/script.sh", "x"], cwd="/"), subprocess.check_output("pwd; cat two.txt", shell=True))
print(os.popen("ls -1 sub").read(), os.system("echo system > sub/system"))
db = sqlite3.connect("data.db"); db.execute("insert into t values (3)"); db.commit(); print(db.execute("select count(*) from t").fetchall()); db.close()
db = sqlite3.connect(case + "/new.db"); db.execute("pragma journal_mode=wal"); db.execute("create table t(a)"); db.execute("insert into t values(1)"); db.commit(); db.close(); os.unlink("new.db")
with tempfile.NamedTemporaryFile(dir=case, suffix=".t") as file: print(file.name.startswith(case), os.path.exists(file.name))
with tempfile.TemporaryDirectory(dir=".") as name: pathlib.Path(name, "x").touch()
fd = os.open(".", os.O_RDONLY); print(os.stat("input.txt", dir_fd=fd).st_size, os.open("by_fd", os.O_CREAT | os.O_WRONLY, dir_fd=fd) > 0, sorted(os.listdir(fd)))
for root, directories, files in os.fwalk("."):
    pass
with os.popen("readlink /proc/self/cwd") as pipe: print(pipe.read())
pid = os.fork()
if pid == 0:
    open("child", "w").write("forked"); os._exit(0)
os.waitpid(pid, 0)
print(os.posix_spawn("/bin/cat", ["cat"], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 0, case + "/child", os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, case + "/spawned", os.O_WRONLY | os.O_CREAT, 0o600)]) > 0, os.wait()[1])
"""

GIT = r"""
set -e
export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1
cd "$1"
git init -q -b main . ; git config user.name n; git config user.email e; git config core.fsync none
git add -A; git commit -q -m first; git status --porcelain
echo change >> input.txt; git status --porcelain; git diff | cat; git commit -qam second
git checkout -q -b side HEAD~; cat input.txt; echo other > sed.txt; git commit -qam third
git checkout -q main; git merge -q -m merged side; git log --oneline --graph | cat
git rm -q two.txt; git mv sort.txt sorted.txt; git commit -qm fourth; git stash list
git gc -q; git fsck 2>&1; git status; git ls-files -s; git clone -q . clone; diff -r --exclude=.git . clone --exclude=clone
git checkout -q HEAD~3 -- input.txt; cat input.txt; git reset -q --hard; git clean -fdq
"""

MAKE = r"""
set -e
cd "$1"/project
make -s 2>&1; ./program; make -s 2>&1; touch -d '+5 seconds' answer.h; make -s; ./program; "$1"/project/program
cd "$1"; gcc -Iproject -o direct "$1/project/main.c" project/answer.c; ./direct; gcc -M -Iproject project/main.c | head -3
cd project/nested; gcc -I.. -o here ../main.c ../answer.c && ./here; cd ..; make -s clean; ls
"""

PERL = r"""
use strict; use Cwd; use File::Find; use File::Copy; use File::Path;
chdir $ARGV[0]; print getcwd(), "\n"; print join(",", sort glob("*.txt")), "\n";
my @found; find(sub { push @found, $File::Find::name if -f $_ && !-l $_ }, "."); print join("\n", sort @found), "\n";
open(my $file, "+<", "input.txt"); print scalar <$file>; print $file "perl\n"; close $file;
copy("two.txt", "perl.txt"); move("sed.txt", "perl-sed.txt"); mkpath("p/q/r"); rmtree("removed"); unlink "sort.txt"; print -s "big.bin", "\n"; rename "rw.txt", "processor0/rw.txt" or print "no: $!\n";
print `cat perl.txt`; system("echo x > p/q/x"); utime 5, 6, "touched.txt"; truncate "big.bin", 5; print((stat "touched.txt")[9], "\n");
"""

SQLITE = r"""
cd "$1"
sqlite3 data.db "begin; insert into t values (10), (11); update t set a = a + 1; commit; select sum(a) from t; pragma integrity_check; vacuum;"
sqlite3 "$1/other.db" "create table u(b); insert into u select a from (select 1 as a union select 2); attach 'data.db' as d; select count(*) from d.t;"
sqlite3 data.db ".backup backup.db"; sqlite3 backup.db "select * from t"
"""

SCENARIOS = {
    "a shell script": ["bash", "-c", SHELL, "shell"],
    "dash": ["dash", "-c", SHELL, "shell"],
    "Python": ["/usr/bin/python3", "-c", PYTHON],
    "tar": [
        "bash",
        "-c",
        r"""cd "$1"; tar cf - --sort=name . | tar tvf - | tr -s ' ' | cut -d' ' -f1,2,6-; tar cf all.tar *.txt processor0 -C "$1/sub" .; mkdir un && cd un && tar xf ../all.tar && find . | sort; cd ..; tar rf all.tar big.bin; tar xf all.tar two.txt; rm all.tar""",
        "tar",
    ],
    "tar of the whole case": [
        "bash",
        "-c",
        r"""cd "$1/.."; tar cf all.tar --sort=name case; tar tvf all.tar | tr -s ' ' | cut -d' ' -f1,2,6-; tar df all.tar; rm all.tar; rm -r case/processor0; ls -R case""",
        "tar",
    ],
    "cp -a": [
        "bash",
        "-c",
        r"""cd "$1"; cp -a processor0 sub copy-to; mkdir -p c; cp -a *.txt c; cp -a "$1"/. ../other/whole; cp -al sub linked; cp -rL sub followed; cp --preserve=all script.sh s2; cp -f input.txt two.txt; ls -lR c ../other | tr -s ' ' | cut -d' ' -f1,5,9-; diff -r . ../other/whole""",
        "cp",
    ],
    "git": ["bash", "-c", GIT, "git"],
    "gcc and make": ["bash", "-c", MAKE, "make"],
    "sqlite3": ["bash", "-c", SQLITE, "sqlite"],
    "dd": [
        "bash",
        "-c",
        r"""cd "$1"; dd if=big.bin of=out.bin bs=4k count=3 status=none; dd if=/dev/zero of=big.bin bs=1k seek=1 count=1 conv=notrunc status=none; dd if="$1/two.txt" of="$1/rw.txt" status=none conv=fsync; dd of=input.txt oflag=append conv=notrunc status=none < two.txt; dd if=big.bin of=direct bs=512 skip=3 count=7 iflag=fullblock status=none""",
        "dd",
    ],
    "fio": [
        "fio",
        "--name=v",
        "--size=1m",
        "--rw=randwrite",
        "--bs=4k",
        "--verify=crc32c",
        "--do_verify=1",
        "--nrfiles=3",
        "--numjobs=2",
        "--randseed=1",
        "--fallocate=none",
        "--output=/dev/null",
        "--directory=",
    ],
    "find": [
        "bash",
        "-c",
        r"""cd "$1"; find . -printf '%y %m %p %l\n' | sort; find "$1" -type l | sort; find . -xdev -newer two.txt | sort; find .. -path '*case*' -name 'p*' | sort; find . -name '*.txt' -exec grep -l e {} + | sort; find processor0 processor1 -depth | sort; find . -maxdepth 2 -name 'U*' -delete; find removed -delete; find . -type f -size -2 -execdir pwd \; | sort -u""",
        "find",
    ],
    "rsync": [
        "bash",
        "-c",
        r"""cd "$1"; rsync -a processor0 sub/ mirror/; rsync -a --delete "$1"/ ../other/whole/; rsync -ai ../other/whole/ "$1"/ | sort""",
        "rsync",
    ],
    "perl": ["perl", "-e", PERL],
    # Copies and removes directories by libc's fts.
    "tclsh": [
        "bash",
        "-c",
        r"""cd "$1"; printf '%s\n' 'file copy sub copied' "file copy $1/processor0 copied-rank" 'file mkdir made/below' 'close [open made/x w]' "close [open $1/made/below/y w]" 'puts [file type copied/inner.txt]' "file delete -force $1/made" 'file delete -force removed processor1' 'file rename sub made' 'puts [lsort [glob *]]' | tclsh""",
        "tcl",
    ],
    "coreutils": [
        "bash",
        "-c",
        r"""cd "$1"; ls -la --time-style=+ | tr -s ' ' | cut -d' ' -f1,6-; ls -l "$1"/processor0/0; realpath input.txt processor0 ../case/sub/.. absolute-nothing; readlink -f processor1/0/U; readlink input.txt processor0; stat -c '%F %a %n' * | sort; stat -c '%s %n' *.txt; chmod -R g+w sub processor0; chown -R $(id -u) sub; md5sum *.txt | sort; split -n 4 big.bin part.; csplit -s input.txt 1; shred -n1 -u two.txt; ln -sf sed.txt input.txt; mv -T sub sub2; mv processor0 processor7; ls processor7; cd processor7; pwd; ls ..; cd ..; mkdir processor0; echo x > processor0/x; unlink sort.txt; touch -r rw.txt touched.txt; tac rw.txt; paste -s script.sh; comm rw.txt rw.txt; df . > /dev/null; du -s removed > /dev/null; mkfifo f; (echo fifo > f &) ; cat f; cat < "$1"/rw.txt""",
        "core",
    ],
}


def build(case, shared):
    for name, text in (
        ("input", "input one\ninput two\n"),
        ("two", "two\n"),
        ("rw", "line\n"),
        ("sed", "a sed b\n"),
        ("sort", "c\nb\na\n"),
        ("touched", "t\n"),
    ):
        write(f"{case}/{name}.txt", text)
    write(f"{case}/script.sh", '#!/bin/bash -e\necho "$0 $* $(pwd)"\n', 0o755)
    write(f"{case}/big.bin", bytes(range(256)) * 4096)
    write(f"{case}/sub/inner.txt", "inner\n", 0o640)
    write(f"{case}/removed/a/b.txt", "b\n")
    for rank in range(2):
        write(f"{case}/processor{rank}/0/U", f"U{rank}\n")
        write(f"{case}/processor{rank}/constant/polyMesh/points", "()\n")
    os.mkdir(f"{case}/processor9")
    os.chmod(f"{case}/sub", 0o750)
    write(f"{shared}/outside.txt", "outside\n")
    os.mkdir(f"{shared}/other")
    write(f"{case}/project/answer.h", "int answer(void);\n")
    write(f"{case}/project/answer.c", '#include "answer.h"\nint answer(void) { return 42; }\n')
    write(
        f"{case}/project/main.c",
        '#include <stdio.h>\n#include "answer.h"\nint main(void) { printf("%d\\n", answer()); return 0; }\n',
    )
    write(
        f"{case}/project/Makefile",
        "program: main.o answer.o\n\t$(CC) -o $@ $^\n%.o: %.c answer.h\n\t$(CC) -c -o $@ $<\nclean:\n\trm -f *.o program\n",
    )
    os.mkdir(f"{case}/project/nested")
    os.system(f"sqlite3 {case}/data.db 'create table t(a); insert into t values (1), (2);'")
    for directory, directories, files in os.walk(shared):
        for name in directories + files:
            os.utime(os.path.join(directory, name), ns=(1577836800 * 10**9, 1577836800 * 10**9))


# Files that change from run to run by themselves: git's index holds inode numbers and times, and fio writes the time of
# day.
IGNORED = {
    "git": (".git/index", "clone/.git"),
    "fio": tuple(f"v.{job}.{file}" for job in range(2) for file in range(3)),
}

library = os.path.abspath(sys.argv[1])
wanted = sys.argv[2:]
outcomes = []


def run_all(pair, suffix=""):
    for name, command in SCENARIOS.items():
        if wanted and name not in wanted:
            continue
        if shutil.which(command[0]) is None or (
            name in ("rsync", "git", "sqlite3", "tclsh") and shutil.which(name) is None
        ):
            outcomes.append(skip(name, "not installed"))
            continue
        command = [*command[:-1], command[-1] + pair.case] if name == "fio" else [*command, pair.case]
        outcomes.append(report(name + suffix, pair.compare(command, ignore=IGNORED.get(name, ()))))


with Pair(library, build, copied=["rw.txt"]) as pair:
    run_all(pair)
with PlacedPair(library, build, copied=["rw.txt"]) as pair:
    run_all(pair, ", with files in another pool")
    outcomes.append(report("files in another pool", [] if pair.count else ["there are none"]))
finish(outcomes)
