#!/usr/bin/env python3
"""forebay report: how steady a run was. Started by the command: report.py PAGE REPORT... ("": no page).
docs/run/report.md tells what it shows."""

import signal
import sys
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from measure import page, result_file  # noqa: E402
from measure.figures import plural  # noqa: E402

from run.predict.units import human, span  # noqa: E402
from run.report.course import BadInput, Run, read  # noqa: E402
from run.report.drawing import NARROW, WIDE, Scale, did, draw, lasted  # noqa: E402

STYLE = """<style>
.told { color: #4b5563; margin: .2rem 0 .6rem; overflow-wrap: anywhere; }
.alone thead { display: none; } .words td, .words th { vertical-align: top; }
.words td:last-child, .words th:last-child { text-align: left; white-space: normal; }
@media (max-width: 640px) {
  th, td { padding: .3rem .5rem; } td:first-child { white-space: normal; }
  .words table, .words thead, .words tbody, .words tr, .words td { display: block; } .words thead { display: none; }
  .words tr { border-bottom: 1px solid #e5e7eb; padding: .4rem 0; } .words td { border: 0; padding: 0; }
  .words td:not(:last-child) { display: inline-block; font-weight: 600; margin-right: .5rem; }
}
</style>"""
LETTERS = "ABCDEFGH"
TITLE = "forebay report: "
PAGE = page.kind_of("page of forebay report", TITLE)
AT_LEAST = "at least "


def figures(run: Run) -> list[tuple[str, float, str]]:
    """Name, value and how it is written."""
    words = {"median": "median", "p90": "90 % within", "p99": "99 % within", "longest": "longest"}
    marks = [(f"per written time, {words[mark]}", run.marks[mark]) for mark in words]
    found = [(name, value, span(value)) for name, value in marks] if run.times else []
    held, busy = run.total("held"), run.total("busy")
    carried = run.total("carried_bytes")
    fullest = max(each.fill for each in run.course)
    return [
        ("written times after the first", run.times, str(run.times)),
        *found,
        ("held back", held, span(held) if held else "never"),
        ("drain at work", busy, span(busy)),
        ("written locally", run.written, f"{AT_LEAST if run.at_least else ''}{human(run.written)}"),
        ("brought to the case", carried, human(carried)),
        ("fullest pool", fullest, f"{fullest * 100:.0f} %"),
        ("program ended", run.ended, span(run.ended)),
        ("all done", run.course[-1].end, span(run.course[-1].end)),
    ]


def compared(runs: list[Run]) -> tuple[list[str], list[list[str]]]:
    """One column for each run; of two also the second by the first."""
    columns = [{name: (value, words) for name, value, words in figures(run)} for run in runs]
    rows = []
    for name in max(columns, key=len):
        cells = [column.get(name, (0, "")) for column in columns]
        row = [name, *(words for _, words in cells)]
        if len(runs) == 2:
            compares = cells[0][0] and cells[1][0] and not any("%" in words or AT_LEAST in words for _, words in cells)
            row.append(f"{cells[1][0] / cells[0][0]:.2f}" if compares else "")
        rows.append(row)
    letters = list(LETTERS[: len(runs)]) if len(runs) > 1 else [""]
    return ["", *letters, *(["B / A"] if len(runs) == 2 else [])], rows


def subject(run: Run) -> str:
    on = plural(run.ranks, "rank") if run.ranks else "one program"
    node = f"; shown is {run.node}, one of {plural(run.nodes, 'node')}" if run.nodes > 1 else ""
    return f"run {run.name} on {run.case}, {on}{node}"


def noticed(run: Run) -> str:
    """Whose times these are, and which of them are no more than means."""
    if not run.times:
        return "No program is known to have written two times that the case did not have, so there is nothing to tell of them."
    on = f" of {plural(run.on_ranks, 'rank')}" if run.on_ranks else ""
    by = f"{run.program} wrote the times{on}."
    if not run.times_together:
        return by
    return (
        f"{by} {run.times_together} of {run.times} were noticed together with others: each of these has their mean, and "
        "is no measurement of its own."
    )


def text(runs: list[Run]) -> str:
    header, rows = compared(runs)
    lines = []
    for letter, run in zip(LETTERS, runs, strict=False):
        lines += [f"{letter}: {subject(run)}" if len(runs) > 1 else subject(run), noticed(run)]
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in ([header] if len(runs) > 1 else []) + rows:
        cells = [cell.rjust(width + 2) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append(f"  {row[0].ljust(widths[0])}{''.join(cells)}")
    for letter, run in zip(LETTERS, runs, strict=False):
        if not run.worst:
            continue
        lines.append(f"the longest between written times{f' of {letter}' if len(runs) > 1 else ''}")
        lines += [f"  before time {time}: {lasted(each)} at {span(each.begin)}; {did(each)}" for time, each in run.worst]  # fmt: skip
    return "\n".join(line for line in lines if line)


def write_page(runs: list[Run], to: Path) -> None:
    header, rows = compared(runs)
    scale = Scale.of(runs)
    figures_of_all = (
        "Figures",
        page.table(header, rows, "" if len(runs) > 1 else "alone"),
    )
    sections = [figures_of_all] if len(runs) > 1 else []
    for letter, run in zip(LETTERS, runs, strict=False):
        of = f" of {letter}" if len(runs) > 1 else ""
        drawn = page.on_both(lambda narrow, run=run: draw(run, scale, NARROW if narrow else WIDE))
        about = f'<p class="told">{escape(f"{subject(run)}. {noticed(run)}")}</p>'
        sections.append((f"The course{of}", about + drawn))
        cells = [[f"before time {time}:", lasted(each), f"at {span(each.begin)}", did(each)] for time, each in run.worst]  # fmt: skip
        if cells:
            table = page.table(["written time", "lasted", "began", "what forebay did"], cells, "words")
            sections.append((f"The longest between written times{of}", table))
    sections += [figures_of_all] if len(runs) == 1 else []
    sections.append(
        (
            "How to read it",
            f"{STYLE}<p class=note>A dot is the seconds from the beginning of one written time to that of the next, as the "
            "agent saw them (one or many time steps of the solver), or the mean of neighbours, from whose shortest to whose "
            "longest a bar reaches. It is pale where times were noticed together, and only their mean is known. Circles are "
            "the longest. Second 0 is when the agent began. The background is coloured while programs were held back since a pool was nearly full, and the strip below "
            "the bytes while the drain had work. Runs that are compared have the same scales.</p>",
        )
    )
    first = runs[0]
    lead = (
        f"From one written time of {first.program} to the next it took {span(first.marks['median'])} or less in half of "
        f"the cases, {span(first.marks['longest'])} at most."
        if len(runs) == 1 and first.times
        else " ".join(f"{letter} is {subject(run)}." for letter, run in zip(LETTERS, runs, strict=False))
        if len(runs) > 1
        else f"{subject(first)}."
    )
    page.write(to, PAGE, f"{TITLE}{plural(len(runs), 'run') if len(runs) > 1 else first.name}", lead, sections)


def refuse_other(to: Path, reports: list[str]) -> None:
    if to.exists() and any(to.samefile(path) for path in reports):
        raise BadInput(f"the page {to} would overwrite a report: give another --page")
    result_file.check(to, PAGE, "--page")


def main() -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # of a reader that has seen enough
    sys.stdout.reconfigure(errors="backslashreplace")
    to, *paths = sys.argv[1:]
    try:
        if len(paths) > len(LETTERS):
            raise BadInput(f"{len(paths)} reports are too many to be compared: give {len(LETTERS)} at most")
        runs = [read(path) for path in paths]
    except BadInput as why:
        print(f"forebay: {why}", file=sys.stderr)
        return 2
    if to:
        try:
            refuse_other(Path(to), paths)
            write_page(runs, Path(to))
        except (BadInput, result_file.Refused) as why:
            print(f"forebay: {why}", file=sys.stderr)
            return 2
        except OSError as why:
            print(f"forebay: cannot write the page {to}: {why.strerror}", file=sys.stderr)
            return 1
    print(text(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
