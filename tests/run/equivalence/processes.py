"""The processes of one run under forebay, found and killed wherever they are."""

import os
import signal
import time

MARK = "TEST_RUN"  # a variable of the environment that all processes of a run inherit


class Processes:
    """Those of one run, also where their parents are gone. `program` and `launcher` are the names of its processes."""

    def __init__(self, mark, program, launcher):
        self.mark = f"{MARK}={mark}".encode()
        self.program, self.launcher = program, launcher

    def all(self):
        return [pid for pid in (int(each) for each in os.listdir("/proc") if each.isdigit()) if self.is_ours(pid)]

    def is_ours(self, pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return self.mark in file.read().split(b"\0")
        except OSError:
            return False

    @staticmethod
    def stat(pid):
        """Name and parent."""
        try:
            with open(f"/proc/{pid}/stat", errors="replace") as file:
                name, rest = file.read().split(" (", 1)[1].rsplit(") ", 1)
                return name, int(rest.split()[1])
        except OSError:
            return "", 0

    def of_kind(self, kind, run):
        """Those of one of the kinds below; `run` is the process of `forebay run`."""
        found = {pid: self.stat(pid) for pid in self.all()}
        agents = [pid for pid, (name, _) in found.items() if name == "forebay-agent"]
        keepers = [found[agent][1] for agent in agents if found[agent][1] in found]
        return {
            "rank": lambda: [pid for pid, (name, _) in found.items() if name == self.program],
            self.launcher: lambda: [pid for pid, (name, _) in found.items() if name == self.launcher],
            "run": lambda: [run] if run in found else [],
            "exec": lambda: [found[each][1] for each in keepers if found[each][1] in found],
            "agent": lambda: agents,
            "keeper": lambda: keepers,
            "all": lambda: list(found),
            "all and the pool": lambda: list(found),
        }[kind]()

    def kill_all(self):
        while pids := self.all():
            for pid in pids:
                kill(pid)
            time.sleep(0.005)

    def names(self):
        return [f"{self.stat(pid)[0]} ({pid})" for pid in self.all()]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False
