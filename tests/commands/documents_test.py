"""Proves: every command that README.md, CONTRIBUTING.md, docs/*.md and --help show works as it stands: it is run on a small case, and must
end with status 0. What takes long is run in a quick form, with all of its own words. Commands within a sentence are not run (but those that touch nothing, `forebay plan`), but their flags must
exist; so must targets of make and of CMake, and presets."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import commandcase
import pages

SOURCES = commandcase.SOURCES
RANKS = 4

# What stands in the documents for something of the reader's own.
PLACEHOLDERS = {
    r"/shared/motorBike": "{case}",
    r"--host n1:48,n2:48": "--host n1:2,n2:2",
    r"--shared /shared(?!\S)": "--shared {case}/disk",
    r"run --pool /scratch(?!\S)": "run --pool {beside}",
    r"/mnt/pmem\w*": "{case}/disk",
    r"(--disk|--memory|--pool) /(scratch|mnt/\w+)(?!\S)": r"\1 {case}/disk",
    r"--points 32 --steps 200": "--points 8 --steps 4",
    r"slow-shared up /var/tmp/slow": "slow-shared up {slow}",
}
# Commands that would look at every run of this machine's user are kept to the test's own case.
OF_ALL_CASES = {"status", "drain", "clean"}
# io measures little. The others have understood all their words when they miss the programs that they measure, which are not
# in this test's build tree and path; bench/* are the tests that measure: (what is added, status, message).
BENCHES = {
    "io": (" --quick --writers 1 --transfer 4k --block 8M", 0, ""),
    "openfoam": ("", 2, "is not installed"),
    "trajectory": ("", 2, "no trajectory_bench beside"),
    "arrays": ("", 1, "_bench beside"),
}
N3D = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "n3d")
MPIRUN = shutil.which("mpirun")
SLOW = SOURCES / "bench/measure/slow-shared"

# Instead of a launcher: starts as many ranks as the case has, on this node. n3d is no stand-in, and needs the real one.
LAUNCHER = f"""#!/usr/bin/env bash
for word; do [[ $word == n3d && -x "{N3D}" ]] && exec "{MPIRUN}" "$@"; done
while [[ $# -gt 0 && $1 != forebay && $1 != */forebay ]]; do shift; done
[[ $2 == exec ]] || exit 99
MEETING=$(mktemp -d) || exit 98
export MEETING
trap 'rm -rf "$MEETING"' EXIT
for ((rank = 0; rank < {RANKS}; rank++)); do
  OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE={RANKS} "$@" &
  all+=($!)
done
for each in "${{all[@]}}"; do wait "$each" || failed=1; done
exit ${{failed:-0}}
"""
# Instead of a container: apptainer exec --bind DIR IMAGE PROGRAM...
CONTAINER = """#!/usr/bin/env bash
[[ $1 == exec && $2 == --bind && -d $3 && $4 == *.sif ]] || exit 96
shift 4
exec "$@"
"""
# Ranks begin together, as those of an MPI program do.
SOLVER = f"""#!/bin/bash
if [[ -n $MEETING ]]; then
  : > "$MEETING/$OMPI_COMM_WORLD_RANK"
  for ((i = 0; i < 1000; i++)); do
    [[ $(ls "$MEETING" | wc -l) == {RANKS} ]] && break
    sleep 0.01
  done
fi
echo "wrote in $PWD" >> "log.$(basename "$0").${{OMPI_COMM_WORLD_RANK:-0}}"
"""


# A directory is made by its plain name, in the case.
SHOWN = r"(forebay|mkdir(?= \w+(\s|$))|bench/measure/slow-shared)"


def blocks_of(text):
    """(line number, line) of code blocks, whether fenced or indented; but for scripts, which are run as a whole."""
    fenced = before_blank = script = False
    indented = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            script = fenced and line.endswith("```sh")
        elif fenced:
            if not script:
                yield number, line.strip()
        elif line.startswith("    ") and (before_blank or indented):
            indented = True
            yield number, line.strip()
        else:
            indented = False
        before_blank = not line.strip()


def shown_commands(text, program="forebay"):
    """Lines of code blocks that begin with the program, without their comments; drawings are not commands."""
    for number, line in blocks_of(text):
        if re.match(program + " ", line) and line.isascii():
            yield number, re.sub(r"\s+# .*$", "", line)


def mentioned_commands(text, program="forebay"):
    """Spans of code within sentences."""
    for number, line in enumerate(text.splitlines(), 1):
        for span in re.findall(r"`([^`]+)`", line):
            if span.startswith(program + " "):
                yield number, span


class DocumentsTest(commandcase.CommandCase):
    def setUp(self):
        super().setUp()
        self.programs, self.few_programs = (os.path.join(self.directory, name) for name in ("programs", "few"))
        forebay = self.in_build_tree()
        if os.path.exists(probe := os.path.join(os.path.dirname(commandcase.FOREBAY), "io_probe")):
            os.symlink(probe, os.path.join(os.path.dirname(forebay), "io_probe"))
        for directory in (self.programs, self.few_programs):
            os.mkdir(directory)
            os.symlink(forebay, os.path.join(directory, "forebay"))
        os.symlink(shutil.which("bash"), os.path.join(self.few_programs, "bash"))
        for name in ("mpirun", "srun", "mylauncher"):
            self.program(os.path.join(self.programs, name), LAUNCHER)
        self.program(os.path.join(self.programs, "apptainer"), CONTAINER)
        for path in (
            *(os.path.join(self.programs, name) for name in ("simpleFoam", "decomposePar")),
            "Allrun",
            "solver",
            "cs_solver",
        ):
            self.program(path, SOLVER)
        for rank in range(RANKS):
            self.write(f"processor{rank}/constant/polyMesh/points", f"points of {rank}\n")
            self.write(f"processor{rank}/0/U", f"U of {rank}\n")
        if os.access(N3D, os.X_OK):
            os.symlink(N3D, os.path.join(self.programs, "n3d"))
        else:
            self.program(os.path.join(self.programs, "n3d"), SOLVER)
        for name in ("results", "checkpoints", "disk"):
            os.mkdir(os.path.join(self.case, name))
        for number in (1, 2, 3):  # cases beside one another
            shutil.copytree(os.path.join(self.case, "system"), os.path.join(self.case, f"motorBike-{number}/system"))
            for rank in range(RANKS):
                self.write(f"motorBike-{number}/processor{rank}/0/U", f"U of {rank}\n")
        for name in ("checkpoint.h5", "restart/checkpoint.h5"):
            self.checkpoint(name)
        self.keep_trajectory("kept", "wake")
        self.bash("forebay run --quiet --json report.json -- true")
        for name in ("before.json", "after.json"):
            shutil.copy(os.path.join(self.case, "report.json"), os.path.join(self.case, name))
        self.helps = {}

    def program(self, path, text):
        path = os.path.join(self.case, path)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def bash(self, line, path=None):
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        few_cores = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
        python = {"FOREBAY_PYTHON": "/usr/bin/python3"}  # Debian's, which has matplotlib
        environment = self.environment(FOREBAY_POOL_PATHS=self.pool, **python, **root, **few_cores)
        environment["PATH"] = path or f"{self.programs}:{environment['PATH']}"
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.case, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def trouble_with(self, command):
        """Runs it as it is shown; what is wrong, or nothing."""
        slow = os.path.join(self.directory, "slow")
        for shown, stands_for in PLACEHOLDERS.items():
            command = re.sub(shown, stands_for.format(case=self.case, slow=slow, beside=self.directory), command)
        words = shlex.split(command)
        if words[0] != "forebay":
            return self.trouble_with_other(command, slow)
        expected, message, path = 0, "", None
        if words[1] in OF_ALL_CASES and "--case" not in words:
            command += f" --case {self.case}"
        if words[1] == "stop":  # it has understood its words when it looks for a run; watch/stop has one
            expected, message = 2, "no run of forebay works on this case"
        if words[1] == "clean" and "--yes" not in words:
            command += " --yes"  # there is nobody who could be asked
        if words[1] == "bench":
            more, expected, message = BENCHES.get(words[2], ("", 0, ""))
            command += more
            path = self.few_programs if words[2] == "openfoam" else None
        status, output = self.bash(command, path)
        if status == expected and message in output:
            return None
        return f"`{command}` ended with status {status}, not {expected}: {output}"

    def trouble_with_script(self, script):
        """A block of a page, as it stands, but for what stands for the reader's own."""
        for shown, stands_for in PLACEHOLDERS.items():
            script = re.sub(shown, stands_for.format(case=self.case, slow="", beside=self.directory), script)
        script = re.sub(rf"(?m)^forebay ({'|'.join(OF_ALL_CASES)})\b(?!.*--case)", rf"\g<0> --case {self.case}", script)
        script = re.sub(r"(?m)^forebay clean\b", "forebay clean --yes", script)
        status, output = self.bash(f"set -e\n{script}")
        return None if status == 0 else f"the script ended with status {status}: {output}\n{script}"

    def trouble_with_other(self, command, slow):
        """A directory is made; the slow directory, too, where this user may."""
        try:
            status, output = self.bash(command.replace("bench/measure/slow-shared", str(SLOW)))
        finally:
            if os.path.exists(slow):
                self.bash(f"{SLOW} down {slow}")
        return None if status in (0, 77) else f"`{command}` ended with status {status}: {output}"

    def help_of(self, name):
        if name not in self.helps:
            self.call(name, "--help")
            self.helps[name] = self.done.stdout if f"Usage: forebay {name}" in self.done.stdout else None
        return self.helps[name]

    def trouble_with_mention(self, span):
        """A command within a sentence: is it one, and does it have these flags?"""
        words = span.split()
        words = words[: words.index("--")] if "--" in words else words
        text = self.help_of(words[1]) if re.fullmatch("[a-z]+", words[1]) else ""
        if text is None:
            return f"`{span}`: no such command"
        for word in words[2:]:
            flag = word.split("=")[0]
            if flag.startswith("-") and not re.search(rf"(^|[\s,]){re.escape(flag)}([\s,=]|$)", text):
                return f"`{span}`: {flag} is not known"
        return self.trouble_with(span) if words[1] == "plan" and len(words) > 2 else None

    def troubles_in(self, text, name):
        found = []
        for check, commands in ((self.trouble_with, shown_commands(text, SHOWN)), (self.trouble_with_mention, mentioned_commands(text))):  # fmt: skip
            found += [f"{name}:{number}: {trouble}" for number, command in commands if (trouble := check(command))]
        scripts = [(number, script) for number, listed, script in pages.blocks_of(text) if listed is None]
        found += [
            f"{name}:{number}: {trouble}" for number, script in scripts if (trouble := self.trouble_with_script(script))
        ]
        targets = re.findall(r"^([a-z-]+):", (SOURCES / "Makefile").read_text(), re.MULTILINE)
        for number, command in (*shown_commands(text, "make"), *mentioned_commands(text, "make")):
            for word in command.split()[1:]:
                if "=" not in word and word not in targets:
                    found.append(f"{name}:{number}: `{command}`: make has no target {word}")
        for program in ("cmake", "ctest"):
            for number, command in (*shown_commands(text, program), *mentioned_commands(text, program)):
                found += [f"{name}:{number}: `{command}`: {trouble}" for trouble in self.unknown_names_in(command)]
        for number, line in blocks_of(text):
            script = line.split(" ")[0]
            if re.match("(scripts|tests|bench|demo)/", script) and not os.access(SOURCES / script, os.X_OK):
                found.append(f"{name}:{number}: no program {script}")
        return found

    def unknown_names_in(self, command):
        """Presets and targets of CMake that a command names and that are not there."""
        presets = json.loads((SOURCES / "CMakePresets.json").read_text())
        kinds = {"cmake": "buildPresets" if "--build" in command else "configurePresets", "ctest": "testPresets"}
        known = {each["name"] for each in presets[kinds[command.split()[0]]] if not each.get("hidden")}
        for preset in re.findall(r"--preset (\S+)", command):
            if preset not in known:
                yield f"no preset {preset}"
        files = [SOURCES / "CMakeLists.txt", *(SOURCES / "cmake").glob("*.cmake"), SOURCES / "tests/CMakeLists.txt"]
        targets = re.findall(r"add_custom_target\((\w+)", "".join(file.read_text() for file in files))
        for target in re.findall(r"--target (\S+)", command):
            if target not in targets:
                yield f"no target {target}"

    def test_every_command_of_the_documents_works(self):
        documents = [SOURCES / "README.md", SOURCES / "CONTRIBUTING.md", *sorted((SOURCES / "docs").rglob("*.md"))]
        commands = 0
        for document in documents:
            text = document.read_text()
            commands += len(list(shown_commands(text)))
            with self.subTest(document.name):
                self.assertEqual(self.troubles_in(text, document.name), [])
        self.assertGreater(commands, 8, "the documents show commands, but none was found")
        # The stand-ins really ran, under forebay, and their output came home.
        for log in ("log.simpleFoam.3", "motorBike-2/log.simpleFoam", "log.solver.3"):
            self.assertTrue(os.path.exists(os.path.join(self.case, log)), log)
        self.assertEqual(os.listdir(f"{self.pool}/forebay-{os.geteuid()}"), [])

    def test_pages_by_task_show_no_command_that_is_not_run(self):
        for page in pages.BY_TASK:
            text = pages.BLOCK.sub("", (pages.DOCS / f"{page}.md").read_text())
            others = [line for _, line in blocks_of(text) if not re.match(f"{SHOWN} ", line)]
            self.assertEqual(others, [], f"{page}.md: make it a script (```sh), or say ```text")

    def test_the_site_file_of_the_page_for_administrators_is_understood(self):
        site = pages.listing("site", "administrators.md", "toml")
        self.write("site.toml", site.replace("/mnt/pmem{socket}", self.pool))
        status, output = self.bash("FOREBAY_POOL_PATHS= FOREBAY_CONFIG=site.toml forebay doctor --all")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"drain\.bandwidth +2 ?GB|drain\.bandwidth +\"?2")

    def test_every_experiment_of_the_seeds_has_a_command_or_says_why_not(self):
        text = (SOURCES / "docs" / "seeds.md").read_text()
        n3d = (SOURCES / "apps" / "n3d" / "options.cpp").read_text()
        rows = {
            int(number): here for number, here in re.findall(r"^\| (\d+) \|(?:[^|]*\|){2}([^|]*)\|", text, re.MULTILINE)
        }
        self.assertEqual(sorted(rows), list(range(1, len(rows) + 1)))
        self.assertGreater(len(rows), 20)
        repeated = set()
        for _, line in blocks_of(text):
            command, comment = (*line.split("  # "), "")[:2]
            self.assertIn(command.split(" ")[0], ("forebay", "make", "mkdir", "bench/measure/slow-shared"), line)
            for flag in re.findall("--[a-z-]+", command.partition(" n3d ")[2]):
                self.assertIn(f'"{flag}"', n3d)
            repeated |= {int(number) for number in re.findall(r"\d+", comment)}
        for number, here in rows.items():
            self.assertNotEqual(number in repeated, "cannot be had here" in here, f"experiment {number}")

    def test_every_example_of_the_help_works(self):
        self.call("--help")
        text = self.done.stdout
        listed = text.split("Common commands:")[1].split("Examples:")[0]
        names = [line.split()[0] for line in listed.splitlines() if re.match("  [a-z]", line)]
        self.assertIn("clean", names)
        for name in ("", *names):
            with self.subTest(name):
                self.call(*name.split(), "--help")
                examples = re.findall("^  (forebay .*)$", self.done.stdout.split("Examples:")[1], re.MULTILINE)
                self.assertGreaterEqual(len(examples), 1)
                for example in examples:
                    self.assertIsNone(self.trouble_with(example))

    def test_exit_statuses_are_those_of_the_manual(self):
        rows = re.findall(r"^\| (\d) \| \*([a-z ]+)\*", (SOURCES / "docs/exit-codes.md").read_text(), re.MULTILINE)
        self.assertEqual([number for number, _ in rows], ["3", "4", "5", "6", "7"])
        self.assertEqual(self.call("man", "run"), 0)
        for number, word in rows:
            self.assertIn(f".TP\n.B {number}\n{word}: ", self.done.stdout)

    def test_every_key_of_the_report_is_described(self):
        section = (SOURCES / "docs/exit-codes.md").read_text().split("## The report")[1]
        cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        described = [key for cell in cells for key in re.findall(r"`(\w+)`", cell)]
        self.assertEqual(self.bash("forebay run --quiet --json report.json -- decomposePar")[0], 0)
        with open(os.path.join(self.case, "report.json")) as file:
            report = json.load(file)
        self.assertEqual(sorted(described), sorted(report))
        for key in ("local", "shared", "undrained", "never_shared", "read_back"):
            [line] = [line for line in section.splitlines() if line.startswith(f"| `{key}`")]
            self.assertEqual(set(re.findall(r"`(\w+)`", line)) - {key}, set(report[key]))

    def test_a_wrong_command_in_a_document_is_found(self):
        wrong = {
            "    forebay plan --rank 4\n": "--rank",
            "    forebay stauts\n": "forebay status",
            "```\nforebay plan --ranks 4 --order nodes\n```\n": "nodes",
            "    forebay run --case /shared/none -- decomposePar    # a comment\n": "no such case",
            "    forebay run -- false\n": "status 1",
            "    forebay bench openfoam --repetition\n": "expected one argument",
            "    forebay bench openfoam --sizes 31k\n": "unknown size '31k'",
            "    forebay bench io /dev/shn --quick\n": "not a directory: /dev/shn",
            "    forebay bench trajectory --only stedy\n": "unknown part 'stedy'",
            "    forebay bench arrays --quick --pool /dev/shm\n": "unrecognized arguments",
            "    forebay bench arrays --only mehs\n": "unknown part 'mehs'",
            "    bench/measure/slow-shared upp /var/tmp/slow\n": "unknown verb 'upp'",
            "    mkdir system\n": "File exists",
            "    forebay bench openfaom\n": "openfaom",
            "So `forebay drain --resum` helps.\n": "--resum is not known",
            "So `forebay darin --resume` helps.\n": "no such command",
            "```sh\nfalse\nforebay doctor\n```\n": "ended with status 1",
            "```sh\ncd /shared/motorBik\nforebay doctor\n```\n": "No such file",
            "So `forebay plan --ranks 5 --nodes n1:2,n2:2` helps.\n": "do not fit",
            "    make domo\n": "no target domo",
            **self.wrong_words_for_n3d(),
            "Then `make tset`.\n": "no target tset",
            "    ctest --preset lnog -N\n": "no preset lnog",
            "So `cmake --build build --target manaul` helps.\n": "no target manaul",
            "    tests/run/nodes/labor up\n": "no program",
        }
        for text, expected in wrong.items():
            with self.subTest(text):
                troubles = self.troubles_in(f"# A title\n\n{text}", "made-up.md")
                self.assertEqual(len(troubles), 1, troubles)
                self.assertIn(expected, troubles[0])
                self.assertIn("made-up.md:", troubles[0])

    def wrong_words_for_n3d(self):
        if not os.access(N3D, os.X_OK):
            return {}
        run = "    forebay run -- mpirun -n 2 n3d --points 32 --steps 200 --store"
        return {f"{run} fils\n": "fils", f"{run} files --direktory states\n": "--direktory", f"{run} files --directory stats\n": "stats"}  # fmt: skip

    def test_a_right_document_is_let_pass(self):
        text = "Say `forebay plan -n 4`:\n\n    forebay plan --ranks 4   # four\n\n    make build\n\n    forebay run ── exec\n"
        self.assertEqual(self.troubles_in(text, "made-up.md"), [])
        self.assertEqual(list(shown_commands(text)), [(3, "forebay plan --ranks 4")])

    def tearDown(self):
        shutil.rmtree(self.programs)


if __name__ == "__main__":
    commandcase.main()
