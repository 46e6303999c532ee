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
        tracing = ["strace", "-f", "-qq", "-o", trace, "-e", "trace=open,openat"]
        way = "namespace" if casetools.namespaces_work() else "redirect"
        case, report = self.both(SCRIPT, way, "live", tracing if shutil.which("strace") else [])
        meshes = [f"{at}constant/polyMesh/{file}" for at in ("processor0/", "processor1/") for file in MESH]
        fields = [f"processor{rank}/{LAST_TIME}/{field}" for rank in (0, 1) for field in FIELDS]
        if shutil.which("strace"):
            opened = Opened(trace, self.judge.case)
            inputs = self.judge.start["entries"]
            self.assertEqual({path for path in opened.shared if path not in inputs}, set())
            self.assertIn("system/controlDict", opened.shared, "the trace does not tell of inputs")
            self.assertEqual({*meshes, *fields} - opened.in_pool, set())
        again = report["read_back"]
        if not os.statvfs(self.place.pool).f_flag & os.ST_NOATIME:
            sizes = [os.path.getsize(os.path.join(case, path)) for path in (*meshes, *fields)]
            self.assertGreaterEqual(again["files"], len(sizes))
            self.assertGreaterEqual(again["bytes"], sum(sizes))
        self.assertLess(again["bytes"], report["local"]["bytes"])

    def test_what_the_script_removes_before_it_is_drained_never_crosses(self):
        case, report = self.both(SCRIPT + "du -bc $(find processor* -type f) | tail -1\nrm -r processor*\n",
                                 "redirect", "end")  # fmt: skip
        self.assertEqual(glob.glob(os.path.join(case, "processor*")), [])
        self.assertGreater(report["never_shared"]["files"], 2 * (len(MESH) + len(FIELDS)))
        left = report["local"]["bytes"] - report["never_shared"]["bytes"]
        self.assertGreaterEqual(left, 0)
        self.assertGreaterEqual(report["never_shared"]["bytes"], self.removed())

    def removed(self):
        return int(self.judge.directs[0].output.split()[0])


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    casetools.need_openfoam()
    unittest.main(verbosity=2)
