"""Proves that the oracle finds what it is there to find: a planted difference in each thing that it compares, in the tree and
on the case; that it finds nothing where all is equal, or where the program itself does not do the same twice; that the table of
what may differ is read strictly; and that the command line tells by its exit status.

parity_test.py FOREBAY [unittest arguments]
"""

import contextlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import comparison  # noqa: E402
import limits  # noqa: E402
import odd_programs_test  # noqa: E402
import oracle  # noqa: E402
import snapshot  # noqa: E402
from oracle import casetools  # noqa: E402

FOREBAY = ""
ROOT = os.geteuid() == 0
ACCESS_LIST = "0x02000000010006" + "00ffffffff020006003930000004000400ffffffff10000600ffffffff20000400ffffffff"

TREE = """
    mkdir -p a/b processor0/1 processor0/2 && echo one > a/one && echo two > a/two && echo three > a/b/three
    ln a/one a/again && ln -s one a/link && mkfifo pipe && truncate -s 1M sparse && echo end >> sparse
    echo noted > noted && setfattr -n user.note -v text noted && echo listed > listed
    touch -d @1600000001 a/one && touch -d @1600000002 a/two && touch -d @1600000003 a/b/three
    touch -d @1600000001 processor0/1 && touch -d @1600000002 processor0/2
"""

# What is done to one of two equal trees, and the differences that must be told of it.
PLANTED = {
    "a file's bytes": ("echo eno > a/one && touch -d @1600000001 a/one", {("a/one", "content"), ("a/again", "content")}),
    "a file's size": ("truncate -s 3 a/two && touch -d @1600000002 a/two", {("a/two", "size"), ("a/two", "content")}),
    "a file's mode": ("chmod 600 a/two", {("a/two", "mode")}),
    "a directory's mode": ("chmod 1755 a/b", {("a/b", "mode")}),
    "the root's mode": ("chmod 711 .", {(".", "mode")}),
    "a setuid bit": ("chmod u+s a/two", {("a/two", "mode")}),
    "a link's text": ("ln -sfn two a/link && touch -hr pipe a/link", {("a/link", "text")}),
    "a hard link less": ("cp -p a/one x && mv x a/again", {("a/one", "links"), ("a/again", "links")}),
    "a hard link to another file": (
        "ln -f a/two a/again",
        {("a/one", "links"), ("a/two", "links"), ("a/again", "links"), ("a/again", "content")},
    ),
    "a filled hole": ("cp --sparse=never -p sparse x && mv x sparse", {("sparse", "holes")}),
    "a hole more": ("fallocate -p -o 0 -l 4096 big && touch -r pipe big", {("big", "holes"), ("big", "content")}),
    "an attribute less": ("setfattr -x user.note noted", {("noted", "xattrs")}),
    "an attribute more": ("setfattr -n user.more -v x a", {("a", "xattrs")}),
    "another value": ("setfattr -n user.note -v other noted", {("noted", "xattrs")}),
    "an access list": (f"setfattr -n system.posix_acl_access -v {ACCESS_LIST} listed", {("listed", "acl"), ("listed", "mode")}),
    "a default access list": (f"setfattr -n system.posix_acl_default -v {ACCESS_LIST} a/b", {("a/b", "acl")}),
    "another type": ("rm pipe && echo x > pipe", {("pipe", "type")}),
    "a link for a file": ("mv a/two x && ln -s ../x a/two", {("a/two", "type"), ("x", "name")}),
    "a link for a directory": ("mv a/b y && ln -s ../y a/b", {("a/b", "type"), ("y", "name"), ("y/three", "name")}),
    "an entry more": ("echo > more && mkdir empty", {("more", "name"), ("empty", "name")}),
    "an entry less": ("rm a/two", {("a/two", "name")}),
    "an odd name": ("touch \"$(printf 'n\\377\\nl')\"", {("n\udcff\nl", "name")}),
    "times that are swapped": (
        "touch -d @1600000002 a/one && touch -d @1600000001 a/two",
        {("a/one", "mtime"), ("a/again", "mtime"), ("a/two", "mtime"), ("a/two", "order")},
    ),
    "directories of times that are swapped": (
        "touch -d @1600000002 processor0/1 && touch -d @1600000001 processor0/2",
        {("processor0/1", "mtime"), ("processor0/2", "mtime"), ("processor0/2", "times"), ("processor0/2", "order")},
    ),
}  # fmt: skip
BY_ROOT = {
    "an owner": ("chown 12345 a/two", {("a/two", "owner")}),
    "a group": ("chgrp 12345 a/two", {("a/two", "group")}),
    "a directory's owner": ("chown 1:2 a/b", {("a/b", "owner"), ("a/b", "group")}),
    "a link's owner": ("chown -h 5 a/link", {("a/link", "owner")}),
    "a device's number": ("rm device && mknod device c 1 5", {("device", "device")}),
    "a device's kind": ("rm device && mknod device b 1 3", {("device", "device")}),
    "a capability": ("setfattr -n security.capability -v 0x0100000200040000000000000000000000000000 a/two", {("a/two", "xattrs")}),
}  # fmt: skip

# Stands for `forebay run ... -- PROGRAM`: it runs the program here, with what $BEFORE and $AFTER do to the case around it.
STAND_IN = """#!/bin/sh
while [ "$1" != -- ]; do shift; done; shift
sh -ec "$BEFORE"; "$@"; status=$?; sh -ec "$AFTER"
exit "${STATUS:-$status}"
"""


def what_differs(found):
    return {(each.path, each.attribute) for each in found}


class Place(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = casetools.Workplace("parity")
        self.addCleanup(self.place.remove)

    def path(self, name):
        return os.path.join(self.place.directory, name)

    def shell(self, script, directory):
        done = subprocess.run(["sh", "-ec", script], cwd=self.path(directory), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def look(self, directory, script=TREE):
        os.mkdir(self.path(directory))
        self.shell(script, directory)
        return snapshot.take(self.path(directory))


def save_beside_another(all_write, look, path):
    """In a process of its own: what has been written is renamed once the other has been written, too."""
    written = json.dump

    def dump(*arguments):
        written(*arguments)
        all_write.wait(30)

    with mock.patch.object(snapshot.json, "dump", dump):
        snapshot.save(look, path)


class SnapshotTest(Place):
    def test_two_ranks_that_end_together_both_leave_a_look(self):
        look, path = self.look("case"), self.path("look")
        fork = multiprocessing.get_context("fork")
        all_write = fork.Barrier(2)
        ranks = [fork.Process(target=save_beside_another, args=(all_write, look, path)) for _ in range(2)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
        self.assertEqual([rank.exitcode for rank in ranks], [0, 0])
        self.assertEqual(snapshot.load(path), look)


class ComparisonTest(Place):
    def trees(self, script):
        """Two equal trees, of which one is then changed; with the looks at both."""
        for each in ("one", "other"):
            shutil.rmtree(self.path(each), ignore_errors=True)
        self.look("one", TREE + "head -c 8192 /dev/urandom > big\n" + ("mknod device c 1 3\n" if ROOT else ""))
        subprocess.run(["cp", "-a", self.path("one"), self.path("other")], check=True)
        before = snapshot.take(self.path("one"))
        self.assertEqual(comparison.differences([before, before], snapshot.take(self.path("other"))), [])
        self.shell(script, "other")
        return before, snapshot.take(self.path("other"))

    def test_planted_differences_are_found_and_no_others(self):
        for name, (script, expected) in {**PLANTED, **(BY_ROOT if ROOT else {})}.items():
            with self.subTest(name):
                before, after = self.trees(script)
                found = comparison.differences([before, before], after)
                # A rename or removal also changes the directory, and what is made anew is newest: these are not asked for.
                told = {(each.path, each.attribute) for each in found if each.attribute not in ("mtime", "order")}
                asked = {each for each in expected if each[1] not in ("mtime", "order")}
                self.assertEqual(told, asked | (told & {(path, "size") for path, _ in asked}))
                self.assertEqual(expected - what_differs(found), set())

    def test_every_attribute_is_planted(self):
        planted = {attribute for _, expected in (PLANTED | BY_ROOT).values() for _, attribute in expected}
        self.assertEqual(planted, {"name", *comparison.ATTRIBUTES, *comparison.ORDERS})

    def test_what_two_direct_runs_do_not_agree_on_is_not_judged(self):
        first, second, other = (
            self.look(
                each, f"echo {each} > noise; echo x > {each}; touch mode; chmod 60{i} mode; ln -s {each} link; {same}"
            )
            for i, (each, same) in enumerate(
                {"one": "echo x > same", "two": "echo x > same", "six": "echo y > same"}.items()
            )
        )
        found = what_differs(comparison.differences([first, second], other))
        self.assertEqual(found, {("same", "content"), ("six", "name")})
        found = what_differs(comparison.differences([first], second))
        self.assertEqual(
            found, {("noise", "content"), ("one", "name"), ("two", "name"), ("mode", "mode"), ("link", "text")}
        )

    def test_the_order_of_what_two_direct_runs_wrote_in_different_order_is_not_judged(self):
        def tree(name, a, b, c):
            times = zip("abc", (a, b, c), strict=True)
            return self.look(name, "".join(f"touch -d @160000000{time} {file};" for file, time in times))

        direct = [tree("one", 1, 2, 3), tree("two", 2, 1, 3)]
        self.assertEqual(what_differs(comparison.differences(direct, tree("alike", 1, 2, 3))), set())
        found = comparison.differences(direct, tree("moved", 3, 2, 1))
        self.assertEqual({each for each in what_differs(found) if each[1] == "order"}, {("c", "order")})

    def test_of_one_direct_run_times_are_judged_that_no_clock_made(self):
        before, after = self.trees("touch -d @1600000007 a/two noted")
        started = before["entries"]["noted"]["mtime"] - 1000
        found = what_differs(comparison.differences([before], after, started=started))
        self.assertIn(("a/two", "mtime"), found)
        self.assertNotIn(("noted", "mtime"), found)

    def test_many_files_have_an_order_in_reasonable_time(self):
        times = {f"f{i}": (i, i, i) for i in range(20000)}
        self.assertEqual(comparison.inversions(times), [])
        times["f500"] = (500, 500, 20001)
        self.assertEqual(len(comparison.inversions(times)), 20000 - 501)


class LimitsTest(Place):
    GOOD = "| `mode` | `case` | `data/**` | `way=path` `type=file,directory` | It is so. |"

    def read(self, *rows):
        with open(self.path("limits.md"), "w") as file:
            file.write("# Limits\n\n| other | table |\n|---|---|\n| x | y |\n\n| " + " | ".join(limits.HEAD) + " |\n")
            file.write("|---|---|---|---|---|\n" + "\n".join(rows) + "\n\nMore words.\n")
        return limits.read(self.path("limits.md"))

    def test_the_page_is_read(self):
        self.assertGreater(len(limits.read()), 0)

    def test_a_row_that_is_not_understood_is_an_error(self):
        for row, why in (
            (self.GOOD.replace("`mode`", "`moed`"), "attribute 'moed' is unknown"),
            (self.GOOD.replace("`mode`", "mode"), "between backquotes"),
            (self.GOOD.replace("`case`", "`cases`"), "place 'cases' is unknown"),
            (self.GOOD.replace("`data/**`", "`a` `b`"), "one pattern"),
            (self.GOOD.replace("way=path", "ways=path"), "'ways=path' is no condition"),
            (self.GOOD.replace("way=path", "way=paths"), "way= 'paths' is unknown"),
            (self.GOOD.replace("`way=path` `type=file,directory`", ""), "does not tell when"),
            (self.GOOD.replace("It is so.", ""), "a reason is missing"),
            (self.GOOD + " more |", "6 cells"),
        ):
            with self.subTest(row):
                with self.assertRaises(limits.LimitsError) as raised:
                    self.read(self.GOOD, row)
                self.assertIn(why, str(raised.exception))
                self.assertIn("line 10", str(raised.exception))
        with self.assertRaises(limits.LimitsError):
            self.read()

    def test_a_row_allows_what_it_says_and_nothing_else(self):
        (row,) = self.read(self.GOOD)
        here = {**{name: set() for name in limits.CONDITIONS}, "way": {"path"}, "type": {"file"}}
        mode = comparison.Difference("data/a/b", "mode", "0644", "0600", "file")
        self.assertTrue(row.allows("case", mode, here))
        self.assertTrue(row.allows("case", mode._replace(path="data/x\ny"), here))
        self.assertFalse(row.allows("tree", mode, here))
        self.assertFalse(row.allows("case", mode._replace(attribute="owner"), here))
        self.assertFalse(row.allows("case", mode._replace(path="dataset/a"), here))
        self.assertFalse(row.allows("case", mode, {**here, "way": {"redirect"}}))
        self.assertFalse(row.allows("case", mode, {**here, "type": {"link"}}))

    def test_patterns(self):
        for which, path, matches in (
            ("**", "a/b", True),
            ("*", "a", True),
            ("*", "a/b", False),
            ("**/x.y", "x.y", True),
            ("**/x.y", "a/b/x.y", True),
            ("**/x.y", "a/xzy", False),
            ("a/*/c", "a/b/c", True),
            ("a/*/c", "a/b/b/c", False),
        ):
            row = limits.row_of(["`mode`", "`case`", f"`{which}`", "-", "why"], 1)
            found = row.allows("case", comparison.Difference(path, "mode", "0644", "0600"), {})
            self.assertEqual(found, matches, (which, path))


class OracleTest(Place):
    def judge(self, program="echo new > new", setup=TREE, before=":", after=":", status="", forebay=None):
        """Of a run under what stands for forebay here."""
        stand_in = self.path("forebay")
        with open(stand_in, "w") as file:
            file.write(STAND_IN)
        os.chmod(stand_in, 0o755)
        directory = self.path("judged")
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory)
        judge = oracle.Oracle(directory, self.place.pool, forebay or stand_in)
        judge.set_up(setup)
        words = ["sh", "-c", program]
        judge.run_directly(words)
        with self.environment(BEFORE=before, AFTER=after, STATUS=status):
            return judge.run_under_forebay(words, oracle.Settings("redirect"))

    @contextlib.contextmanager
    def environment(self, **variables):
        os.environ.update(variables)
        try:
            yield
        finally:
            for each in variables:
                del os.environ[each]

    def differences(self, *arguments, **more):
        verdict = self.judge(*arguments, **more)
        return {(place, each.path, each.attribute) for place, each in verdict.different}

    def test_equal_runs_are_equal(self):
        self.assertEqual(self.differences(), set())

    def test_copies_of_the_starting_case_are_like_it_in_all_that_is_compared(self):
        directory = self.path("copied")
        os.mkdir(directory)
        judge = oracle.Oracle(directory, self.place.pool, "forebay")
        judge.set_up(odd_programs_test.SETUP + ("\nchown 12:34 private && mknod device c 1 3" if ROOT else ""))
        run = judge.run(["true"])
        self.assertEqual(run.look["entries"], judge.start["entries"])

    def test_the_tree_and_the_case_are_told_apart(self):
        found = self.differences(before="chmod 600 a/two", after="chmod 644 a/two; chmod 600 a/b/three; echo > more")
        self.assertEqual(found, {("tree", "a/two", "mode"), ("case", "a/b/three", "mode"), ("case", "more", "name")})

    def test_status_and_output_are_judged(self):
        self.assertEqual(self.differences("exit 3"), set())
        self.assertEqual(self.differences("exit 3", status="0"), {("run", ".", "status")})
        self.assertEqual(
            self.differences("kill -9 $$"), {("run", ".", "status")}, "the stand-in for forebay tells it as 137"
        )
        self.assertEqual(
            self.differences("ls", before="echo > x", after="rm x"), {("run", ".", "output"), ("tree", "x", "name")}
        )

    def test_what_the_program_does_otherwise_each_time_is_not_judged(self):
        self.assertEqual(self.differences("date +%N > now; ln -s $$ to; date +%N"), set())

    def test_a_program_that_leaves_nothing_to_look_at_is_told(self):
        found = self.differences("true", before="kill -9 $PPID; sleep 1")
        self.assertIn(("tree", ".", "name"), found)

    def test_a_row_of_the_table_allows(self):
        verdict = self.judge("echo x > a/two", after="setfattr -x user.note noted")
        self.assertEqual(verdict.lines(), [])
        self.assertEqual(
            [(place, each.path, each.attribute) for place, each, _ in verdict.allowed], [("case", "noted", "xattrs")]
        )

    def test_all_ways_in(self):
        for way in ("redirect", "path", *(["namespace"] if casetools.namespaces_work() else [])):
            with self.subTest(way):
                words = [
                    "--way",
                    way,
                    "mkdir d; echo in > input",
                    "pwd; echo more >> input; cat input; echo new > d/new",
                ]
                self.assertEqual(self.command(*words), 0, self.said)

    # The command line.

    def command(self, *words, forebay=None):
        words = [sys.executable, os.path.join(HERE, "parity"), "--forebay", forebay or FOREBAY, *words]
        done = subprocess.run(words, capture_output=True, text=True)
        self.said = done.stdout + done.stderr
        return done.returncode

    def test_exit_statuses(self):
        self.judge()  # for what stands for forebay
        stand_in = self.path("forebay")
        with self.environment(BEFORE=":", AFTER="echo > more", STATUS=""):
            self.assertEqual(self.command("true", "true", forebay=stand_in), 1, self.said)
            self.assertIn("case: more: name: directly absent, with forebay file", self.said)
            self.assertEqual(self.command("--json", "true", "echo x", forebay=stand_in), 1)
            (difference,) = json.loads(self.said)["different"]
            self.assertEqual((difference["place"], difference["path"]), ("case", "more"))
        self.assertEqual(self.command("exit 4", "true"), 2)
        self.assertIn("the setup ended with 4", self.said)
        self.assertEqual(self.command("true"), 2)
        self.assertEqual(self.command("--way", "sideways", "true", "true"), 2)
        self.assertEqual(self.command("true", "no-such-program", "x"), 2, self.said)
        self.assertEqual(self.command("true", "true", forebay="/nonexistent/forebay"), 77)

    def test_as_a_user(self):
        if (
            not ROOT
            or subprocess.run(["setpriv", "--reuid", "nobody", FOREBAY, "--version"], capture_output=True).returncode
            != 0
        ):
            self.skipTest("needs root, and a forebay that others may run")
        setup = "echo in > input; chmod 640 input"
        for way in ("redirect", "path", *(["namespace"] if casetools.namespaces_work() else [])):
            with self.subTest(way):
                program = "id -u; id -un; echo more >> input && mkdir -m 700 d && echo x > d/x; stat -c %U input d/x"
                self.assertEqual(self.command("--user", "nobody", "--way", way, setup, program), 0, self.said)
        self.assertEqual(
            self.command("--user", "nobody", "id -u > id", "test $(cat id) = $(id -u nobody)"), 0, self.said
        )
        self.assertEqual(self.command("--user", "no such user", "true", "true"), 77)


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    if not shutil.which("setfattr"):
        casetools.skip("no setfattr: scripts/install-dependencies test")
    unittest.main(verbosity=1)
