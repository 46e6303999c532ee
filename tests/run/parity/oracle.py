"""Runs a program directly and under forebay, each on its own copy of one starting case, and judges what differs.

All runs happen at one path, one after the other, so that programs which tell or keep their directory agree. What a run left
is moved aside, where tests find it.
"""

import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import time
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "equivalence"))

import casetools  # noqa: E402
import comparison  # noqa: E402
import limits  # noqa: E402
import snapshot  # noqa: E402
from comparison import Difference  # noqa: E402

LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "srun")
# Stands for the program inside of forebay's view (snapshot.py). Without the site's packages it starts in 15 ms.
STAND_IN = """#!{python} -SEB
import sys
sys.path.insert(0, {here!r})
import snapshot
sys.exit(snapshot.stand_for_the_program(sys.argv[1:]))
"""


class Unusable(Exception):
    """The starting case or the command is none."""


class Run(NamedTuple):
    """What one run left: where it lies now, the look at it, the program's status and what it printed."""

    case: str
    look: dict
    status: int
    output: bytes
    errors: bytes
    started: int  # ns


class Verdict(NamedTuple):
    run: Run
    seen: dict | None  # the look from within, when the program had ended
    allowed: list  # of (place, difference, row of the table)
    different: list  # of (place, difference)

    def lines(self):
        return [f"{place}: {difference}" for place, difference in self.different]


class Settings(NamedTuple):
    way: str = "namespace"
    layout: str = "verbatim"
    when: str = "live"
    options: tuple = ()  # more words for `forebay run`
    ordered: bool = True  # the program writes its files one after the other (each rank those of its directory)


class Oracle:
    def __init__(self, directory, pool, forebay, user=None, variables=None, content_of=None, unlike=()):
        """`directory` and `pool` are empty and stay the caller's. `variables` are set for every run. `content_of(name, bytes)`
        tells what counts of a file, in a case (within the tree nobody can ask it); `unlike` are names of files whose content is
        never the same twice."""
        self.directory, self.pool, self.forebay = directory, pool, forebay
        self.user = pwd.getpwnam(user) if user else None
        self.variables, self.content_of = variables or {}, content_of
        self.unlike = unlike
        self.case = os.path.join(directory, "case")
        self.original = os.path.join(directory, "start", "case")
        self.rows = limits.read()
        self.number, self.prepare = 0, None
        self.directs = []
        for name in ("start", "stand-in", "home"):
            os.mkdir(os.path.join(directory, name))
        for name in ("stand-in", "home", pool) if self.user else ():
            os.chown(os.path.join(directory, name), self.user.pw_uid, self.user.pw_gid)

    # The starting case.

    def set_up(self, setup):
        """By a shell script: its text, or the file that holds it."""
        os.mkdir(self.case)
        if self.user:
            os.chown(self.case, self.user.pw_uid, self.user.pw_gid)
        words = ["sh", os.path.abspath(setup)] if os.path.isfile(setup) else ["sh", "-ec", setup]
        done = self.call(words)
        if done.returncode != 0:
            raise Unusable(f"the setup ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        os.rename(self.case, self.original)
        self.begin()

    def start_from(self, made, prepare=None):
        """A case that is there already. `prepare(case)` does to each copy what could not be copied."""
        self.prepare = prepare
        shutil.rmtree(os.path.dirname(self.original))
        os.mkdir(os.path.dirname(self.original))
        casetools.copy_case(made, self.original)
        self.begin()

    def begin(self):
        self.directs = []
        self.start = snapshot.take(self.original, self.content_of)

    # Runs.

    def call(self, words, timeout=120, **variables):
        environment = casetools.environment(**self.variables)
        if self.user:
            name = self.user.pw_name
            words = ["setpriv", "--reuid", name, "--regid", str(self.user.pw_gid), "--init-groups", *words]
            environment.update(HOME=os.path.join(self.directory, "home"), USER=name, LOGNAME=name)
        environment.update(variables)
        pipe, none = subprocess.PIPE, subprocess.DEVNULL
        try:
            process = subprocess.Popen(words, cwd=self.case, env=environment, stdin=none, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise Unusable(f"{words[0]}: {error.strerror}") from None
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            output, errors = process.communicate(timeout=30)
            raise Unusable(f"{words} did not end in {timeout} s:\n{errors.decode(errors='replace')}") from None
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def run(self, words, around=None, **variables):
        """On a new copy of the starting case. `around(case)` is a context in which the program runs."""
        casetools.copy_case(self.original, self.case)
        if self.prepare:
            self.prepare(self.case)
        started = time.time_ns()
        with around(self.case) if around else contextlib.nullcontext():
            done = self.call(words, **variables)
        look = snapshot.take(self.case, self.content_of)
        self.number += 1
        kept = os.path.join(self.directory, f"run{self.number}", "case")
        os.mkdir(os.path.dirname(kept))
        os.rename(self.case, kept)
        return Run(kept, look, done.returncode, done.stdout, done.stderr, started)

    def run_directly(self, words, times=2, around=None):
        """Twice, so that what a program does not do alike each time is not judged. Once where a test knows that the program
        does all alike: then what it printed is not judged, since it may tell the time."""
        self.directs = [self.run(words, around) for _ in range(times)]
        return self.directs

    def run_under_forebay(self, words, settings, around=None, look_within=True):
        """... and judge it by the direct runs."""
        options = ["--case", self.case, "--pool", self.pool, "--via", settings.way, "--layout", settings.layout]
        options += ["--drain-when", settings.when, "--set", "drain.settle=50ms", "--patience", "20s", *settings.options]
        variables, result = {}, os.path.join(self.directory, "stand-in", f"look{self.number}")
        if look_within:
            words, variables = self.with_stand_in(words, result)
        run = self.run([self.forebay, "run", "--quiet", *options, "--", *words], around, **variables)
        seen = None
        if look_within and os.path.exists(result):
            seen = snapshot.load(result)
        verdict = self.judge(run, seen, settings, look_within)
        for name in os.listdir(self.pool):  # what is left there would be told of the next run, too
            subprocess.run(["rm", "-rf", os.path.join(self.pool, name)], check=True)
        return verdict

    @contextlib.contextmanager
    def staged(self, case):
        """For `around`: copies of the inputs are in the pool before the run."""
        done = self.call([self.forebay, "stage", "--quiet", "--case", case, "--pool", self.pool])
        if done.returncode != 0:
            raise Unusable(f"forebay stage ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        yield

    def with_stand_in(self, words, result):
        at = 0
        if os.path.basename(words[0]) in LAUNCHERS:
            at = next((i for i, word in enumerate(words) if i > 0 and self.program(word)), None)
            if at is None:
                raise Unusable(f"no program in {words}")
        program = self.program(words[at])
        if program is None:
            raise Unusable(f"{words[at]} is no program")
        name = os.path.join(self.directory, "stand-in", os.path.basename(words[at]))
        python = "/usr/bin/python3" if self.user or not sys.executable else sys.executable
        with open(name, "w") as file:
            file.write(STAND_IN.format(python=python, here=HERE))
        os.chmod(name, 0o755)
        return [*words[:at], name, *words[at + 1 :]], {"PARITY_PROGRAM": program, "PARITY_LOOK": result}

    def program(self, word):
        """Where the program lies; one of the case by its path within."""
        if "/" not in word:
            return shutil.which(word)
        return word if os.access(os.path.join(self.original, word), os.X_OK) else None

    # What differs.

    def judge(self, run, seen, settings, look_within=True):
        allowed, different = [], []

        def add(place, found):
            may, may_not = limits.judge(self.rows, place, found, lambda each: self.circumstances(each, settings, seen))
            allowed.extend((place, *each) for each in may)
            different.extend((place, each) for each in may_not)

        add("run", self.run_differences(run, seen))
        if look_within and seen is None:
            different.append(("tree", Difference(".", "name", "a directory", comparison.ABSENT)))
        elif look_within:
            add("tree", self.differences(seen, settings))
        add("case", self.differences(run.look, settings))
        if seen:
            add("case", comparison.time_differences(seen, run.look))
        left = casetools.leftovers(run.case, self.pool)
        if left:
            first, more = os.fsdecode(left[0]), len(left) - 1
            different.append(("pool", Difference(first, "name", comparison.ABSENT, f"left behind, with {more} more")))
        return Verdict(run, seen, allowed, different)

    def continued(self, verdict, words, settings):
        """What differs on the case after the same words have been run, as they are, in what each run left."""
        looks = []
        for run in (*self.directs, verdict.run):
            casetools.run(words, cwd=run.case)
            looks.append(snapshot.take(run.case, self.content_of))
        self.directs = [run._replace(look=look) for run, look in zip(self.directs, looks[:-1], strict=True)]
        return self.judge(verdict.run._replace(look=looks[-1]), None, settings, look_within=False)

    def compare_cases(self, direct, other, settings):
        """What differs between two cases that were made elsewhere from the starting case."""
        runs = [Run(case, snapshot.take(case, self.content_of), 0, b"", b"", 0) for case in (direct, other)]
        self.directs = runs[:1]
        return self.judge(runs[1], None, settings, look_within=False)

    def differences(self, look, settings):
        direct = [each.look for each in self.directs]
        for entry in look["entries"].values():  # by the way path a program sees the tree's own path
            if "text" in entry:
                entry["text"] = entry["text"].replace(look["root"], direct[0]["root"])
        return comparison.differences(
            direct, look, started=self.directs[0].started, ordered=settings.ordered, unlike=self.unlike
        )

    def run_differences(self, run, seen):
        found = []
        first, second = self.directs[0], self.directs[-1]
        output = run.output.replace(os.fsencode(seen["root"]), os.fsencode(self.case)) if seen else run.output
        for name, one, two, value in (("status", first.status, second.status, run.status),
                                      ("output", first.output, second.output, output)):  # fmt: skip
            if len(self.directs) == 1 and name == "output":
                continue  # nobody knows whether it is the same each time
            if one == two != value:
                if name == "status":
                    value = f"{value}: {run.errors.decode(errors='replace')}"
                found.append(Difference(".", name, one, value))
        return found

    def circumstances(self, difference, settings, seen):
        """What the conditions of the table can ask for."""
        path, start, direct = difference.path, self.start["entries"], self.directs[0].look["entries"]
        origin, names = {"output"}, set()
        at_start = set(start.get(path, {}).get("links", []))
        directly = set(direct.get(path, {}).get("links", []))
        if path in start:
            touched = any(each.look["entries"].get(path) != start[path] for each in self.directs)
            origin = {"input", "written" if touched else "untouched"}
        if at_start:
            names.add("linked")
        if directly - at_start and not {path, *directly}.isdisjoint(start):
            names.add("joined")
        missing = set()
        if difference.forebay in (None, comparison.ABSENT):
            missing.add("absent")
        if difference.attribute == "mode" and int(difference.forebay, 8) ^ int(difference.direct, 8) == stat.S_ISGID:
            missing.add("setgid")
        inherits, parent = set(), direct.get(os.path.dirname(path) or ".", {})
        if "system.posix_acl_default" in parent.get("acl", ()):
            inherits.add("acl")
        if int(parent.get("mode", "0"), 8) & stat.S_ISGID:
            inherits.add("group")
        return {
            "way": {settings.way},
            "layout": {settings.layout},
            "drain": {settings.when},
            "user": {"ordinary" if self.user or os.geteuid() != 0 else "root"},
            "library": {"yes" if seen and seen.get("library") else "no"},
            "type": {difference.type},
            "origin": origin,
            "names": names,
            "forebay": missing,
            "inherits": inherits,
        }
