"""What a program does with open descriptors is libc's own: the library defines none of these functions, so it can
neither change them nor cost them anything."""

import shutil
import subprocess
import sys

from harness import finish, report, skip

DATA = """
    read write pread pwrite readv writev preadv pwritev preadv2 pwritev2 lseek close close_range dup dup2 dup3 fcntl
    ioctl mmap munmap mremap msync madvise fsync fdatasync sync_file_range syncfs ftruncate fallocate posix_fallocate
    posix_fadvise sendfile splice tee copy_file_range flock lockf poll ppoll select epoll_ctl
    fread fwrite fgets fputs fgetc fputc getline fprintf vfprintf fscanf fflush fclose fseek fseeko ftell ftello rewind
    setvbuf fdopen aio_read aio_write fork vfork signal sigaction malloc free
""".split()
# The same by the names that large files, streams without a lock and checked calls have.
FORMS = ("{}", "{}64", "{}64v2", "{}_unlocked", "__{}", "__{}_chk", "_IO_{}", "__libc_{}")


def defined(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


if shutil.which("nm") is None:
    finish([skip("what the library defines", "no nm")])
names = defined(sys.argv[1])
stands_before = sorted(names & {form.format(name) for name in DATA for form in FORMS})
finish(
    [
        report("it stands before calls that take a path", [] if names >= {"open", "fopen", "stat"} else sorted(names)),
        report("and before none that reads, writes, maps, seeks or closes", stands_before),
    ]
)
