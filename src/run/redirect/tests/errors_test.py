"""Calls that fail on files of the tree are noted in the agent's page (WriteErrors in run/contract/pages.h), whoever makes them and
however they are ignored; calls on other files, and what is no loss, are not."""

import errno
import os
import struct
import subprocess
import sys
from collections import namedtuple

from harness import CONTRACT, Pair, finish, lines_of, ranks_page, report, skip, write

SLOTS, SLOT_BYTES, FIRST_SLOT = 7, 1016, 64
Failure = namedtuple("Failure", "error path")


def build(case, shared):
    write(f"{case}/big", bytes(300_000))
    os.makedirs(f"{case}/5")
    os.makedirs(f"{case}/processor0/5")


class SmallPool(Pair):
    """A pool of two mebibytes, or of few inodes. Without a mount of its own the library behind ours fails."""

    options = "size=2m"

    def __init__(self):
        super().__init__(library, build)
        self.page = os.path.join(self.base, "errors")
        self.hold = os.path.join(self.base, "hold")
        self.keep = os.path.join(self.local, "keep/serial")
        self.mounted = False

    def mount(self):
        self.mounted = (
            self.mounted
            or (
                subprocess.run(["mount", "-t", "tmpfs", "-o", self.options, "none", self.local], capture_output=True)
            ).returncode
            == 0
        )
        return self.mounted

    def close(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.local], check=True)
        super().close()

    def prepare(self, closing_fails=False):
        self.renew()
        if os.path.exists(os.path.join(self.local, "ballast")):
            os.unlink(os.path.join(self.local, "ballast"))
        self.stage()
        os.makedirs(self.keep, exist_ok=True)
        write(self.page, struct.pack("=QQ", CONTRACT, int(closing_fails)) + bytes(8192 - 16))
        write(self.hold, ranks_page(1))

    def fill(self, bytes_left):
        with open(os.path.join(self.local, "ballast"), "wb", buffering=0) as file:
            free = os.statvfs(self.local)
            file.write(bytes(max(free.f_bavail * free.f_frsize - bytes_left, 0)))

    def take_all_inodes(self):
        for number in range(os.statvfs(self.local).f_ffree):
            write(os.path.join(self.local, f"more{number}"), "")

    def start(self, command, fault=None, rank="serial"):
        keep = os.path.join(os.path.dirname(self.keep), rank)
        environment = self.environment(FOREBAY_ERRORS=self.page, FOREBAY_PAGE=self.hold, FOREBAY_KEEP=keep)
        if fault is not None:
            environment["LD_PRELOAD"] += ":" + fault_library
            environment["FOREBAY_FAULT_PREFIX"] = self.tree
            environment["FOREBAY_FAULT"] = fault
        done = self.run(command, environment)
        return [done.stderr.decode()[-1000:]] if done.returncode != 0 else []

    def noted(self):
        with open(self.page, "rb") as file:
            page = file.read()
        count = struct.unpack_from("=Q", page, 16)[0]
        failures = []
        for number in range(min(count, SLOTS)):
            at = FIRST_SLOT + number * SLOT_BYTES
            written, error = struct.unpack_from("=Ii", page, at)
            assert written == 1
            failures.append(Failure(error, os.fsdecode(page[at + 8 : at + SLOT_BYTES].split(b"\0")[0])))
        return count, failures

    def cut(self):
        """The times of which a write failed."""
        return {time for time, _, _, flags in lines_of(self.hold)[1].values() if flags & 1}

    def expect(self, problems, error, path, times, cut=frozenset("5")):
        count, failures = self.noted()
        first = failures[0] if failures else None
        if times is not None and count != times:
            problems.append(f"{count} noted, not {times}: {failures}")
        if times != 0 and (first is None or first.error != error or first.path.split(" (")[0] != path):
            problems.append(f"{first} is the first, not {errno.errorcode.get(error)} of {path}")
        if times != 0 and cut is not None and self.cut() != cut:
            problems.append(f"the times {self.cut()} are told to be cut, not {cut}")
        return problems


class FewInodes(SmallPool):
    options = "size=2m,nr_inodes=60"


library, program, fault_library = map(os.path.abspath, sys.argv[1:4])
FULL = {
    # name: (bytes that are left, how many are noted; None: more than one)
    "write": (100_000, 1),
    "write of nothing but errors": (0, 20),
    "a program that goes on after a short write": (100_000, 2),
    "pwrite": (100_000, 1),
    "writev": (150_000, 1),
    "pwritev": (150_000, 1),
    "pwritev2": (150_000, 1),
    "sendfile": (100_000, 1),
    "copy_file_range": (100_000, 1),
    "splice": (100_000, 1),
    "fallocate": (100_000, 1),
    "posix_fallocate": (100_000, 1),
    "aio_write": (0, None),
    "fprintf and fclose": (0, 1),
    "fprintf of more than a buffer": (100_000, 1),
    "fflush": (0, 1),
    "fflush of all streams": (0, 1),
    "clearerr": (100_000, 1),
    "rewind": (100_000, None),
    "freopen": (0, 1),
    "a stream that nobody closes": (0, 1),
    "or in which a write failed before": (100_000, None),
    "standard output": (0, 1),
    "std::ofstream": (100_000, None),
    "std::ofstream in small pieces": (100_000, None),
    "a thread": (100_000, 1),
    "a child": (100_000, 1),
    "a shell's command": (0, None),
    "a file that was removed": (100_000, 1),
}
NO_INODE = ["open", "openat", "creat", "fopen", "mkstemp", "mkdirat", "symlink"]
FAULTS = {
    "write": ("write", 1),
    "pwrite": ("write", 1),
    "writev": ("write", 1),
    "pwritev": ("write", 1),
    "sendfile": ("copy", 1),
    "copy_file_range": ("copy", 1),
    "splice": ("copy", 1),
    "ftruncate": ("truncate", 1),
    "fallocate": ("allocate", 1),
    "posix_fallocate": ("allocate", 1),
    "fsync": ("fsync", 1),
    "fdatasync": ("fsync", 1),
    "msync": ("msync", 1),
    "open": ("open", 1),
    "openat": ("open", 1),
    "mkdirat": ("mkdir", 1),
    "symlink": ("symlink", 1),
    "link": ("link", 1),
    "std::ofstream": ("write", None),
    "a thread": ("write", 1),
    "a child": ("write", 1),
}
# A scenario that opens nothing of its time in the program's main thread has no line.
WITHOUT_LINE = ["a thread", "mkdirat", "symlink", "link"]
PYTHON = "open('5/f', 'wb', buffering=0).write(bytes(300000))"
FORTRAN = """
program writer
  integer :: status, i
  open(10, file='5/f', iostat=status)
  do i = 1, 100000
    write(10, *, iostat=status) i
  end do
  close(10, iostat=status)
end program
"""
outcomes = []


def cut_by(name):
    return None if name in WITHOUT_LINE else frozenset("5")


def in_full_pools(pool):
    if not pool.mount():
        return outcomes.append(skip("pools that are full", "mounting one needs root"))

    def tried(name, command, bytes_left, times):
        pool.prepare()
        pool.fill(bytes_left)
        problems = pool.expect(pool.start(command), errno.ENOSPC, "5/f", times, cut_by(name))
        outcomes.append(report(f"full: {name}", problems))

    for name, (bytes_left, times) in FULL.items():
        tried(name, [program, name], bytes_left, times)
    tried("Python", ["/usr/bin/python3", "-c", PYTHON], 100_000, 1)
    fortran = os.path.join(pool.base, "writer")
    if subprocess.run(["which", "gfortran"], capture_output=True).returncode == 0:
        write(fortran + ".f90", FORTRAN)
        subprocess.run(["gfortran", "-o", fortran, fortran + ".f90"], check=True)
        tried("Fortran", [fortran], 100_000, None)
    else:
        outcomes.append(skip("Fortran", "no gfortran"))
    pool.prepare()
    pool.fill(100_000)
    problems = pool.start([program, "a file of a rank's"], rank="processor0")
    outcomes.append(report("full: a rank's file", pool.expect(problems, errno.ENOSPC, "processor0/5/f", 1)))
    pool.prepare()
    pool.fill(100_000)
    problems = pool.start([program, "an input that is opened for writing"])
    outcomes.append(report("full: copy-up", pool.expect(problems, errno.ENOSPC, "big", 1, None)))
    pool.prepare()
    pool.fill(100_000)
    problems = pool.start([program, "a file of the case that is elsewhere"])
    outcomes.append(report("full, but not the pool", pool.expect(problems, 0, "", 0)))


def without_inodes(pool):
    if not pool.mount():
        return
    pool.prepare()
    pool.take_all_inodes()
    for name in NO_INODE:
        write(pool.page, struct.pack("=QQ", CONTRACT, 0) + bytes(8192 - 16))
        problems = pool.start([program, name])
        path = pool.noted()[1][0].path if pool.noted()[0] else ""
        outcomes.append(
            report(f"no inode: {name}", pool.expect(problems, errno.ENOSPC, path if path[:3] == "5/f" else "5/f", 1))
        )
    problems = pool.start([program, "mkdir"])
    count, failures = pool.noted()
    if count != 2 or failures[1] != (errno.ENOSPC, "7") or pool.cut() != {"5"}:
        problems.append(f"{failures}, times {pool.cut()}")
    outcomes.append(report("no inode: the directory of a time", problems))


def with_faults(pool):
    def tried(name, fault, error, path, times, **more):
        pool.prepare(**more)
        problems = pool.start([program, name], fault)
        cut = cut_by(name) if path.startswith("5/") else None
        outcomes.append(report(f"{fault}: {name}", pool.expect(problems, error, path, times, cut)))

    for name, (call, times) in FAULTS.items():
        for reason in ("EDQUOT", "EIO"):
            after = ":after=1" if name == "openat" else ""
            tried(name, f"{call}:{reason}{after}", getattr(errno, reason), "5/f", times)
    tried("write", "write:EROFS", 0, "", 0)
    tried("close", "close:EIO", errno.EIO, "5/f", 1, closing_fails=True)
    # libc closes a stream by itself: here the fault library only makes sure that nothing else is noted.
    tried("fclose of a file that fails when it is closed", "close:EIO", 0, "", 0, closing_fails=True)
    tried("a short write that can go on", "write:short", 0, "", 0)
    for name in ("a limit of a file's size", "a pipe that takes a part", "a stream that is read only"):
        tried(name, "", 0, "", 0)


for kind, cases in ((SmallPool, in_full_pools), (FewInodes, without_inodes), (SmallPool, with_faults)):
    with kind() as pool:
        cases(pool)
finish(outcomes)
