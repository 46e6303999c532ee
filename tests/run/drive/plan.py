#!/usr/bin/env python3
"""What a seed stands for: a case, a program for each of its ranks, and what happens to the run. Pure: the same seed gives
the same plan, so that one that fails can be done again.

    plan.py SEED        prints it
"""

import dataclasses
import random
import sys

SEEDS = range(1, 2001)
FIXED = range(1, 61)  # those of `make test`

STATE = ("U", "p", "phi", "uniform/time")  # what the solver goes on from
MIDDLE = ("U", "p")  # as a function object `writeObjects` writes between two states
POOR = ("vorticity",)
LATE = "uniform/functionObjects/functionObjectProperties"  # OpenFOAM writes it when it begins the next time
START = "0"

# Who or what dies. "cut": a rank in the middle of a file, by itself; "node": all processes, and the pool is gone;
# "look": nobody, but the case is looked at then.
DEATHS = ("none", "look", "cut", "rank", "agent", "keeper", "run", "exec", "launcher", "all", "node")
UNLAUNCHED_DEATHS = tuple(death for death in DEATHS if death not in ("rank", "launcher"))
AFTER_THE_PROGRAM = ("agent", "keeper", "run", "all", "node")  # may die while results are brought home, too


@dataclasses.dataclass(frozen=True)
class Content:
    """Of a field: every byte tells what it should be."""

    label: str  # the path that it was written to
    version: int
    size: int

    def bytes(self):
        head = f"FoamFile\n{{\n    class volScalarField;\n    object {self.label};\n    version {self.version};\n}}\n"
        line = f"{self.label} {self.version}\n"
        tail = "\n// ************* //\n"
        text = head + line * ((self.size - len(head)) // len(line) + 1)
        return (text[: self.size - len(tail)] + tail).encode()


@dataclasses.dataclass(frozen=True)
class Lines:
    """Of a log: one line for each version that was appended."""

    versions: tuple = ()

    def bytes(self):
        return "".join(f"version {version}\n" for version in self.versions).encode()

    def beginnings(self):
        return [Lines(self.versions[:count]) for count in range(len(self.versions) + 1)]


@dataclasses.dataclass(frozen=True)
class Operation:
    """One line of a rank's program; player.c says what each kind does."""

    kind: str
    path: str = "-"
    to: str = "-"
    size: int = 0
    version: int = 0
    child: bool = False  # done by a process in which the library is not loaded
    # What it does, for the judge: a part of this visit of a time, in this rank's directory.
    visit: int | None = None
    of_rank: int | None = None

    def line(self):
        return f"{self.kind} {int(self.child)} {self.path} {self.to} {self.size} {self.version}\n"


@dataclasses.dataclass(frozen=True)
class Visit:
    """A time that the program writes; one that it writes again is another visit."""

    time: str
    names: tuple  # on every rank; that of LATE is not among them

    def has(self, names):
        return set(names) <= set(self.names)


@dataclasses.dataclass(frozen=True)
class Plan:
    seed: int
    ranks: int  # 1: undecomposed, without a launcher
    # The program.
    start: tuple  # names of the time that the case begins with; (): it has none
    times: tuple  # in the order in which they are visited
    state_every: int  # visits; the others write `between`
    between: tuple
    purge: int  # so many times are kept; 0: all
    purge_is_told: bool  # controlDict has it
    purged_by: str  # "file by file", "whole", "child", "rank 0"
    written_by: str  # "each rank", "rank 0", "child"
    late: str  # LATE is written "before" the next time is made, "after", or "never"
    lagging: str  # this name is written to its end after the next time was made; "": none
    renamed: str  # this name is written under another one first; "": none
    moved_visit: int | None  # the time of this visit gets another name that is none of a time
    logs: bool
    together: bool  # ranks meet before each time
    bytes: int
    pause: int  # milliseconds before each time
    spread: int  # and so many more for each rank
    # The run.
    way: str
    drain_when: str
    safe_interval: int
    pool: str  # "roomy", "budget", "small"
    pool_bytes: int
    carrying: str  # "fast", "slow bytes", "slow calls"
    death: str
    moment: str  # "operation": a rank has come so far; "end": the program has ended
    who: int  # the rank that dies, or that comes to the moment
    share: float  # of its operations until then
    delay: float  # seconds after the end

    def describe(self):
        died = self.death
        if self.death not in ("none", "cut"):
            died += f" at {self.share:.0%} of rank {self.who}" if self.moment == "operation" else " after the end"
        return (
            f"{died}; {self.ranks} ranks, {self.way}, times {' '.join(self.times)}, start {len(self.start)}, "
            f"state every {self.state_every} between {'+'.join(self.between)}, purge {self.purge} {self.purged_by}"
            f"{'' if self.purge_is_told else ' untold'}, written by {self.written_by}, late {self.late}, "
            f"lagging {self.lagging or 'none'}, renamed {self.renamed or 'none'}, moved {self.moved_visit}, "
            f"pause {self.pause}+{self.spread} ms{', together' if self.together else ''}, {self.bytes} bytes, "
            f"{self.drain_when}, safe {self.safe_interval} s, {self.pool} pool {self.pool_bytes}, {self.carrying}"
        )

    @property
    def launched(self):
        return self.ranks > 1

    def directory(self, rank):
        """Of a rank's times, with a slash behind it."""
        return f"processor{rank}/" if self.launched else ""


def plan_of(seed):
    chance = random.Random(seed)
    often = lambda share: chance.random() < share  # noqa: E731
    ranks = chance.choice((1, 2, 2, 2, 3, 4))
    steps = chance.randint(4, 9)
    order = list(range(1, steps + 1))
    if often(0.2):  # goes back, and writes times again
        back = chance.randint(1, 3)
        order += order[-back:] + [steps + 1, steps + 2]
    width = chance.choice((1, 1, 0.5, 0.005))
    state_every = chance.choice((1, 1, 1, 2, 3))
    purge = chance.choice((0, 0, 1, 1, 2))
    purged_by = "rank 0" if often(0.08) else "child" if often(0.08) else chance.choice(("file by file", "whole"))
    written_by = "rank 0" if often(0.08) else "child" if often(0.12) else "each rank"
    if ranks == 1:
        purged_by, written_by = purged_by.replace("rank 0", "whole"), written_by.replace("rank 0", "each rank")
    slow = often(0.25)
    moved_visit = chance.randrange(len(order) - 1) if often(0.08) else None
    pool = chance.choices(("roomy", "budget", "small"), (8, 1, 1))[0]
    carrying = chance.choices(("fast", "slow bytes", "slow calls"), (6, 1, 2))[0]
    size = chance.choice((400, 900, 3000, 12000))
    if pool == "roomy":
        pool_bytes = 0
    else:
        size = 20000
        # Less than this is refused as a budget.
        pool_bytes = round(size * 4 * ranks * chance.uniform(1, 4)) + ((930 if pool == "budget" else 300) << 10)
    deaths = UNLAUNCHED_DEATHS if ranks == 1 else DEATHS
    death = chance.choices(deaths, [3 if each in ("none", "cut", "all") else 2 for each in deaths])[0]
    moment = "end" if death in AFTER_THE_PROGRAM and often(0.3) else "operation"
    return Plan(
        seed=seed,
        ranks=ranks,
        start=chance.choice((STATE, MIDDLE, MIDDLE, ())),
        times=tuple(f"{step * width:g}" for step in order),
        state_every=state_every,
        between=chance.choice((POOR, MIDDLE)),
        purge=purge,
        purge_is_told=purge > 0 and often(0.7),
        purged_by=purged_by,
        written_by=written_by,
        late=chance.choice(("before", "before", "after", "never")),
        lagging=chance.choice(("", "", "", "", "U", "uniform/time")),
        renamed=chance.choice(("", "", "", "p")),
        moved_visit=moved_visit,
        logs=often(0.5),
        together=often(0.6),
        bytes=size,
        pause=chance.randint(100, 180) if slow else chance.choice((0, 2, 10, 30, 60)),
        spread=chance.choice((0, 0, 1, 7)),
        way=chance.choice(("namespace", "namespace", "namespace", "redirect", "redirect", "path")),
        drain_when=chance.choice(("live", "live", "end")),
        safe_interval=chance.choice((1, 1, 600)),
        pool=pool,
        pool_bytes=pool_bytes,
        carrying=carrying,
        death=death,
        moment=moment,
        who=0 if written_by == "rank 0" else chance.randrange(ranks),
        share=chance.uniform(0.3, 0.98),
        delay=chance.choice((0, 0.002, 0.01, 0.03, 0.1)),
    )


@dataclasses.dataclass(frozen=True)
class Program:
    visits: tuple
    of_rank: tuple  # operations of each rank, in their order


class _Writer:
    """Puts a program together."""

    def __init__(self, plan):
        self.plan = plan
        self.visits = [
            Visit(time, STATE if (number + 1) % plan.state_every == 0 else plan.between)
            for number, time in enumerate(plan.times)
        ]
        self.operations = [[] for _ in range(plan.ranks)]
        self.version = self.meetings = 0
        self.kept = []  # times, the oldest first

    def add(self, rank, kind, path="-", **more):
        self.operations[rank].append(Operation(kind, path, **more))

    def add_version(self, rank, kind, path, **more):
        self.version += 1
        self.add(rank, kind, path, version=self.version, **more)

    def meet(self):
        if self.plan.launched:
            self.meetings += 1
            for rank in range(self.plan.ranks):
                self.add(rank, "meet", size=self.meetings)

    def program(self):
        plan = self.plan
        self.meet()
        for number in range(len(self.visits)):
            if plan.together or plan.written_by == "rank 0":
                self.meet()
            for rank in range(plan.ranks):
                pause = plan.pause + plan.spread * rank
                if pause:
                    self.add(rank, "pause", size=pause)
            for rank in range(plan.ranks):
                self.visit(0 if plan.written_by == "rank 0" else rank, rank, number)
            self.remove_old(number)
            for rank in range(plan.ranks):
                self.write_logs(rank, number)
        for rank in range(plan.ranks):
            by = 0 if plan.written_by == "rank 0" else rank
            last = len(self.visits) - 1
            self.finish_lagging(by, rank, last)
            if plan.late != "never":
                self.write_late(by, rank, last)
        return Program(tuple(self.visits), tuple(tuple(each) for each in self.operations))

    def path(self, rank, number, name):
        return f"{self.plan.directory(rank)}{self.visits[number].time}/{name}"

    def visit(self, by, rank, number):
        plan, own = self.plan, self.plan.directory(rank)
        if number > 0 and plan.late == "before":
            self.write_late(by, rank, number - 1)
        self.add(by, "mkdir", own + self.visits[number].time, visit=number, of_rank=rank)
        if number > 0:
            self.finish_lagging(by, rank, number - 1)
            if plan.late == "after":
                self.write_late(by, rank, number - 1)
        for name in self.visits[number].names:
            if "/" in name:
                self.add(by, "mkdir", self.path(rank, number, "uniform"), visit=number, of_rank=rank)
            self.write(by, rank, number, name)

    def write(self, by, rank, number, name):
        plan, path = self.plan, self.path(rank, number, name)
        size = 250 if "/" in name else plan.bytes
        of = {"visit": number, "of_rank": rank}
        child = plan.written_by == "child"
        if name == plan.lagging:
            self.add_version(by, "open", path, size=size, **of)
        elif name == plan.renamed:
            self.add_version(by, "write", path + ".new", size=size, child=child, **of)
            self.add(by, "rename", path + ".new", to=path, child=child, **of)
        else:
            self.add_version(by, "write", path, size=size, child=child and name != "p", **of)

    def finish_lagging(self, by, rank, number):
        path = self.path(rank, number, self.plan.lagging)
        opened = [each for each in self.operations[by] if each.kind == "open" and each.path == path]
        if self.plan.lagging in self.visits[number].names:
            self.operations[by].append(dataclasses.replace(opened[-1], kind="close"))

    def write_late(self, by, rank, number):
        if not self.visits[number].has(STATE):
            return
        for directory in ("uniform", "uniform/functionObjects"):
            self.add(by, "mkdir", self.path(rank, number, directory), visit=number, of_rank=rank)
        self.add_version(by, "write", self.path(rank, number, LATE), size=300, visit=number, of_rank=rank)

    def remove_old(self, number):
        """What is removed or renamed is no longer written: the late and lagging files of the visit before are."""
        plan, time = self.plan, self.visits[number].time
        if time in self.kept:
            self.kept.remove(time)
        self.kept.append(time)
        moved = self.visits[plan.moved_visit].time if plan.moved_visit is not None else None
        if plan.moved_visit == number - 1 and moved in self.kept[:-1] and plan.times.count(moved) == 1:
            self.kept.remove(moved)
            for rank in range(plan.ranks):
                by = 0 if plan.written_by == "rank 0" else rank
                own = plan.directory(rank)
                self.add(by, "rename", own + moved, to=f"{own}saved_{moved}")
        while 0 < plan.purge < len(self.kept):
            oldest = self.kept.pop(0)
            by_first = "rank 0" in (plan.purged_by, plan.written_by)
            if by_first:
                self.meet()
            for rank in range(plan.ranks):
                kind = "rmDir" if plan.purged_by == "whole" else "purge"
                path = plan.directory(rank) + oldest
                self.add(0 if by_first else rank, kind, path, child=plan.purged_by == "child")
            if by_first:
                self.meet()

    def write_logs(self, rank, number):
        if not self.plan.logs:
            return
        own = self.plan.directory(rank)
        log = f"{own}log"
        self.add_version(rank, "append", log)
        if number % 4 == 2:  # rotated
            self.add(rank, "rename", log, to=f"{log}.old")
        if number % 4 == 3:
            self.add(rank, "remove", f"{log}.old")


def program_of(plan):
    program = _Writer(plan).program()
    if plan.death == "none" or plan.moment == "end":
        return program
    operations = list(program.of_rank[plan.who])
    at = max(1, round(plan.share * len(operations)))  # not before the first meeting
    if plan.death == "cut":
        while at > 0 and (at == len(operations) or operations[at].kind not in ("write", "open")):
            at -= 1
        operations[at] = dataclasses.replace(operations[at], kind="cut", child=False)
    else:
        operations.insert(min(at, len(operations)), Operation("halt"))
    ranks = list(program.of_rank)
    ranks[plan.who] = tuple(operations)
    return dataclasses.replace(program, of_rank=tuple(ranks))


def main():
    plan = plan_of(int(sys.argv[1]))
    print(f"seed {plan.seed}: {plan.describe()}")
    for rank, operations in enumerate(program_of(plan).of_rank):
        print(f"rank {rank}")
        for number, operation in enumerate(operations):
            print(f"{number:5} {operation.line()}", end="")


if __name__ == "__main__":
    main()
