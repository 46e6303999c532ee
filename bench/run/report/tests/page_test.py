"""Proves: `forebay report` reads what `forebay run --json` wrote, says what is wrong with any other file, and writes a page
that needs nothing beside it.

page_test.py FOREBAY
"""

import copy
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
BENCH = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(BENCH), str(BENCH.parent / "tests")]
from html_page import Page  # noqa: E402

from run.report import drawing  # noqa: E402
from run.report.course import read  # noqa: E402

FOREBAY = ""
VOID = {"meta"}


def columns(spans, **more):
    keys = "begin end held busy fill times_seconds shortest longest written_bytes carried_bytes times times_together".split()
    return {**{key: [span.get(key, 0) for span in spans] for key in keys}, **more}


def report(name="r1", times=10, seconds=0.1, held=0.0):
    """A run with a written time at the end of each span, of which the sixth is ten times as long."""
    spans, at = [], 0.0
    for number in range(times):
        length = seconds * (10 if number == 5 else 1)
        spans.append({"begin": at, "end": at + length, "times": 1, "times_seconds": length, "shortest": length,
                      "longest": length, "busy": length / 2, "fill": 0.5, "written_bytes": 1000, "carried_bytes": 900,
                      "held": held if number == 5 else 0})  # fmt: skip
        at += length
    worst = sorted(spans, key=lambda span: span["begin"] - span["end"])[:10]
    told = {"node": "n1", "program": "simpleFoam", "ranks": 4, "program_ended": at, "written_bytes": 1000 * times,
            "written_at_least": False, "times": times, "times_together": 0, "worst": columns(worst, time=["6"] * len(worst)),
            "course": columns(spans), "shortest": seconds, "median": seconds, "p90": seconds, "p99": 10 * seconds,
            "longest": 10 * seconds if times > 5 else seconds, "mean": at / max(times, 1)}  # fmt: skip
    return {"run": name, "case": "/shared/<case> & more", "ranks": 4, "nodes": [{"node": "n1"}], "stability": [told]}  # fmt: skip


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix="forebay-report-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def write(self, name, told):
        path = self.directory / name
        path.write_text(told if isinstance(told, str) else json.dumps(told))
        return path

    def call(self, *words, status=0):
        done = subprocess.run([FOREBAY, "report", *map(str, words)], cwd=self.directory, capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def page(self, *reports):
        self.call(*reports, "--page", "page.html")
        text = (self.directory / "page.html").read_text()
        page = Page(text, VOID)
        self.assertEqual(page.open, [], "elements without an end")
        self.assertNotIn("nan", re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan", "", text))
        return text, page

    def test_the_page_needs_nothing_beside_it(self):
        text, page = self.page(self.write("a.json", report()))
        for attribute in ("src", "href", "srcset", "data", "action"):
            self.assertEqual([tag for tag, attributes in page.elements if attribute in attributes], [], attribute)
        self.assertNotRegex(text, r"https?://|url\(|@import|<script|<link")
        self.assertIn("/shared/<case> & more", page.text, "escaped, and read back")

    def test_a_held_moment_is_drawn_where_it_was(self):
        _, page = self.page(self.write("a.json", report(held=0.75)))
        drawings = [attributes for tag, attributes in page.elements if tag == "svg"]
        self.assertEqual([each["viewbox"].split()[2] for each in drawings], [str(drawing.WIDE), str(drawing.NARROW)])
        held = page.of_class("held")
        self.assertEqual(len(held), 6, "in three panels, for both widths")
        # Of 1.9 s, from 0.5 to 1.5.
        inner = drawing.WIDE - 62 - 14
        self.assertAlmostEqual(float(held[0]["x"]), 62 + inner * 0.5 / 1.9, delta=0.1)
        self.assertAlmostEqual(float(held[0]["width"]), inner / 1.9, delta=0.1)
        self.assertIn("held back 750 ms, drain at work 500 ms, pool 50 % full", page.text)
        self.assertEqual(self.page("a.json")[1].of_class("held")[0]["x"], held[0]["x"])

    def test_what_is_drawn_lies_within_the_drawing(self):
        for name, told in {"one": report(times=1), "none": report(times=0), "many": report(times=3000, seconds=60.0)}.items():  # fmt: skip
            if not told["stability"][0]["course"]["end"]:
                told["stability"][0]["course"] = columns([{"end": 2.0}])
            run = read(str(self.write(f"{name}.json", told)))
            for width in (drawing.WIDE, drawing.NARROW):
                svg = drawing.draw(run, drawing.Scale.of([run]), width)
                for x in re.findall(r' (?:x|cx)="([-\d.]+)"', svg) + re.findall(r"M([-\d.]+) ", svg):
                    self.assertTrue(0 <= float(x) <= width, (name, x))

    def test_ticks_are_whole_seconds_minutes_or_hours(self):
        for seconds, step in {0.004: 0.0005, 3: 0.5, 59: 10, 300: 60, 6400: 1200, 40_000: 7200, 5e6: 86400 * 8}.items():
            ticks = drawing.moments(seconds, 8)
            self.assertAlmostEqual(ticks[1], step, msg=str(seconds))
            self.assertLessEqual(ticks[-1], seconds)

    def test_two_runs_are_compared_by_their_figures_on_one_scale(self):
        paths = self.write("a.json", report("before")), self.write("b.json", report("after", seconds=0.2))
        text = self.call(*paths)
        self.assertRegex(text, r"per written time, median +100 ms +200 ms +2.00\n")
        self.assertRegex(text, r"held back +never +never")
        _, page = self.page(*paths)
        ticks = re.findall(r"(?:\d+(?:\.\d+)? (?:ms|s)|0)+", page.text)
        self.assertTrue(ticks)
        for words in ("A is run before", "B is run after", "The course of A", "B / A"):
            self.assertIn(words, page.text)

    def test_of_several_nodes_the_one_that_was_held_longest_is_shown(self):
        told = report()
        other = copy.deepcopy(report(held=0.5)["stability"][0])
        other["node"] = "n2"
        told["stability"].append(other)
        told["nodes"].append({"node": "n2"})
        self.assertIn("shown is n2, one of 2 nodes", self.call(self.write("a.json", told)))

    def test_what_lies_between_written_times_is_called_so_and_whose_they_are(self):
        path = self.write("a.json", report())
        said = self.call(path)
        self.assertIn("simpleFoam wrote the times of 4 ranks.", said)
        self.assertIn("the longest between written times\n  before time 6: 1 s at 500 ms; ", said)
        _, page = self.page(path)
        self.assertIn("From one written time of simpleFoam to the next", page.text)
        for text in (said, page.text):
            self.assertEqual(re.findall(r".*\bsteps?\b.*", text.replace("time steps of the solver", "")), [])

    def test_of_no_known_program_no_times_are_told(self):
        told = report(times=0)
        told["stability"][0].update(program="", ranks=0, course=columns([{"end": 2.0}]))
        said = self.call(self.write("a.json", told))
        self.assertIn("No program is known to have written two times that the case did not have", said)
        self.assertNotIn("per written time", said)

    def test_which_are_no_more_than_means_is_told(self):
        told = report(times=30)
        (stability,) = told["stability"]
        stability["times_together"] = 7
        for key, first in (("worst", 0), ("course", 20)):
            stability[key]["times_together"][first] = 1
        path = self.write("a.json", told)
        said = self.call(path)
        self.assertIn("7 of 30 were noticed together with others: each of these has their mean", said)
        self.assertEqual(said.count("before time 6: 1 s (a mean) at 500 ms"), 1, said)
        _, page = self.page(path)
        self.assertEqual([each["stroke-opacity"] for each in page.of_class("means")], ["0.45"] * 2, "pale")
        self.assertEqual(page.of_class("means")[0]["d"].count("M"), 2)

    def test_what_was_written_is_no_line_where_it_is_not_known(self):
        known, more = report(), report()
        more["stability"][0].update(written_at_least=True, written_bytes=2_000_000)
        drawings = [self.page(self.write(f"{name}.json", told))[1] for name, told in (("a", known), ("b", more))]
        lines = [len([tag for tag, _ in page.elements if tag == "polyline"]) for page in drawings]
        self.assertEqual(lines, [6, 4], "written, carried and the pool, for both widths")
        self.assertIn("written: at least 2 MB", drawings[1].text)
        self.assertRegex(self.call("a.json", "b.json"), r"written locally +10 kB +at least 2 MB *\n", "no ratio")

    def test_all_is_done_no_sooner_than_the_program_ended(self):
        told = report()
        told["stability"][0]["program_ended"] = 1.5
        said = self.call(self.write("a.json", told))
        self.assertRegex(said, r"program ended +1.5 s\n +all done +1.9 s")

    def test_what_is_no_report_is_refused(self):
        whole = json.dumps(report())
        changed = {
            name: report()
            for name in ("short", "text", "nan", "negative", "bool", "empty", "far", "big", "digits", "half", "other")
        }
        changed["short"]["stability"][0]["course"]["held"].pop()
        changed["text"]["stability"][0]["course"]["end"][0] = "soon"
        changed["nan"]["stability"][0]["course"]["end"][0] = float("nan")
        changed["negative"]["stability"][0]["course"]["end"][0] = -1
        changed["bool"]["stability"][0]["times"] = True
        changed["empty"]["stability"][0]["course"] = columns([])
        changed["far"]["stability"][0]["course"]["end"][-1] = 1e300
        changed["big"]["stability"][0]["course"]["written_bytes"][0] = 1e30
        changed["digits"]["ranks"] = 10**400
        changed["half"]["case"] = "\udcff"
        changed["other"]["stability"].insert(0, {**report()["stability"][0], "course": columns([])})
        for name, told in changed.items():
            self.write(f"{name}.json", told)
        self.write("long.json", whole.replace('"ranks": 4', f'"ranks": {"4" * 5000}'))
        self.write("cut.json", whole[: len(whole) // 2])
        self.write("foreign.json", {"bench": "openfoam", "results": []})
        self.write("list.json", [1, 2])
        self.write("old.json", {key: value for key, value in report().items() if key != "stability"})
        self.write("killed.json", {**report(), "stability": []})
        (self.directory / "bytes.json").write_bytes(b"\xff\xfe\x00")
        damaged, foreign = (
            "is damaged, or no report of a run",
            "is no report of a run, or of another version of forebay",
        )
        for name, said in {
            "cut": damaged, "bytes": damaged, "foreign": foreign, "list": foreign, "old": foreign, "short": foreign,
            "text": foreign, "nan": foreign, "negative": foreign, "bool": foreign,
            "empty": foreign, "far": foreign, "big": foreign, "digits": foreign, "half": foreign, "other": foreign, "long": damaged,
            "none": "cannot read none.json: No such file",
            "killed": "tells nothing of its course: no agent of that run lived to its end",
        }.items():  # fmt: skip
            with self.subTest(name):
                told = self.call(f"{name}.json", "--page", "page.html", status=2)
                self.assertIn(f"{name}.json", told)
                self.assertIn(said, told)
                self.assertFalse((self.directory / "page.html").exists())

    def test_the_largest_numbers_that_are_read_are_drawn(self):
        told = report()
        for key in ("end", "written_bytes", "longest", "fill"):
            told["stability"][0]["course"][key][-1] = 1e18
        told["stability"][0]["longest"] = 1e18
        self.page(self.write("a.json", told))

    def test_names_reach_the_terminal_without_escape_sequences(self):
        told = {**report("r\x1b]0;x\x07"), "case": "/sh\u202eared/\x9b2J\nüber"}
        told["stability"][0]["worst"]["time"][0] = "6\x1b[2J"
        path = self.write("a.json", told)
        said = self.call(path)
        self.assertEqual([each for each in said if not each.isprintable() and each != "\n"], [])
        self.assertIn(r"run r\x1b]0;x\x07 on /sh\u202eared/\x9b2J\nüber, ", said)
        self.assertIn(r"before time 6\x1b[2J: ", said)
        self.assertNotIn("\x1b", self.page(path)[0])

    def test_a_telephone_shows_all_of_a_page(self):
        _, page = self.page(self.write("a.json", report()))
        self.assertEqual(page.troubles_of_a_telephone(), [])

    def test_a_page_replaces_nothing_but_a_page(self):
        path = self.write("a.json", report())
        whole = path.read_text()
        (self.directory / "link.html").symlink_to("a.json")
        for to in ("a.json", "link.html"):
            self.assertIn(f"the page {to} would overwrite a report", self.call(path, "--page", to, status=2))
        self.assertEqual(path.read_text(), whole)
        for name in ("notes.txt", "other.html"):
            kept = self.write(name, "<!doctype html><title>mine</title>")
            self.assertIn(f"{name} exists and is no page of forebay report", self.call(path, "--page", name, status=2))
            self.assertEqual(kept.read_text(), "<!doctype html><title>mine</title>")
        self.page(path)
        self.page(path)

    def test_a_page_that_does_not_fit_leaves_the_one_before(self):
        path = self.write("a.json", report())
        before, _ = self.page(path)
        limited = "ulimit -f 4; trap '' XFSZ; exec \"$@\""
        done = subprocess.run(["bash", "-c", limited, "bash", FOREBAY, "report", path, "--page", "page.html"],
                              cwd=self.directory, capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot write the page page.html: File too large", done.stderr)
        self.assertEqual((self.directory / "page.html").read_text(), before)
        self.assertEqual(sorted(each.name for each in self.directory.iterdir()), ["a.json", "page.html"])

    def test_a_page_that_cannot_be_written_is_told(self):
        said = self.call(self.write("a.json", report()), "--page", "none/page.html", status=1)
        self.assertIn("cannot write the page none/page.html: No such file", said)

    def test_more_runs_than_there_are_letters_for_are_refused(self):
        path = self.write("a.json", report())
        self.assertIn("9 reports are too many", self.call(*[path] * 9, status=2))


if __name__ == "__main__":
    FOREBAY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
