"""Proves: completion scripts and manual pages that the command prints are right in the eyes of the shells and of roff."""

import glob
import os
import shutil
import subprocess

import commandcase

# What a shell with the script offers for words, the last of which is begun. As a shell does, `--via=x` comes as three.
BASH = """
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_forebay
printf '%s\\n' "${COMPREPLY[@]}"
"""


# What stands in the line when a tab has been typed behind it.
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f
zpty -w shell "PS1=; autoload -U compinit; compinit -u -D -d $2; source $1; setopt no_list_beep"
zpty -w shell 'show() { print -r - "<$BUFFER>"; BUFFER=; zle accept-line }; zle -N show; bindkey "^G" show; print be"gun"'
zpty -r -m shell line '*begun*'
zpty -w -n shell "$3"$'\\t\\a'
zpty -r -m shell line '*<*>*'
print -r - "$line"
"""
FISH = (
    ("forebay mesh mul", {"multiply"}),
    ("forebay help predi", {"predict"}),
    ("forebay trajectory ver", {"verify"}),
    ("forebay run --set drain.wh", {"drain.when=live", "drain.when=end"}),
    ("forebay run --set stage.th", {"stage.threads="}),
)


def read(path):
    with open(path) as file:
        return file.read()


class CompletionTest(commandcase.CommandCase):
    def script(self, shell):
        self.assertEqual(self.call("completion", shell), 0, self.output)
        path = os.path.join(self.directory, "completion." + shell)
        with open(path, "w") as file:
            file.write(self.done.stdout)
        return path

    def offers(self, *words):
        path = self.script("bash")
        done = subprocess.run(
            ["bash", "--norc", "-euc", BASH, "bash", path, *words], cwd=self.directory, capture_output=True, text=True
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes_commands(self):
        self.assertEqual(sorted(self.offers("forebay", "st")), ["stage", "status", "stop"])
        self.assertNotIn("completion", self.offers("forebay", ""))

    def test_bash_completes_flags_and_their_values(self):
        self.assertEqual(self.offers("forebay", "run", "--drain"), ["--drain-when"])
        self.assertEqual(self.offers("forebay", "run", "--via", ""), ["auto", "path", "redirect", "namespace"])
        self.assertEqual(self.offers("forebay", "run", "--via", "=", "re"), ["redirect"])
        self.assertEqual(self.offers("forebay", "run", "--via", "="), ["auto", "path", "redirect", "namespace"])
        self.assertEqual(self.offers("forebay", "plan", "--order", "s"), ["socket"])
        self.assertEqual(self.offers("forebay", "run", "--budget", ""), [])

    def test_bash_completes_directories_and_files(self):
        os.mkdir(os.path.join(self.directory, "other"))
        with open(os.path.join(self.directory, "one.json"), "w"):
            pass
        self.assertEqual(self.offers("forebay", "run", "--case", "o"), ["other"])
        self.assertEqual(sorted(self.offers("forebay", "run", "--json", "o")), ["one.json", "other"])

    def test_bash_completes_the_program_behind_the_dashes(self):
        self.assertIn("true", self.offers("forebay", "run", "--", "tru"))
        self.assertEqual(self.offers("forebay", "run", "--", "true", "c"), ["case", "completion.bash"])
        self.assertEqual(self.offers("forebay", "exec", "--case", "case", "--", "cat", "cas"), ["case"])

    def test_bash_completes_what_a_command_does_and_then_what_it_does_it_with(self):
        os.mkdir(os.path.join(self.directory, "meshes"))
        with open(os.path.join(self.directory, "my.msh"), "w"):
            pass
        self.assertEqual(self.offers("forebay", "mesh", "m"), ["multiply"])
        self.assertEqual(self.offers("forebay", "mesh", "--quiet", "m"), ["multiply"])
        self.assertEqual(sorted(self.offers("forebay", "mesh", "multiply", "m")), ["meshes", "my.msh"])
        self.assertEqual(self.offers("forebay", "mesh", "multiply", "--lev"), ["--levels"])
        self.assertEqual(self.offers("forebay", "trajectory", ""), ["ls", "verify", "rm"])
        self.assertEqual(self.offers("forebay", "trajectory", "ls", "m"), ["meshes"])
        self.assertEqual(self.offers("forebay", "bench", "tra"), ["trajectory"])
        self.assertEqual(self.offers("forebay", "help", "sta"), ["status", "stage"])

    def test_bash_completes_the_keys_of_set_and_their_words(self):
        self.assertEqual(self.offers("forebay", "run", "--set", "drain.w"), ["drain.when="])
        self.assertEqual(self.offers("forebay", "run", "--set", "=", "drain.w"), ["drain.when="])
        self.assertEqual(self.offers("forebay", "run", "--set", "drain.when", "="), ["live", "end"])
        self.assertEqual(self.offers("forebay", "run", "--set", "drain.when", "=", "e"), ["end"])
        self.assertEqual(self.offers("forebay", "predict", "--set", "run.via", "=", "p"), ["path"])
        self.assertEqual(self.offers("forebay", "run", "--set", "drain.threads", "=", ""), [])

    def test_every_flag_that_bash_offers_is_known_to_help(self):
        for command in self.offers("forebay", ""):
            if command.startswith("-"):
                continue
            self.call(command, "--help")
            for flag in self.offers("forebay", command, "--"):
                self.assertTrue(flag == "--" or flag in self.done.stdout, f"{command} {flag}")

    def test_zsh_reads_its_script(self):
        path = self.script("zsh")
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        done = subprocess.run(["zsh", "-fn", path], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        load = 'autoload -U compinit && compinit -u -d "$2" && source "$1" && print $_comps[forebay]'
        done = subprocess.run(
            ["zsh", "-fc", load, "zsh", path, os.path.join(self.directory, "dump")], capture_output=True, text=True
        )
        self.assertEqual((done.stdout, done.stderr), ("_forebay\n", ""))

    def test_zsh_completes(self):
        path = self.script("zsh")
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        for line, expected in (
            ("forebay mesh mul", "forebay mesh multiply"),
            ("forebay help predi", "forebay help predict"),
            ("forebay trajectory ver", "forebay trajectory verify"),
            ("forebay run --set drain.wh", "forebay run --set drain.when="),
            ("forebay run --set drain.when=e", "forebay run --set drain.when=end"),
        ):
            done = subprocess.run(
                ["zsh", "-fc", ZSH, "zsh", path, os.path.join(self.directory, "dump"), line],
                env=self.environment(TERM="dumb", HOME=self.directory), capture_output=True, text=True, timeout=30,
            )  # fmt: skip
            self.assertIn(f"<{expected}", done.stdout, done.stderr)

    def test_fish_completes(self):
        path = self.script("fish")
        if not shutil.which("fish"):
            self.skipTest("no fish")
        for line, expected in (
            ("forebay sta", {"stage", "status"}),
            ("forebay run --drain-when ", {"live", "end"}),
            *FISH,
        ):
            done = subprocess.run(
                ["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"],
                env=self.environment(HOME=self.directory),
                capture_output=True,
                text=True,
            )
            self.assertEqual({each.split("\t")[0] for each in done.stdout.splitlines()}, expected, done.stderr)


class ManualTest(commandcase.CommandCase):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.call("man", "--into", self.directory), 0, self.output)
        self.pages = sorted(glob.glob(self.directory + "/*.1"))

    def test_roff_has_no_complaint(self):
        if shutil.which("groff"):
            line = ["groff", "-man", "-ww", "-Tutf8", "-z"]
        elif shutil.which("mandoc"):
            line = ["mandoc", "-Tlint", "-Werror"]
        else:
            self.skipTest("neither groff nor mandoc")
        self.assertGreater(len(self.pages), 9)
        for page in self.pages:
            done = subprocess.run([*line, page], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), page)

    def test_a_page_has_what_help_has(self):
        for page in self.pages:
            name = os.path.basename(page)[:-2].removeprefix("forebay").removeprefix("-")
            self.call(*name.split(), "--help")
            with open(page) as file:
                text = file.read().replace("\\-", "-").replace("\\(ga", "`")
            for line in self.done.stdout.split("Examples:")[1].splitlines():
                if line.startswith("  forebay"):
                    self.assertIn("\n" + line.strip() + "\n", text, page)
            for section in ("NAME", "SYNOPSIS", "EXAMPLES", '"EXIT STATUS"', '"SEE ALSO"'):
                self.assertIn(f"\n.SH {section}\n", text, page)

    def test_pages_and_completion_of_the_sources_are_what_the_command_prints(self):
        """They are installed as they lie there (cmake/manual.cmake)."""
        docs = commandcase.SOURCES / "docs"
        printed = {os.path.basename(page): read(page) for page in self.pages}
        kept = {page.name: page.read_text() for page in (docs / "man").iterdir()}
        for shell, name in (("bash", "forebay.bash"), ("zsh", "_forebay"), ("fish", "forebay.fish")):
            self.assertEqual(self.call("completion", shell), 0, self.output)
            printed[name] = self.done.stdout
            kept[name] = (docs / "completion" / name).read_text()
        different = sorted(name for name in printed.keys() | kept.keys() if printed.get(name) != kept.get(name))
        self.assertEqual(different, [], "`cmake --build build --target manual` writes them anew")

    def test_an_unknown_page_is_refused(self):
        self.assertEqual(self.call("man", "nosuch"), 2)
        self.assertIn("no such command", self.output)


if __name__ == "__main__":
    commandcase.main()
