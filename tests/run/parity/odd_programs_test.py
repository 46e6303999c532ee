"""Proves that programs of kinds that nobody had in mind leave under forebay what they leave directly, by every way in, but
for what docs/run/limits.md allows; and that each row of that table is needed, so that it shrinks with what it tells.

odd_programs_test.py FOREBAY [unittest arguments]
"""

import errno
import os
import shutil
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import limits  # noqa: E402
import oracle  # noqa: E402
from oracle import casetools  # noqa: E402

FOREBAY = ""
ROOT = os.geteuid() == 0

# Inputs of every kind: attributes, access lists, holes, hard links, owners, set-id bits, old times.
SETUP = r"""
mkdir -p data/deep set-group set-group-too listed twins && chmod 2775 set-group set-group-too && echo other > others
seq 1000 > data/numbers && seq 1000 > data/words && echo plain > plain && echo deep > data/deep/file
ln -s data/words link && ln -s /nonexistent/place dangling
truncate -s 1M holes && printf data | dd of=holes bs=1 seek=300000 conv=notrunc 2> /dev/null
echo private > private && chmod 600 private
echo twin > twins/one && ln twins/one twins/other
printf '#!/bin/sh\necho called\n' > script && chmod 755 script
python3 - <<'END'
import errno, os, struct
def entries(*each):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in each)
nobody = 0xFFFFFFFF
def list_in(name, attribute):
    try:
        os.setxattr(name, attribute, acl)
    except OSError as error:  # NFSv4 has lists of its own
        if error.errno != errno.EOPNOTSUPP:
            raise
acl = entries((1, 7, nobody), (2, 7, 12345), (4, 5, nobody), (16, 7, nobody), (32, 5, nobody))
for name in ("listed-file", "listed"):
    if name == "listed-file":
        open(name, "w").write("listed\n")
    else:
        list_in(name, "system.posix_acl_default")
    list_in(name, "system.posix_acl_access")
    os.setxattr(name, "user.note", b"of an input")
END
[ "$(id -u)" != 0 ] || chown 33:44 set-group others
find . -exec touch -h -d @1600000000 {} +
"""

PYTHON_CALLS = r"""
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def wrong(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def renameat2(old, new, flags):
    wrong(libc.renameat2(-100, old.encode(), -100, new.encode(), flags))
with open("data/numbers", "rb") as source, open("sent", "wb") as to:
    os.sendfile(to.fileno(), source.fileno(), 0, 100000)
with open("data/words", "rb") as source, open("ranged", "wb") as to:
    try:
        os.copy_file_range(source.fileno(), to.fileno(), 100000)
    except OSError as error:  # an input that was not written lies on another file system
        if error.errno != errno.EXDEV:
            raise
        to.write(source.read())
renameat2("sent", "ranged", 2)  # RENAME_EXCHANGE
renameat2("data/deep/file", "data/deep/renamed", 1)  # RENAME_NOREPLACE
try:
    renameat2("private", "plain", 1)
except OSError as error:
    print(error.strerror)
renameat2("private", "plain", 2)
nameless = os.open("data", os.O_TMPFILE | os.O_RDWR, 0o640)
os.write(nameless, b"had no name\n")
wrong(libc.linkat(-100, f"/proc/self/fd/{nameless}".encode(), -100, b"data/named", 0x400))  # AT_SYMLINK_FOLLOW
os.close(nameless)
with open("appended", "ab") as file:
    file.write(b"one")
    os.posix_fallocate(file.fileno(), 0, 100000)
with open("punched", "wb") as file:
    file.write(b"x" * 200000)
    wrong(libc.fallocate(file.fileno(), 3, ctypes.c_long(65536), ctypes.c_long(65536)))  # PUNCH_HOLE | KEEP_SIZE
with open("holes", "r+b") as file:
    file.seek(700000)
    file.write(b"more")
"""

MAPPED = r"""
import mmap, os
with open("data/words", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
    memory[10:20] = b"in memory."
    memory.flush()
with open("grown", "w+b") as file:
    os.ftruncate(file.fileno(), 3 << 20)
    with mmap.mmap(file.fileno(), 0) as memory:
        memory[1 << 20 : (1 << 20) + 5] = b"five!"
        memory[-1:] = b"!"
memory = mmap.mmap(os.open("late", os.O_RDWR | os.O_CREAT, 0o644), 0) if os.path.exists("late") else None
file = os.open("late", os.O_RDWR | os.O_CREAT, 0o604)
os.ftruncate(file, 10000)
memory = mmap.mmap(file, 10000)
os.close(file)  # written to after it was closed
memory[5000:5004] = b"late"
"""

ATTRIBUTES = r"""
import os, struct
os.setxattr("plain", "user.set", b"of an input that was touched")
os.setxattr("data", "user.set", b"of a directory")
with open("made", "w") as file:
    file.write("made\n")
os.setxattr("made", "user.set", b"of an output")
with open("listed-file", "a") as file:
    file.write("more\n")
with open("listed/made", "w") as file:
    file.write("inherits a list\n")
os.mkdir("listed/directory")
nobody = 0xFFFFFFFF
acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in (
    (1, 6, nobody), (2, 4, os.getuid()), (4, 4, nobody), (16, 4, nobody), (32, 0, nobody)))
os.setxattr("made", "system.posix_acl_access", acl)
os.mkdir("noted")
os.setxattr("noted", "user.set", b"of a directory that was made")
"""

# Outputs with attributes, an access list, a hole, and two names.
OWN = r"""
mkdir own && echo noted > own/file && ln own/file own/other && setfattr -n user.note -v text own own/file
setfattr -n system.posix_acl_access -v 0x0200000001000600ffffffff020006003930000004000400ffffffff10000600ffffffff20000400ffffffff own/file
truncate -s 1M own/sparse && echo data >> own/sparse
"""

PROGRAMS = {
    "python_calls": [PYTHON_CALLS],
    "mapped": [MAPPED],
    "attributes": [ATTRIBUTES],
    "perl_in_place": ["perl", "-i.before", "-pe", "s/7/seven/", "data/words", "data/numbers", "private"],
    "tar_with_attributes": OWN + """
        tar --xattrs --xattrs-include='*' --acls --sort=name -cSf all.tar own data link plain
        mkdir out && tar --xattrs --xattrs-include='*' --acls -C out -xpSf all.tar && rm all.tar && stat -c '%a %s %n' out/own/*""",
    "copies_with_holes": OWN + """
        cp -a --sparse=always own/sparse copied && cp -a data copied-data && cp --sparse=never own/sparse full
        cp -al data/deep linked && cp -a --reflink=auto own copied-own && cp -as "$PWD/data/deep/file" pointer""",
    "rsync": OWN + """
        rsync -aHAX --sparse own data link to/ && echo more >> data/words
        rsync -aHAX --inplace data/ to/data/ && rsync -a --delete --link-dest=../to/own own/ snapshot/""",
    "find_and_exec": """
        find . -type f -name 'n*' -exec cp -p {} {}.copy ';' && find data -type f -exec chmod g+w {} +
        find . -type f -size +500k -exec truncate -s 5000 {} ';' && find data -name '*.copy' -newer plain -delete
        find . -type f -printf '%m %s %p\\n' | sort && find . ! -type f -printf '%y %m %l %p\\n' | sort""",
    "hard_linked_inputs": "echo more >> twins/one; ln plain again; echo new > new; ln new newer; ln -P link other-link",
    "log_rotation": """
        for day in 1 2 3 4; do
          [ ! -e log.2 ] || mv log.2 log.3; [ ! -e log.1 ] || mv log.1 log.2; [ ! -e log ] || { cp -p log log.1; : > log; }
          echo "day $day" >> log; gzip -nk log && mv log.gz "log.$day.gz"
        done; exec 3>> plain; mv plain plain.1; echo 'after the rename' >&3; : > plain; chmod 640 plain""",
    "set_group_directories": """
        mkdir set-group/made && echo a > set-group/made/file && mkdir -m 2770 own && mkdir own/below && chmod g-s set-group-too
        chmod 1777 data/deep && chmod u+s,g+s script && install -m 2711 -d installed && install -m 4711 script installed/x""",
    "special_files": """
        mkfifo pipe && chmod 620 pipe && (cat pipe > through & echo passed > pipe; wait) && mkfifo data/pipe
        python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("meeting")'""",
    "times": """
        touch -d @1500000000.123456789 made data/words data/deep && touch -h -d @1400000000 link && mkdir old
        touch -d @1300000000 old && cp -p plain kept && sleep 0.02 && echo last > last""",
    "owners": "chown 1234:4321 plain && chown -R 33 data/deep && echo x > y && chgrp 77 y && chown -h 5 link && mkdir d && chown 9:9 d",
}  # fmt: skip


def takes_access_lists(directory):
    """NFSv4 has lists of its own, and refuses other calls, too."""
    try:
        os.setxattr(
            directory,
            "system.posix_acl_access",
            bytes.fromhex("0200000001000700ffffffff04000500ffffffff20000500ffffffff"),
        )
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        return False
    os.removexattr(directory, "system.posix_acl_access")
    return True


def without_access_lists(program):
    if isinstance(program, list):
        return [without_access_lists(each) for each in program]
    return "".join(line for line in program.splitlines(keepends=True) if "posix_acl" not in line)


class OddProgramsTest(unittest.TestCase):
    maxDiff = None
    needed, done = set(), set()

    @classmethod
    def setUpClass(cls):
        cls.place = casetools.Workplace("odd")
        cls.addClassCleanup(cls.place.remove)
        cls.lists = takes_access_lists(cls.place.directory)
        cls.ways = ["redirect", "path"] + (["namespace"] if casetools.namespaces_work() else [])

    def check(self, program, root_only=False):
        if root_only and not ROOT:
            self.skipTest("needs root")
        directory = os.path.join(self.place.directory, self.id())
        os.mkdir(directory)
        judge = oracle.Oracle(directory, self.place.pool, FOREBAY)
        judge.set_up(SETUP)
        if not self.lists:
            program = without_access_lists(program)
        words = ["sh", "-ec", program]
        if isinstance(program, list):
            words = program if len(program) > 1 else [sys.executable, "-c", program[0]]
        if not shutil.which(words[0]):
            self.skipTest(f"no {words[0]}")
        for run in judge.run_directly(words):
            if run.status != 0 and not self.lists:
                self.skipTest(f"refused by the file system itself: {run.errors.decode()}")
            self.assertEqual(run.status, 0, run.errors)
        for way in self.ways:
            with self.subTest(way):
                verdict = judge.run_under_forebay(words, oracle.Settings(way))
                self.needed.update(row.line for _, _, row in verdict.allowed)
                self.assertEqual(verdict.lines(), [], "not the same, and not allowed by docs/run/limits.md")
        if len(self.ways) == 3:
            self.done.add(self.id())

    def test_z_every_row_of_the_table_is_needed(self):
        """Last, by its name. Rows for certain names, for OpenFOAM and for ordinary users belong to other tests."""
        if len(unittest.TestLoader().getTestCaseNames(OddProgramsTest)) > len(self.done) + 1 or not ROOT:
            self.skipTest("not all programs have run, or not as root")
        of_others = [
            row for row in limits.read() if row.which != "**" or "OpenFOAM" in row.why or row.asks("user", "ordinary")
        ]
        unneeded = [row for row in limits.read() if row.line not in self.needed and row not in of_others]
        self.assertEqual([f"line {row.line}: {row.why}" for row in unneeded], [], "nothing differs so any more")


def add(name, program):
    setattr(OddProgramsTest, "test_" + name, lambda self: self.check(program, root_only=name == "owners"))


for each, text in PROGRAMS.items():
    add(each, text)

if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
