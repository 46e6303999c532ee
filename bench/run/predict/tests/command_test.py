"""Proves: `forebay predict` reads a case, a machine and reports, says what it was asked for, and names what is wrong.

command_test.py FOREBAY
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(SOURCES / "tests"))
from html_page import Page  # noqa: E402

VOID = {"meta"}
BEGIN = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>'  # of all pages
FOREBAY = ""
SMALL = "--ranks 4 --files 9 --bytes 1MB --step 0.5s".split()
CONTROL = "application simpleFoam;\nstartFrom latestTime;\ndeltaT 0.1;\nendTime 20;\nwriteControl runTime;\nwriteInterval 0.5;\npurgeWrite 2;\n"  # fmt: skip
LAUNCHER = """#!/bin/bash
while [[ $# -gt 0 && $1 != */forebay ]]; do shift; done
for rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 "$@" & all+=($!); done
for each in "${all[@]}"; do wait "$each" || exit 1; done
"""
SOLVER = """#!/bin/bash
for time in 1 2 3; do
  mkdir -p "processor$OMPI_COMM_WORLD_RANK/$time"
  head -c 100000 /dev/zero > "processor$OMPI_COMM_WORLD_RANK/$time/U"
  sleep 0.3
done
"""


class PredictTest(unittest.TestCase):
    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix="forebay-predict-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def call(self, *words, status=0):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("FOREBAY_")}
        done = subprocess.run([FOREBAY, "predict", *map(str, words)], cwd=self.directory, env=environment, capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def told(self, *words):
        told = json.loads(self.call(*words, "--json"))
        told["case"] = {each["name"]: (each["value"], each["from"]) for each in told["sources"]}
        told["figures"] = {each["key"]: each for each in told["results"]}
        return told

    def write(self, path, content="x"):
        path = self.directory / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def make_case(self, times=("0", "0.5", "1", "1.5")):
        self.write("case/system/controlDict", CONTROL)
        for rank in range(4):
            for time in times:
                for name in ("U", "p", "uniform/time", "uniform/functionObjects/properties"):
                    if time != "1.5" or rank < 3:  # the newest is not whole
                        self.write(f"case/processor{rank}/{time}/{name}", "x" * (1000 + rank))
        return self.directory / "case"

    def test_a_case_tells_ranks_files_bytes_interval_and_purge(self):
        case = self.make_case()
        told = self.told("--case", case, "--machine", "lumi-p", "--step", "1s", "--nodes", "2")["case"]
        for key, value in {"ranks": "4", "files": "4", "dirs": "3", "bytes": "4.01 kB", "every": "5", "steps": "200", "purge": "2"}.items():  # fmt: skip
            self.assertEqual(told[f"case.{key}"][0], value, key)
        self.assertIn(f"the case {case}, time 1", told["case.bytes"][1])
        self.assertEqual(told["case.step"], ("1", "as given"))

    def test_the_case_that_one_stands_in_is_read_and_options_win(self):
        self.make_case()
        os.rename(self.directory / "case/system", self.directory / "system")
        told = self.told("--machine", "nfs", *SMALL, "--every", "3")["case"]
        self.assertEqual(told["case.every"], ("3", "as given"))
        self.assertEqual(told["case.purge"][0], "2")

    def test_a_case_that_has_not_written_tells_its_cells(self):
        self.write("case/system/controlDict", CONTROL)
        self.write("case/system/decomposeParDict", "numberOfSubdomains 8;\n")
        self.write("case/constant/polyMesh/owner", 'FoamFile\n{\n  note "nPoints:9 nCells:8000 nFaces:7";\n}\n')
        told = self.told("--case", "case", "--machine", "nfs", "--step", "1s")["case"]
        self.assertEqual((told["case.ranks"][0], told["case.bytes"][0], told["case.files"][0]), ("8", "85 kB", "9"))
        self.assertIn("8000 cells, assumed 85 B each", told["case.bytes"][1])

    def test_a_case_with_empty_files_does_not_tell_sizes(self):
        self.write("case/system/controlDict", CONTROL)
        for time in ("0", "1"):
            self.write(f"case/processor0/{time}/U", "")
        said = self.call("--case", "case", "--machine", "nfs", "--step", "1s", status=2)
        self.assertIn("give --files, --bytes", said)

    def test_settings_and_layout_are_those_of_a_run(self):
        asked = ("--machine", "slow-shared", *SMALL)
        plain = self.told(*asked)["figures"]["drain"]["value"]
        self.assertLess(self.told(*asked, "--layout", "collated")["figures"]["drain"]["value"], plain)
        self.assertGreater(self.told(*asked, "--set", "drain.bandwidth=100kB")["figures"]["drain"]["value"], 30)
        self.assertEqual(self.told(*asked, "--budget", "50MB")["budget"], 50e6)

    def test_text_has_what_a_user_asks_for(self):
        text = self.call("--machine", "nextgenio", "--ranks", 960, "--nodes", 20, "--files", 8, "--bytes", "7.8MB", "--step", "1.47s", "--purge", 1)  # fmt: skip
        for line in ("a step without output", "a step, directly", "a step, forebay, drained live", "drained at the end",
                     "drain of a written step", "the drain keeps up", "wait for drain.safe_interval", "the pools of a node hold 3 TB; needed are",
                     "drain after the last step", "the whole run, directly", "=> forebay pays: the run takes 1/12.6",
                     "directly 10560 creates, 10560 unlinks; drain 10560 creates, 960 renames, 10560 unlinks, 11520 syncs",
                     "the change that helps most: ", "measured: fitted to seeds"):  # fmt: skip
            self.assertIn(line, text)
        self.assertRegex(text, r"a step, directly +29.8 s +2\d.\d s to 4\d.\d s")

    def test_assumed_values_that_decide_are_named(self):
        told = self.told("--machine", "lumi-p", "--ranks", 2560, "--nodes", 20, "--files", 9, "--bytes", "2.9MB", "--step", "600ms", "--every", 10, "--steps", 2000)  # fmt: skip
        self.assertEqual(told["verdict"], "does not pay")
        self.assertIn("shared.operations_per_s", told["decided_by_assumed"])
        self.assertEqual(told["change"][0], "--layout collated")

    def test_a_profile_completes_a_preset(self):
        profile = self.write(
            "my.toml", 'name = "mine"\n[shared]\noperations_per_s = { value = 50, from = "measured: today" }\n'
        )
        for order in (("nfs", profile), (profile, "nfs")):
            told = self.told("--machine", order[0], "--machine", order[1], *SMALL)["case"]
            self.assertEqual(told["shared.operations_per_s"], ("50", "measured: today"))
            self.assertEqual(told["medium.kind"][0], "tmpfs")
            for key in ("renames", "unlinks", "syncs"):
                value, source = told[f"shared.{key}_per_s"]
                self.assertEqual(value, "50")
                self.assertRegex(source, "^assumed: a create's price stands in")
        said = self.call("--machine", profile, *SMALL, status=2)
        self.assertIn("shared.write, medium.sockets, medium.capacity, medium.write not said; add it, or a preset", said)

    def test_a_page_shows_the_plot_the_sources_and_the_contradictions(self):
        self.call("--machine", "frontier", *SMALL, "--page", "predicted.html")
        page = (self.directory / "predicted.html").read_text()
        for part in (
            "<svg",
            "polyline",
            "steps from one written step",
            "Leonardo",
            "contradict themselves",
            "not fitted",
        ):
            self.assertIn(part, page)
        self.assertNotIn("nan", page.split("<svg")[1].split("</svg>")[0])
        read = Page(page, VOID)
        self.assertEqual((read.open, len(read.all("svg"))), ([], 2), "drawings for desktops and for telephones")
        self.assertEqual(read.troubles_of_a_telephone(), [])
        said = self.call("--machine", "nfs", *SMALL, "--page", "none/page.html", status=1)
        self.assertIn("cannot write the page none/page.html: No such file", said)

    def test_a_page_replaces_nothing_but_a_page_of_predict(self):
        asked = ("--machine", "nfs", *SMALL, "--page")
        for name, text in (
            ("data.html", "<!doctype html><title>mine</title>"),
            ("report.html", BEGIN + "forebay report: r"),
        ):
            kept = self.write(name, text)
            self.assertIn(f"{name} exists and is no page of forebay predict", self.call(*asked, name, status=2))
            self.assertEqual(kept.read_text(), text)
        self.call(*asked, "page.html")
        self.call(*asked, "page.html")
        (self.directory / "link.html").symlink_to("page.html")
        self.assertIn("link.html is a link to a file: remove it, or give another --page", self.call(*asked, "link.html", status=2))  # fmt: skip
        self.assertIn("<!doctype html>", self.call(*asked, "/dev/stdout"))

    def test_what_is_wrong_is_named(self):
        self.write("broken.json", "{}")
        for words, said in (
            (SMALL, "--calibrate REPORT, or --machine with one that is known: archer2-hdd"),
            (("--machine", "lumip", *SMALL), "did you mean lumi-p?"),
            (("--machine", "none.toml", *SMALL), "cannot read none.toml: No such file"),
            (("--machine", "nfs"), "give --ranks, --files, --bytes, --step, or --case DIR"),
            (("--machine", "nfs", *SMALL, "--nodes", "5"), "more nodes (5) than ranks (4)"),
            (("--machine", "nfs", *SMALL, "--case", "none"), "none"),
            (("--machine", "nfs", *SMALL, "--case", "."), "no system/controlDict in ."),
            (("--machine", "nfs", "--bytes", "many"), "takes a size like 7.8MB"),
            (("--machine", "nfs", "--step", "long"), "takes a time like 1.47s"),
            (("--machine", "nfs", "--ranks", "0"), "--ranks"),
            (("--machine", "nfs", *SMALL, "--set", "drain.thread=2"), "drain.threads"),
            (("--calibrate", "none.json", *SMALL), "cannot read none.json: No such file"),
            (("--calibrate", "broken.json", *SMALL), "broken.json is no report of a run"),
        ):
            with self.subTest(words):
                self.assertIn(said, self.call(*words, status=2))

    def test_the_report_of_a_run_calibrates(self):
        """Of a run that a cap has slowed: one that is told to be faster is corrected to the cap."""
        self.write("case/system/controlDict", CONTROL)
        for name, text in (("mpirun", LAUNCHER), ("solver", SOLVER)):
            self.write(f"case/{name}", text).chmod(0o755)
        for rank in range(2):
            self.write(f"case/processor{rank}/constant/polyMesh/points")
        pool = tempfile.mkdtemp(prefix="forebay-predict-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, pool)
        done = subprocess.run(
            [FOREBAY, "run", "--quiet", "--pool", pool, "--set", "drain.bandwidth=200kB", "--json", "../r.json",
             "--", "./mpirun", "-n", "2", "./solver"], cwd=self.directory / "case", capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        fast = self.write(
            "fast.toml", 'name = "fast"\n[shared]\noperations_per_s = { value = 1e6, from = "measured: never" }\n'
        )
        told = self.told("--calibrate", "r.json", "--machine", "nfs", "--machine", fast, "--step", "1s")
        self.assertEqual(told["case"]["case.ranks"], ("2", "the last report"))
        self.assertIn("measured: 1 report(s)", told["case"]["shared.write"][1])
        self.assertEqual("measured: never", told["case"]["shared.operations_per_s"][1])
        self.assertAlmostEqual(told["figures"]["drain"]["value"], 0.9, delta=0.3)  # 200 kB a time
        self.assertIn("otherwise a small cluster", self.told("--calibrate", "r.json", "--step", "1s")["machine"])

    def test_the_seeds_are_printed(self):
        told = json.loads(self.call("--seeds", "--json"))
        self.assertGreater(len(told["seeds"]), 45)
        self.assertIn("not fitted", self.call("--seeds"))
        self.assertIn("documented: docs.archer2.ac.uk", self.call("--presets"))

    def test_the_page_of_the_documentation_describes_every_key_of_a_profile(self):
        text = (SOURCES / "docs/run/predict.md").read_text()
        sys.path.insert(0, str(SOURCES / "bench"))
        from run.predict import machine

        for table, keys in machine.KEYS.items():
            for key in keys:
                self.assertIn(f"`{table}.{key}`", text)
        example = text.split("```toml\n")[1].split("```")[0]
        self.assertTrue(machine.parse(example, "predict.md").values)


if __name__ == "__main__":
    FOREBAY = str(Path(sys.argv.pop(1)).resolve())
    sys.dont_write_bytecode = True
    unittest.main()
