"""A run over several nodes leaves on the case what a direct run leaves, whichever way and layout.

nodes_test.py FOREBAY [unittest arguments]
"""

import json
import os
import re
import shutil
import sys
import unittest

from cluster import Lab, common_times, differences, interrupt, parallel, report_of, times_of, wait_for

FOREBAY = ""
SOLVER = ["icoFoam", "-parallel"]
BUSY = 7  # exit status


def files_below(directory):
    return [name for _, _, names in os.walk(directory) for name in names]


class NodesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)
        cls.original = cls.lab.make_case("original", "cavity", "--ranks", "4", "--steps", "4")
        cls.direct = cls.lab.copy_case(cls.original, "direct")
        status, output = cls.lab.run(
            "n1", "sh", "-c", f"cd {cls.lab.seen(cls.direct)} && {' '.join(parallel() + SOLVER)}"
        )
        assert status == 0, output

    def forebay(self, case, *options, launcher=None, program=None, expected=0):
        self.json = os.path.join(self.lab.shared, "report.json")
        status, output = self.lab.run(
            "n1", FOREBAY, "run", "--case", self.lab.seen(case), "--json", self.lab.seen(self.json), *options, "--",
            *(launcher or parallel()), *(program or SOLVER), directory=case,
        )  # fmt: skip
        self.assertEqual(status, expected, output[-3000:])
        return output

    def fresh(self):
        case = self.lab.copy_case(self.original, self.id().split(".")[-1])
        self.addCleanup(shutil.rmtree, case, ignore_errors=True)
        return case

    def check_equal(self, case):
        self.assertEqual(differences(case, self.direct), [], "what a direct run leaves")

    def in_case(self, case, *words):
        status, output = self.lab.run("n1", "sh", "-c", f"cd {self.lab.seen(case)} && {' '.join(words)}")
        self.assertEqual(status, 0, output[-3000:])
        return output

    def test_each_rank_has_the_pool_of_its_socket_and_the_case_equals_the_direct_run(self):
        case = self.fresh()
        bound = parallel("--bind-to", "numa", "--map-by", "ppr:1:numa")
        self.forebay(case, launcher=bound)
        self.check_equal(case)
        report = report_of(self.json)
        self.assertEqual(
            {node["node"]: sorted(node["ranks"]) for node in report["nodes"]}, {"n1": [0, 1], "n2": [2, 3]}
        )
        for node in report["nodes"]:
            self.assertEqual(sorted(node["sockets"].values()), [0, 1], node["sockets"])
            self.assertEqual(node["phase"], "done")
        self.assertEqual(report["last_safe"], "0.02")
        self.assertEqual(report["shared"]["files"], len(files_below(case)) - len(files_below(self.original)))
        self.assertFalse(os.path.exists(os.path.join(case, ".forebay")), "nothing of forebay stays on the case")

    def test_every_way_in_works_over_nodes(self):
        for way in ("path", "redirect", "namespace"):
            with self.subTest(way):
                case = self.lab.copy_case(self.original, way)
                self.addCleanup(shutil.rmtree, case, ignore_errors=True)
                self.forebay(case, "--via", way)
                self.check_equal(case)

    def test_a_run_is_ended_well_on_all_nodes_from_any_of_them(self):
        case = self.fresh()
        path = os.path.join(case, "system/controlDict")
        with open(path) as file:
            control = file.read()
        for key, value in (("endTime", "1000"), ("writeInterval", "20"), ("runTimeModifiable", "yes")):
            control = re.sub(rf"(?m)^{key}\s.*$", f"{key} {value};", control)
        with open(path, "w") as file:
            file.write(control)
        run = self.lab.start(
            "n1", FOREBAY, "run", "--case", self.lab.seen(case), "--", *parallel(), *SOLVER, directory=case
        )
        wait_for(lambda: os.path.isdir(os.path.join(case, ".forebay")), 60, "the run's mark")
        status, said = self.lab.run("n2", FOREBAY, "stop", "--case", self.lab.seen(case), timeout=240)
        output, _ = run.communicate(timeout=60)
        self.assertEqual((status, run.returncode), (0, 0), said + output[-3000:])
        self.assertIn("has ended with exit status 0", said)
        with open(path) as file:
            self.assertEqual(file.read(), control)
        [last] = re.findall(r"^Time = (\S+)$", output, re.M)[-1:]
        self.assertIn(last, common_times(case, 4))
        self.assertEqual(round(float(last) / 0.005) % 20, 0, "a time that was written anyway")

    def test_collated_groups_of_nodes_are_read_by_openfoam(self):
        case = self.fresh()
        output = self.forebay(case, "--layout", "collated")
        groups = sorted(name for name in os.listdir(case) if name.startswith("processors"))
        self.assertEqual(groups, ["processors4_0-1", "processors4_2-3"])
        for rank in range(4):
            left = set(os.listdir(os.path.join(case, f"processor{rank}")))
            self.assertEqual(left, {"0", "constant"}, "a processorK/T beside a group would win")
        # The files of a written step: on each node as many as one rank writes, not times its ranks.
        of_one_rank = files_below(os.path.join(self.direct, "processor0/0.02"))
        self.assertLessEqual({"U", "p", "phi"}, set(of_one_rank))
        for group in groups:
            self.assertEqual(sorted(files_below(os.path.join(case, group, "0.02"))), sorted(of_one_rank))
        io_ranks = re.search(r"FOAM_IORANKS='([^']*)'", output)[1]
        self.assertEqual(io_ranks, "(0 2)")
        reference = self.reconstructed(self.lab.copy_case(self.direct, "reference"))
        self.assertEqual(self.reconstructed(case), reference)
        shutil.rmtree(os.path.join(case, "0.02"))
        self.assertEqual(self.reconstructed(case, f"env FOAM_IORANKS='{io_ranks}'", "-fileHandler collated"), reference)
        self.check_restart(case)

    def reconstructed(self, case, before="", option=""):
        self.addCleanup(shutil.rmtree, case, ignore_errors=True)
        self.in_case(case, before, "reconstructPar -latestTime", option)
        with open(os.path.join(case, "0.02", "U"), "rb") as fields:
            return fields.read()

    def check_restart(self, case):
        """Two more steps from what was drained give the same bits as from a direct run's times."""
        control = os.path.join("system", "controlDict")
        continued = self.lab.copy_case(self.direct, "continued")
        self.addCleanup(shutil.rmtree, continued, ignore_errors=True)
        for each in (case, continued):
            with open(os.path.join(each, control)) as file:
                text = file.read()
            text = re.sub(r"\nendTime .*", "\nendTime 0.03;", text)
            with open(os.path.join(each, control), "w") as file:
                file.write(re.sub(r"\nstartFrom .*", "\nstartFrom latestTime;", text))
            self.in_case(each, *parallel(), *SOLVER)
        for rank in range(4):
            time = os.path.join(f"processor{rank}", "0.03")
            self.assertEqual(differences(os.path.join(case, time), os.path.join(continued, time)), [])

    def test_ranks_that_are_not_contiguous_get_a_group_per_contiguous_run(self):
        case = self.fresh()
        output = self.forebay(case, "--layout", "collated", launcher=parallel("--map-by", "node"))
        groups = sorted(name for name in os.listdir(case) if name.startswith("processors"))
        self.assertEqual(groups, [f"processors4_{rank}-{rank}" for rank in range(4)])
        self.assertIn("n1: its ranks are not contiguous", output)
        self.assertIn("FOAM_IORANKS='(0 1 2 3)'", output)
        self.reconstructed(case)

    def test_deletions_of_the_program_reach_the_case_over_nodes(self):
        case = self.fresh()
        control = os.path.join(case, "system", "controlDict")
        with open(control) as file:
            text = file.read()
        with open(control, "w") as file:
            file.write(re.sub(r"\npurgeWrite .*", "\npurgeWrite 1;", text))
        self.forebay(case, "--safe-interval", "1s")
        self.assertEqual([times_of(case, rank) for rank in range(4)], [{"0.02"}] * 4)
        self.assertEqual(common_times(case, 4), {"0.02"})

    def test_a_safe_time_that_was_purged_leaves_the_case_when_a_newer_one_is_safe(self):
        """A direct run with purgeWrite 1 holds one time; a long one must not gather one for each safety interval."""
        case = self.lab.make_case("long", "cavity", "--ranks", "4", "--steps", "1000000", "--purge", "1")
        self.addCleanup(shutil.rmtree, case, ignore_errors=True)
        run = self.lab.start(
            "n1", FOREBAY, "run", "--case", self.lab.seen(case), "--safe-interval", "1s", "--", *parallel(), *SOLVER,
            directory=case,
        )  # fmt: skip
        self.addCleanup(lambda: run.poll() is None and run.kill())
        seen, most = [], 0

        def on_any_rank():
            return set().union(*(times_of(case, rank) for rank in range(4)))

        def enough_have_gone():
            nonlocal most
            found = common_times(case, 4)
            most = max(most, len(found))
            seen.extend(sorted(found - set(seen), key=float))
            return run.poll() is not None or len(set(seen) - on_any_rank()) >= 6

        wait_for(enough_have_gone, 60, "times that were safe over all ranks have left the case")
        self.assertIsNone(run.poll(), "the run ended by itself")
        # Each leaves two reports after a newer one was agreed on.
        self.assertLessEqual(most, 8, "times on the case at once")
        newest = max(seen, key=float)
        output = interrupt(run)
        self.assertNotEqual(run.returncode, 0, output[-3000:])
        left = common_times(case, 4)
        self.assertTrue(left and float(max(left, key=float)) >= float(newest), f"{left}, {newest} was safe")

    def test_what_openfoam_collates_by_itself_becomes_safe(self):
        """With one group the ranks of the second node write no times."""
        for first_ranks, groups in (("", ["processors4"]), ("(0 2)", ["processors4_0-1", "processors4_2-3"])):
            with self.subTest(groups=groups):
                case = self.lab.make_case("own", "cavity", "--ranks", "4", "--steps", "1000000", "--purge", "1")
                self.addCleanup(shutil.rmtree, case, ignore_errors=True)
                run = self.lab.start(
                    "n1", "env", f"FOAM_IORANKS={first_ranks}", FOREBAY, "run", "--case", self.lab.seen(case),
                    "--safe-interval", "1s", "--", *parallel("-x", "FOAM_IORANKS"), *SOLVER, "-fileHandler", "collated",
                    directory=case,
                )  # fmt: skip
                self.addCleanup(lambda run=run: run.poll() is None and run.kill())

                def safe(case=case):
                    _, said = self.lab.run("n2", FOREBAY, "status", "--case", self.lab.seen(case))
                    found = re.search(r"safe on all nodes: time ([0-9.]+)", said)
                    return found[1] if found else None

                wait_for(lambda run=run, safe=safe: run.poll() is not None or safe(), 60, "a time that is safe")
                was_safe = safe()
                output = interrupt(run)
                self.assertTrue(was_safe, output[-3000:])
                held = [self.times_with_a_state(os.path.join(case, group)) for group in groups]
                self.assertGreaterEqual(max(set.intersection(*held)), float(was_safe), held)
                shutil.rmtree(case)

    def times_with_a_state(self, directory):
        names = {name for name in os.listdir(directory) if re.fullmatch(r"[0-9.]+", name)}
        return {float(each) for each in names if {"U", "p", "phi"} <= set(os.listdir(os.path.join(directory, each)))}

    def test_a_second_run_from_another_node_refuses_and_leaves_the_first_alone(self):
        case = self.lab.make_case("claimed", "cavity", "--ranks", "4", "--steps", "1000000", "--purge", "1")
        self.addCleanup(shutil.rmtree, case, ignore_errors=True)
        of_case = ["run", "--case", self.lab.seen(case), "--safe-interval", "1s", "--"]
        first = self.lab.start("n1", FOREBAY, *of_case, *parallel(hosts="n1:4"), *SOLVER, directory=case)
        self.addCleanup(lambda: first.poll() is None and first.kill())
        wait_for(lambda: os.path.exists(os.path.join(case, ".forebay", "plan.json")), 30, "the first run has begun")
        status, output = self.lab.run("n2", FOREBAY, *of_case, *parallel(hosts="n2:4"), *SOLVER, directory=case)
        self.assertEqual(status, BUSY, output[-3000:])
        self.assertIn("started on n1, works on this case", output)
        self.assertIsNone(first.poll(), "the first goes on")

        def status_of(*options):
            return self.lab.run("n2", FOREBAY, "status", "--case", self.lab.seen(case), *options)[1]

        told = wait_for(lambda: re.search(r"safe +time \S+", status_of()), 30, "n1 has told the case of a safe time")
        self.assertRegex(told.string, r"agent +running on node n1, as it told \d+ s ago")
        (told,) = json.loads(status_of("--json"))["runs"]
        self.assertEqual((told["node"], told["alive"]), ("n1", None))
        self.assertLess(told["heard_seconds_ago"], 30)
        output = interrupt(first)
        self.assertTrue(common_times(case, 4), output[-3000:])
        self.assertFalse(os.path.exists(os.path.join(case, ".forebay")), output[-3000:])


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
