#!/usr/bin/env python3
"""All that is compared of a directory: a look at every entry, as a value that can be kept as JSON.

    snapshot.py DIRECTORY [FILE]     writes the look as JSON

Under another name, and with PARITY_PROGRAM in the environment, it stands for that program: it runs it, and then looks at
its own working directory. So the look is taken inside whatever the program itself ran in: the same namespace, the same
preloaded library, the same path. Of several ranks the last one that ends looks.
"""

import hashlib
import json
import os
import signal
import stat
import subprocess
import sys

MODE_AS_A_LIST = "system.nfs4_acl"  # what NFSv4 makes of the mode
ACCESS_LISTS = ("system.posix_acl_access", "system.posix_acl_default")
KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


def holes_of(file, size):
    """Where a file has no data, as pairs of first byte and first byte behind."""
    found, at = [], 0
    try:
        while at < size:
            hole = os.lseek(file, at, os.SEEK_HOLE)
            if hole >= size:
                break
            try:
                at = os.lseek(file, hole, os.SEEK_DATA)
            except OSError:  # no data behind it
                at = size
            found.append([hole, at])
    except OSError:
        pass  # this file system does not tell, so it has none
    return found


def look_into(path, entry, content_of):
    """What only an open file tells. What may not be read is told as such."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        entry["content"] = os.strerror(error.errno)
        return
    with os.fdopen(file, "rb") as opened:
        entry["holes"] = holes_of(file, entry["size"])
        opened.seek(0)
        if content_of:
            counts = content_of(os.path.basename(path), opened.read())
            entry["size"], data = len(counts), hashlib.sha256(counts)
        else:
            data = hashlib.file_digest(opened, "sha256")
    entry["content"] = data.hexdigest()


def attributes_of(path):
    try:
        names = os.listxattr(path, follow_symlinks=False)
        names = sorted(name for name in names if name != MODE_AS_A_LIST)
        return {name: os.getxattr(path, name, follow_symlinks=False).hex() for name in names}
    except OSError:
        return {}  # a file system without them, or an entry that may not be read


def entry_of(path, content_of):
    status = os.lstat(path)
    kind = KINDS[stat.S_IFMT(status.st_mode)]
    entry = {"type": kind, "owner": status.st_uid, "group": status.st_gid, "mtime": status.st_mtime_ns}
    if kind != "link":
        entry["mode"] = f"{stat.S_IMODE(status.st_mode):04o}"
    attributes = attributes_of(path)
    entry["acl"] = {name: value for name, value in attributes.items() if name in ACCESS_LISTS}
    entry["xattrs"] = {name: value for name, value in attributes.items() if name not in ACCESS_LISTS}
    if kind == "link":
        entry["text"] = os.readlink(path)
    elif kind == "device":
        entry["device"] = [stat.S_ISBLK(status.st_mode), os.major(status.st_rdev), os.minor(status.st_rdev)]
    elif kind == "file":
        entry["size"] = status.st_size
        look_into(path, entry, content_of)
    return entry, status


def names_below(root):
    """Every path below `root`, relative to it; "." is the root itself."""
    yield "."
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        try:
            names = os.listdir(os.path.join(root, directory))
        except OSError:
            continue  # its mode keeps it from being read, which its entry shows
        for name in sorted(names):
            path = os.path.join(directory, name)
            yield path
            if stat.S_ISDIR(os.lstat(os.path.join(root, path)).st_mode):
                waiting.append(path)


def take(root, content_of=None):
    """The look at `root`. Entries are by path; bytes of names that are no UTF-8 are surrogates. `content_of(name, bytes)`
    tells what of a file's content counts."""
    root = os.fsdecode(root)
    entries, same = {}, {}
    for path in names_below(root):
        entry, status = entry_of(os.path.normpath(os.path.join(root, path)), content_of)
        entries[path] = entry
        if entry["type"] != "directory" and status.st_nlink > 1:
            same.setdefault((status.st_dev, status.st_ino), []).append(path)
    for group in same.values():
        for path in group:
            entries[path]["links"] = sorted(each for each in group if each != path)
    return {"root": os.path.abspath(root), "block": os.statvfs(root).f_bsize, "entries": entries}


def without_times(root):
    """The entries below `root` in all that stays the same while nobody touches them: everything but times."""
    entries = take(root)["entries"]
    for entry in entries.values():
        del entry["mtime"]
    return entries


def save(look, path):
    new = f"{path}.{os.getpid()}"  # two ranks that end together may both find that all have ended
    with open(new, "w") as file:
        json.dump(look, file)
    os.rename(new, path)


def load(path):
    with open(path) as file:
        return json.load(file)


def rank_and_ranks():
    for rank, ranks in (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE")):
        if rank in os.environ and ranks in os.environ:
            return os.environ[rank], int(os.environ[ranks])
    return "0", 1


def stand_for_the_program(arguments):
    program, result = os.environ.pop("PARITY_PROGRAM"), os.environ.pop("PARITY_LOOK")
    root = os.getcwd()
    done = subprocess.run([os.path.basename(sys.argv[0]), *arguments], executable=program)
    rank, ranks = rank_and_ranks()
    with open(f"{result}.rank{rank}", "w"):
        pass
    if all(os.path.exists(f"{result}.rank{each}") for each in range(ranks)):
        library = "libforebay_redirect" in os.environ.get("LD_PRELOAD", "")
        save({**take(root), "library": library}, result)
    if done.returncode < 0:
        signal.signal(-done.returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -done.returncode)
    return done.returncode


if __name__ == "__main__":
    if "PARITY_PROGRAM" in os.environ:
        sys.exit(stand_for_the_program(sys.argv[1:]))
    if len(sys.argv) == 3:
        save(take(sys.argv[1]), sys.argv[2])
    else:
        json.dump(take(sys.argv[1]), sys.stdout, indent=1)
