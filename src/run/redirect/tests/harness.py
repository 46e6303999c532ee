"""Runs the same thing in a plain directory and through redirect, and compares all that can be seen of it.

A pair has one path for the case, used by both runs, so that even what is printed must be equal. For the second run the
case is staged the way forebay does it: files as links below `lower`, processor directories in pools.
"""

import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

CONTRACT = 2  # its version: src/run/contract/contract.h


PAGE_OF_NODE, PAGE_OF_RANK, LINES, LINE = 64, 64 + 255 * 64, 255, 64


def ranks_page(ranks, version=CONTRACT):
    """As the agent makes it: src/run/contract/pages.h."""
    return struct.pack("=QQ48x", version, ranks) + bytes(ranks * PAGE_OF_RANK)


def lines_of(page, rank=0):
    """Of a rank's page: its words, and its lines as (time, state, mesh, flags) by sequence."""
    with open(page, "rb") as file:
        data = file.read()
    start = PAGE_OF_NODE + rank * PAGE_OF_RANK
    words = dict(
        zip(("begun", "states", "place", "mesh", "ended", "kept"), struct.unpack_from("=6Q", data, start), strict=False)
    )
    lines = {}
    for i in range(LINES):
        sequence, _, state, mesh, flags, name = struct.unpack_from("=5Q24s", data, start + 64 + i * LINE)
        if sequence:
            lines[sequence] = (name.rstrip(b"\0").decode(), state, mesh, flags)
    return words, lines


def kept_files(keep):
    """What was purged, as "LINE/FILE": src/run/contract/kept_name.h."""
    found = []
    for directory, _, files in os.walk(keep):
        for name in files:
            path = os.path.relpath(os.path.join(directory, name), keep)
            line, separator, file = path.partition("%")
            time, sequence = line.split(",")[:2]
            line = f"{time}.{sequence}"
            plain = re.sub("%([sp])", lambda encoded: {"s": "/", "p": "%"}[encoded[1]], file)
            found.append(f"{line}/{plain}" if separator else f"{time}.{sequence}/" + path.partition("/")[2])
    return sorted(found)


class Pair:
    def __init__(self, library, build, copied=()):
        """`build(case, shared)` fills an empty case; `copied`: files that are staged as copies."""
        self.library = os.path.abspath(library)
        self.base = tempfile.mkdtemp(prefix="redirect-", dir="/tmp")
        self.local = tempfile.mkdtemp(prefix="redirect-", dir="/dev/shm")
        self.shared = os.path.join(self.base, "shared")
        self.case = os.path.join(self.shared, "case")
        self.pristine = os.path.join(self.base, "pristine")
        self.tree = os.path.join(self.local, "tree")
        self.lower = os.path.join(self.local, "lower")
        self.pool = os.path.join(self.local, "pool")
        self.copied = set(copied)
        os.makedirs(self.case)
        build(self.case, self.shared)
        os.rename(self.shared, self.pristine)

    def close(self):
        shutil.rmtree(self.base, ignore_errors=True)
        shutil.rmtree(self.local, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def renew(self):
        shutil.rmtree(self.shared, ignore_errors=True)
        subprocess.run(["cp", "-a", self.pristine, self.shared], check=True)

    def stage(self):
        for path in (self.tree, self.pool):
            shutil.rmtree(path, ignore_errors=True)
        if os.path.islink(self.lower):
            os.unlink(self.lower)
        os.symlink(self.case, self.lower)
        os.makedirs(self.pool)
        self._stage("", self.tree)

    def _stage(self, relative, target):
        source = os.path.join(self.case, relative)
        os.mkdir(target)
        for entry in os.scandir(source):
            below = os.path.join(relative, entry.name)
            to = os.path.join(target, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if relative == "" and entry.name.startswith("processor"):
                    os.symlink(os.path.join(self.pool, entry.name), to)
                    to = os.path.join(self.pool, entry.name)
                self._stage(below, to)
            elif entry.is_symlink():
                os.symlink(os.readlink(entry.path), to)
            elif below in self.copied:
                shutil.copy2(entry.path, to)
            else:
                os.symlink(os.path.join(self.lower, below), to)
        shutil.copystat(source, target)

    def environment(self, **more):
        return dict(
            os.environ,
            LD_PRELOAD=self.library,
            FOREBAY_CASE=self.case,
            FOREBAY_TREE=self.tree,
            FOREBAY_LOWER=self.lower,
            FOREBAY_POOLS=self.pool,
            **more,
        )

    def run(self, command, environment=None):
        # As `forebay exec` does, the program starts in the case as it sees it.
        start = self.tree if environment else self.case
        return subprocess.run(
            command, cwd=start, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=120
        )

    def run_redirected(self, command):
        return self.run(command, self.environment())

    def is_placed(self, text):
        return False

    def materialise(self, result):
        """What a drain would leave: the local tree over the case."""
        shutil.rmtree(result, ignore_errors=True)
        self._materialise(self.tree, result)

    def _materialise(self, source, target):
        os.mkdir(target)
        for entry in os.scandir(source):
            to = os.path.join(target, entry.name)
            if entry.is_symlink():
                text = os.readlink(entry.path)
                if text.startswith(self.lower + "/"):
                    shutil.copy2(text, to)
                elif text.startswith(self.pool + "/") or self.is_placed(text):
                    if os.path.isdir(text):
                        self._materialise(text, to)
                    else:
                        shutil.copy2(text, to)
                else:
                    os.symlink(text, to)
            elif entry.is_dir():
                self._materialise(entry.path, to)
            elif entry.is_file():
                shutil.copy2(entry.path, to)
            else:
                os.mknod(to, entry.stat().st_mode)
        shutil.copystat(source, target)

    def compare(self, command, ignore=(), same_output=True):
        """Runs `command` both ways; returns a list of differences."""
        self.renew()
        direct = self.run(command)
        plain = os.path.join(self.base, "direct")
        shutil.rmtree(plain, ignore_errors=True)
        os.rename(self.case, plain)
        plain_shared = snapshot(self.shared)
        self.renew()
        self.stage()
        before = snapshot(self.case, times=True)
        redirected = self.run_redirected(command)
        problems = []
        if snapshot(self.case, times=True) != before:
            problems += differences(before, snapshot(self.case, times=True), "the case itself was changed: ")
        if direct.returncode != redirected.returncode:
            problems.append(f"exit {direct.returncode} became {redirected.returncode}")
        if same_output:
            for name in ("stdout", "stderr"):
                one = getattr(direct, name).decode(errors="replace").splitlines()
                two = getattr(redirected, name).decode(errors="replace").splitlines()
                problems += line_differences(name, one, two)
        result = os.path.join(self.base, "result")
        self.materialise(result)
        problems += differences(snapshot(plain), snapshot(result), "", ignore)
        shutil.rmtree(self.case)
        problems += differences(plain_shared, snapshot(self.shared), "beside the case: ")
        if problems and direct.returncode == redirected.returncode:
            problems.append("output: " + redirected.stderr.decode(errors="replace")[-2000:])
        return problems


class AliasPair(Pair):
    """The case has a second name, through a symbolic link, with characters that need escaping."""

    def renew(self):
        super().renew()
        self.alias = os.path.join(self.base, "al:ias%")
        if not os.path.islink(self.alias):
            os.symlink(self.shared, self.alias)

    def environment(self, **more):
        name = self.alias.replace("%", "%25").replace(":", "%3A") + "/case"
        return super().environment(FOREBAY_CASE_ALIASES="/nowhere:" + name, **more)


class NamespacePair(Pair):
    """The tree is bound over the case, and redirect is loaded beside."""

    def stage(self):
        super().stage()
        os.unlink(self.lower)
        os.mkdir(self.lower)

    def run_redirected(self, command):
        script = (
            f"mount --bind '{self.case}' '{self.lower}' && mount --bind '{self.tree}' '{self.case}' && "
            f"cd '{self.case}' && exec env LD_PRELOAD='{self.library}' \"$@\""
        )
        environment = dict(self.environment(), FOREBAY_TREE=self.case)
        del environment["LD_PRELOAD"]
        return self.run(["unshare", "-m", "sh", "-c", script, "sh", *command], environment)

    def renew(self):
        # A link would do as the mount point's name, but not as the mount point.
        if os.path.isdir(self.lower) and not os.path.islink(self.lower):
            os.rmdir(self.lower)
        super().renew()

    def materialise(self, result):
        # Links of the tree lead into `lower`, which shows the case inside the namespace only.
        os.rmdir(self.lower)
        os.symlink(self.case, self.lower)
        super().materialise(result)
        os.unlink(self.lower)


class RankPair(NamespacePair):
    """The same, and the program is rank 0 of one."""

    def stage(self):
        super().stage()
        self.keep = os.path.join(self.local, "keep")
        shutil.rmtree(self.keep, ignore_errors=True)
        os.makedirs(os.path.join(self.keep, "processor0"))
        self.page = os.path.join(self.local, "page")
        write(self.page, ranks_page(1))

    def environment(self, **more):
        keep = os.path.join(self.keep, "processor0")
        return super().environment(FOREBAY_KEEP=keep, FOREBAY_PAGE=self.page, **more)


class PlacedPair(Pair):
    """New files are made in the pool of another socket, on another mount, and linked from the tree."""

    count = 0  # of files that were placed when a program had ended

    def stage(self):
        super().stage()
        self.placed = os.path.join(self.base, "other", "placed")
        shutil.rmtree(self.placed, ignore_errors=True)
        os.makedirs(self.placed, mode=0o700)

    def environment(self, **more):
        pools = f"{self.pool}:{os.path.dirname(self.placed)}"
        return {**super().environment(**more), "FOREBAY_POOLS": pools, "FOREBAY_SOCKET_POOL": self.placed}

    def is_placed(self, text):
        return text.startswith(self.placed + "/")

    def compare(self, command, ignore=(), same_output=True):
        problems = super().compare(command, ignore, same_output)
        texts = []
        for directory, _, files in os.walk(self.tree):
            paths = [os.path.join(directory, name) for name in files]
            texts += [os.readlink(path) for path in paths if os.path.islink(path)]
        named = {os.path.basename(text) for text in texts if self.is_placed(text)}
        there = set(os.listdir(self.placed))
        problems += [f"a placed file without a name: {name}" for name in sorted(there - named)]
        problems += [f"a name without its placed file: {name}" for name in sorted(named - there)]
        self.count += len(there)
        return problems


def can_bind():
    return subprocess.run(["unshare", "-m", "mount", "--bind", "/tmp", "/tmp"], capture_output=True).returncode == 0


def line_differences(name, one, two):
    import difflib

    return [f"{name} {line}" for line in difflib.unified_diff(one, two, "direct", "redirected", n=2, lineterm="")]


def snapshot(root, times=False):
    """Every entry below `root`: type, mode, content or text, and modification time where asked."""
    found = {}
    for directory, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(directory, name)
            status = os.lstat(path)
            entry = [oct(status.st_mode)]
            if stat.S_ISLNK(status.st_mode):
                entry.append(os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    entry.append(file.read())
            if times:
                entry.append(status.st_mtime_ns)
            found[os.path.relpath(path, root)] = entry
    return found


def differences(one, two, prefix, ignore=()):
    problems = []
    for path in sorted(set(one) | set(two)):
        if any(path == name or path.startswith(name + "/") for name in ignore):
            continue
        if path not in two:
            problems.append(f"{prefix}missing: {path!r}")
        elif path not in one:
            problems.append(f"{prefix}unexpected: {path!r} {str(two[path])[:100]}")
        elif one[path] != two[path]:
            problems.append(f"{prefix}differs: {path!r} {str(one[path])[:200]} {str(two[path])[:200]}")
    return problems


def report(name, problems):
    """Prints the outcome; True when there were no problems."""
    if not problems:
        print(f"ok    {name}")
        return True
    print(f"FAIL  {name}")
    for problem in problems[:60]:
        print(f"      {problem[:300]}")
    return False


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path, mode)


def skip(name, reason):
    """Something that cannot be tried here; an outcome of its own, so that a run without it does not look whole."""
    print(f"skip  {name}: {reason}")


def finish(outcomes):
    """Ends with 1 when something is wrong, with 77 (skipped) when it is not, but something could not be tried."""
    sys.exit(1 if False in outcomes else 77 if None in outcomes else 0)
