"""Nodes of a lab, and what the tests do with them."""

import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import processes  # noqa: E402
from drawn import drawn  # noqa: E402,F401

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(HERE, "lab")
MAKE_CASE = os.path.join(HERE, "..", "cases", "make-case")
SKIP = 77


class Lab:
    """Some nodes, up as long as it is open."""

    def __init__(self, nodes, *options):
        self.state = os.path.join(tempfile.mkdtemp(prefix="forebay-nodes-", dir="/var/tmp"), "lab")
        done = subprocess.run([LAB, "up", self.state, str(nodes), *options], capture_output=True, text=True)
        if done.returncode != 0:
            self.close()
            print(done.stderr.strip())
            sys.exit(SKIP if done.returncode == SKIP else 1)
        self.shared = os.path.join(self.state, "shared")

    def close(self):
        subprocess.run([LAB, "down", self.state], check=False)
        shutil.rmtree(os.path.dirname(self.state), ignore_errors=True)

    def command(self, node, *words):
        return [LAB, "in", self.state, node, "env", "WM_PROJECT_DIR=/usr/share/openfoam", *words]

    def start(self, node, *words, directory=None):
        """Runs in a process group of its own, so that the end of a test can end all of it. `directory`: where the user
        stands, on the shared file system."""
        stands = ("env", "-C", self.seen(directory)) if directory else ()
        return subprocess.Popen(
            self.command(node, *stands, *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            cwd="/",
        )

    def run(self, node, *words, timeout=120, directory=None):
        process = self.start(node, *words, directory=directory)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            raise AssertionError(f"took longer than {timeout} s: {words}\n{output[-3000:]}") from None
        return process.returncode, output

    def kill(self, node):
        subprocess.run([LAB, "kill", self.state, node], check=True)

    def restart(self, node):
        subprocess.run([LAB, "start", self.state, node], check=True)

    def make_case(self, name, tutorial, *options):
        path = os.path.join(self.shared, name)
        subprocess.run([MAKE_CASE, tutorial, path, *options], check=True)
        return path

    def copy_case(self, case, name):
        path = os.path.join(self.shared, name)
        shutil.copytree(case, path, symlinks=True)
        return path

    def seen(self, path):
        """How a node sees a path of the shared directory."""
        return path.replace(self.shared, "/mnt/shared", 1)


def interrupt(run):
    """As Ctrl-C does; returns what the run has printed. Open MPI's mpirun may wait for itself for ever in its handler of
    the signal, with forebay or without: then it is killed, as its user would do."""
    os.killpg(run.pid, signal.SIGINT)
    try:
        return run.communicate(timeout=20)[0]
    except subprocess.TimeoutExpired:
        for pid in processes.everyone():
            if is_mpirun_of(pid, run.pid):
                print(f"mpirun ({pid}) does not end by SIGINT")
                processes.kill(pid)
    return run.communicate(timeout=60)[0]


def is_mpirun_of(pid, group):
    try:
        return processes.name_of(pid) == "mpirun" and os.getpgid(pid) == group
    except OSError:  # it has just ended
        return False


def parallel(*options, ranks=4, hosts="n1:2,n2:2"):
    """Unbound: bound ranks of two nodes would fight for the same core of this machine."""
    if not any(option.startswith("--bind-to") for option in options):
        options = ("--bind-to", "none", *options)
    return ["mpirun", "--host", hosts, "-n", str(ranks), *options, "-x", "WM_PROJECT_DIR"]


def report_of(path):
    with open(path) as file:
        return json.load(file)


def times_of(case, rank):
    """Names of the time directories that a rank has, directly or in a group, but for 0."""
    found = set()
    for entry in os.listdir(case):
        group = re.fullmatch(r"processors\d+(?:_(\d+)-(\d+))?", entry)
        inside = group and (group[1] is None or int(group[1]) <= rank <= int(group[2]))
        if entry == f"processor{rank}" or inside:
            found |= {name for name in os.listdir(os.path.join(case, entry)) if re.fullmatch(r"[0-9.e-]+", name)}
    return found - {"0"}


def common_times(case, ranks):
    return set.intersection(*(times_of(case, rank) for rank in range(ranks)))


def differences(left, right, ignore=("log",)):
    """Paths that are on one side only or differ in content, relative."""
    found = []
    compared = filecmp.dircmp(left, right, ignore=list(ignore), hide=[])
    found += [f"only in {left}: {name}" for name in compared.left_only]
    found += [f"only in {right}: {name}" for name in compared.right_only]
    _, mismatch, errors = filecmp.cmpfiles(left, right, compared.common_files, shallow=False)
    found += [f"differs: {os.path.join(left, name)}" for name in mismatch + errors]
    for name in compared.common_dirs:
        found += differences(os.path.join(left, name), os.path.join(right, name), ignore)
    return found


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"did not happen within {seconds} s: {what}")
