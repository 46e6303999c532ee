"""Proves: who types a first command, or a wrong one, is told what to do next, in words that can be pasted."""

import json
import os
import re
import shlex
import shutil
import socket
import stat
import subprocess
import time

import commandcase
import pages

BUSY, BAD_INPUT = 7, 2


class FirstTest(commandcase.CommandCase):
    def run_here(self, *words, **more):
        return self.call("run", "--case", self.case, "--pool", self.pool, "--", *words, cwd=self.case, **more)

    def test_the_quick_start_on_a_laptop_goes_as_it_is_written(self):
        """With the tutorial that it names; of its steps only some."""
        script = pages.listing("laptop", "quickstart.md")
        (tutorial,) = re.findall(r"(?m)^cp -r (\S+) pitzDaily$", script)
        if not (os.path.exists(tutorial) and shutil.which("blockMesh") and shutil.which("mpirun")):
            self.skipTest("no OpenFOAM with tutorials: scripts/install-dependencies demo")
        fewer = "sed -i 's/^endTime .*/endTime 10;/; s/^writeInterval .*/writeInterval 5;/' system/controlDict"
        script = script.replace("cd pitzDaily\n", f"cd pitzDaily\n{fewer}\n")
        script = re.sub("(?m)^forebay clean", "forebay clean --yes --case .", script)
        root = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1",
        }
        path = f"{os.path.dirname(commandcase.FOREBAY)}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.directory,
            env=self.environment(FOREBAY_POOL_PATHS=self.pool, PATH=path, HOME=self.directory, **root),
            capture_output=True,
            text=True,
            timeout=120,
        )
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertIn("OpenFOAM, simpleFoam, not decomposed yet", said)
        self.assertIn("last complete time    10", said)
        for name in ("processor3/10/p", "10/p", "log.blockMesh", "log.simpleFoam", "log.reconstructPar"):
            self.assertTrue(os.path.exists(os.path.join(self.directory, "pitzDaily", name)), name)
        self.assertEqual(self.in_pool("*"), [], "clean has removed what was kept")

    def test_the_command_alone_says_what_to_do(self):
        self.assertEqual(self.call(), 0)
        self.assertEqual(self.done.stderr, "")
        for words in ("forebay run -- mpirun", "forebay doctor", "forebay help"):
            self.assertIn(words, self.done.stdout)
        self.assertEqual(self.call("-V"), 0)
        self.assertRegex(self.done.stdout, r"^\d+\.\d+\.\d+\n$")

    def test_help_of_a_command_is_what_its_flag_prints(self):
        for words in ((), ("run",), ("mesh",), ("help",)):
            self.call(*words, "--help")
            printed = self.done.stdout
            self.assertEqual(self.call("help", *words), 0, self.output)
            self.assertEqual(self.done.stdout, printed)
        self.assertEqual(self.call("help", "mesh", "multiply"), 0)
        self.assertIn("Usage: forebay mesh", self.done.stdout)
        self.assertEqual(self.call("help", "statsu"), BAD_INPUT)
        self.assertIn("did you mean `forebay status`?", self.done.stderr)

    def test_help_has_defaults_and_shows_what_is_rare_apart(self):
        self.call("--help")
        common, rest = self.done.stdout.split("Common commands:")[1].split("Other commands:")
        names = [
            line.split()[0] for line in (common + rest.split("Examples:")[0]).splitlines() if line.startswith("  ")
        ]
        self.assertIn("  run  ", common)
        self.assertIn("  mesh  ", rest)
        for name in names:
            self.assertEqual(self.call("help", name), 0)
            for line in self.done.stdout.split("Examples:")[0].splitlines():
                # Where one of some words is taken, one of them is taken without the flag.
                if line.startswith("  --") and "|" in line.split()[1] and line.split()[1].islower():
                    self.assertRegex(self.done.stdout.split(line)[1].split("\n  -")[0] + line, r"\(default: ", line)
        self.call("help", "run")
        common, rare = self.done.stdout.split("Common options:")[1].split("Rare options:")
        for flag in ("--case", "--pool", "--layout"):
            self.assertIn(f"  {flag} ", common)
        for flag in ("--patience", "--set"):
            self.assertIn(f"  {flag} ", rare)
        self.assertIn("(default: 10min)", rare)

    def test_what_could_not_be_started_has_no_summary(self):
        script = os.path.join(self.case, "script")
        self.write("script", "#!/no/such/shell\n")
        os.chmod(script, 0o755)
        self.assertEqual(self.run_here(script), 127, self.output)
        self.assertIn(f"cannot run {script}: No such file", self.output)
        self.assertIn("forebay: no program was started; exit status 127\n", self.output)
        for words in ("wall time", "staging", "0 us"):
            self.assertNotIn(words, self.output)
        # The launcher is a program; what it was to start never came.
        self.write("mpirun", "#!/bin/sh\necho no such partition >&2\nexit 5\n")
        os.chmod(os.path.join(self.case, "mpirun"), 0o755)
        path = f"{self.case}:{os.environ['PATH']}"
        self.assertEqual(self.run_here("mpirun", "-n", "2", "true", PATH=path), 5, self.output)
        self.assertEqual(self.output, "no such partition\nforebay: no program was started; exit status 5\n")
        # One that ran and ends like that has a summary.
        self.assertEqual(self.run_here("sh", "-c", "echo > made; exit 127"), 127, self.output)
        self.assertIn("written locally", self.output)

    def test_an_openfoam_that_is_not_set_up_is_told(self):
        """By who fails before it has written a time, and by doctor."""
        told = "OpenFOAM is not set up in this shell"
        project = os.path.join(self.directory, "OpenFOAM")
        self.write("../OpenFOAM/etc/controlDict", "")
        fails, writes = ("sh", "-c", "exit 1"), ("sh", "-c", "mkdir 1 2; echo > 1/p; echo > 2/p; exit 1")
        for set_to, words, expected in (
            ("", fails, "WM_PROJECT_DIR is not set; source the etc/bashrc"),
            (self.directory, fails, "no etc/controlDict below WM_PROJECT_DIR"),
            (project, fails, None),
            ("", ("true",), None),
            ("", writes, None),
        ):
            with self.subTest(f"{set_to} {words}"):
                self.run_here(*words, WM_PROJECT_DIR=set_to)
                self.assertEqual(told in self.output, expected is not None, self.output)
                self.assertIn(expected or "", self.output)
        os.remove(os.path.join(self.case, "system/controlDict"))
        self.run_here(*fails, WM_PROJECT_DIR="")
        self.assertNotIn(told, self.output, "no case of OpenFOAM")
        self.call("doctor", "--case", self.case, WM_PROJECT_DIR="")
        self.assertNotIn(told, self.output)
        self.write("system/controlDict", commandcase.CONTROL)
        self.call("doctor", "--case", self.case, WM_PROJECT_DIR="")
        self.assertIn(f"{told}: WM_PROJECT_DIR is not set", self.output)
        self.call("doctor", "--case", self.case, WM_PROJECT_DIR=project)
        self.assertNotIn(told, self.output)

    def test_a_program_that_is_told_another_case_is_noticed(self):
        other = os.path.join(self.directory, "other case")
        os.mkdir(other)
        os.makedirs(os.path.join(self.case, "below"))
        os.symlink(self.case, os.path.join(self.directory, "link"))
        for given, noticed in (
            ("../other case", True), (other, True), (".", False), ("below", False), ("../link", False), ("none", False)
        ):  # fmt: skip
            with self.subTest(given):
                self.assertEqual(self.run_here("echo", "-case", given), 0, self.output)
                self.assertEqual("goes past forebay" in self.output, noticed, self.output)
                if noticed:
                    self.assertIn(f"`forebay run --case {shlex.quote(given)} -- ", self.output)

    def test_ranks_that_are_not_told_to_be_parallel_are_noticed(self):
        self.write("mpirun", '#!/bin/sh\nshift 2; exec "$@"\n')
        self.write("simpleFoam", "#!/bin/sh\n")
        for name in ("mpirun", "simpleFoam"):
            os.chmod(os.path.join(self.case, name), 0o755)
        for rank in range(2):
            self.write(f"processor{rank}/0/p", "")
        path = f"{self.case}:{os.environ['PATH']}"
        for more, noticed in (((), True), (("-parallel",), False)):
            line = ("mpirun", "-n", "2", "simpleFoam", *more)
            self.call("run", "--dry-run", "--case", self.case, "--pool", self.pool, "--", *line, PATH=path)
            self.assertEqual(
                "simpleFoam is started on several ranks without -parallel" in self.output, noticed, self.output
            )
        for line in (("simpleFoam",), ("mpirun", "-n", "2", "printf", "x")):
            self.call("run", "--dry-run", "--case", self.case, "--pool", self.pool, "--", *line, PATH=path)
            self.assertNotIn("without -parallel", self.output)

    def test_a_home_directory_that_is_taken_for_the_case_is_noticed(self):
        told = "the case of this run is your home directory"
        self.run_here("true", HOME=self.case)
        self.assertNotIn(told, self.output, "a case of OpenFOAM, wherever it lies")
        os.remove(os.path.join(self.case, "system/controlDict"))
        self.run_here("true", HOME=self.case)
        self.assertIn(told, self.output)
        self.run_here("true", HOME=self.directory)
        self.assertNotIn(told, self.output)

    def test_status_says_why_times_that_are_written_over_are_not_told(self):
        self.write("1/p", "of an earlier run")
        script = f"echo new > 1/p; echo >> log; touch {self.directory}/written; read line"
        line = [commandcase.FOREBAY, "run", "--case", self.case, "--pool", self.pool, "--", "sh", "-c", script]
        with subprocess.Popen(
            line, cwd=self.case, env=self.environment(), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            until = time.monotonic() + 30
            while self.here("status") == 0 and "not judged" not in self.output and time.monotonic() < until:
                time.sleep(0.1)
            process.communicate(b"\n", timeout=30)
        self.assertRegex(self.output, "no time yet; times that were on the case before the run are not judged")

    def test_without_a_machine_predict_names_the_commands_that_measure_one(self):
        forebay = self.in_build_tree()
        probe = os.path.join(os.path.dirname(commandcase.FOREBAY), "io_probe")
        if os.path.exists(probe):
            os.symlink(probe, os.path.join(os.path.dirname(forebay), "io_probe"))
        case = ["--ranks", "4", "--files", "9", "--bytes", "1MB", "--step", "600ms"]
        self.assertEqual(self.call("predict", *case, cwd=self.case, command=forebay), BAD_INPUT, self.output)
        measure, again = (line.strip() for line in self.output.splitlines() if line.startswith("  forebay "))
        self.assertTrue(set(case) <= set(again.split()), again)
        quick = ["--quick", "--writers", "1", "--transfer", "4k", "--block", "8M"]
        for words in ([*shlex.split(measure), *quick], shlex.split(again)):
            self.assertEqual(self.call(*words[1:], cwd=self.case, command=forebay), 0, self.output)
        self.assertIn("machine.toml", " ".join(os.listdir(self.case)))

    def test_advice_can_be_pasted_wherever_the_case_lies(self):
        old, self.case = self.case, os.path.join(self.directory, "it's a case")
        os.rename(old, self.case)
        self.write(".forebay/plan.json", "no plan")
        plan = {"run": "20260101-000000-aaaa", "submit_host": "elsewhere", "submit_pid": 1}
        self.assertEqual(self.run_here("true"), BUSY, self.output)
        self.assertIn(f"look at {shlex.quote(self.case + '/.forebay')} and remove it", self.bash_quoted(self.output))
        shutil.rmtree(os.path.join(self.case, ".forebay"))
        mark = os.path.join(self.directory, "mark")
        line = [commandcase.FOREBAY, "run", "--case", self.case, "--pool", self.pool, "--", "sh", "-c", "read line"]
        with subprocess.Popen(
            line, env=self.environment(), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            while not os.path.exists(os.path.join(self.case, ".forebay/plan.json")):
                time.sleep(0.01)
            shutil.copytree(os.path.join(self.case, ".forebay"), mark)
            process.communicate(b"go on\n", timeout=30)
        os.rename(mark, os.path.join(self.case, ".forebay"))
        with open(os.path.join(self.case, ".forebay/plan.json"), "r+") as file:
            made = json.load(file)
            file.seek(0)
            file.truncate()
            json.dump({**made, **plan}, file)
        self.assertEqual(self.run_here("true"), BUSY, self.output)
        commands = [each for each in self.output.split("`")[1::2] if each.startswith("forebay ")]
        self.assertEqual([shlex.split(each)[1] for each in commands], ["status", "drain", "clean"], self.output)
        for each in commands:
            self.assertEqual(shlex.split(each.removesuffix(" --throw-away --throw-away"))[-2:], ["--case", self.case])
            self.assertNotIn("argument", self.output if self.call(*shlex.split(each)[1:]) else "")
        self.assertEqual(self.call(*shlex.split(commands[-1])[1:], "--yes", "--pool", self.pool), 0, self.output)
        self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")), "the command does what the message says")

    def bash_quoted(self, text):
        """As shlex writes a quote."""
        return text.replace("'\\''", "'\"'\"'")

    def test_the_words_of_a_program_come_as_they_are(self):
        """CLI11 made two words of "[a,b]" and none of "[]"."""
        words = ["[a,b]", "[]", "", "{x}", ":", "--", "--case", "a=b,c", "[1, 2]"]
        for inside in ([], ["exec", "--"]):
            launcher = [commandcase.FOREBAY, *inside] if inside else []
            self.assertEqual(self.run_here(*launcher, "printf", "<%s>", *words), 0, self.output)
            self.assertIn("".join(f"<{word}>" for word in words), self.done.stdout)

    def test_a_pool_where_nothing_can_be_kept_is_refused_without_advice_to_remove_it(self):
        for path in ("/proc", "/sys"):
            self.pool = path
            self.assertEqual(self.run_here("true"), BAD_INPUT, self.output)
            self.assertIn(f"keeps no files: {path}", self.output)
            self.assertNotIn("remove", self.output)

    def test_every_json_tells_the_version(self):
        self.call("-V")
        version = self.done.stdout.strip()
        report = os.path.join(self.directory, "report.json")
        self.assertEqual(self.call("run", "--case", self.case, "--pool", self.pool, "--json", report, "--", "true"), 0)
        with open(report) as file:
            self.assertEqual(json.load(file)["forebay_version"], version)
        os.mkdir(os.path.join(self.directory, "kept"))
        forebay = self.in_build_tree()
        for words in (
            ["status", "--pool", self.pool],
            ["plan", "--ranks", "2"],
            ["doctor"],
            ["restartable", "--case", self.case],
            ["trajectory", "ls", "kept"],
            ["predict", "--machine", "nfs", "--ranks", "4", "--files", "9", "--bytes", "1MB", "--step", "1s"],
            ["predict", "--seeds"],
        ):
            with self.subTest(words):
                self.call(*words, "--json", command=forebay, FOREBAY_POOL_PATHS=self.pool)
                self.assertEqual(json.loads(self.done.stdout)["forebay_version"], version, self.output)

    def test_doctor_begins_with_the_case(self):
        self.assertEqual(self.call("doctor", cwd=self.case, FOREBAY_POOL_PATHS=self.pool), 0, self.output)
        self.assertTrue(self.output.startswith("case\n"), self.output)
        self.assertIn("OpenFOAM, simpleFoam, not decomposed yet", self.output)
        self.assertNotIn("inotify", self.output)
        self.assertEqual(
            self.call("doctor", "--all", "--case", self.case, FOREBAY_POOL_PATHS=self.pool), 0, self.output
        )
        self.assertIn("inotify", self.output)
        self.assertEqual(self.call("doctor", "--case", self.case + "/none"), BAD_INPUT, self.output)
        os.remove(os.path.join(self.case, "system/controlDict"))
        self.assertEqual(self.call("doctor", "--case", self.case, FOREBAY_POOL_PATHS=self.pool), 0, self.output)
        self.assertIn("no OpenFOAM case", self.output)

    def test_a_report_for_others_says_nothing_of_the_user(self):
        secrets = {"FOREBAY_STAGE_COPY": "wing-of-x17/*", "SLURM_JOB_ACCOUNT": "anna-grant", "USER": "anna"}
        words = ["doctor", "--report", "--case", self.case]
        self.assertEqual(
            self.call(*words, FOREBAY_POOL_PATHS=self.pool, HOME=self.directory, **secrets), 0, self.output
        )
        path = os.path.join(self.directory, "forebay-report.json")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with open(path) as file:
            text = file.read()
        for word in (
            self.directory,
            os.path.basename(self.directory),
            self.pool,
            socket.gethostname(),
            "wing-of",
            "anna",
        ):
            self.assertNotRegex(text, rf"(^|\W){re.escape(word)}(\W|$)")
        self.assertEqual(json.loads(text)["environment"]["SLURM_JOB_ACCOUNT"], "set")
        self.assertEqual(self.call(*words), BAD_INPUT, self.output)
        self.assertIn("nothing is replaced", self.output)
        os.symlink("/dev/null", os.path.join(self.directory, "link"))
        self.assertEqual(self.call("doctor", "--report", "link"), BAD_INPUT, self.output)


if __name__ == "__main__":
    commandcase.main()
