#!/usr/bin/env python3
"""forebay predict: would it pay on that machine? Started by the command, with one JSON object: what was asked
(src/run/cli/predict.cpp). docs/run/predict.md tells of the formulas."""

import json
import shlex
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from measure import result_file  # noqa: E402
from measure.figures import plain, plural  # noqa: E402

from run.predict import machine as machines  # noqa: E402
from run.predict import model, told  # noqa: E402
from run.predict.fit import Run, calibrated, run_of_report  # noqa: E402
from run.predict.machine import BadInput, Machine, Value  # noqa: E402

UNMEASURED = "nfs"  # whose values stand for what reports do not tell
DEFAULTS = {"nodes": 1, "dirs": 3, "every": 1, "steps": 100, "purge": 0, "jobs": 1}
FLAGS = {"ranks": "--ranks", "files": "--files", "bytes": "--bytes", "step": "--step"}


def read_reports(paths: list[str]) -> list[tuple[Run, dict]]:
    found = []
    for path in paths:
        try:
            report = json.loads(Path(path).read_text())
            found.append((run_of_report(report, len(report["nodes"])), report))
        except OSError as why:
            raise BadInput(f"cannot read {path}: {why.strerror}") from why
        except (KeyError, TypeError, UnicodeError, json.JSONDecodeError) as why:
            raise BadInput(f"{path} is no report of a run; `forebay run --json FILE` writes one") from why
        except ValueError as why:
            raise BadInput(f"{path}: {why}; take a report of a longer run, with output") from why
    return found


def no_machine(asked: dict) -> BadInput:
    """With the commands that measure this one; what cannot be measured here is that of nfs."""
    shared = shlex.quote(asked.get("facts", {}).get("case", "."))
    return BadInput(
        "no machine is named. Measure this one, on its shared file system, and ask again:\n"
        f"  forebay bench io /dev/shm --shared {shared} -o machine.toml\n"
        f"  forebay predict --machine nfs --machine machine.toml{asked['typed']}\n"
        f"Or give --calibrate REPORT, or --machine with one that is known: {', '.join(machines.presets())}"
    )


def machine_of(words: list[str], runs: list[Run], settings: model.Settings) -> Machine:
    """What was named, corrected by what runs have shown."""
    machine = machines.load(words or [UNMEASURED])
    if not runs:
        return machine
    if not words:
        machine.name = f"what {len(runs)} report(s) tell, and otherwise {machine.name}"
    shared = calibrated(machine.shared(), runs, settings)
    source = f"measured: {len(runs)} report(s)"
    for key in ("write", *model.RATES):
        before = machine.get("shared", key)
        if before and abs(getattr(shared, key) / before - 1) > 0.05:  # else no report says anything of it
            machine.values["shared", key] = Value(getattr(shared, key), source)
    quartiles = max(machine.get("shared", "quartiles", 1.0), *(run.quartiles for run in runs))
    if quartiles > 1:
        machine.values["shared", "quartiles"] = Value(quartiles, source)
    machine.values.pop(("shared", "write_kept"), None)
    return machine


def told_by_report(run: Run, report: dict, medium: model.Medium) -> dict[str, float]:
    """What it says of a case; the step's time only where nothing held the program back."""
    case = run.case
    values = {"ranks": case.ranks, "nodes": case.nodes, "bytes": case.bytes, "files": case.files}
    if report["step_seconds"] and not any(node.get("paused_milliseconds") for node in report["nodes"]):
        values["every"] = max(1.0, report["written_time_seconds"] / report["step_seconds"])
        values["step"] = max(1e-6, report["step_seconds"] - model.local_write(case, medium) / values["every"])
    return values


def case_of(asked: dict, facts: dict, report: dict[str, float]) -> tuple[model.Case, dict[str, str]]:
    """The case, and where each value comes from: an option, the case, the last report, a default."""
    facts = dict(facts)
    values: dict[str, float] = {}
    sources: dict[str, str] = {}
    ranks = asked.get("ranks") or facts.get("ranks") or report.get("ranks")
    if "bytes" not in facts and "cells" in facts and ranks:
        facts |= {"bytes": model.CASE_BYTES_PER_CELL * facts["cells"] / ranks, "files": model.CASE_FILES}
        facts["sizes_of"] = f"{plural(round(facts['cells']), 'cell')}, assumed {model.CASE_BYTES_PER_CELL:g} B each"
    for key in ("step", "ranks", "nodes", "files", "dirs", "bytes", "every", "steps", "purge", "jobs"):
        if key in asked:
            values[key], sources[key] = asked[key], "as given"
        elif key in facts:
            of_sizes = f", {facts['sizes_of']}" if key in ("bytes", "files", "dirs") and "sizes_of" in facts else ""
            values[key], sources[key] = facts[key], f"the case {facts['case']}{of_sizes}"
        elif key in report:
            values[key], sources[key] = report[key], "the last report"
        elif key in DEFAULTS:
            values[key], sources[key] = DEFAULTS[key], "default"
    if missing := [flag for key, flag in FLAGS.items() if key not in values]:
        hint = "" if facts else ", or --case DIR of an OpenFOAM case that has written"
        raise BadInput(f"neither the case nor a report tells all that is needed: give {', '.join(missing)}{hint}")
    values["every"] = max(1.0, round(values["every"]))
    values["steps"] = max(values["every"], round(values["steps"]))
    if values["nodes"] > values["ranks"]:
        raise BadInput(
            f"more nodes ({plain(values['nodes'])}) than ranks ({plain(values['ranks'])}): say fewer --nodes"
        )
    return model.Case(**values), sources


def predict(asked: dict) -> told.Prediction:
    settings = model.Settings(**asked["settings"])
    reports = read_reports(asked["reports"])
    if not asked["machines"] and not reports:
        raise no_machine(asked)
    machine = machine_of(asked["machines"], [run for run, _ in reports], settings)
    report = told_by_report(*reports[-1], machine.medium()) if reports else {}
    case, given = case_of(asked, asked.get("facts", {}), report)
    return told.Prediction(machine, case, settings, given)


def main() -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # of a reader that has seen enough
    asked = json.loads(sys.argv[1])
    as_json = asked.get("json", False)
    try:
        if asked.get("presets"):
            print(told.presets_text())
            return 0
        if asked.get("seeds"):
            print(told.seeds_json() if as_json else told.seeds_text())
            return 0
        if "page" in asked:
            result_file.check(Path(asked["page"]), told.PAGE, "--page")
        prediction = predict(asked)
    except (BadInput, result_file.Refused) as why:
        print(f"forebay: {why}", file=sys.stderr)
        return 2
    if "page" in asked:
        try:
            told.write_page(prediction, Path(asked["page"]))
        except OSError as why:
            print(f"forebay: cannot write the page {asked['page']}: {why.strerror}", file=sys.stderr)
            return 1
    print(told.as_json(prediction) if as_json else told.text(prediction))
    return 0


if __name__ == "__main__":
    sys.exit(main())
