"""Proves that inputs with several names, of which the program rewrites, removes or moves some, are no conflict: each
name that changes takes a link from the others, which changes their ctime too. Nor is a case that was made by `cp -al`,
while its twin changes. An edit of the user's still is one. And names of one input are one file for a program that writes
to it, as in a direct run.
"""

import itertools
import os
import shutil
import time

import outputcase
from outputcase import CONFLICT, WAYS, OutputCase, drawn, files

SCRIPTS = {
    "both rewritten": "rm h1 h2; echo a > h1; echo b > h2",
    "one rewritten, one removed": "rm h1; echo a > h1; rm h2",
    "one rewritten, one moved": "rm h1; echo a > h1; mv h2 h4",
    "all removed": "rm h1 h2 h3",
    "one more linked": "rm h1; ln h2 h1; rm h3; echo c > h3",
    "replaced by renames": "for h in h1 h2 h3; do echo $h > new; mv new $h; done",
    "rewritten twice": "rm h1; echo a > h1; sleep 1; rm h2; echo b > h2; sleep 1; rm h1 h3; echo c > h1",
}
# What is written through one name is read through the others, before and after.
WRITES = {
    "one after the other": "echo b > h1; echo c > h2; cat h1 h2 h3",
    "appended, and a new name": "ln h1 new; echo b >> h1; cat new h2",
    "moved away and written": "mv h3 h4; echo b >> h4; cat h1",
    "moved away": "mv h3 h4; rm h2",
    "by another directory": "mkdir d; mv h2 d/h2; echo b > d/h2; cat h1",
    "one name is made anew": "rm h1; echo b > h1; echo c >> h2; cat h1 h3",
    "through the content, its time set back": "touch -r h1 t; echo new > h2; touch -r t h2; rm t",
    "mode": "chmod 600 h2",
    "not written": "cat h1 h2",
}

# Which names are one file changes, though the content, size and time of each name stay.
EQUAL = {
    "a name becomes a link of an equal file": "ln -f d/equal h1",
    "a name becomes an equal file of its own": "cp -p h1 x; mv x h1",
    "an equal file takes the place": "mv d/equal h2",
}


def groups(root):
    """The names of each file with several."""
    found = {}
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            found.setdefault(os.lstat(path).st_ino, set()).add(os.path.relpath(path, root))
    return sorted(sorted(names) for names in found.values())


class HardLinks(OutputCase):
    def inputs(self, name):
        case = self.case(name, h1="old\n")
        for second in ("h2", "h3"):
            os.link(os.path.join(case, "h1"), os.path.join(case, second))
        return case

    def test_names_of_one_input_are_changed_by_themselves(self):
        for what, script in SCRIPTS.items():
            direct = self.inputs("direct")
            self.assertEqual(self.run_in(direct, "direct", script), 0)
            for way in drawn(WAYS, what):
                with self.subTest(what, way=way):
                    case = self.inputs(way)
                    options = ["--set", "drain.settle=100ms", *(["--copy", "h2"] if way == "redirect" else [])]
                    self.assertEqual(self.run_in(case, way, script, *options), 0, self.output)
                    self.assertEqual(files(case), files(direct))
                    self.assert_pool_is_empty()
                    os.rename(case, f"{case} {what}")
            os.rename(direct, f"{direct} {what}")

    def test_names_of_one_input_are_one_file(self):
        for what, script in WRITES.items():
            direct = self.inputs(f"{what}, direct")
            self.assertEqual(self.run_in(direct, "direct", script), 0, self.output)
            printed = self.output
            for way, when in drawn(itertools.product(WAYS, ("live", "end")), what):
                with self.subTest(what, way=way, when=when):
                    case = self.inputs(f"{what}, {way}")
                    options = ["--drain-when", when, "--set", "drain.settle=20ms"]
                    self.assertEqual(self.run_in(case, way, script, *options), 0, self.output)
                    self.assertTrue(self.output.endswith(printed), self.output)
                    self.assertEqual((files(case), groups(case)), (files(direct), groups(direct)))
                    self.assertEqual(os.stat(f"{case}/h1").st_mode, os.stat(f"{direct}/h1").st_mode)
                    self.assert_pool_is_empty()

    def test_an_equal_file_in_the_place_of_an_input_is_no_name_of_it(self):
        for what, script in EQUAL.items():
            expected = None
            for way in ("direct", *drawn(WAYS, what)):
                case = self.inputs(f"{what}, {way}")
                os.mkdir(os.path.join(case, "d"))
                shutil.copy2(os.path.join(case, "h1"), os.path.join(case, "d/equal"))
                options = ["--copy", "*", "--drain-when", "end"] if way != "direct" else []
                with self.subTest(what, way=way):
                    self.assertEqual(self.run_in(case, way, script, *options), 0, self.output)
                    expected = expected or groups(case)
                    self.assertEqual(groups(case), expected)

    def test_names_of_one_input_in_several_ranks_directories_are_files_of_their_own_once_one_is_written(self):
        """As docs/run/limits.md says: directly, what rank 0 writes rank 1 reads, too."""
        script = (
            "if [ $OMPI_COMM_WORLD_RANK = 0 ]; then echo more >> processor0/shared; fi; cat processor1/constant/own"
        )
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(f"ranks, {way}")
                for rank in (0, 1):
                    os.makedirs(os.path.join(case, f"processor{rank}/constant/polyMesh"))
                os.mkdir(os.path.join(case, "system"))
                for name, text in (
                    ("system/controlDict", "application sh;\n"),
                    ("processor0/shared", "old\n"),
                    ("processor0/constant/own", "own\n"),
                ):
                    with open(os.path.join(case, name), "w") as file:
                        file.write(text)
                    if name.startswith("processor0"):
                        os.link(file.name, file.name.replace("/processor0/", "/processor1/"))
                line = self.line(way, script)
                at = line.index("--") + 1
                line[at:at] = ["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none"]
                os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
                self.assertEqual(self.finish(self.start(line, case)), 0, self.output)
                found = files(case)
                self.assertEqual((found["processor0/shared"], found["processor1/shared"]), ("old\nmore\n", "old\n"))
                # What nobody wrote stays one file with two names.
                one, two = (os.stat(os.path.join(case, f"processor{rank}/constant/own")) for rank in (0, 1))
                self.assertEqual(one.st_ino, two.st_ino)
                self.assert_pool_is_empty()

    def run_beside(self, way, script, act):
        """`act` is done to the case when the program is at work in it."""
        case, twin = self.inputs(way), os.path.join(self.directory, "twin " + way)
        os.mkdir(twin)
        for name in ("h1", "h2", "h3"):
            os.link(os.path.join(case, name), os.path.join(twin, name))
        begun, go_on = os.path.join(self.directory, "begun"), os.path.join(self.directory, "go on")
        wait = f"touch '{begun}'; while ! [ -e '{go_on}' ]; do sleep 0.02; done; "
        process = self.start(self.line(way, wait + script), case)
        until = time.monotonic() + 30
        while not os.path.exists(begun) and time.monotonic() < until:
            time.sleep(0.02)
        act(case, twin)
        with open(go_on, "w"):
            pass
        status = self.finish(process)
        os.remove(begun)
        os.remove(go_on)
        return case, twin, status

    def test_a_twin_that_changes_is_no_conflict(self):
        def act(_, twin):
            os.remove(os.path.join(twin, "h1"))
            os.rename(os.path.join(twin, "h2"), os.path.join(twin, "h4"))

        for way in WAYS:
            with self.subTest(way=way):
                case, twin, status = self.run_beside(way, "rm h1 h2; echo mine > h1", act)
                self.assertEqual(status, 0, self.output)
                self.assertEqual(files(case), {"h1": "mine\n", "h3": "old\n"})
                self.assertEqual(files(twin), {"h3": "old\n", "h4": "old\n"})

    def test_an_edit_of_the_users_is_a_conflict_though_the_size_and_the_time_are_as_before(self):
        def act(case, _):
            path = os.path.join(case, "h1")
            before = os.stat(path)
            with open(path, "r+") as file:
                file.write("her")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

        for way in drawn(WAYS, "an edit"):
            with self.subTest(way=way):
                case, _, status = self.run_beside(way, "rm h1; echo mine > h1", act)
                self.assertEqual(status, CONFLICT, self.output)
                found = files(case)
                self.assertEqual(found["h1"], "her\n")
                self.assertEqual([text for name, text in found.items() if name.startswith("h1.forebay-")], ["mine\n"])


if __name__ == "__main__":
    outputcase.main()
