"""What must be true of a run that the driver made. Pure: it compares what the program itself recorded with what lies on
the case and what forebay said; it asks nobody what is complete."""

import collections
import dataclasses
import errno
import posixpath

from plan import LATE, MIDDLE, START, STATE, Content, Lines

HOME, UNDRAINED, LOST, POOL_FULL = 0, 3, 4, 6
KILLED = 128 + 9
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


@dataclasses.dataclass(frozen=True)
class Event:
    """A line of a rank's record: it has begun ("b"), done ("e") or failed ("f") an operation, or has come to its end
    ("d")."""

    when: int
    rank: int
    mark: str
    number: int
    error: int = 0


@dataclasses.dataclass
class Seen:
    events: list  # of all ranks
    inputs: dict  # path -> bytes, None for a directory: what the case held before
    killed: bool = False  # the one that the plan names was there to be killed
    status: int | None = None  # of `forebay run`; None: it was killed
    report: dict | None = None
    resumed: int | None = None  # status of the `forebay drain --resume` that was needed; None: none was
    when_killed: dict | None = None  # the case at the moment of the plan
    safe_then: tuple = ()  # times that the agent had called safe before
    after: dict = dataclasses.field(default_factory=dict)  # the case in the end
    left: tuple = ()  # what forebay should have removed in the end, as paths
    hangs: tuple = ()  # processes that did not end


class World:
    """What the program's directory holds by the program's own record."""

    def __init__(self, program, seen):
        self.files = {path: data for path, data in seen.inputs.items() if data is not None}
        self.directories = {path for path, data in seen.inputs.items() if data is None}
        self.unsure = set()  # files and directories: an operation on them was begun and is not known to be done
        self.written = collections.defaultdict(set)  # path -> each whole content that it ever got
        for path, data in self.files.items():
            self.written[path].add(data)
        self.failed = set()  # errors
        self.ever_failed = set()  # paths of which an operation did
        self.half_failed = set()  # of these: open files of which the first half could not be written
        self.unseen = set()  # paths that were removed or renamed by children
        self.renamed = set()  # paths of directories that have another name now
        under_way = {}
        for event in sorted(seen.events, key=lambda each: each.when):
            if event.mark == "b":
                under_way[event.rank] = event.number
                operation = program.of_rank[event.rank][event.number]
                self.note_begun(operation)
            elif event.mark in "ef":
                del under_way[event.rank]
                operation = program.of_rank[event.rank][event.number]
                if event.mark == "e":
                    self.done(operation)
                else:
                    self.failed.add(event.error)
                    self.ever_failed.add(operation.path)
                    if operation.kind == "open":
                        self.half_failed.add(operation.path)
                    self.not_known(operation)
        for rank, number in under_way.items():
            self.not_known(program.of_rank[rank][number])

    def below(self, path):
        return [each for each in (*self.files, *self.directories) if each == path or each.startswith(path + "/")]

    def note_begun(self, operation):
        """Bytes may come under their name as soon as they are written, before it is recorded that they were."""
        kind, path = operation.kind, operation.path
        if kind in ("write", "open", "cut"):
            self.written[path].add(Content(path, operation.version, operation.size))
        elif kind == "append":
            self.written[path].add(self.lines(path, operation))
        elif kind == "rename":
            for each in [each for each in self.written if each == path or each.startswith(path + "/")]:
                self.written[operation.to + each[len(path) :]] |= self.written[each]
            failed = [each for each in self.ever_failed if each == path or each.startswith(path + "/")]
            self.ever_failed.update(operation.to + each[len(path) :] for each in failed)
        if operation.child and kind in ("remove", "purge", "rmDir", "rename"):
            self.unseen.update(self.below(path))

    def lines(self, path, operation):
        before = self.files.get(path, Lines())
        return Lines((*before.versions, operation.version)) if isinstance(before, Lines) else Lines()

    def sure(self, path, content):
        self.files[path] = content
        self.unsure.discard(path)

    def gone(self, path):
        self.files.pop(path, None)
        self.directories.discard(path)
        self.unsure.discard(path)

    def done(self, operation):
        kind, path = operation.kind, operation.path
        if kind == "mkdir":
            self.directories.add(path)
            self.unsure.discard(path)
        elif kind == "close" and path in self.half_failed:
            self.half_failed.remove(path)
        elif kind in ("write", "close"):
            self.sure(path, Content(path, operation.version, operation.size))
        elif kind == "open":
            self.not_known(operation)
        elif kind == "append" and path not in self.unsure:
            self.sure(path, self.lines(path, operation))
        elif kind == "remove":
            self.gone(path)
        elif kind in ("purge", "rmDir"):
            for each in [*self.below(path), *(each for each in self.unsure if each.startswith(path + "/"))]:
                self.gone(each)
        elif kind == "rename":
            self.rename(path, operation.to)

    def rename(self, path, to):
        if path in self.directories:
            self.renamed.add(path)
        unsure = [each for each in self.unsure if each == path or each.startswith(path + "/")]
        for each in {*self.below(path), *unsure}:
            name = to + each[len(path) :]
            self.gone(name)
            if each in self.directories:
                self.directories.add(name)
            if each in self.files:
                self.files[name] = self.files[each]
            if each in unsure:
                self.unsure.add(name)
            self.gone(each)

    def not_known(self, operation):
        kind, path = operation.kind, operation.path
        if kind in ("meet", "halt", "pause"):
            return
        self.unsure.add(path)
        if kind in ("purge", "rmDir", "rename"):
            below = self.below(path)
            self.unsure.update(below)
            if kind == "rename":
                self.unsure.update(operation.to + each[len(path) :] for each in [path, *below])


class Visits:
    """How far each rank has come with each time."""

    def __init__(self, program, seen):
        self.program = program
        self.begun, self.left_out = set(), set()
        wanted = collections.defaultdict(set)  # (visit, rank) -> numbers of operations that write its files
        self.contents = collections.defaultdict(dict)  # visit -> path on the case -> content, without LATE
        for rank, operations in enumerate(program.of_rank):
            for number, each in enumerate(operations):
                if each.visit is None:
                    continue
                key = (each.visit, each.of_rank)
                if each.kind in ("write", "open", "close", "cut", "rename"):
                    wanted[key].add((rank, number))
                if each.kind in ("write", "open", "cut") and not each.path.endswith(LATE):
                    path = each.path.removesuffix(".new")
                    self.contents[each.visit][path] = Content(each.path, each.version, each.size)
        done = {(each.rank, each.number) for each in seen.events if each.mark == "e"}
        late = {
            (rank, number)
            for rank, operations in enumerate(program.of_rank)
            for number, each in enumerate(operations)
            if each.path.endswith(LATE)
        }
        begun = {(each.rank, each.number) for each in seen.events if each.mark == "b"}
        self.made = self.of_visits("mkdir", done)  # (visit, rank): its directory is there
        self.begun = self.of_visits("mkdir", begun)
        self.whole = {key for key, numbers in wanted.items() if numbers - late <= done}
        self.with_late = {key for key, numbers in wanted.items() if numbers <= done}
        self.ranks = sorted({rank for _, rank in wanted})

    def of_visits(self, kind, among):
        return {
            (each.visit, each.of_rank)
            for rank, number in among
            if (each := self.program.of_rank[rank][number]).kind == kind and each.visit is not None
        }

    def by_all(self, number, keys):
        return all((number, rank) in keys for rank in self.ranks)

    def complete(self, number):
        """All ranks have written all of it."""
        return self.by_all(number, self.whole)

    def left(self, number):
        """And have gone on to the next."""
        return self.by_all(number, self.with_late) and self.by_all(number + 1, self.made)

    def of_time(self, time):
        return [number for number, visit in enumerate(self.program.visits) if visit.time == time]

    def written_again(self, number):
        later = [each for each in self.of_time(self.program.visits[number].time) if each > number]
        return any((each, rank) in self.begun for each in later for rank in self.ranks)


class Judge:
    def __init__(self, plan, program, seen):
        self.plan, self.program, self.seen = plan, program, seen
        self.world, self.visits = World(program, seen), Visits(program, seen)
        self.wrong = []
        ended = {each.rank for each in seen.events if each.mark == "d"}
        self.ran_to_its_end = len(ended) == plan.ranks

    def expect(self, truth, text):
        if not truth:
            self.wrong.append(text)
        return truth

    def judge(self):
        seen = self.seen
        self.expect(not seen.hangs, f"does not end: {', '.join(seen.hangs)}")
        self.statuses()
        if seen.when_killed is not None:
            self.nothing_half_written(seen.when_killed, "at the moment", ended=False)
            for time in seen.safe_then:
                # Once the program has ended, what it removed goes from the case before the agent tells again.
                gone = self.plan.moment == "end" and self.was_removed(time)
                self.expect(
                    gone or self.whole_on(seen.when_killed, time),
                    f"time {time} was called safe, and is not on the case",
                )
        self.nothing_half_written(seen.after, "in the end", ended=True)
        for time in seen.safe_then:
            self.nothing_safe_was_lost(time)
        if self.lost_its_pool:
            return self.wrong
        self.expect(not seen.left, f"left behind: {', '.join(seen.left)}")
        self.all_that_the_program_left()
        self.nothing_else()
        self.claims()
        if not self.ran_to_its_end:
            self.restart_points()
        return self.wrong

    # What happened.

    @property
    def lost_its_pool(self):
        return self.plan.death == "node" and self.seen.killed

    @property
    def ended_well(self):
        """The program has, and forebay knows it for sure."""
        if not self.ran_to_its_end:
            return False
        return not (self.seen.killed and self.plan.death in ("exec", "launcher", "all", "node"))

    @property
    def events_were_seen(self):
        """An agent lived as long as the program removed files."""
        return not (self.seen.killed and self.plan.death in ("agent", "all", "node"))

    # Statuses.

    def statuses(self):
        seen, death = self.seen, self.plan.death
        home = {HOME}
        if self.world.failed & set(NO_ROOM):
            library = self.plan.way != "path" and "child" not in (self.plan.written_by, self.plan.purged_by)
            home = {POOL_FULL} if library else {HOME, POOL_FULL}
        elif self.plan.pool != "roomy":
            home = {HOME, POOL_FULL}
        other = self.world.failed - set(NO_ROOM)
        if not self.world.failed & set(NO_ROOM):  # after such a failure others follow
            self.expect(
                not other, f"operations failed: {', '.join(errno.errorcode.get(each, str(each)) for each in other)}"
            )
        if seen.status is not None:
            due = home
            if death == "cut" or (seen.killed and death in ("rank", "exec", "launcher")):
                due = {KILLED} | (home if self.ran_to_its_end and death != "launcher" else set())
            self.expect(seen.status in due, f"forebay run ends with {seen.status} instead of {words(due)}")
        if seen.resumed is not None:
            due = {UNDRAINED, LOST, HOME} if self.lost_its_pool else home
            self.expect(seen.resumed in due, f"forebay drain --resume ends with {seen.resumed} instead of {words(due)}")
        elif seen.status is None and not self.lost_its_pool:
            self.expect(self.ran_to_its_end, "nothing was left to resume, though the run was killed")

    # The case.

    def nothing_half_written(self, case, when, ended):
        for path, data in case.items():
            if data is None or ".fb-" in path:
                continue
            if path in (self.world.unsure if ended else self.world.ever_failed):
                continue  # whatever a direct run leaves of it
            possible = self.world.written.get(path)
            if not self.expect(possible, f"{when} {path} is on the case, which nobody wrote"):
                continue
            whole = {each for content in possible for each in bytes_of(content)}
            self.expect(data in whole, f"{when} {path} is not whole: {len(data)} bytes, {data[-40:]!r}")

    def all_that_the_program_left(self):
        after = self.seen.after
        for path, content in self.world.files.items():
            if path in self.world.unsure:
                continue
            if not self.expect(path in after, f"{path} is not on the case"):
                continue
            data = content if isinstance(content, bytes) else content.bytes()
            self.expect(after[path] == data, f"{path} is another than the program left: {describe(after[path])}")
        for path in self.world.directories - self.world.unsure:
            self.expect(path in after, f"the directory {path} is not on the case")

    def nothing_else(self):
        known = {*self.world.files, *self.world.directories, *self.world.unsure}
        more = [path for path in self.seen.after if path not in known]
        if not self.events_were_seen:
            return  # what the program removed unseen is kept
        allowed = set()
        if not self.ended_well:
            allowed = {
                self.time_directory(number, rank)
                for number in range(len(self.program.visits))
                if self.visits.complete(number)
                for rank in self.visits.ranks
            }
        for path in sorted(more):
            if not any(path == each or path.startswith(each + "/") for each in allowed):
                self.wrong.append(f"{path} is on the case, though the program removed it")

    def time_directory(self, number, rank):
        return self.plan.directory(rank) + self.program.visits[number].time

    # Times.

    def has(self, case, number, names):
        """The case has these names of the visit, with its bytes, on all ranks."""
        contents = self.visits.contents[number]
        for rank in self.visits.ranks:
            for name in names:
                path = posixpath.join(self.time_directory(number, rank), name)
                if path not in contents or case.get(path) != contents[path].bytes():
                    return False
        return True

    def whole_on(self, case, time):
        if time == START:
            return True
        return any(self.has(case, number, self.program.visits[number].names) for number in self.visits.of_time(time))

    def nothing_safe_was_lost(self, time):
        """The case has this time, or a newer one with all that it has, or the program removed it and came to its end."""
        if self.whole_on(self.seen.after, time) or self.ended_well:
            return
        numbers = self.visits.of_time(time)
        names = self.program.visits[numbers[0]].names
        newer = [
            number
            for number in range(numbers[0] + 1, len(self.program.visits))
            if self.program.visits[number].has(names) and self.has(self.seen.after, number, names)
        ]
        self.expect(newer, f"time {time} was safe, and neither it nor a newer one is on the case in the end")

    def claims(self):
        report = self.seen.report or {}
        for key in ("last_complete", "last_safe"):
            time = report.get(key)
            if not time or time == START:
                continue
            complete = [number for number in self.visits.of_time(time) if self.visits.complete(number)]
            self.expect(complete, f"{key} is {time}, which not all ranks had written to its end")
            if not (self.ran_to_its_end and self.was_removed(time)):
                self.expect(self.whole_on(self.seen.after, time), f"{key} is {time}, which is not whole on the case")

    def was_removed(self, time):
        return all(self.plan.directory(rank) + time not in self.world.directories for rank in self.visits.ranks)

    def restart_points(self):
        """After a crash: of what all ranks had left behind, the newest time that a solver could go on from, or a newer
        one, and the newest that has all of its state."""
        wanted = [STATE]
        # Else a time with no more than these is not enough to go on from, or is no state of this program.
        if self.plan.start == MIDDLE and not any(visit.has(STATE) for visit in self.program.visits):
            wanted.append(MIDDLE)
        for names in wanted:
            left = [
                number
                for number, visit in enumerate(self.program.visits)
                if visit.has(names) and self.visits.left(number)
            ]
            if not left or self.is_the_programs_loss(left[-1]):
                continue
            found = [
                number
                for number in range(left[-1], len(self.program.visits))
                if self.program.visits[number].has(names) and self.has(self.seen.after, number, names)
            ]
            self.expect(
                found,
                f"all ranks had left time {self.program.visits[left[-1]].time} with {'+'.join(names)} behind, and neither it "
                "nor a newer one is on the case",
            )

    def is_the_programs_loss(self, number):
        """A direct run would have lost it in a way that nobody could see, or it has another name."""
        if self.visits.written_again(number):
            return True
        own = [self.time_directory(number, rank) for rank in self.visits.ranks]
        unseen = self.world.unseen if self.plan.way != "path" else self.removed()
        return any(path in unseen or path in self.world.renamed for path in own)

    def removed(self):
        begun = [
            self.program.of_rank[each.rank][each.number].path
            for each in self.seen.events
            if each.mark == "b" and self.program.of_rank[each.rank][each.number].kind in ("purge", "rmDir")
        ]
        return set(begun)


def bytes_of(content):
    """What a whole file with this content may hold. A log is whole after each of its lines."""
    if isinstance(content, bytes):
        return [content]
    if isinstance(content, Lines):
        return [each.bytes() for each in content.beginnings()]
    return [content.bytes()]


def words(statuses):
    return " or ".join(str(each) for each in sorted(statuses))


def describe(data):
    return "a directory" if data is None else f"{len(data)} bytes, {data[:100]!r}"
