"""Proves that an ordinary user gets what the other tests show for root: by namespaces that user makes, with that user's
permissions only, on a case whose directories and files belong to a group of several users, whose identity the user's
namespace does not know.

Run by ../as_user. Compared with a direct run is all that ../parity compares.
"""

import glob
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "parity"))
import oracle  # noqa: E402
from oracle import casetools  # noqa: E402

FOREBAY = ""
PROJECT = next((group for group in os.getgroups() if group != os.getegid()), None)

# Of the inputs what only a user is refused, and what a copy-up must keep. (A program in the namespace sees a group that
# is not its first as nobody's, so nothing is said of groups.)
CHANGES = r"""
echo more >> shared && echo more >> private && sed -i s/one/ONE/ edited
(echo more >> read-only) 2> /dev/null || echo refused: read-only
(echo more > closed/new) 2> /dev/null || echo refused: closed
(rm -f closed/input) 2> /dev/null || echo refused: removal
(ls hidden) 2> /dev/null || echo refused: hidden
cat read-only closed/input
chmod 600 modes && : > emptied
mkdir data/made && echo new > data/made/file && echo new > data/new && echo new > new
mkdir -p a/b && echo new > a/b/c
mv renamed data/moved && rm removed
mkdir sealed && echo new > sealed/file && chmod 400 sealed/file && chmod 500 sealed
id -u
stat -c '%A %U %n' shared private edited read-only closed data data/made data/new new a/b/c sealed sealed/file
"""

RESTRICTED = (("shared", 0o664), ("private", 0o600), ("read-only", 0o440), ("closed/input", 0o444), ("closed", 0o555),
              ("hidden", 0o300))  # fmt: skip

# Reads the memory of the other rank, as MPI does for messages that are large.
MEMORY = r"""
import ctypes, os, sys, time
place, rank = sys.argv[1], int(os.environ["OMPI_COMM_WORLD_RANK"])
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # PR_SET_PTRACER_ANY, for Yama
text = ctypes.create_string_buffer(f"of rank {rank}".encode(), 64)
def tell(name, what):
    with open(f"{place}/.{name}", "w") as file:
        file.write(what)
    os.rename(f"{place}/.{name}", f"{place}/{name}")
def hear(name):
    while not os.path.exists(f"{place}/{name}"):
        time.sleep(0.01)
    return open(f"{place}/{name}").read()
class Piece(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]
tell(f"address{rank}", f"{os.getpid()} {ctypes.addressof(text)}")
pid, address = map(int, hear(f"address{1 - rank}").split())
mine = ctypes.create_string_buffer(64)
to, source = Piece(ctypes.addressof(mine), 64), Piece(address, 64)
count = libc.process_vm_readv(pid, ctypes.byref(to), 1, ctypes.byref(source), 1, 0)
seen = mine.value.decode() if count == 64 else os.strerror(ctypes.get_errno())
tell(f"seen{rank}", f"{seen}, {os.readlink('/proc/self/ns/user')}, {os.getuid()}")
hear(f"seen{1 - rank}")
"""


class UserTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if PROJECT is None:
            self.skipTest("this user has one group only")
        self.place = casetools.Workplace("user")
        self.addCleanup(self.place.remove)
        self.addCleanup(os.umask, os.umask(0o027))

    def ways(self):
        if not casetools.namespaces_work():
            print("no namespaces for users here, so redirect and path only", file=sys.stderr)
            return ["redirect", "path"]
        return ["redirect", "namespace", "path"]

    def run_in(self, case, way, words, *more):
        if way != "direct":
            options = ["--quiet", "--case", case, "--pool", self.place.pool, "--via", way, *more]
            words = [FOREBAY, "run", *options, "--set", "drain.settle=50ms", "--", *words]
        return casetools.run(words, cwd=case).stdout.decode()

    def check(self, made, words, restrict, times=2):
        """What the program leaves and prints is the same by every way in, owners and groups included."""

        def prepare(case):
            for path, mode in restrict:
                os.chmod(os.path.join(case, path), mode)

        directory = os.path.join(self.place.directory, "judged")
        os.mkdir(directory)
        judge = oracle.Oracle(directory, self.place.pool, FOREBAY)
        judge.start_from(made, prepare)
        direct = judge.run_directly(words, times)[0]
        self.assertEqual(direct.status, 0, direct.errors)
        for way in self.ways():
            with self.subTest(way):
                verdict = judge.run_under_forebay(words, oracle.Settings(way))
                self.assertEqual(verdict.lines(), [])
        return direct

    def give_to_project(self, case, directory_mode):
        for directory, _, files in os.walk(case):
            for name in files:
                os.chown(os.path.join(directory, name), -1, PROJECT)
            os.chown(directory, -1, PROJECT)
            os.chmod(directory, directory_mode)

    def test_ranks_share_one_namespace_of_the_users_own_and_reach_each_others_memory(self):
        if not casetools.namespaces_work():
            self.skipTest("no namespaces for users here")
        case = os.path.join(self.place.directory, "case")
        for rank in (0, 1):
            os.makedirs(os.path.join(case, f"processor{rank}"))
        for way in ("direct", "auto"):  # what is chosen for an ordinary user
            meeting = os.path.join(self.place.directory, way)
            os.mkdir(meeting)
            self.run_in(case, way, ["mpirun", "-n", "2", sys.executable, "-c", MEMORY, meeting])
            seen = []
            for rank in (0, 1):
                with open(os.path.join(meeting, f"seen{rank}")) as file:
                    seen.append(file.read().split(", "))
            if way == "direct" and seen[0][0] != "of rank 1":
                self.skipTest(f"no process reads another one's memory here: {seen}")
            self.assertEqual([memory for memory, _, _ in seen], ["of rank 1", "of rank 0"], way)
            namespaces = {namespace for _, namespace, _ in seen}
            self.assertEqual(len(namespaces), 1, seen)
            self.assertEqual(namespaces == {os.readlink("/proc/self/ns/user")}, way == "direct", seen)
            self.assertEqual({user for _, _, user in seen}, {str(os.getuid())}, "the user is who he was")

    def test_a_solver_on_two_ranks_on_a_case_of_a_project(self):
        made = os.path.join(self.place.directory, "cavity")
        casetools.make_case("cavity", made, "--ranks", "2", "--steps", "3", "--post")
        self.give_to_project(made, 0o2770)
        words = ["mpirun", "-n", "2", "icoFoam", "-parallel"]
        direct = self.check(made, words, [("system/controlDict", 0o440)], times=1)
        written = os.stat(os.path.join(direct.case, "processor1/0.015/U"))
        self.assertEqual((written.st_uid, written.st_gid), (os.getuid(), PROJECT))

    def made_inputs(self):
        made = os.path.join(self.place.directory, "made")
        for name in ("data", "closed", "hidden"):
            os.makedirs(os.path.join(made, name))
        names = ("shared", "private", "edited", "read-only", "modes", "emptied", "renamed", "removed")
        for name in (*names, "closed/input", "data/input"):
            with open(os.path.join(made, name), "w") as file:
                file.write("one\ntwo\n")
        return made

    def test_what_installs_packages_needs_no_root_where_none_is_missing(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/install-dependencies")
        done = subprocess.run(
            [script, "command", "parts", "demo", "developer", "test", "cluster"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("nothing to do", done.stdout)

    def test_inputs_are_copied_up_with_the_users_permissions(self):
        made = self.made_inputs()
        os.chown(os.path.join(made, "shared"), -1, PROJECT)
        os.chown(os.path.join(made, "edited"), -1, PROJECT)
        printed = self.check(made, ["sh", "-c", CHANGES], RESTRICTED).output
        self.assertEqual(printed.count(b"refused: "), 4, printed)

    def test_inputs_of_a_project_are_copied_up_with_the_users_permissions(self):
        made = self.made_inputs()
        self.give_to_project(made, 0o2770)
        self.check(made, ["sh", "-c", CHANGES], RESTRICTED)

    def test_what_its_mode_keeps_the_user_from_reading_is_said_kept_and_carried_once_it_can_be_read(self):
        case = os.path.join(self.place.directory, "case")
        os.mkdir(case)
        where = ["--case", case, "--pool", self.place.pool]
        script = "echo new > file && mkdir -m 300 closed && echo new > closed/file && chmod 200 file"
        words = ["run", *where, "--patience", "1s", "--via", "redirect", "--", "sh", "-c", script]
        done = subprocess.run([FOREBAY, *words], cwd=case, env=casetools.environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"cannot open .*(file|closed): Permission denied")
        (tree,) = glob.glob(f"{self.place.pool}/forebay-{os.getuid()}/*/s0/tree/case")
        for name, mode in (("file", 0o600), ("closed", 0o700)):
            os.chmod(os.path.join(tree, name), mode)
        casetools.run([FOREBAY, "drain", "--resume", "--quiet", *where], cwd=case)
        for name in ("file", "closed/file"):
            with open(os.path.join(case, name)) as file:
                self.assertEqual(file.read(), "new\n")
        self.assertEqual(casetools.leftovers(case, self.place.pool), [])

    def test_a_case_of_somebody_else_that_the_group_may_write(self):
        project = os.environ.get("FOREBAY_TEST_PROJECT")
        if not project:
            self.skipTest("nobody made a directory of somebody else (../as_user does)")
        self.assertNotEqual(os.stat(project).st_uid, os.getuid())
        said = ""
        for way in self.ways():
            with self.subTest(way):
                script = f"mkdir {way} && echo new > {way}/new && echo new > new-{way} && echo {way} >> input"
                self.run_in(project, way, ["sh", "-c", script])
                for name in (way, f"{way}/new", f"new-{way}"):
                    status = os.stat(os.path.join(project, name))
                    self.assertEqual((status.st_uid, status.st_gid), (os.getuid(), PROJECT), name)
                said += way + "\n"
                with open(os.path.join(project, "input")) as file:
                    self.assertEqual(file.read(), said)
                status = os.stat(os.path.join(project, "input"))
                self.assertEqual((status.st_gid, status.st_mode & 0o777), (PROJECT, 0o664))
                self.assertEqual(casetools.leftovers(project, self.place.pool), [])

    def test_files_of_a_checkpoint_keep_the_group_of_those_whose_place_they_take(self):
        case = os.path.join(self.place.directory, "case")
        os.makedirs(os.path.join(case, "restart"))
        for way in self.ways():
            with self.subTest(way):
                for name in ("mesh", "fields"):
                    with open(os.path.join(case, "restart", name), "w") as file:
                        file.write("old\n")
                    os.chown(os.path.join(case, "restart", name), -1, PROJECT)
                script = "for name in mesh fields more; do echo new > restart/$name; done"
                self.run_in(case, way, ["sh", "-c", script], "--checkpoint", "restart")
                for name, group in (("mesh", PROJECT), ("fields", PROJECT), ("more", os.getegid())):
                    path = os.path.join(case, "restart", name)
                    self.assertEqual(os.stat(path).st_gid, group, name)
                    with open(path) as file:
                        self.assertEqual(file.read(), "new\n")
                os.remove(os.path.join(case, "restart", "more"))


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    casetools.need_openfoam()
    unittest.main(verbosity=2)
