"""Proves: "snappyHexMesh in parallel, decomposePar, solver and reconstructPar in one pool without a round trip: one test, and
the bytes that never crossed in the summary".

One script under one `forebay run`. The case ends as after a direct run; no program opens anything on the shared file system
that one before it wrote, though all of that is drained meanwhile; and the summary tells what was read again where it was written,
and what was removed before it had to be carried.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "parity"))
import ballcase  # noqa: E402
import oracle  # noqa: E402
from oracle import casetools  # noqa: E402

FOREBAY = ""
SCRIPT = """
log=$(mktemp)
tool() { "$@" > "$log" 2>&1 || { cat "$log"; exit 1; }; }
tool blockMesh
tool decomposePar
tool mpirun -n 2 snappyHexMesh -overwrite -parallel
for rank in 0 1; do rm -rf processor$rank/0 && cp -r 0.orig processor$rank/0; done
tool mpirun -n 2 icoFoam -parallel
tool reconstructParMesh -constant -mergeTol 1e-6
tool reconstructPar
rm "$log"
"""
LAST_TIME, FIELDS, MESH = "0.004", ("U", "p", "phi"), ("boundary", "faces", "neighbour", "owner", "points")
# What a call was given: within the tree, or below the link to the case.
OPENED = re.compile(r'open(?:at)?\((?:[^"]*, )?"([^"]*)", (O_RDONLY|O_RDWR)([|A-Z_]*)\) = \d')


class Opened:
    """By the calls of all programs of a run: files of the case that were opened for reading in the pool and on the case."""

    def __init__(self, trace, case):
        self.in_pool, self.shared = set(), set()
        with open(trace, errors="replace") as file:
            for path, _, more in OPENED.findall(file.read()):
                below_link = re.search("/lower/(.*)", path)
                in_tree = re.search(f"(?:{re.escape(case)}|/tree/case)/(.*)", path)
                if below_link:
                    self.shared.add(below_link[1])
                elif in_tree and "O_NOFOLLOW" in more:  # so it was no link to the case
                    self.in_pool.add(in_tree[1])
                elif in_tree and "O_DIRECTORY" not in more:
                    self.shared.add(in_tree[1])


def may_trace():
    return shutil.which("strace") and subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"]).returncode == 0


def tells_what_is_read(pool):
    """Its file system tells when a file was read, and when it was made."""
    made = subprocess.run(["stat", "-c", "%W", pool], capture_output=True, text=True, check=True)
    return not os.statvfs(pool).f_flag & os.ST_NOATIME and int(made.stdout.replace("-", "0")) != 0


class ChainTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = casetools.Workplace("chain")
        self.addCleanup(self.place.remove)
        made = os.path.join(self.place.directory, "made")
        ballcase.make(made)
        os.mkdir(os.path.join(self.place.directory, "judged"))
        self.judge = oracle.Oracle(os.path.join(self.place.directory, "judged"), self.place.pool, FOREBAY)
        self.judge.start_from(made)

    def both(self, script, way, when, before=()):
        """The case and the report of a run under forebay that was as the direct one."""
        (direct,) = self.judge.run_directly(["sh", "-ec", script], times=1)
        self.assertEqual(direct.status, 0, direct.output)
        report = os.path.join(self.place.directory, "report.json")
        # reconstructPar copies files in the order in which their directory lists them.
        settings = oracle.Settings(way, when=when, options=("--json", report), ordered=False)
        verdict = self.judge.run_under_forebay([*before, "sh", "-ec", script], settings, look_within=False)
        self.assertEqual(verdict.lines(), [])
        with open(report) as file:
            return verdict.run.case, json.load(file)

    def test_no_program_reads_from_the_case_what_one_before_it_wrote(self):
        trace = os.path.join(self.place.directory, "trace")
        traced = may_trace()
        tracing = ["strace", "-f", "-qq", "-o", trace, "-e", "trace=open,openat"]
        way = "namespace" if casetools.namespaces_work() else "redirect"
        case, report = self.both(SCRIPT, way, "live", tracing if traced else [])
        meshes = [f"{at}constant/polyMesh/{file}" for at in ("processor0/", "processor1/") for file in MESH]
        fields = [f"processor{rank}/{LAST_TIME}/{field}" for rank in (0, 1) for field in FIELDS]
        if traced:
            opened = Opened(trace, self.judge.case)
            inputs = self.judge.start["entries"]
            self.assertEqual({path for path in opened.shared if path not in inputs}, set())
            self.assertIn("system/controlDict", opened.shared, "the trace does not tell of inputs")
            self.assertEqual({*meshes, *fields} - opened.in_pool, set())
        self.check_read_back(report["read_back"], case, [*meshes, *fields])
        # By name or not at all: it is a short run.
        self.assertIn(report["written_time_program"], ("icoFoam", None))
        there = {os.path.relpath(os.path.join(at, name), case) for at, _, names in os.walk(case) for name in names}
        self.assertGreaterEqual(report["local"]["files"], len(there - set(self.judge.start["entries"])))
        if not traced:
            self.skipTest("strace is not here, or may not attach: which files were opened was not looked at")

    def check_read_back(self, again, case, surely):
        at = [os.path.join(directory, name) for directory, _, names in os.walk(case) for name in names]
        self.assertLessEqual(again["files"], len(at))
        self.assertLessEqual(again["bytes"], sum(os.lstat(path).st_size for path in at))
        if tells_what_is_read(self.place.pool):
            sizes = [os.path.getsize(os.path.join(case, path)) for path in surely]
            self.assertGreaterEqual(again["files"], len(sizes))
            self.assertGreaterEqual(again["bytes"], sum(sizes))

    def test_what_the_script_removes_before_it_is_drained_never_crosses(self):
        script = "head -c 100000 /dev/zero > scratch\n" + SCRIPT + "rm -r scratch processor*\n"
        case, report = self.both(script, "redirect", "end")
        self.assertEqual(glob.glob(os.path.join(case, "processor*")), [])
        never, local = report["never_shared"], report["local"]
        # Of files whose directory was just made, the closing may have come before anybody watched it.
        self.assertGreaterEqual(never["bytes"], 100000)
        for what in ("files", "bytes"):
            self.assertLessEqual(never[what], local[what])
        self.assertEqual(report["never_shared_files"], never["files"])


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    casetools.need_openfoam()
    unittest.main(verbosity=2)
