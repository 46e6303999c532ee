"""The rules of src/run/core/decide.h once more, as short as Python lets them be: the specification that decide.cpp is compared with.

S1 to S7 are in docs/design.md, "Facts at rest". A state is (1, number, time); in programs without `uniform/time` (0, sequence, time).
"""

from dataclasses import dataclass

MOST_KEPT = 4  # S3: times kept that nothing newer supersedes


def is_mesh(name):
    return name.startswith("polyMesh/")


def is_cloud(name):
    return name.startswith("lagrangian/")


@dataclass
class Time:
    """What a look found of one time on one rank. own: names written since the line was begun."""

    line: tuple
    state: tuple | None
    left: bool
    whole: bool
    names: frozenset
    own: frozenset
    mesh: tuple | None
    mesh_there: bool
    kept: bool


def is_left(page, sequence):
    """S4: the rank and its writing threads have gone on; where threads may be and none has shown itself, by two lines."""
    if page["ended"]:
        return True
    if page["begun"] <= sequence:
        return False
    if page["place"]:
        return page["place"] > sequence
    return page["begun"] - sequence >= 2 or not page["collated"]


def can_be_judged(page, of):
    """S4: it did not change, no write failed, no late file of an older line can be here."""
    return not (of["changed"] or of["line"]["cut"] or (page["place"] and of["line"]["begun_before"]))


def is_being_removed(of):
    """S4: a state that had `uniform/time` and has it no more."""
    return of["line"]["state"] and "uniform/time" not in of["files"]


def are_closed(of, which=lambda name: True):
    return not any((is_open or torn) and which(name) for name, (is_open, torn, _) in of["files"].items())


def has_whole_mesh(page, of):
    return of is not None and any(map(is_mesh, of["files"])) and can_be_judged(page, of) and are_closed(of, is_mesh)


def times_of(look):
    page, lines = look["after"], {tuple(of["id"]): of for of in look["lines"]}
    times = []
    for line, of in lines.items():
        if not of["files"]:
            continue
        words, mesh = of["line"], of["line"]["mesh"] and tuple(of["line"]["mesh"])
        state = (1, words["state"], line[0]) if words["state"] else None if page["states"] else (0, line[1], line[0])
        left = is_left(look["before"], line[1])
        there = mesh is None or has_whole_mesh(page, lines.get(mesh))
        whole = left and can_be_judged(page, of) and not is_being_removed(of) and are_closed(of)
        own = frozenset(name for name, (_, _, modified) in of["files"].items() if modified >= words["begun_at"])
        times.append(Time(line, state, left, whole, frozenset(of["files"]), own, mesh, there, of["kept"]))
    return times


def common_states(times):
    """Every state that is whole on all ranks of the look: its parts, rank -> Time."""
    parts = [{t.state: t for t in mine if t.whole and t.state} for mine in times.values()]
    return {s: dict(zip(times, [p[s] for p in parts], strict=True)) for s in parts[0] if all(s in p for p in parts)}


def names_written(common):
    return frozenset().union(*[t.own for parts in common.values() for t in parts.values()])


def restartable(times, start, written):
    """R10: states that have the required names on all ranks, newest first."""
    common = common_states(times)
    if any(s[0] for s in common):
        common = {s: parts for s, parts in common.items() if s[0]}
    each = {s: frozenset.intersection(*[t.own for t in parts.values()]) for s, parts in common.items()}
    if start is not None:
        need = start & (written | names_written(common)) or start
    else:
        in_order = [each[s] for s in sorted(each)]
        need = frozenset.intersection(*sorted(in_order, key=len)[-2:]) if each else frozenset()
    need = frozenset(name for name in need if not is_cloud(name))
    judged = start or written
    good = [
        s
        for s, parts in common.items()
        if need and need <= each[s] and all(t.mesh_there and not (t.names - t.own) & judged for t in parts.values())
    ]
    return sorted(good, reverse=True)


def wanted(good, ledger, several, now, interval):
    """S6: one node: the newest when the interval is over; several: the first restartable state of each window of k."""
    last = max(ledger["carried"], default=(0, 0, ""))
    if not several:
        return good[:1] if good and good[0] > last and now - ledger["carried_at"] >= interval else []
    first = {}
    for s in sorted(good):
        first.setdefault((s[0], s[1] // ledger["window"]), s)
    return sorted(s for window, s in first.items() if window > (last[0], last[1] // ledger["window"]))


def to_free(times, good, hold):
    """S3: the lines in kept/ that may go."""
    common, go = common_states(times), []
    everyone = min(max((t.state for t in mine if t.left and t.state), default=(0, 0, "")) for mine in times.values())
    for rank, mine in times.items():
        parts = [common[s][rank] for s in hold if s in common]
        stay = {t.line for t in parts} | {t.mesh for t in parts}
        newer = [common[s][rank] for s in good]
        newest, rest = newer[0].line[1] if newer else 0, []
        for t in mine:
            if not t.kept or t.line in stay:
                continue
            names = {name for name in t.names if not is_cloud(name)}
            if any(u.line[1] > t.line[1] and names <= u.own for u in newer):
                go.append((rank, t.line))
            elif t.left and (not t.state or t.state <= everyone):
                rest.append(t)
        rest.sort(key=lambda t: (t.line[1] > newest, len(t.own) if t.line[1] > newest else 0, t.line[1]))
        go += [(rank, t.line) for t in rest[: max(0, len(rest) - MOST_KEPT)]]
    return go


def decide(call):
    """One call of the core, as the simulator writes it down -> actions in any order."""
    times = {rank: times_of(look) for rank, look in call["ranks"].items()}
    threads = any(look["after"]["place"] or look["after"]["collated"] for look in call["ranks"].values())
    start = None if call["start"] is None else frozenset(call["start"])
    ledger, several = call["ledger"], call["nodes"] > 1
    written = frozenset(ledger["written"])
    good = restartable(times, start, written)
    todo = wanted(good, ledger, several, call["now"], call["interval"])
    keep = 1 if not several else 4 if threads else 2
    actions = [("free", rank, line) for rank, line in to_free(times, good, good[:keep] + todo[-1:])]
    names = names_written(common_states(times))
    if not names <= written:
        actions.append(("written", names))
    if len(todo) > 1:
        actions.append(("pace", ledger["window"] * 2))
    elif several and ledger["window"] > 1 and call["now"] - ledger["carried_at"] > 3 * call["interval"]:
        actions.append(("pace", ledger["window"] // 2))
    if todo and not call["ended"]:
        actions.append(("carry" if todo[-1] in call["held"] else "take", todo[-1]))
    nothing = (frozenset(), False)
    others = [call["reports"].get(str(n), nothing) for n in range(call["nodes"]) if n != ledger["node"]]
    common = frozenset(ledger["carried"]).intersection(*[carried for carried, _ in others])
    if common and max(common) > (ledger["safe"] or (0, 0, "")):
        actions.append(("safe", max(common)))
    if ledger["drained"] and all(drained for _, drained in others):
        actions.append(("end",))
    return actions
