#!/usr/bin/env python3
"""Plants one mistake at a time in the rules and in the simulated world, and looks whether random schedules find it.

    mistakes.py --compiler CXX --include DIR --world LIBRARY --simulator PROGRAM [--schedules 20000] [--seed 1] [NAME...]

A mistake of the rules is a line of src/run/core/decide.cpp that another takes the place of; one of the world is a flag of the
simulator. Ends with 1 when a mistake is not found, unless NOT_FOUND says why, or when one that stands there is.
"""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RULES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "src/run/core/decide.cpp")

# Name: what stands in decide.cpp, and what takes its place.
OF_THE_RULES = {
    "left_when_begun": ("  if (page.begun <= sequence) return false;\n", ""),
    "threads_ignored": ("  if (page.place != 0) return page.place > sequence;\n", ""),
    "hidden_thread_ignored": ("return page.begun - sequence >= 2 || !page.collated;", "return true;"),
    "cut_ignored": ("if (is_changed(of) || of.after.cut) return false;", "if (is_changed(of)) return false;"),
    "removal_unseen": ("can_be_judged(page, of) && !is_being_removed(of) &&", "can_be_judged(page, of) &&"),
    "late_files_forgotten": ("  if (page.place != 0 && of.after.begun_before) return false;\n", ""),
    "no_lease": ("return !file.open && !file.torn;", "return !file.torn;"),
    "torn_ignored": ("return !file.open && !file.torn;", "return !file.open;"),
    "ages_ignored": ("if (facts.modified >= of.after.begun_at) time.own.insert(name);", "time.own.insert(name);"),
    "stateless_is_restartable": ("  if (page.states != 0) return std::nullopt;\n", ""),
    "poor_is_restartable": ("contains_all(time.own, needed) && ", ""),
    "older_names_stay": (" && !holds_older(time, judged)", ""),
    "mesh_not_required": (" && time.mesh_is_whole;", ";"),
    "multiples_only": (
        "  for (auto each = good.rbegin(); each != good.rend(); ++each) first",
        "  for (auto each = good.rbegin(); each != good.rend(); ++each) if (each->number % ledger.window == 0) first",
    ),
    "mesh_given_up": ("      if (part.mesh) stay.insert(*part.mesh);\n", ""),
    "superseded_by_number": (" && contains_all(other->own, names);", " && names.size() < 99;"),
    "given_up_before_all_left": ("time.left && (!time.id || *time.id <= left)", "time.left"),
    "nothing_given_up": ("i + contract::most_restart_points < rest.size()", "i + 1000 < rest.size()"),
    "oldest_given_up_first": ("later ? time->own.size() : 0", "std::size_t{0}"),
    "written_forgotten": (
        "  if (!contains_all(ledger.written, names)) actions",
        "  if (!contains_all(ledger.written, names) && names.empty()) actions",
    ),
    "one_kept_on_several_nodes": ("nodes <= 1 ? 1 : threads ? 4 : 2", "threads ? 1 : 1"),
    "two_kept_with_threads": ("nodes <= 1 ? 1 : threads ? 4 : 2", "nodes <= 1 ? 1 : threads ? 2 : 2"),
    "nothing_protected": ("frees(seen.states, hold)", "frees(seen.states, {})"),
    "wanted_is_freed": ("  if (!wanted.empty()) hold.push_back(wanted.back());\n", ""),
    "pace_is_fixed": ("if (wanted.size() > 1) {", "if (wanted.size() > 1000) {"),
}

OF_THE_WORLD = (
    "absence_deletes begun_by_any_name copy_not_verified end_by_own_drain freed_meanwhile "
    "kept_looked_at_first last_safe_overwritten left_read_last looked_once lost_events_believed mark_again_ignored mesh_not_taken "
    "moved_in_two_steps not_compared not_looked_again not_recorded_at_the_end numbered_by_lines old_pool_overwrites "
    "old_publisher_not_fenced page_not_read_again purges_not_told remains_replace_record safe_by_own_parts "
    "settled_by_number thread_placed_by_name tick_ignored"
).split()

# What no schedule finds, and why the rule stays.
NOT_FOUND = {
    "looked_once": "a line that was left changes only when its time is begun again, and the next look judges it",
    "remains_replace_record": "the pool must have lost part of a state, and a lost node all newer ones: one schedule in some 70,000",
}


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more)


def simulator_with(args, name, directory):
    """A simulator whose rules have one wrong line."""
    right, wrong = OF_THE_RULES[name]
    with open(RULES, encoding="utf-8") as file:
        text = file.read()
    if text.count(right) != 1:
        sys.exit(f"{name}: {RULES} has {text.count(right)} times: {right.strip()}")
    source, program = os.path.join(directory, "decide.cpp"), os.path.join(directory, "simulator")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text.replace(right, wrong))
    done = run([args.compiler, "-std=c++20", "-O2", "-w", "-I", args.include, source, args.world, "-o", program])
    if done.returncode != 0:
        sys.exit(f"{name} does not compile:\n{done.stderr}")
    return [program]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for flag in ("--compiler", "--include", "--world", "--simulator"):
        parser.add_argument(flag, required=True)
    parser.add_argument("--schedules", default="20000")
    parser.add_argument("--seed", default="1")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    wrong = 0
    every = [(name, False) for name in OF_THE_RULES] + [(name, True) for name in OF_THE_WORLD]
    for name, of_the_world in every:
        label = ("world: " if of_the_world else "rules: ") + name
        if args.names and name not in args.names:
            continue
        with tempfile.TemporaryDirectory(prefix="forebay-mistake-") as directory:
            command = [args.simulator, "--mistake", name] if of_the_world else simulator_with(args, name, directory)
            done = run([*command, "--schedules", args.schedules, "--seed", args.seed])
        if done.returncode not in (0, 1):
            sys.exit(f"{name}: the simulator ends with {done.returncode}\n{done.stderr}")
        found, expected = done.returncode != 0, name not in NOT_FOUND
        print(f"{label:<36} {done.stdout.strip() if found else 'NOT FOUND'}", flush=True)
        wrong += found != expected
    print(f"{wrong} mistakes are not as expected")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
