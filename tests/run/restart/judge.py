"""What must be true of a case after a kill. Nothing here asks forebay what is whole: the case is compared with the
uninterrupted run, byte by byte, and the times that the program had left behind are known from its own log."""

import glob
import json
import os

import casetools
from cavity import OTHER, SOLUTION, STATE, WHOLE, is_time, name_of, of_groups, solver, step_of
from plans import OBJECTS_EVERY, STATE_EVERY, STEPS

HOME, UNDRAINED, LOST = 0, 3, 4
GRACE = 1.5  # seconds from the safe interval's end until a state is on the case


class Judge:
    def __init__(self, run, reference):
        self.run, self.reference = run, reference
        self.plan, self.case, self.seen = run.plan, run.case, run.seen
        self.wrong = list(self.seen.wrong)
        self.told = ""

    def expect(self, truth, text):
        if not truth:
            self.wrong.append(text)
        return truth

    @property
    def pool_gone(self):
        return self.plan.kind == "all and the pool" and bool(self.seen.killed)

    def judge(self):
        self.as_it_was_left()
        self.bring_home()
        self.what_came_home()
        self.claims()
        start = self.set_aside()
        self.restart(start)
        return list(dict.fromkeys(self.wrong))

    # The case as the run left it.

    def as_it_was_left(self):
        if self.seen.status == 0:
            self.equal_to_the_reference("exit status 0")
        before = self.seen.safe_before
        now = self.case.newest(STATE)
        self.expect(now >= before, f"step {before} was safe on the case before the kill, now {now} is the newest")
        if self.pool_gone:
            left = self.seen.left_behind(self.seen.killed_at - self.plan.safe_interval - GRACE)
            # Writing threads may be one time behind.
            due = self.state_before(max(left - OBJECTS_EVERY, 0) if self.plan.io_ranks else left)
            self.expect(
                now >= due,
                f"the state of step {due} was complete {self.plan.safe_interval} s and {GRACE} s before the kill, "
                f"the case has {now}",
            )

    @staticmethod
    def state_before(step):
        return step // STATE_EVERY * STATE_EVERY

    def equal_to_the_reference(self, why):
        """All that an uninterrupted run leaves, and no cut file."""
        begun = 1 if self.plan.io_ranks else 0  # what decomposePar has collated ends in another way
        for step in range(begun, STEPS + 1):
            names = self.reference.names(step, self.plan.objects)
            if not names or not self.reference.kept(step, STEPS, self.plan):
                continue
            for rank in range(self.reference.ranks):
                for name in names:
                    found = self.case.file(rank, name_of(step), name)
                    self.expect(found == WHOLE, f"{why}: {name} of rank {rank} at {name_of(step)} is {found}")

    # Afterwards.

    def bring_home(self):
        """What a user does afterwards: resume, and where the pool is gone, give up what was in it."""
        mark = os.path.join(self.case.directory, ".forebay")
        told = glob.glob(os.path.join(mark, "node-*.json"))
        status, out, err = self.run.forebay("drain", "--resume", *self.run.pools())
        self.told += f"drain --resume: {status}\n{out}{err}"
        if os.path.exists(mark) and self.pool_gone:
            # A run that was killed before an agent had told of anything has lost nothing that is known.
            due = LOST if told else UNDRAINED
            self.expect(status == due, f"resume without the pool ends with {status}: {err}")
            status, out, err = self.run.forebay("clean", "--yes", "--throw-away", "--throw-away", *self.run.pools())
            self.told += f"clean: {status}\n{out}{err}"
        self.expect(status == HOME, f"bringing home ends with {status}: {err}")
        self.expect(not os.path.exists(mark), f"the mark of the run is left on the case: {err}")
        for directory, directories, files in os.walk(self.case.directory):
            for name in directories + files:
                self.expect(not name.startswith(".fb-"), f"a temporary name is left: {directory}/{name}")

    def what_came_home(self):
        newest = self.case.newest(STATE)
        self.expect(newest >= self.seen.safe_before, f"step {self.seen.safe_before} was safe, {newest} is left")
        for time in self.case.times():
            for rank in range(self.reference.ranks):
                for name in self.reference.names(step_of(time), self.plan.objects):
                    found = self.case.file(rank, time, name)
                    self.expect(found != OTHER, f"{name} of rank {rank} at {time} is {found} than the program wrote")
        if self.pool_gone:
            return
        # The pool is there, so nothing that all ranks had left behind may be missing or cut.
        last = self.seen.left_behind(self.seen.killed_at)
        state = self.state_before(last)
        self.expect(newest >= state, f"all ranks had left the state of step {state} behind, the newest is {newest}")
        for step in range(1, last + 1):
            if self.reference.kept(step, newest, self.plan) or step == state:
                for rank in range(self.reference.ranks):
                    for name in self.reference.names(step, self.plan.objects):
                        found = self.case.file(rank, name_of(step), name)
                        self.expect(
                            found == WHOLE or (step == state and newest > state),
                            f"{name} of rank {rank} at {name_of(step)} is {found}, though all ranks had left it behind",
                        )

    def claims(self):
        """What the run's report and summary say."""
        newest = self.case.newest(SOLUTION)
        report = self.seen.report or {}
        for key in ("last_complete", "last_safe"):
            time = report.get(key)
            if time and not (key == "last_complete" and self.pool_gone):
                step = step_of(time)
                there = step == 0 or self.case.has(time, SOLUTION)
                purged = not self.reference.kept(step, newest, self.plan)
                self.expect(there or purged, f"{key} is {time}, where not all ranks have U and p; {newest} is")

    def set_aside(self):
        """What `forebay restartable` says and does, and the step from which a restart begins."""
        solution, state = self.case.newest(SOLUTION), self.case.newest(STATE)
        files = self.files()
        status, out, err = self.run.forebay("restartable", "--json", "--case", self.case.directory)
        self.told += f"restartable: {status}\n{out}{err}"
        self.expect(self.files() == files, "`forebay restartable` changed the case")
        try:
            told = json.loads(out)
        except ValueError:
            told = {}
        self.expect(status == 0, f"`forebay restartable` ends with {status}: {err}")
        named = told.get("restartable")
        self.expect(
            named is not None and step_of(named) == solution,
            f"`forebay restartable` names {named}, the newest that can be started from is {name_of(solution)}",
        )
        newer = [step_of(each["time"]) for each in told.get("newer", [])]
        above = [step for step in map(step_of, self.case.times()) if step > solution]
        self.expect(sorted(newer) == sorted(above), f"`forebay restartable` names {newer} as newer, there are {above}")
        if 0 < state < solution:
            older = [each for each in told.get("older", []) if step_of(each["time"]) == state]
            self.expect(
                older and all("phi" in names for names in older[0]["has"].values()),
                f"`forebay restartable` does not say that {name_of(state)} has phi, and {name_of(solution)} has not",
            )
        status, out, err = self.run.forebay("restartable", "--set-aside", "--case", self.case.directory)
        self.told += f"restartable --set-aside: {status}\n{out}{err}"
        self.expect(status == 0, f"`forebay restartable --set-aside` ends with {status}: {err}")
        self.expect(sorted(self.files().values()) == sorted(files.values()), "--set-aside lost files")
        times = self.case.times()
        if not self.expect(
            times and step_of(times[0]) == solution, f"after --set-aside {times[:1]} is the newest time"
        ):
            self.set_aside_ourselves(solution)
        return solution, state

    def set_aside_ourselves(self, step):
        """So that the rest of the campaign can be run with a forebay that does it wrong."""
        aside = os.path.join(os.path.dirname(self.case.directory), "aside")
        os.makedirs(aside)
        places = self.reference.directories() + [os.path.basename(group) for group, _, _ in self.case.groups()]
        for place in places:
            directory = os.path.join(self.case.directory, place)
            for name in os.listdir(directory) if os.path.isdir(directory) else []:
                if is_time(name) and step_of(name) > step:
                    os.rename(os.path.join(directory, name), os.path.join(aside, f"{place}-{name}"))

    def files(self):
        """Path -> (inode, size) of all files of the case."""
        found = {}
        for directory, _, names in os.walk(self.case.directory):
            for name in names:
                status = os.lstat(os.path.join(directory, name))
                found[os.path.join(directory, name)] = (status.st_ino, status.st_size)
        return found

    def restart(self, start):
        solution, state = start
        try:
            line = solver(self.plan.ranks, io_ranks=self.plan.io_ranks)
            done = casetools.run(line, self.case.directory, timeout=300, **of_groups(self.plan.io_ranks))
        except RuntimeError as error:
            self.wrong.append(f"the restart from step {solution} fails: {error}")
            return
        output = done.stdout.decode(errors="replace")
        self.expect("\nEnd\n" in output, f"the restart from step {solution} does not come to its end")
        for rank in range(self.reference.ranks):
            for name in (*STATE, "vorticity") if "vorticity" in self.plan.objects else STATE:
                found = self.case.file(rank, name_of(STEPS), name)
                # From U and p alone the flux is interpolated: then the end is another one.
                good = (WHOLE,) if solution == state or name == "uniform/time" else (WHOLE, OTHER)
                self.expect(
                    found in good, f"restarted from step {solution}, {name} of rank {rank} is {found} at the end"
                )
