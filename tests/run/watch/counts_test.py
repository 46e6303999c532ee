"""What watching costs, by counts: the agent's processor time and its wakes beside a program with a hundred open files, that
grow and that do not; and the system calls of a program for each time that it writes."""

import collections
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outputs"))
import outputcase  # noqa: E402
from outputcase import OutputCase, processes  # noqa: E402

FILES = 100
# Each file grows five times a second, or stands still.
HOLDS = (
    """
import os, sys, time
os.makedirs("postProcessing/probes/0")
files = [open(f"postProcessing/probes/0/{number}", "w") for number in range(%d)]
for file in files: print("# Probe 0 (0 0 0)", file=file, flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.2)
    for file in files if sys.argv[2] == "grow" else (): print("0.005 0.25 (1 0 0)", file=file, flush=True)
"""
    % FILES
)
REFRESH = 1  # seconds: five times as often as where nobody says
MOST_OF_A_CORE, MOST_WAKES = 0.02, 2  # of the time, and a second
BEFORE, WINDOW = 9, 4  # seconds: until all is as it stays, and over which is counted
TRIES = 3  # what else the machine does only adds to what is counted

# Writes so many times as OpenFOAM does, of which it keeps two, with a log and a history.
WRITES = """
import os, shutil, sys
log = open("log", "w")
for step in range(1, int(sys.argv[1]) + 1):
    os.makedirs(f"{step}/uniform")
    for name in ("U", "p", "phi", "uniform/time"):
        with open(f"{step}/{name}", "w") as file: file.write("1" * 1000)
    print(step, file=log, flush=True)
    with open("history", "a") as file: file.write("line\\n")
    if step > 2:
        for name in ("U", "p", "phi", "uniform/time"): os.unlink(f"{step - 2}/{name}")
        os.rmdir(f"{step - 2}/uniform"); os.rmdir(f"{step - 2}")
"""
FEW, MANY = 5, 15
# For a written time, more than directly: names are looked up, and each of the four files that the program removes is
# renamed instead. Before purges were renames it took 14, 20.5 and 0.
MORE = {"namespace": 14, "redirect": 20, "path": 0}


class Used:
    """By all threads of a process so far."""

    def __init__(self, pid):
        self.seconds = self.wakes = 0
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                self.seconds += int(file.read().split()[0]) / 1e9
            with open(f"/proc/{pid}/task/{thread}/status") as file:
                self.wakes += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])


class Agent(OutputCase):
    def begin(self, name, *options):
        case = self.case(name)
        program, word = (os.path.join(self.directory, each) for each in ("holds.py", f"stop-{name}"))
        with open(program, "w") as file:
            file.write(HOLDS)
        run = self.start(self.line("redirect", f"exec {sys.executable} {program} {word} {name}", *options), case)
        self.addCleanup(lambda: run.poll() is None and self.kill_all(run))
        return case, run, word

    def agent_of(self, case):
        found = [pid for pid in processes.everyone() if processes.name_of(pid) == "forebay-agent"]
        return [
            pid for pid in found if os.fsencode(case) in processes.read(pid, "cmdline") + processes.read(pid, "environ")
        ]

    def test_the_agent_takes_next_to_nothing(self):
        runs = {name: self.begin(name, "--set", f"drain.refresh={REFRESH}s") for name in ("grow", "still")}
        began = time.monotonic()
        agents = {}
        while len(agents) < 2 and time.monotonic() < began + 20:
            agents = {name: agent[0] for name, (case, _, _) in runs.items() if (agent := self.agent_of(case))}
            time.sleep(0.05)
        time.sleep(BEFORE)
        part, wakes = dict.fromkeys(agents, 1.0), dict.fromkeys(agents, 1e9)
        for _ in range(TRIES):
            if all(each < MOST_OF_A_CORE for each in part.values()) and wakes["still"] <= MOST_WAKES:
                break
            before = {name: Used(pid) for name, pid in agents.items()}
            time.sleep(WINDOW)
            used = {name: Used(pid) for name, pid in agents.items()}
            for name in agents:
                part[name] = min(part[name], (used[name].seconds - before[name].seconds) / WINDOW)
                wakes[name] = min(wakes[name], (used[name].wakes - before[name].wakes) / WINDOW)
        print(f"of a core: {part}, wakes a second: {wakes}")
        for name, (case, run, word) in runs.items():
            held = os.path.join(case, "postProcessing/probes/0")
            self.assertEqual(len(os.listdir(held)), FILES, "they are on the case")
            with open(word, "w"):
                pass
            self.assertEqual(self.finish(run), 0, self.output)
            self.assertLess(part[name], MOST_OF_A_CORE, name)
        self.assertLessEqual(wakes["still"], MOST_WAKES)


class Program(OutputCase):
    def calls(self, way, steps, attempt):
        """How many of each the program made."""
        name = f"{way}-{steps}-{attempt}"
        program, trace = os.path.join(self.directory, "writes.py"), os.path.join(self.directory, f"trace-{name}")
        line = f"exec strace -qq -e signal=none -o {trace} {sys.executable} -S {program} {steps}"
        self.assertEqual(self.run_in(self.case(name), way, line), 0, self.output)
        with open(trace, errors="replace") as file:
            return collections.Counter(line.partition("(")[0] for line in file)

    def of_one_step(self, way, attempt=0):
        calls = self.calls(way, MANY, attempt)
        calls.subtract(self.calls(way, FEW, attempt))
        return {name: count / (MANY - FEW) for name, count in calls.items() if count}

    def test_a_written_time_takes_as_many_calls_as_before(self):
        if (
            not shutil.which("strace")
            or subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], check=False).returncode
        ):
            self.skipTest("strace is not here, or may not attach")
        with open(os.path.join(self.directory, "writes.py"), "w") as file:
            file.write(WRITES)
        direct = self.of_one_step("direct")

        def check(way):
            for attempt in range(TRIES):
                found = self.of_one_step(way, attempt)
                more = sum(found.values()) - sum(direct.values())
                if more <= MORE[way]:
                    return
            self.fail(f"directly {direct}, by {way} {found}")

        self.in_each_way(check)


if __name__ == "__main__":
    outputcase.main()
