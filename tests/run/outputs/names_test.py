"""Proves that a program may give its outputs any name, also one that looks like forebay's own: only names that this run
itself made, and journalled, are its own (docs/format.md, docs/run/redirect.md).
"""

import os
import stat

import outputcase
from outputcase import WAYS, OutputCase, files

CONFLICT = 5
# Like the temporary names on the case, those that staging, eviction and the library's copy-up use or used.
NAMES = (".fb-result", ".fb-0123456789abcdef", ".fb-evict", ".fb-processor0", ".forebay-up-x",
         ".forebay-up-0123456789abcdef", ".forebay-up-0123456789abcdef-0123456789abcdef")  # fmt: skip

WRITE = "mkdir -p .fb-data 1 && for name in $NAMES; do for d in . .fb-data 1; do echo $name > $d/$name; done; done; "


class Names(OutputCase):
    def setUp(self):
        super().setUp()
        os.environ["NAMES"] = " ".join(NAMES)

    def test_outputs_with_names_like_ours_arrive(self):
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way, input="input\n")
                # A copy-up is what the library makes such names for.
                script = WRITE + "echo more >> input; ls -A > listing"
                self.assertEqual(self.run_in(case, way, script), 0, self.output)
                found = files(case)
                self.assertEqual(
                    sorted(found.pop("listing").split()), sorted((*NAMES, ".fb-data", "1", "input", "listing"))
                )
                expected = {os.path.join(d, name): name + "\n" for name in NAMES for d in ("", ".fb-data", "1")}
                self.assertEqual(found, {**expected, "input": "input\nmore\n"})
                self.assert_pool_is_empty()

    def test_files_and_links_with_the_names_of_times_arrive(self):
        for way in WAYS:
            for when in ("live", "end"):
                with self.subTest(way=way, when=when):
                    case = self.case(f"{way}-{when}")
                    script = "echo seven > 7; mkdir 8; echo eight > 8/f; ln -s 8 9; sleep 0.5; rm 7; echo again > 7; echo > 6; rm 6"
                    options = ["--drain-when", when, "--set", "drain.settle=100ms"]
                    self.assertEqual(self.run_in(case, way, script, *options), 0, self.output)
                    self.assertEqual(files(case), {"7": "again\n", "8/f": "eight\n"})
                    self.assertEqual(os.readlink(os.path.join(case, "9")), "8")

    def test_so_do_those_of_a_rank_in_its_time(self):
        for way in WAYS:
            for when in ("live", "end"):
                with self.subTest(way=way, when=when):
                    case = self.case(f"{way}-{when}")
                    for directory in ("system", "processor0/0", "processor1/0"):
                        os.makedirs(os.path.join(case, directory))
                    with open(os.path.join(case, "system/controlDict"), "w") as file:
                        file.write("application solver;\npurgeWrite 0;\nwriteInterval 1;\n")
                    script = (
                        "cd processor$OMPI_COMM_WORLD_RANK && for t in 1 2; do mkdir $t && "
                        "for name in $NAMES; do echo $name > $t/$name; done; done"
                    )
                    launched = ["mpirun", "-n", "2", "--oversubscribe", "sh", "-c", script]
                    line = [outputcase.FOREBAY, "run", "-q", "--pool", self.pool, "--via", way, "--drain-when", when]
                    process = self.start([*line, "--", *launched], case)
                    self.assertEqual(self.finish(process), 0, self.output)
                    for rank in (0, 1):
                        for time in (1, 2):
                            found = files(os.path.join(case, f"processor{rank}/{time}"))
                            self.assertEqual(found, {name: name + "\n" for name in NAMES})

    def test_a_program_may_have_a_directory_called_like_our_mark(self):
        script = "mkdir -p .forebay .forebay-run; echo 1 > .forebay/mine; echo 2 > .forebay-run/node-mine.json"
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way)
                for again in (script, f"cat .forebay/mine > seen; {script}"):
                    self.assertEqual(self.run_in(case, way, again), 0, self.output)
                    self.assertEqual(self.read(case, ".forebay/mine"), "1\n")
                    self.assertEqual(self.read(case, ".forebay-run/node-mine.json"), "2\n")
                    self.assertEqual(stat.S_IMODE(os.stat(os.path.join(case, ".forebay")).st_mode), 0o755)
                self.assertEqual(self.read(case, "seen"), "1\n")
                self.assertEqual(self.forebay("drain", "--resume", "--case", case), 0, self.output)
                self.assertEqual(sorted(os.listdir(case)), [".forebay", ".forebay-run", "seen"])

    def test_a_file_called_like_our_mark_stays_and_one_that_is_made_is_kept_beside_it(self):
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way, **{".forebay": "mine\n"})
                self.assertEqual(self.run_in(case, way, "cat .forebay > seen; echo more >> .forebay"), 0, self.output)
                self.assertEqual(files(case), {".forebay": "mine\nmore\n", "seen": "mine\n"})
                case = self.case("made-" + way)
                self.assertEqual(self.run_in(case, way, "echo made > .forebay"), CONFLICT, self.output)
                self.assertEqual(list(files(case).values()), ["made\n"])
                for words in ("what helps", f"find {case} -name"):
                    self.assertIn(words, self.output)

    def test_inputs_with_such_names_are_neither_removed_nor_hidden(self):
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way, **{name: "input\n" for name in NAMES})
                script = "ls -A; echo more >> .fb-0123456789abcdef; rm .fb-evict; echo new > output"
                self.assertEqual(self.run_in(case, way, script, "--copy", ".fb-result"), 0, self.output)
                self.assertTrue(set(NAMES) <= set(self.output.split()), self.output)
                expected = {name: "input\n" for name in NAMES if name != ".fb-evict"}
                self.assertEqual(files(case), {**expected, ".fb-0123456789abcdef": "input\nmore\n", "output": "new\n"})


if __name__ == "__main__":
    outputcase.main()
