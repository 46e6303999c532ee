"""Proves that what a program reads and writes in the directory above its case is what lies there, by each way in."""

import os

import outputcase
from outputcase import CONFLICT, WAYS, OutputCase, files

SCRIPTS = {
    "a line more": 'echo "$(cat in)" >> ../table.csv',
    "a new file, read again": "echo new > ../new.txt; cat ../new.txt > copy",
    "a new directory": "mkdir -p ../results/deep; echo 1 > ../results/deep/a; ln ../results/deep/a ../results/b; ln -s b ../results/c",
    "a file of another case": "cat ../other/file > copy; echo more >> ../other/file; echo made > ../other/made",
    "the case's own results": "mkdir out; echo 1 > out/a; mv out ..",
    "a link": "ln -s table.csv ../link",
}


class Above(OutputCase):
    def inputs(self, name):
        above = self.case(name, **{"table.csv": "head\n"})
        for directory, text in (("case", "7\n"), ("other", "8\n")):
            os.mkdir(os.path.join(above, directory))
            with open(os.path.join(above, directory, "in" if directory == "case" else "file"), "w") as file:
                file.write(text)
        return above

    def test_it_is_as_after_a_direct_run(self):
        for what, script in SCRIPTS.items():
            direct = self.inputs(f"{what}, direct")
            self.assertEqual(self.run_in(f"{direct}/case", "direct", script), 0, self.output)
            for way in WAYS:
                with self.subTest(what, way=way):
                    above = self.inputs(f"{what}, {way}")
                    self.assertEqual(self.run_in(f"{above}/case", way, script), 0, self.output)
                    self.assertEqual(files(above), files(direct))
                    self.assertEqual(sorted(os.listdir(above)), sorted(os.listdir(direct)))
                    self.assert_pool_is_empty()

    def test_a_program_starts_where_the_user_stands(self):
        """Also where the case is named by `--case`: the tool, its files and relative paths of the case are those meant."""
        tool = "#!/bin/sh\necho ran > $2/out; cat $1 >> log; pwd > where\n"
        cases = {"above it": ("", "case/in", "case"), "beside it": ("other", "../case/in", "./../case/.")}
        for what, (stands, *words) in cases.items():
            for way in ("direct", *WAYS):
                with self.subTest(what, way=way):
                    above = self.inputs(f"{what}, {way}")
                    here, case = os.path.join(above, stands), os.path.join(above, "case")
                    with open(os.path.join(here, "tool"), "w") as file:
                        file.write(tool)
                    os.chmod(file.name, 0o755)
                    line = ["./tool", *words]
                    if way != "direct":
                        line = [*self.line(way, "", "--case", case)[:-3], *line]
                    self.assertEqual(self.finish(self.start(line, here)), 0, self.output)
                    self.assertEqual((self.read(case, "out"), self.read(here, "log")), ("ran\n", "7\n"))
                    self.assertEqual(self.read(here, "where").rstrip(), here.rstrip("/"))
                    self.assert_pool_is_empty()

    def test_by_path_what_is_removed_or_renamed_there_stays_and_is_told_with_5(self):
        scripts = ("rm ../table.csv", "mv ../table.csv ../renamed", "rm ../table.csv; mv ../other ../elsewhere")
        for number, script in enumerate(scripts):
            with self.subTest(script):
                above = self.inputs(str(number))
                self.assertEqual(self.run_in(f"{above}/case", "path", script), CONFLICT, self.output)
                for name in ("table.csv", *(["other"] if "other" in script else [])):
                    self.assertRegex(self.output, rf"the program removed or renamed [^;]*{above}/{name}")
                found = files(above)
                self.assertEqual((found["table.csv"], found["other/file"]), ("head\n", "8\n"))
                self.assert_pool_is_empty()

    def test_by_the_other_ways_the_program_does_it_itself(self):
        for way in ("namespace", "redirect"):
            with self.subTest(way=way):
                above = self.inputs(way)
                script = "rm ../table.csv; mv ../other ../elsewhere"
                self.assertEqual(self.run_in(f"{above}/case", way, script), 0, self.output)
                self.assertEqual(files(above), {"case/in": "7\n", "elsewhere/file": "8\n"})

    def test_by_path_what_somebody_else_removes_there_is_not_the_programs_doing(self):
        above = self.inputs("else")
        script = f"rm {above}/table.csv; echo 1 > out"
        self.assertEqual(self.run_in(f"{above}/case", "path", script), 0, self.output)

    def test_by_path_what_takes_the_place_of_a_file_there_is_told_with_5_and_lies_beside_it(self):
        above = self.inputs("path")
        script = "echo mine > t; mv t ../table.csv"
        self.assertEqual(self.run_in(f"{above}/case", "path", script), CONFLICT, self.output)
        self.assertIn("table.csv", self.output)
        found = files(above)
        self.assertEqual(found["table.csv"], "head\n")
        self.assertEqual([text for name, text in found.items() if name.startswith("table.csv.forebay-")], ["mine\n"])


if __name__ == "__main__":
    outputcase.main()
