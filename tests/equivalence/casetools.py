"""What the integration tests share: snapshots of a directory, their differences, and runs with and without forebay."""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE_CASE = os.path.join(os.path.dirname(HERE), "cases", "make-case")
SKIPPED = 77
# What reconstructPar makes of it holds memory that was never set: of the same files it differs from call to call.
UNDEFINED = rb"(.*/)?pointMotionUx"


def skip(reason):
    """Ends a test program that cannot run here, saying why."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def need_openfoam():
    examples = os.environ.get("FOREBAY_OPENFOAM_EXAMPLES", "/usr/share/doc/openfoam-examples/examples")
    if not shutil.which("icoFoam") or not os.path.isdir(examples):
        skip("the packages openfoam and openfoam-examples are not installed")
    if not shutil.which("mpirun"):
        skip("no mpirun")


def namespaces_work():
    return subprocess.run(["unshare", "-r", "-m", "true"], capture_output=True).returncode == 0


def environment(**more):
    """The environment of a run: no settings of the user's, and what Debian's OpenFOAM and Open MPI need."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FOREBAY_")}
    clean.setdefault("WM_PROJECT_DIR", "/usr/share/openfoam")
    clean.update(
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        OMPI_MCA_hwloc_base_binding_policy="none",
        XDG_CONFIG_HOME="/nonexistent",
    )
    clean.update(more)
    return clean


class Workplace:
    """A directory for the cases of a test and, on memory, a pool that no other test uses."""

    def __init__(self, name, memory="/dev/shm"):
        self.directory = tempfile.mkdtemp(prefix=f"forebay-{name}-")
        self.pool = tempfile.mkdtemp(prefix=f"forebay-{name}-pool-", dir=memory if os.path.isdir(memory) else None)
        os.chmod(self.directory, 0o755)

    def remove(self):
        for each in (self.directory, self.pool):
            subprocess.run(["chmod", "-R", "u+rwx", each], capture_output=True)
            shutil.rmtree(os.fsencode(each), ignore_errors=True)


def entry_of(path):
    """Kind, permission bits, and content or link text. (Times differ between runs: see order_differences().)"""
    status = os.lstat(path)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return ("link", None, os.readlink(path))
    if stat.S_ISDIR(status.st_mode):
        return ("directory", mode, None)
    if not stat.S_ISREG(status.st_mode):
        return ("special", mode, stat.S_IFMT(status.st_mode))
    with open(path, "rb") as file:
        return ("file", mode, hashlib.sha256(file.read()).hexdigest())


def snapshot(root):
    """Every entry below `root` by its path as bytes; "" is the root itself."""
    root = os.fsencode(root)
    found = {b"": entry_of(root)}
    for directory, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(directory, name)
            found[os.path.relpath(path, root)] = entry_of(path)
    return found


def differences(direct, forebay, excluded=()):
    """One line for each path that is not the same in both snapshots; `excluded` are regular expressions (bytes) of
    paths that are left out."""
    lines = []
    for path in sorted(set(direct) | set(forebay)):
        if any(re.fullmatch(pattern, path) for pattern in excluded):
            continue
        a, b = direct.get(path), forebay.get(path)
        if a != b:
            lines.append(f"{path!r}: direct {a}, forebay {b}")
    return lines


def order_differences(direct, forebay):
    """Files below two directories that were last written in another order, and time directories in them: pairs where
    one run wrote strictly earlier what the other wrote strictly later."""
    lines = []
    for paths_of in (files_below, times_in):
        before, after = ({path: os.lstat(os.path.join(root, path)).st_mtime_ns for path in paths_of(root)}
                         for root in (direct, forebay))  # fmt: skip
        for newest, path in inversions(before, after):
            lines.append(f"{newest} is older than {path} in {direct}, but newer in {forebay}")
    return lines


def files_below(root):
    found = [os.path.join(directory, name) for directory, _, files in os.walk(root) for name in files]
    return [os.path.relpath(path, root) for path in found]


def times_in(root):
    return [name for name in os.listdir(root) if re.fullmatch(r"\d[\d.e-]*", name)]


def inversions(before, after):
    """Pairs of names, by what time they have: the first is strictly older in `before`, and strictly newer in `after`."""
    found = []
    newest, newest_name = -1, None  # in `after`, of all that are strictly older in `before`
    group, group_time = [], None
    for name in sorted(before, key=before.get):
        if before[name] != group_time:
            for each in group:
                if after.get(each, -1) > newest:
                    newest, newest_name = after[each], each
            group, group_time = [], before[name]
        group.append(name)
        if name in after and after[name] < newest:
            found.append((newest_name, name))
    return found


def hard_links(root):
    """The sets of names that are one file."""
    root = os.fsencode(root)
    groups = {}
    for directory, _, files in os.walk(root):
        for name in files:
            path = os.path.join(directory, name)
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                groups.setdefault(status.st_ino, set()).add(os.path.relpath(path, root))
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def kept_warm(pool):
    """Sets of files that a tool made for the ranks, kept in the pool for the next run."""
    return [os.path.join(root, name) for root, names, _ in os.walk(pool) for name in names if name.startswith("warm-")]


def leftovers(case, pool):
    """What a finished run may not leave: its control directory, temporary names, anything in the pool (but what is
    kept for the next run)."""
    found = []
    for root, keep in ((case, lambda name: name == ".forebay" or name.startswith(".fb-")), (pool, lambda name: True)):
        for directory, directories, files in os.walk(os.fsencode(root)):
            directories[:] = [name for name in directories if not name.startswith(b"warm-")]
            for name in directories + files:
                if keep(os.fsdecode(name)) and not os.fsdecode(name).startswith("forebay-"):
                    found.append(os.path.join(directory, name))
    return found


def copy_case(source, target):
    subprocess.run(["cp", "-a", source, target], check=True)


def make_case(*arguments):
    made = subprocess.run([MAKE_CASE, *arguments], capture_output=True, text=True)
    if made.returncode != 0:
        raise RuntimeError(made.stderr)


def set_control(case, key, value):
    path = os.path.join(case, "system", "controlDict")
    with open(path) as file:
        text = file.read()
    changed, count = re.subn(rf"(?m)^{key}\s.*$", f"{key} {value};", text)
    if count != 1:
        raise RuntimeError(f"{count} entries {key} in {path}")
    with open(path, "w") as file:
        file.write(changed)


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


def run(words, cwd, timeout=120, **more):
    """Runs a command; what it printed is in the exception when it fails."""
    done = subprocess.run(words, cwd=cwd, env=environment(**more), capture_output=True, timeout=timeout)
    if done.returncode != 0:
        text = (done.stdout[-2000:] + done.stderr[-4000:]).decode(errors="replace")
        raise RuntimeError(f"{words} in {cwd} ended with {done.returncode}:\n{text}")
    return done


def control_entry(case, key):
    with open(os.path.join(case, "system", "controlDict")) as file:
        found = re.search(rf"(?m)^{key}\s+([^;]+);", file.read())
    if not found:
        raise RuntimeError(f"no entry {key} in the controlDict of {case}")
    return found.group(1)
