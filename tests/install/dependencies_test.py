"""Proves: scripts/install-dependencies says what it will install and why, asks on a terminal, and lets a build without root go on.
Nothing is installed: dpkg-query, apt-get, id and sudo are stand-ins that write down how they were called."""

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES = ""
TOOLS = "bash env sed tr find sort comm sleep cat tee chmod rm true fold".split()


class DependenciesTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="forebay-dependencies-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.calls = os.path.join(self.directory, "calls")
        for tool in TOOLS:
            os.symlink(shutil.which(tool), os.path.join(self.directory, tool))
        self.program("id", "echo 12345")
        self.released_but()
        with open(os.path.join(SOURCES, "scripts/install-dependencies")) as file:
            script = file.read()
        lists = dict(re.findall(r"^(\w+)=\(([^)]*)\)$", script, re.M))
        self.packages = {name: lists[name].split() for name in lists["everything"].split()}

    def program(self, name, script):
        path = os.path.join(self.directory, name)
        with open(path, "w") as file:
            file.write(f"#!/usr/bin/env bash\n{script}\n")
        os.chmod(path, 0o755)

    def installed_but(self, *missing):
        all_of_them = {package for packages in self.packages.values() for package in packages}
        lines = "".join(f"installed {name} \n" for name in sorted(all_of_them - set(missing)))
        self.program("dpkg-query", f"cat << END\n{lines}END")

    def released_but(self, *missing):
        """What apt says of a release of Debian that lacks these."""
        cases = "".join(f"{name}) echo '  Candidate: (none)' ;; " for name in missing)
        self.program(
            "apt-cache",
            'case $1 in madison) echo "apt | 2.6" ;; policy) shift; for name in "$@"; do echo "$name:"; '
            f"case $name in {cases}*) echo '  Candidate: 1.0' ;; esac; done ;; esac",
        )

    def with_sudo(self):
        self.program("sudo", f'echo "$*" >> {self.calls}')

    def run_script(self, *words, answer=None):
        """With `answer` on a terminal, else on none."""
        command = [os.path.join(SOURCES, "scripts/install-dependencies"), *words]
        environment = {"PATH": self.directory}
        if answer is None:
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
            )
            return done.returncode, done.stdout + done.stderr
        ours, theirs = pty.openpty()
        process = subprocess.Popen(command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        os.write(ours, answer.encode())
        printed = b""
        try:
            while part := os.read(ours, 4096):
                printed += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        return process.wait(timeout=60), printed.decode()

    def called(self):
        if not os.path.exists(self.calls):
            return ""
        with open(self.calls) as file:
            return file.read()

    def test_it_names_the_packages_of_each_group_and_what_they_are_for(self):
        self.installed_but("libfmt-dev", "gfortran", "munge")
        status, printed = self.run_script("--dry-run", "command", "parts", "cluster")
        self.assertEqual(status, 0, printed)
        for line in (r"command, needed to build .*: libfmt-dev$", r"parts, .* left out: .*: gfortran$", r"cluster, .*nodes.*: munge$"):  # fmt: skip
            self.assertRegex(printed, re.compile(line, re.M))

    def test_a_group_that_is_not_asked_for_is_not_named(self):
        self.installed_but("libfmt-dev", "slurm-wlm", "openfoam", "clang-tidy")
        _, printed = self.run_script("--dry-run", "command", "parts")
        self.assertIn("libfmt-dev", printed)
        for package in ("slurm-wlm", "openfoam", "clang-tidy"):
            self.assertNotIn(package, printed)

    def test_without_root_it_says_what_is_needed_and_fails(self):
        self.installed_but("libfmt-dev", "gfortran")
        status, printed = self.run_script("command", "parts")
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, r"apt-get install --no-install-recommends libfmt-dev\n")
        self.assertIn("docs/install.md", printed)

    def test_without_root_parts_are_left_out(self):
        self.installed_but("gfortran")
        status, printed = self.run_script("command", "parts")
        self.assertEqual(status, 0, printed)
        self.assertIn("left out", printed)
        self.assertNotIn("apt-get install", printed)

    def test_without_root_the_tests_cannot_go_on(self):
        self.installed_but("fio")
        self.assertEqual(self.run_script("command", "test")[0], 1)

    def test_on_a_terminal_it_asks(self):
        self.installed_but("libfmt-dev")
        self.with_sudo()
        status, printed = self.run_script("command", answer="n\n")
        self.assertIn("install these 1 packages", printed)
        self.assertEqual((status, self.called()), (1, ""), printed)
        status, printed = self.run_script("command", answer="y\n")
        self.assertEqual(status, 0, printed)
        self.assertRegex(self.called(), r"apt-get .* install -y --no-install-recommends libfmt-dev\n")

    def test_a_script_is_not_asked(self):
        self.installed_but("libfmt-dev")
        self.with_sudo()
        status, printed = self.run_script("command")
        self.assertEqual(status, 0, printed)
        self.assertIn("apt-get", self.called())

    def test_what_a_release_lacks_is_left_out_by_name(self):
        self.installed_but("code-saturne", "fio", "munge")
        self.released_but("code-saturne")
        self.with_sudo()
        status, printed = self.run_script("test", "cluster")
        self.assertEqual(status, 0, printed)
        self.assertRegex(printed, r"left out, since .* has no such package: code-saturne\n")
        self.assertRegex(self.called(), r"apt-get .* install -y --no-install-recommends fio munge\n")

    def test_what_a_release_lacks_needs_neither_root_nor_the_network_the_next_time(self):
        self.installed_but("code-saturne")
        self.released_but("code-saturne")
        status, printed = self.run_script("test")
        self.assertEqual((status, self.called()), (0, ""), printed)
        self.assertIn("code-saturne", printed)

    def test_a_needed_package_that_a_release_lacks_is_named_before_anything_is_installed(self):
        self.installed_but("libtoml11-dev", "libfmt-dev", "gfortran")
        self.released_but("libtoml11-dev")
        self.with_sudo()
        status, printed = self.run_script("command", "parts")
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, r"has no package libtoml11-dev, needed to build forebay")
        self.assertRegex(printed, r"apt-get install --no-install-recommends libfmt-dev gfortran\n")
        self.assertIn("CMAKE_PREFIX_PATH=", printed)
        self.assertNotIn(" install ", self.called())

    def test_a_mirror_that_does_not_answer_is_said(self):
        """apt-get update ends with 0 then."""
        self.installed_but("libfmt-dev")
        self.program("apt-cache", "true")
        self.with_sudo()
        status, printed = self.run_script("command")
        self.assertEqual(status, 1)
        self.assertIn("no package mirror answers", printed)

    def test_help_names_the_groups_and_their_packages(self):
        self.installed_but()
        for flag in ("-h", "--help"):
            status, printed = self.run_script(flag)
            self.assertEqual(status, 0, printed)
            for name, packages in self.packages.items():
                self.assertRegex(printed, re.compile(rf"^  {name} +", re.M))
                self.assertLessEqual(set(packages), set(printed.split()))

    def test_no_service_is_started(self):
        """A policy says so from before the installation until after it, unless the machine has one already."""
        self.installed_but("munge")
        self.with_sudo()
        self.run_script("--yes", "cluster")
        calls = [line for line in self.called().splitlines() if "policy-rc.d" in line or " install " in line]
        if not os.path.exists("/usr/sbin/policy-rc.d"):
            self.assertEqual([bool(re.search(" install ", line)) for line in calls], [False, False, True, False], calls)

    def test_an_unknown_group_is_refused(self):
        self.installed_but()
        status, printed = self.run_script("tests")
        self.assertEqual(status, 2)
        self.assertIn("command parts demo developer test cluster builds", printed)


if __name__ == "__main__":
    SOURCES = os.path.abspath(sys.argv.pop(1))
    unittest.main()
