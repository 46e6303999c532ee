"""Every call that redirect stands in front of has the same observable result as in a plain directory."""

import os
import sys

from harness import AliasPair, NamespacePair, Pair, PlacedPair, RankPair, can_bind, finish, report, skip, write


def build(case, shared):
    write(f"{case}/a.txt", "alpha\n")
    write(f"{case}/b.txt", "beta\n", 0o600)
    write(f"{case}/ro.txt", "read only\n", 0o444)
    write(f"{case}/big.bin", bytes(range(256)) * 12000)
    write(f"{case}/doomed1", "gone\n")
    write(f"{case}/name with space", "spaced\n")
    write(f"{case}/new\nline", "newline\n")
    write(f"{case}/{'i' * 255}", "longest\n")
    write(f"{case}/dir/x.txt", "x\n")
    write(f"{case}/dir/y.txt", "y\n")
    write(f"{case}/dir/sub/z.txt", "z\n")
    os.mkdir(f"{case}/empty")
    for rank in range(2):
        write(f"{case}/processor{rank}/0/U", f"U {rank}\n")
        write(f"{case}/processor{rank}/constant/p", f"p {rank}\n")
    os.mkdir(f"{case}/processor9")
    for number in range(80):
        write(f"{case}/changes/c{number}", f"content {number}\n", 0o640)
    write(f"{case}/changes/target", "target\n")
    write(f"{case}/changes/abstarget", "abstarget\n")
    for text, name in (
        ("a.txt", "link_rel"),
        (f"{case}/dir/x.txt", "link_abs"),
        ("dir", "link_dir"),
        (f"{case}/dir", "link_absdir"),
        ("../outside.txt", "link_out"),
        ("nowhere", "dangling"),
        ("loop", "loop"),
        (f"{case}/new_by_link", "link_absdangling"),
        ("target", "changes/link"),
        (f"{case}/changes/abstarget", "changes/abslink"),
    ):
        os.symlink(text, f"{case}/{name}")
    write(f"{shared}/outside.txt", "outside\n")
    write(f"{shared}/other/o.txt", "other\n")
    for directory, directories, files in os.walk(shared):
        for name in directories + files:
            os.utime(os.path.join(directory, name), ns=(10**18, 10**18), follow_symlinks=False)


# The shared file system is hidden behind an empty directory, so that no path of the case can be followed.
OF_A_RANK = """
import os, shutil, subprocess
case = os.environ["FOREBAY_CASE"]
own, other = case + "/processor0", case + "/processor1"
empty = os.environ["HOME"] + "/empty"
os.mkdir(empty)
subprocess.run(["mount", "--bind", empty, os.path.dirname(case)], check=True)
assert not os.path.exists(own) and not os.path.exists(own + "/") and not os.path.exists(other + "/0/U")
assert not os.path.exists(case + "//processor0/0/U") and not os.path.exists(own + "0/0/U")
assert open(own + "/0/U").read() == "U 0\\n" and os.listdir(own + "/0") == ["U"]
os.makedirs(own + "/1/uniform")
with open(own + "/1/uniform/time", "w") as file: file.write("1")
os.rename(own + "/1/uniform/time", own + "/1/time")
assert os.lstat(own + "/1/time").st_size == 1 and os.access(own + "/1/time", os.W_OK)
shutil.rmtree(own + "/1")
assert sorted(os.listdir("processor0")) == ["0", "constant"]
os.rename(own + "/0/U", own + "/0/processorID")
assert os.path.exists(own + "/0/processorID")
subprocess.run(["mv", "processor0", "moved"], check=True)  # by a child, and by way of the working directory
assert not os.path.exists(own + "/0/processorID") and os.path.exists("moved/0/processorID")
print("reached")
"""

# A directory that was moved away is not written to, whoever moved it; the directory that takes its place is.
RENAMED = """
cd "$1" && own=$PWD/processor0
mv processor0 backup && mkdir -p processor0/0 && echo new > $own/0/U && cat backup/0/U processor0/0/U
mv processor9 processor1/sub && [ -d processor1/sub ] && [ ! -L processor1/sub ] && rmdir processor1/sub && ls
"""

REMOVED = """
cd "$1" && own=$PWD/processor0 && cat $own/0/U
rm -r processor0 && mkdir $own && echo new > $own/x && cat processor0/x && ls
"""

# In one process: a directory that it has looked into is a link now, and its names climb.
REPLACED = """
import os, socket, subprocess, sys
case = sys.argv[1]
print(os.path.exists(case + "/processor9/x"))
os.rmdir(case + "/processor9")
subprocess.run(["ln", "-s", case + "/dir", "processor9"], check=True)
with open(case + "/processor9/y", "w") as file: file.write("y")
print(sorted(os.listdir("dir")))
os.chdir(case + "/processor0")
for name in "../s", case + "/processor0/../t", case + "/processor0/u":
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(name)
        print(os.path.exists(name), ".." in name or one.getsockname() == name)
print(sorted(os.listdir(case)), sorted(os.listdir()))
for name in "../s", "../t", "u": os.unlink(name)
"""


def build_in_a_rank(case, shared):
    write(f"{case}/readme", "")
    build(f"{case}/processor0", case)


def reached_without_the_shared_directory(pair):
    pair.renew()
    pair.stage()
    done = pair.run_redirected(["env", f"HOME={pair.base}", "/usr/bin/python3", "-c", OF_A_RANK])
    return [] if done.stdout == b"reached\n" else [done.stderr.decode()[-1500:]]


library, calls = map(os.path.abspath, sys.argv[1:3])
outcomes = []
copied = ["b.txt", "dir/y.txt"]
with Pair(library, build, copied) as pair:
    outcomes.append(report("every call", pair.compare([calls, pair.case])))
    problems = pair.compare(["/usr/bin/python3", "-c", REPLACED, pair.case])
    outcomes.append(report("a rank's directory is replaced", problems))
with AliasPair(library, build, copied) as pair:
    outcomes.append(report("every call by another name", pair.compare([calls, pair.base + "/al:ias%/case"])))
with PlacedPair(library, build, copied) as pair:
    outcomes.append(report("every call with files in another pool", pair.compare([calls, pair.case])))
    outcomes.append(report("files in another pool", [] if pair.count else ["there are none"]))
if can_bind():
    with NamespacePair(library, build, copied) as pair:
        outcomes.append(report("every call beside a namespace", pair.compare([calls, pair.case])))
    with RankPair(library, build, copied) as pair:
        outcomes.append(report("every call beside a namespace, of a rank", pair.compare([calls, pair.case])))
        for name, script in (("renamed", RENAMED), ("removed", REMOVED)):
            problems = pair.compare(["/bin/sh", "-c", script, "sh", pair.case])
            outcomes.append(report(f"a rank's directory is {name}", problems))
        problems = pair.compare(["/usr/bin/python3", "-c", REPLACED, pair.case])
        outcomes.append(report("a rank's directory is replaced, beside a namespace", problems))
        name = "a rank's own directory is reached without the shared one"
        outcomes.append(report(name, reached_without_the_shared_directory(pair)))
    with RankPair(library, build_in_a_rank, [f"processor0/{each}" for each in copied]) as pair:
        name = "every call in a rank's own directory"
        outcomes.append(report(name, pair.compare([calls, pair.case + "/processor0"])))
else:
    outcomes.append(skip("every call beside a namespace", "mounting needs a privilege that is missing"))
finish(outcomes)
