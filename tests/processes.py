"""The processes of this machine, read from /proc, and those of one run under forebay, found and killed wherever they are.

A process may end between two looks at it: what has ended is told as nothing, never as an error."""

import os
import signal
import time

MARK = "TEST_RUN"  # a variable of the environment that all processes of a run inherit


def read(pid, name):
    """The bytes of /proc/PID/NAME; none where the process has ended, or belongs to somebody else."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def everyone():
    return [int(each) for each in os.listdir("/proc") if each.isdigit()]


def stat(pid):
    """Name, state (Z: ended, but not waited for) and parent; "", "Z" and 0 of one that is gone."""
    text = read(pid, "stat").decode(errors="replace")
    if not text:
        return "", "Z", 0
    name, rest = text.split(" (", 1)[1].rsplit(") ", 1)
    state, parent = rest.split()[:2]
    return name, state, int(parent)


def name_of(pid):
    return stat(pid)[0]


def parent_of(pid):
    return stat(pid)[2]


def is_alive(pid):
    return stat(pid)[1] != "Z"


def tree(pid):
    """The process, its children, theirs, and so on."""
    children = {}
    for each in everyone():
        children.setdefault(stat(each)[2], []).append(each)
    found = [pid]
    for each in found:
        found.extend(children.get(each, []))
    return found


def mentioning(words, name=None):
    """Processes with `words` in their arguments or environment, of `name` where one is given."""
    words = os.fsencode(words)
    return [
        pid
        for pid in everyone()
        if (name is None or name_of(pid) == name) and (words in read(pid, "cmdline") or words in read(pid, "environ"))
    ]


def kill(pid, number=signal.SIGKILL):
    """Whether the process was still there."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def kill_until_none(find):
    """Kills what `find` lists until that is nothing: a process that is being listed may be making another one."""
    while pids := find():
        for pid in pids:
            kill(pid)
        time.sleep(0.005)


def kill_mentioning(*words):
    kill_until_none(lambda: [pid for each in words for pid in mentioning(each)])


class Processes:
    """Those of one run, also where their parents are gone. `program` and `launcher` are the names of its processes."""

    def __init__(self, mark, program, launcher):
        self.mark = f"{MARK}={mark}".encode()
        self.program, self.launcher = program, launcher

    def all(self):
        return [pid for pid in everyone() if self.mark in read(pid, "environ").split(b"\0")]

    def of_kind(self, kind, run):
        """Those of one of the kinds below; `run` is the process of `forebay run`."""
        found = {pid: stat(pid) for pid in self.all()}
        agents = [pid for pid, (name, _, _) in found.items() if name == "forebay-agent"]
        keepers = [found[agent][2] for agent in agents if found[agent][2] in found]
        return {
            "rank": lambda: [pid for pid, (name, _, _) in found.items() if name == self.program],
            self.launcher: lambda: [pid for pid, (name, _, _) in found.items() if name == self.launcher],
            "run": lambda: [run] if run in found else [],
            "exec": lambda: [found[each][2] for each in keepers if found[each][2] in found],
            "agent": lambda: agents,
            "keeper": lambda: keepers,
            "all": lambda: list(found),
            "all and the pool": lambda: list(found),
        }[kind]()

    def kill_all(self):
        kill_until_none(self.all)

    def names(self):
        return [f"{name_of(pid)} ({pid})" for pid in self.all()]
