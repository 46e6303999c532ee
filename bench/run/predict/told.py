"""What is told: text, JSON, and a page."""

import json
import os
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from measure import page
from measure.figures import plain, plural

from . import model, seeds
from .machine import KEYS, Machine, load, presets
from .model import Case, Operations, Outcome, Settings, drained
from .plot import plot
from .units import human, span

TITLE = "forebay predict: "
PAGE = page.kind_of("page of forebay predict", TITLE)
STYLE = """<style>
.words td:last-child, .words th:last-child { text-align: left; min-width: 11rem; }
@media (max-width: 640px) { .words td:last-child { display: block; } .words td:last-child::before { content: none; } }
</style>"""


@dataclass(frozen=True)
class Prediction:
    machine: Machine
    case: Case
    settings: Settings
    given: dict[str, str]  # of the case's values: where each comes from

    def days(self, **changed: float) -> tuple[Outcome, ...]:
        """On a bad day, likely, on a good day; of the case with these values changed."""
        case, machine = replace(self.case, **changed), self.machine
        return model.days(case, machine.shared(), machine.medium(), self.settings, machine.spread, machine.local_spread)

    def verdict(self) -> tuple[str, float, float]:
        return model.verdict(*self.days())

    def change(self) -> tuple[str, float] | None:
        return model.best_change(self.case, self.machine.shared(), self.machine.medium(), self.settings)

    def deciding(self) -> list[str]:
        """Assumed values of the machine that, halved or doubled, would give another verdict."""
        found = []
        for place in self.machine.assumed():
            others = [replace(self, machine=self.machine.with_scaled(place, by)) for by in (0.5, 2)]
            if any(other.verdict()[0] != self.verdict()[0] for other in others):
                found.append(".".join(place))
        return found


FIGURES = (  # of an Outcome: key, name, unit
    ("step", "a step without output", "s"),
    ("direct", "a step, directly", "s"),
    ("live", "a step, forebay, drained live", "s"),
    ("end", "a step, forebay, drained at the end", "s"),
    ("metadata", "metadata of a written step, directly", "s"),
    ("data", "data of a written step, directly", "s"),
    ("drain", "drain of a written step", "s"),
    ("period", "from one written step to the next", "s"),
    ("pool_live", "pool of a node, drained live", "B"),
    ("pool_end", "pool of a node, drained at the end", "B"),
    ("tail_live", "drain after the last step, live", "s"),
    ("tail_end", "drain after the last step, at the end", "s"),
    ("run_direct", "the whole run, directly", "s"),
    ("run_live", "the whole run, forebay, drained live", "s"),
    ("run_end", "the whole run, forebay, drained at the end", "s"),
)


def figures(days: tuple[Outcome, ...]) -> list[dict]:
    """Each with its interval, from a good day to a bad one or the other way round."""
    found = []
    for key, name, unit in FIGURES:
        values = [getattr(day, key) for day in days]
        found.append(
            {"key": key, "name": name, "value": values[1], "unit": unit, "interval": [min(values), max(values)]}
        )
    return found


def rows(days: tuple[Outcome, ...]) -> list[list[str]]:
    """[name, likely, interval] of each figure."""
    found = []
    for figure in figures(days):
        likely, low, high = map(human if figure["unit"] == "B" else span, (figure["value"], *figure["interval"]))
        found.append([figure["name"], likely, "as given" if figure["key"] == "step" else f"{low} to {high}"])
    return found


def pace(days: tuple[Outcome, ...]) -> list[str]:
    """Whether the drain keeps up, from which step on the program is held, and what the pool must hold."""
    bad, likely, _ = days
    lines = []
    if likely.keeps_up:
        lines.append("the drain keeps up" + ("" if bad.keeps_up else ", but not on a bad day"))
    elif likely.arrives > 1:
        lines.append(
            f"the drain does not keep up, and holds nothing: one of {plural(likely.arrives, 'written step')} reaches the case, "
            "the others are purged before"
        )
    else:
        lines.append("the drain does not keep up")
    if likely.keeps_up and likely.arrives > 1:
        lines.append(
            "times that the program purges wait for drain.safe_interval: the newest whole one then, one of "
            f"{plural(likely.arrives, 'written step')}, and the last reach the case"
        )
    for way, held, on_bad in (
        ("drained live", likely.held_live, bad.held_live),
        ("drained at the end", likely.held_end, bad.held_end),
    ):
        if held:
            lines.append(f"{way}, a full pool holds the program from step {held:.0f} on, to the drain's pace")
        elif on_bad:
            lines.append(f"{way}, on a bad day a full pool holds the program from step {on_bad:.0f} on")
    lines.append(
        f"the pools of a node hold {human(likely.budget)}; needed are {human(likely.pool_live)} live, "
        f"{human(likely.pool_end)} at the end"
    )
    if not likely.fits:
        lines.append(
            "what must be in a pool at once does not fit: more nodes, --budget, another medium or a smaller purgeWrite"
        )
    return lines


def asked_of_metadata(prediction: Prediction) -> dict[str, Operations]:
    """At one written step, of all ranks."""
    return {"directly": prediction.case.operations, "drain": drained(prediction.case, prediction.settings)}


def counts(prediction: Prediction) -> str:
    said = [f"{who} " + ", ".join(f"{plain(count)} {name}" for name, count in vars(asked).items() if count)
            for who, asked in asked_of_metadata(prediction).items()]  # fmt: skip
    return f"metadata operations of a written step: {'; '.join(said)}"


def conclusion(prediction: Prediction) -> list[str]:
    word, ratio, least = prediction.verdict()
    lines = [f"forebay {word}: the run takes 1/{ratio:.2f} of the time (at least 1/{least:.2f})"]
    if change := prediction.change():
        lines.append(f"the change that helps most: {change[0]}; the run takes {span(change[1])} then")
    else:
        lines.append("no single change shortens the run with forebay by 2 %")
    if deciding := prediction.deciding():
        lines.append(f"the verdict hangs on assumed values: {', '.join(deciding)}; measure them")
    return lines


def subject(prediction: Prediction) -> str:
    case = prediction.case
    written = "all" if case.every == 1 else f"one in {plain(case.every)}"
    amount = f"{human(case.bytes)} in {plural(case.files, 'file')} and {plural(case.dirs, 'directory')}"
    beside = f"; {plain(case.jobs)} such runs at once" if case.jobs > 1 else ""
    ranks = f"{plural(case.ranks, 'rank')} on {plural(case.nodes, 'node')}; {plural(case.steps, 'step')}, {written} written, by each rank {amount}"
    return f"{ranks}; purgeWrite {plain(case.purge)}{beside}"


def plain_value(value: float) -> str:
    return plain(value, 6)


def shown(place: tuple[str, str], value: object) -> str:
    """A value of the machine."""
    say = human if "bytes" in KEYS[place[0]][place[1]] else plain_value
    if isinstance(value, tuple):
        return ", ".join(f"{plain(n)}: {say(rate)}" for n, rate in value)
    return say(value) if isinstance(value, float) else str(value)


def sources(prediction: Prediction) -> list[tuple[str, str, str]]:
    """(name, value, source) of all that went in."""
    values = {key: getattr(prediction.case, key) for key in prediction.given}
    shown_values = {key: human(value) if key == "bytes" else plain_value(value) for key, value in values.items()}
    case = [(f"case.{key}", shown_values[key], source) for key, source in prediction.given.items()]
    return case + of_machine(prediction.machine)


def of_machine(machine: Machine) -> list[tuple[str, str, str]]:
    return [(".".join(place), shown(place, value.value), value.source) for place, value in machine.sources().items()]


def columns(cells: list[tuple[str, str, str]]) -> list[str]:
    widths = [max(len(row[i]) for row in cells) for i in range(2)]
    return [f"  {row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip() for row in cells]


def presets_text() -> str:
    loaded = {name: load([name]) for name in presets()}
    return "\n".join(
        line for name, each in loaded.items() for line in (f"{name}: {each.name}", *columns(of_machine(each)))
    )


def text(prediction: Prediction) -> str:
    days = prediction.days()
    verdict, *more = conclusion(prediction)
    told = [
        prediction.machine.name,
        subject(prediction),
        "",
        *columns(rows(days)),
        "",
        *pace(days),
        counts(prediction),
        f"=> {verdict}",
        *more,
    ]
    return "\n".join([*told, "", *columns(sources(prediction))])


def as_json(prediction: Prediction) -> str:
    days = prediction.days()
    bad, likely, good = days
    word, ratio, least = prediction.verdict()
    told = {
        "forebay_version": os.environ.get("FOREBAY_VERSION"),
        "machine": prediction.machine.name,
        "results": figures(days),
        "keeps_up": {"bad_day": bad.keeps_up, "likely": likely.keeps_up, "good_day": good.keeps_up},
        "held_from_step": {"live": likely.held_live, "end": likely.held_end},
        "one_arrives_of": likely.arrives,
        "operations": {who: vars(asked) for who, asked in asked_of_metadata(prediction).items()},
        "budget": likely.budget,
        "verdict": word,
        "ratio": ratio,
        "ratio_at_least": least,
        "change": prediction.change(),
        "decided_by_assumed": prediction.deciding(),
        "sources": [dict(zip(("name", "value", "from"), each, strict=True)) for each in sources(prediction)],
    }
    return json.dumps(told, indent=1)


def write_page(prediction: Prediction, to: Path) -> None:
    days = prediction.days()
    said = "".join(f"<p>{escape(line)}</p>" for line in (*pace(days), counts(prediction), *conclusion(prediction)[1:]))

    figures_of_days = page.cards(["", "likely", "a good day to a bad one"], rows(days)) + said
    plots = page.on_both(lambda narrow: plot(prediction.days, prediction.case, narrow))
    values = page.cards(["", "value", "from"], [list(row) for row in sources(prediction)], "words")
    sections = [
        ("Seconds per step over the write interval", STYLE + plots),
        ("Figures", figures_of_days),
        ("Where each value comes from", values),
        ("The formulas and what they were fitted to", page.cards(*seed_table()) + said_of_seeds()),
    ]
    page.write(
        to, PAGE, TITLE + prediction.machine.name, f"{conclusion(prediction)[0]}. {subject(prediction)}.", sections
    )


def seed_table() -> tuple[list[str], list[list[str]]]:
    def percent(value: float | None, otherwise: str) -> str:
        return otherwise if value is None else f"{value:+.1%}"

    cells = []
    for line in seeds.table():
        seed = "not fitted" if line.seed is None else f"{plain_value(line.seed)} {line.unit}"
        alone = "" if line.seed is None else percent(line.left_out, "says nothing")
        cells.append([f"{line.group}: {line.name}", seed, plain(line.fitted, 4), percent(line.error, ""), alone])
    return ["seed", "seen", "formula", "error", "fitted without it"], cells


def said_of_seeds() -> str:
    items = "".join(f"<li>{escape(each)}</li>" for each in seeds.CONTRADICTIONS)
    return f"<p>Not modelled: {escape(seeds.NOT_MODELLED)}.</p><h3>Where the seeds contradict themselves</h3><ul>{items}</ul>"


def seeds_text() -> str:
    header, cells = seed_table()
    lines = [f"{row[0]:<76}{row[1]:>12}{row[2]:>11}{row[3]:>9}{row[4]:>18}" for row in (header, *cells)]
    lines += ["", f"Not modelled: {seeds.NOT_MODELLED}.", "", "Where the seeds contradict themselves:"]
    return "\n".join([*lines, *(f"- {each}" for each in seeds.CONTRADICTIONS)])


def seeds_json() -> str:
    lines = [vars(line) for line in seeds.table()]
    told = {"seeds": lines, "not_modelled": seeds.NOT_MODELLED, "contradictions": seeds.CONTRADICTIONS}
    return json.dumps({"forebay_version": os.environ.get("FOREBAY_VERSION"), **told}, indent=1)
