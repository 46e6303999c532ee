"""Issue, "Security": a symlink planted in the case or the pool does not make the agent write or read elsewhere; pools
and sockets are private; a hostile file name cannot inject anything."""

import glob
import json
import os
import shutil
import stat
import subprocess
import tempfile

import harness
from harness import FaultyCase, wait_for

# What the agent does with one who calls and says nothing.
KNOCK = """
import select, socket, sys
caller = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
caller.connect("\\0" + sys.argv[1])
if not select.select([caller], [], [], 0.5)[0]:
    print("waits for a word")
elif caller.recv(1) == b"":
    print("sent away")
"""
SQUAT = """
import socket, sys, time
taken = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for name in sys.argv[1:]]
for each, name in zip(taken, sys.argv[1:]):
    each.bind("\\0" + name)
    each.listen()
print("taken", flush=True)
time.sleep(60)
"""


class Links(FaultyCase):
    ranks = 0

    def setUp(self):
        super().setUp()
        self.outside = os.path.join(self.directory, "outside")
        os.mkdir(self.outside)
        with open(os.path.join(self.outside, "secret"), "w") as file:
            file.write("secret\n")

    def script(self, text, **more):
        return self.start(["sh", "-c", text], ["--set", "drain.settle=200ms", "--patience", "2s"], **more)

    def on_case_text(self):
        text = b""
        for directory, _, names in os.walk(self.case):
            for name in names:
                full = os.path.join(directory, name)
                if not os.path.islink(full):
                    with open(full, "rb") as file:
                        text += file.read()
        return text

    def test_a_directory_of_the_case_replaced_by_a_link_is_not_written_through(self):
        os.mkdir(os.path.join(self.case, "results"))
        process = self.script(f"{self.until_told()}; echo data > results/data; sleep 1")
        wait_for(lambda: any(run["phase"] == "running" for run in self.status()), what="the program")
        os.rmdir(os.path.join(self.case, "results"))
        os.symlink(self.outside, os.path.join(self.case, "results"))
        self.tell()
        self.assertNotEqual(self.finish(process), 0, self.output)
        self.assertEqual(os.listdir(self.outside), ["secret"], "written outside of the case")
        self.assertIn("symbolic link", self.output)
        self.assertEqual(len(self.homes()), 1, "the only copy was removed")

    def test_a_file_of_the_case_replaced_by_a_link_is_not_written_through(self):
        with open(os.path.join(self.case, "setup"), "w") as file:
            file.write("original\n")
        script = f"{self.until_told()}; echo data > setup; sleep 1"
        process = self.start(["sh", "-c", script], ["--copy", "setup", "--set", "drain.settle=200ms"])
        wait_for(lambda: any(run["phase"] == "running" for run in self.status()), what="the program")
        os.unlink(os.path.join(self.case, "setup"))
        os.symlink(os.path.join(self.outside, "secret"), os.path.join(self.case, "setup"))
        self.tell()
        self.assertEqual(self.finish(process), harness.CONFLICT, self.output)
        with open(os.path.join(self.outside, "secret")) as file:
            self.assertEqual(file.read(), "secret\n")

    def test_an_output_directory_replaced_by_a_link_is_not_read_through(self):
        process = self.script(f"mkdir out; echo mine > out/secret; mv out kept; ln -s {self.outside} out; sleep 1")
        self.finish(process)
        self.assertNotIn(b"secret\n", self.on_case_text().replace(b"out/secret", b""))
        out = os.path.join(self.case, "out")
        self.assertTrue(os.path.islink(out), "the program's own link is carried as a link")
        self.assertEqual(os.readlink(out), self.outside)
        with open(os.path.join(self.case, "kept/secret")) as file:
            self.assertEqual(file.read(), "mine\n")

    def test_links_that_climb_out_of_the_pool_or_the_case_are_not_looked_through(self):
        process = self.start(
            ["sh", "-c", f"{self.until_told()}; sleep 1"], ["--via", "path", "--set", "drain.settle=200ms"]
        )
        wait_for(lambda: any(run["phase"] == "running" for run in self.status()), what="the program")
        [home] = self.homes()
        up = "/.." * 12
        for base in (home, os.path.join(home, "lower")):
            name = "planted-" + os.path.basename(base)
            os.symlink(base + up + self.outside + "/secret", os.path.join(home, "tree/case", name))
        self.tell()
        self.finish(process)
        self.assertNotIn(b"secret\n", self.on_case_text())

    def test_a_control_directory_of_somebody_else_is_not_obeyed(self):
        control = os.path.join(self.case, ".forebay")
        os.mkdir(control)
        os.chmod(control, 0o777)
        with open(os.path.join(control, "plan.json"), "w") as file:
            json.dump({"run": "x", "library": "/tmp/evil.so"}, file)
        self.assertNotEqual(self.forebay("exec", "--case", self.case, "--", "true"), 0)
        self.assertIn("private", self.output)


class Privacy(FaultyCase):
    def test_everything_that_a_run_makes_is_its_users_alone(self):
        process = self.start(self.solver("-steps", 5, "-delay", 200))
        self.solvers()
        home = self.homes()[0]
        for directory in (
            os.path.dirname(os.path.dirname(home)),
            os.path.dirname(home),
            home,
            os.path.join(self.case, ".forebay"),
        ):
            mode = os.lstat(directory)
            self.assertEqual(stat.S_IMODE(mode.st_mode), 0o700, directory)
            self.assertEqual(mode.st_uid, os.geteuid())
        for name in ("run.json", "journal", "agent.log", "status.json", "gate", "agent.lock"):
            self.assertEqual(stat.S_IMODE(os.lstat(os.path.join(home, name)).st_mode) & 0o077, 0, name)
        self.assertEqual(self.finish(process), 0, self.output)

    def test_another_user_who_reaches_the_agents_socket_is_sent_away(self):
        if os.geteuid() != 0:
            self.skipTest("being another user needs root")
        process = self.start(self.solver("-steps", 10, "-delay", 300))
        self.solvers()
        _, agent = self.meeting()
        answers = {
            who: subprocess.run(
                ["/usr/bin/python3", "-c", KNOCK, agent],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, user=who, group=who, extra_groups=[],
            ).stdout
            for who in (12345, 0)
        }  # fmt: skip
        self.assertEqual(answers, {0: "waits for a word\n", 12345: "sent away\n"})
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()

    def test_who_listens_in_the_agents_place_gets_no_rank(self):
        if os.geteuid() != 0:
            self.skipTest("being another user needs root")
        process = self.start(self.solver("-steps", 100, "-delay", 100))
        self.solvers()
        names = self.meeting()
        self.kill_tree(process.pid)
        process.wait()
        wait_for(lambda: not self.meeting(), what="the end of the run")
        squatter = subprocess.Popen(
            ["/usr/bin/python3", "-c", SQUAT, *names], stdout=subprocess.PIPE, text=True, user=12345, group=12345,
            extra_groups=[],
        )  # fmt: skip
        self.started.append(squatter)
        self.assertEqual(squatter.stdout.readline(), "taken\n")
        self.assertNotEqual(self.forebay("exec", "--case", self.case, "--", "touch", f"{self.case}/started"), 0)
        self.assertIn("another user listens in the agent's place", self.output)
        self.assertFalse(os.path.exists(f"{self.case}/started"))
        squatter.kill()
        squatter.communicate()

    def meeting(self):
        """The names that processes of the run have taken: of the node's first one, and of its agent."""
        with open(os.path.join(self.case, ".forebay/plan.json")) as file:
            secret = json.load(file)["meeting"]
        with open("/proc/net/unix") as file:
            taken = [line.split()[-1][1:] for line in file if "@forebay-" in line]
        halves = (secret[:16], secret[16:])
        return [name for half in halves for name in sorted(set(taken)) if name.startswith(f"forebay-{half}-")]

    def test_a_pool_directory_that_another_user_made_is_left_alone(self):
        if os.geteuid() != 0:
            self.skipTest("giving a directory away needs root")
        user = os.path.join(self.pool, f"forebay-{os.geteuid()}")
        os.mkdir(user, 0o700)
        os.chown(user, 12345, 12345)
        self.assertEqual(self.run_forebay(["sh", "-c", f"echo 1 > {self.case}/one"]), 0, self.output)
        run = self.start(["sh", "-c", f"echo 2 > {self.case}/two; sleep 60"], ["--drain-when", "end"])
        [own] = wait_for(lambda: [name for name in os.listdir(self.pool) if name != os.path.basename(user)])
        self.assertEqual(os.lstat(os.path.join(self.pool, own)).st_mode & 0o777, 0o700)
        wait_for(lambda: glob.glob(os.path.join(self.pool, own, "*/s0/tree/case/two")))
        self.kill_tree(run.pid)
        run.wait()
        # What was killed there is found again, also when the usual name is free by then.
        os.rmdir(user)
        self.assertEqual(self.resume(), 0, self.output)
        self.assertEqual(self.on_case().get("two"), b"2\n", self.output)

    def test_a_pool_directory_that_others_may_look_into_is_refused(self):
        os.mkdir(os.path.join(self.pool, f"forebay-{os.geteuid()}"), 0o755)
        self.assertNotEqual(self.run_forebay(self.solver()), 0)
        self.assertIn("not a private directory of this user", self.output)

    def test_a_tmp_that_somebody_else_spoiled_is_no_hindrance(self):
        if not harness.may_mount():
            self.skipTest("a /tmp of its own needs root")
        user, place = 12345, tempfile.mkdtemp(prefix="forebay-security-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, place, True)
        case = os.path.join(place, "case")
        os.mkdir(case)
        for path in (place, case):
            os.chown(path, user, user)
        if subprocess.run(
            ["test", "-x", harness.FOREBAY], user=user, group=user, extra_groups=[], check=False
        ).returncode:
            self.skipTest("an ordinary user cannot read the build")
        squat = f"mkdir -m 700 DIR/forebay-{user} && chown 33 DIR/forebay-{user}"
        spoilt = {
            "taken": squat.replace("DIR", "/tmp"),
            "every place taken": f"mount -t tmpfs -o mode=1777 tmpfs /dev/shm && {squat.replace('DIR', '/tmp')} && "
            + squat.replace("DIR", "/dev/shm"),
            "read-only": "mount -o remount,ro /tmp",
            "full": "head -c 1M /dev/zero > /tmp/fill; true",
        }
        for name, spoil in spoilt.items():
            with self.subTest(name):
                run = f"cd {case} && exec setpriv --reuid={user} --regid={user} --clear-groups env -u XDG_RUNTIME_DIR " \
                    f"HOME={place} {harness.FOREBAY} run -q -- sh -c 'echo {name} > out'"  # fmt: skip
                done = subprocess.run(
                    ["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o mode=1777,size=1M tmpfs /tmp && {spoil} && {run}"],
                    capture_output=True, text=True, timeout=60, check=False,
                )  # fmt: skip
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                with open(os.path.join(case, "out")) as file:
                    self.assertEqual(file.read(), name + "\n")

    def test_a_pool_directory_that_is_a_link_is_refused(self):
        elsewhere = os.path.join(self.directory, "elsewhere")
        os.mkdir(elsewhere, 0o700)
        os.symlink(elsewhere, os.path.join(self.pool, f"forebay-{os.geteuid()}"))
        self.assertNotEqual(self.run_forebay(self.solver()), 0)
        self.assertIn("not a private directory of this user", self.output)
        self.assertEqual(os.listdir(elsewhere), [])


class Names(FaultyCase):
    ranks = 0
    names = [
        b"new\nline",
        b"quote\"and's",
        b"$(touch injected)`touch injected`;&|",
        b"\x1b[31mred\x1b[0m",
        b"\xff\xfe not utf-8",
        b"%41 percent %",
        b"x" * 255,
        "ü".encode() * 127,
        b" lead and trail ",
        b"-rf",
        b"tab\tand\\backslash",
    ]

    def program(self):
        path = os.path.join(self.directory, "make.py")
        with open(path, "w") as file:
            file.write(
                f"import os, time\nos.mkdir('d')\nfor name in {self.names!r}:\n"
                "    for path in (name, b'd/' + name):\n"
                "        with open(path, 'wb') as file: file.write(name)\ntime.sleep(1)\n"
            )
        return ["python3", path]

    def check(self):
        for name in self.names:
            for path in (name, b"d/" + name):
                with open(os.path.join(os.fsencode(self.case), path), "rb") as file:
                    self.assertEqual(file.read(), name)
        self.assertFalse(os.path.exists(os.path.join(self.case, "injected")))
        self.assertEqual([n for n in os.listdir(self.case) if n.startswith(".fb-")], [])

    def test_hostile_names_survive_and_inject_nothing(self):
        self.assertEqual(self.run_forebay(self.program(), ["--set", "drain.settle=100ms"]), 0, self.output)
        self.check()

    def test_hostile_names_in_messages_reports_and_journal_after_a_failure(self):
        process = self.start(self.program(), ["--set", "drain.settle=100ms", "--patience", "1s"], fault="fsync:EIO")
        self.assertEqual(self.finish(process), harness.UNDRAINED, self.output)
        self.assertNotIn("\x1b", self.output)
        self.assertNotIn("new\nline", self.output)
        self.assertIsNotNone(self.report)
        self.assertNotIn("\x1b", json.dumps(self.report, ensure_ascii=False))
        self.status()
        for words in (["status"], ["clean", "--yes"]):
            self.forebay(*words, "--case", self.case, "--pool", self.pool)
            self.assertNotIn("\x1b", self.output)
        with open(os.path.join(self.homes()[0], "journal"), "rb") as file:
            for line in file.read().splitlines():
                self.assertTrue(all(32 <= byte < 127 for byte in line), line)
        self.assertEqual(self.resume(fault=""), 0, self.output)
        self.check()

    def test_a_case_with_a_hostile_name_runs(self):
        self.case = os.path.join(self.directory, "case \x1b[31m\n'\"$(touch injected)")
        os.mkdir(self.case)
        self.assertEqual(self.run_forebay(["sh", "-c", "echo fine > result"]), 0, self.output)
        self.assertNotIn("\x1b", self.output)
        with open(os.path.join(self.case, "result")) as file:
            self.assertEqual(file.read(), "fine\n")


if __name__ == "__main__":
    harness.main()
