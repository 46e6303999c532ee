"""What a program reads, maps, seeks or duplicates is libc's own: the library defines none of these functions, so it can
neither change them nor cost them anything. Of those that write it defines all that errors_test.py knows, and no other."""

import re
import shutil
import subprocess
import sys

from harness import finish, report, skip

UNTOUCHED = """
    read pread readv preadv preadv2 lseek close_range dup dup2 dup3 fcntl
    ioctl mmap munmap mremap madvise sync_file_range syncfs
    posix_fadvise tee flock lockf poll ppoll select epoll_ctl
    fread fwrite fgets fputs fgetc fputc getline fprintf vfprintf fscanf fseek fseeko ftell ftello
    setvbuf fdopen aio_read aio_write fork vfork signal sigaction malloc free
""".split()
LOOKED_AT = """
    write __write pwrite pwrite64 __pwrite64 writev pwritev pwritev64 pwritev2 pwritev64v2 close __close
    sendfile sendfile64 copy_file_range splice aio_error aio_error64 ftruncate ftruncate64 fallocate fallocate64
    posix_fallocate posix_fallocate64 fsync fdatasync msync fflush fflush_unlocked fclose clearerr clearerr_unlocked
    rewind
""".split()
# The same by the names that large files, streams without a lock and checked calls have.
FORMS = ("{}", "{}64", "{}64v2", "{}_unlocked", "__{}", "__{}_chk", "_IO_{}", "__libc_{}")


def defined(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def newest_libc(library):
    """The newest version of glibc that it asks for, and its names of that version."""
    done = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True)
    asked = re.findall(r"(\w+)@+GLIBC_([0-9.]+)", done.stdout)
    return max(((tuple(int(part) for part in version.split(".")), name) for name, version in asked), default=((0,), ""))


if shutil.which("nm") is None:
    finish([skip("what the library defines", "no nm")])
names = defined(sys.argv[1])
untouched = {form.format(name) for name in UNTOUCHED for form in FORMS}
written = {form.format(name) for name in LOOKED_AT for form in FORMS}
finish(
    [
        report("it stands before calls that take a path", [] if names >= {"open", "fopen", "stat"} else sorted(names)),
        report("and before none that reads, maps, seeks or duplicates", sorted(names & untouched)),
        # src/run/redirect/oldest.h; RHEL 7 and manylinux2014 have it.
        report("it loads under glibc 2.17", [] if (newest := newest_libc(sys.argv[1])) < ((2, 18), "") else [newest]),
        report("of those that write, before these", sorted((names & written) ^ set(LOOKED_AT))),
    ]
)
