"""What the integration tests share: cases, a workplace and a pool for them, and runs. (What is compared: ../parity.)"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "parity"))

import snapshot as parity_snapshot  # noqa: E402

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from drawn import drawn  # noqa: E402,F401

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE_CASE = os.path.join(os.path.dirname(HERE), "cases", "make-case")
SKIPPED = 77


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
        OMPI_MCA_mpi_yield_when_idle="1",
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


def snapshot(root):
    """Every entry below `root`, to be compared with what is there later: nothing but times may have changed."""
    return parity_snapshot.without_times(root)


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


def substitute(path, *pairs):
    with open(path) as file:
        text = file.read()
    for old, new in pairs:
        text, count = re.subn(old, new, text)
        if count == 0:
            raise RuntimeError(f"nothing like {old} in {path}")
    with open(path, "w") as file:
        file.write(text)


def numbers(text):
    """Of seeds: "1-20,37"."""
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


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
