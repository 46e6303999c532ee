"""Proves: `forebay restartable` names the newest output time of a case from which its solver can be started, whoever wrote
the case, says what newer times lack, and sets these aside without removing anything."""

import gzip
import json
import os
import subprocess
import time

import commandcase

CLOSING = "\n// ************************************************************************* //\n"
UNUSABLE, UNDRAINED, BUSY = 2, 3, 7
PROPERTIES = "uniform/functionObjects/functionObjectProperties"


def field(name, values="uniform 0;"):
    header = f"FoamFile\n{{\n    version 2.0;\n    format ascii;\n    class volScalarField;\n    object {name};\n}}\n"
    return header + f"internalField {values}\n" + CLOSING


class RestartableTest(commandcase.CommandCase):
    def setUp(self):
        super().setUp()
        self.write("system/controlDict", commandcase.CONTROL + "startFrom latestTime;\n")

    def make(self, time, *names, ranks=(0, 1)):
        for rank in ranks:
            for name in names:
                self.write(f"processor{rank}/{time}/{name}", field(name))

    def judged(self, *words, status=0):
        self.assertEqual(self.call("restartable", "--case", self.case, "--json", *words), status, self.output)
        return json.loads(self.done.stdout)

    def below(self):
        return sorted(
            os.path.relpath(os.path.join(directory, name), self.case)
            for directory, _, names in os.walk(self.case)
            for name in names
        )

    def test_a_directory_that_is_no_case_is_called_that(self):
        """But one with times is one, without its controlDict, too."""
        os.mkdir(os.path.join(self.directory, "empty"))
        for words in ((), ("--json",)):
            self.assertEqual(self.call("restartable", *words, cwd=os.path.join(self.directory, "empty")), UNUSABLE)
            self.assertIn("no case here", self.done.stderr)
        self.assertEqual(self.call("restartable", "--case", self.case), UNDRAINED, self.output)
        self.make("0", "U", "p")
        self.make("1", "U", "p")
        os.remove(os.path.join(self.case, "system/controlDict"))
        self.assertEqual(self.judged()["restartable"], "1")

    def test_times_that_hold_only_what_function_objects_write_are_passed_over(self):
        self.make("0", "U", "p", "nuTilda")
        self.make("10", "U", "p", "phi", "vorticity")
        for poor in ("15", "20"):
            self.make(poor, "vorticity")
        found = self.judged()
        self.assertEqual(found["restartable"], "10")
        self.assertEqual([each["time"] for each in found["newer"]], ["20", "15"])
        self.assertEqual(found["newer"][0]["lacks"], {"processor0": ["U", "p"], "processor1": ["U", "p"]})
        self.assertEqual(found["older"], [])

    def test_a_rank_that_lacks_a_file_or_has_it_cut_makes_the_time_none(self):
        self.make("0", "U", "p")
        self.make("1", "U", "p")
        self.make("2", "U", "p")
        self.make("3", "U", "p", ranks=(0,))
        self.write("processor1/2/p", field("p")[:-20])
        found = self.judged()
        self.assertEqual(found["restartable"], "1")
        self.assertEqual(found["newer"][1]["cut"], {"processor1": ["p"]})
        self.assertEqual(found["newer"][0]["lacks"], {"processor1": ["U", "p"]})

    def test_an_older_time_with_a_file_that_the_newest_lacks_is_named_beside_it(self):
        self.make("0", "U", "p")
        self.make("1", "U", "p", "phi")
        self.make("2", "U", "p")
        found = self.judged()
        self.assertEqual(found["restartable"], "2")
        self.assertEqual([(each["time"], each["has"]["processor0"]) for each in found["older"]], [("1", ["phi"])])

    def test_set_aside_moves_newer_times_and_removes_nothing(self):
        self.make("0", "U", "p")
        self.make("1", "U", "p")
        self.make("2", "vorticity")
        self.make("3", "U", ranks=(1,))
        files = self.below()
        found = self.judged("--set-aside")
        self.assertEqual(
            sorted(found["set_aside"]), [f"forebay-set-aside/processor{each}" for each in ("0/2", "1/2", "1/3")]
        )
        self.assertEqual(sorted(each.replace("forebay-set-aside/", "") for each in self.below()), files)
        self.assertEqual(sorted(os.listdir(os.path.join(self.case, "processor1"))), ["0", "1"])
        self.make("2", "vorticity")  # the restarted run was killed again
        self.assertIn("forebay-set-aside/processor0/2.1", self.judged("--set-aside")["set_aside"])
        self.assertEqual(self.judged()["newer"], [])

    def test_a_cut_file_that_a_solver_need_not_have_is_set_aside_on_all_ranks_since_it_stops_where_it_reads_one(self):
        self.make("0", "U", "p")
        self.make("1", "U", "p", "phi", "uniform/time")
        self.write("processor1/1/phi", field("phi")[:-20])
        files = self.below()
        found = self.judged()
        self.assertEqual((found["restartable"], found["cut"]), ("1", {"processor1": ["phi"]}))
        found = self.judged("--set-aside")
        self.assertEqual(
            sorted(found["set_aside"]), [f"forebay-set-aside/processor{each}/1/phi" for each in ("0", "1")]
        )
        self.assertEqual(sorted(each.replace("forebay-set-aside/", "") for each in self.below()), files)
        found = self.judged("--set-aside")
        self.assertEqual((found["restartable"], found["cut"], found["set_aside"]), ("1", {}, []))

    def test_the_start_time_alone_can_be_started_from_and_without_any_time_the_status_is_3(self):
        self.assertIsNone(self.judged(status=UNDRAINED)["restartable"])
        self.make("0", "U", "p")
        self.make("0.5", "vorticity")
        self.assertEqual(self.judged()["restartable"], "0")

    def test_where_only_one_time_is_left_it_must_be_whole(self):
        self.make("5", "U", "p")
        self.write("processor1/5/p", field("p")[:-20])
        self.assertIsNone(self.judged("--set-aside", status=UNDRAINED)["restartable"])
        self.assertFalse(os.path.exists(os.path.join(self.case, "forebay-set-aside")))
        self.make("5", "U", "p")
        self.assertEqual(self.judged()["restartable"], "5")

    def test_a_closing_line_that_no_file_of_the_name_has_is_not_missed_nor_the_content_of_a_marker(self):
        for each in ("0", "1", "2", "3"):
            self.make(each, "U", "p")
            for rank in (0, 1):
                self.write(f"processor{rank}/{each}/U", field("U").replace(CLOSING, ""))
                self.write(f"processor{rank}/{each}/done", "")
                self.write(f"processor{rank}/{each}/T.gz", gzip.compress(field("T").replace(CLOSING, "").encode()))
        self.write("processor1/3/p", field("p").replace(CLOSING, ""))
        found = self.judged("--set-aside")
        self.assertEqual((found["restartable"], found["cut"]), ("2", {}))
        self.assertEqual(found["newer"][0]["lacks"], {"processor1": ["p"]})
        for name, text in (("done", "now it says something"), ("U", field("U"))):
            self.write(f"processor0/1/{name}", text)
            self.assertEqual(self.judged()["restartable"], "0", name)
            os.remove(os.path.join(self.case, f"processor0/1/{name}"))

    def test_before_the_first_state_a_time_needs_all_that_the_start_time_has(self):
        self.make("0", "U", "p", "nuTilda")
        self.make("1", "p", "uniform/time")
        self.make("2", "vorticity")
        found = self.judged()
        self.assertEqual(found["restartable"], "0")
        self.assertEqual(found["newer"][0]["lacks"]["processor0"], ["U", "nuTilda", "p"])
        self.assertEqual(found["newer"][1]["lacks"]["processor0"], ["U", "nuTilda"])
        self.make("3", "U", "p", "uniform/time", PROPERTIES)
        self.assertEqual(self.judged()["restartable"], "3")

    def test_times_of_function_objects_in_a_collated_case_are_told_what_they_lack(self):
        for name in ("U", "p"):
            self.write(f"processors2/0/{name}", "FoamFile of blocks")
        self.write("processors2/1/vorticity", "1")
        self.write("processor0/2/vorticity", "1")
        for each in self.judged()["newer"]:
            self.assertEqual(each["lacks"], {"processor0": ["U", "p"], "processor1": ["U", "p"]})

    def test_a_case_that_is_not_there_or_is_no_directory_is_unusable(self):
        for path in ("nowhere", "system/controlDict"):
            for command in (["restartable"], ["status"], ["clean", "--yes"], ["drain", "--resume"]):
                path = os.path.join(self.case, path)
                self.assertEqual(self.call(*command, "--case", path), UNUSABLE, f"{command} {path}: {self.output}")

    def test_a_case_in_one_piece_with_compressed_files(self):
        for each in ("0", "1", "2"):
            for name in ("U", "p"):
                self.write(f"{each}/{name}.gz", gzip.compress(field(name, "1 " * 5000).encode()))
        self.write("2/p.gz", gzip.compress(field("p", "1 " * 5000).encode())[:-9])
        found = self.judged()
        self.assertEqual(found["restartable"], "1")
        self.assertEqual(found["newer"][0]["lacks"], {"case": ["p"]})

    def test_a_collated_case_needs_the_blocks_of_all_ranks(self):
        def collated(name, blocks):
            text = "FoamFile\n{\n    version 2.0;\n    format binary;\n    class decomposedBlockData;\n"
            text += f"    blocks 2;\n    object {name};\n}}\n"
            for block in range(blocks):
                content = field(name) if block == 0 else "internalField uniform 0;\n"
                text += f"\n\n// Processor{block}\n\n{len(content)}\n({content})"
            return text

        for each, blocks in (("0", 2), ("1", 2), ("2", 1)):
            for name in ("U", "p"):
                self.write(f"processors2/{each}/{name}", collated(name, blocks))
        found = self.judged()
        self.assertEqual(found["restartable"], "1")
        self.assertEqual(found["newer"][0]["cut"], {"processor0": ["U", "p"], "processor1": ["U", "p"]})
        self.write("processor0/3/U", field("U"))  # one rank has begun a time of its own
        self.assertEqual(self.judged("--set-aside")["restartable"], "1")
        self.assertEqual(self.judged()["newer"], [])

    def test_a_rank_directory_that_is_a_link_keeps_its_times_where_they_are(self):
        self.make("0", "U", "p")
        self.make("1", "U", "p")
        self.make("2", "U")
        far = os.path.join(self.pool, "far")
        os.rename(os.path.join(self.case, "processor1"), os.path.join(self.directory, "here"))
        os.system(f"cp -r {self.directory}/here {far}")
        os.symlink(far, os.path.join(self.case, "processor1"))
        found = self.judged("--set-aside")
        self.assertEqual(
            sorted(found["set_aside"]), ["forebay-set-aside/processor0/2", "processor1/forebay-set-aside/2"]
        )
        self.assertTrue(os.path.exists(os.path.join(far, "forebay-set-aside/2/U")))
        self.assertEqual(self.judged()["newer"], [])

    def test_nothing_is_moved_while_a_run_holds_the_case(self):
        self.make("0", "U", "p")
        self.make("1", "vorticity")
        go_on = os.path.join(self.directory, "go-on")
        words = ["run", "--quiet", "--case", self.case, "--pool", self.pool, "--", "sh", "-c"]
        script = f"until [ -e '{go_on}' ]; do sleep 0.01; done"
        run = subprocess.Popen([commandcase.FOREBAY, *words, script], env=self.environment())
        try:
            while not os.path.exists(os.path.join(self.case, ".forebay/plan.json")):
                self.assertIsNone(run.poll())
                time.sleep(0.01)
            self.assertEqual(self.call("restartable", "--case", self.case, "--set-aside"), BUSY, self.output)
            self.assertEqual(self.judged()["restartable"], "0")
        finally:
            open(go_on, "w").close()
            self.assertEqual(run.wait(timeout=30), 0)
        self.assertTrue(os.path.exists(os.path.join(self.case, "processor0/1/vorticity")))


if __name__ == "__main__":
    commandcase.main()
