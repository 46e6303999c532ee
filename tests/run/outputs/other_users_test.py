"""Proves that a child of root's program that becomes another user, or takes the case for its root directory, reads, appends
and leaves what it does directly, and that nobody reads in the pool what the case keeps from him.
"""

import os
import shutil
import struct
import subprocess
import time

import outputcase
from outputcase import WAYS, OutputCase, files
from set_id_test import entries

USER = 33
BECOME = f"setpriv --reuid={USER} --regid={USER} --clear-groups"
# Path of an input: its mode, its owner and group.
INPUTS = {
    "read": (0o644, 0, 0),
    "closed": (0o600, 0, 0),
    "open": (0o666, 0, 0),
    "own": (0o600, USER, USER),
    "group": (0o664, 0, USER),
    "theirs/root": (0o644, 0, 0),
    "theirs/own": (0o644, USER, USER),
    "sticky/open": (0o666, 0, 0),
    "sticky/own": (0o644, USER, 0),
    "hidden/open": (0o666, 0, 0),
}
DIRECTORIES = {"theirs": (0o755, USER, USER), "sticky": (0o1777, 0, 0), "hidden": (0o700, 0, 0)}
# What the other user does with each, and makes.
ACTS = "; ".join(f"cat {path}; echo more >> {path}" for path in INPUTS) + (
    "; echo new > new; echo new > theirs/new; mkdir theirs/made; echo in > theirs/made/in; mv theirs/own theirs/moved; "
    'rm -f theirs/root; echo new > sticky/new; rm -f sticky/open; chmod 640 own; stat -c "%a %u %g %n" theirs/* sticky/*'
)


# Lets everybody read but the other user.
LIST = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", *each)
    for each in ((1, 6, 0xFFFFFFFF), (2, 0, USER), (4, 4, 0xFFFFFFFF), (16, 4, 0xFFFFFFFF), (32, 4, 0xFFFFFFFF))
)


class OtherUsers(OutputCase):
    listed = ()  # inputs with that access list

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root becomes another user")
        os.chmod(self.directory, 0o755)
        os.chmod(self.pool, 0o755)

    def inputs(self, name):
        case = self.case(name)
        os.chmod(case, 0o755)
        for path in DIRECTORIES:
            os.mkdir(os.path.join(case, path))
        for path in INPUTS:
            with open(os.path.join(case, path), "w") as file:
                file.write(f"{path}\n")
        for path, (mode, user, group) in {**INPUTS, **DIRECTORIES}.items():
            os.chown(os.path.join(case, path), user, group)
            os.chmod(os.path.join(case, path), mode)
        for path in self.listed:
            os.setxattr(os.path.join(case, path), "system.posix_acl_access", LIST)
        return case

    def compare(self, script, *options):
        direct = self.inputs("direct")
        self.assertEqual(self.run_in(direct, "direct", script), 0, self.output)
        printed = self.output
        for way in WAYS:
            with self.subTest(way):
                case = self.inputs(way)
                self.assertEqual(self.run_in(case, way, script, *options), 0, self.output)
                self.assertTrue(self.output.endswith(printed), f"{self.output}\nand directly\n{printed}")
                self.assertEqual(files(case), files(direct))
                self.assertEqual(entries(case), entries(direct))
                self.assert_pool_is_empty()
        return printed

    def test_a_child_that_is_another_user_finds_what_it_finds_directly(self):
        printed = self.compare(f"{BECOME} sh -c '{ACTS}' 2>&1; true")
        self.assertIn("theirs/root\n", printed)
        self.assertIn("closed: Permission denied", printed)

    def test_an_access_list_holds_for_the_copy_of_an_input_too(self):
        self.listed = ("read", "theirs/root")
        script = f"echo more >> read; {BECOME} cat read theirs/root open 2>&1; true"
        for options in ((), ("--copy", "*")):
            printed = self.compare(script, *options)
            self.assertEqual(printed.count("Permission denied"), 2, printed)
            shutil.rmtree(self.directory)
            os.mkdir(self.directory, 0o755)

    def test_one_that_has_the_case_for_its_root_directory(self):
        if (
            "statically"
            not in subprocess.run(["file", "-L", shutil.which("busybox")], capture_output=True, text=True).stdout
        ):
            self.skipTest("needs a static busybox")
        loop = "for f in /*; do [ -f $f ] && [ $f != /busybox ] && /busybox cat $f; done; echo x >> /open; echo x > /theirs/x"
        script = f"cp $(which busybox) .; chroot --userspec={USER}:{USER} . /busybox sh -c '{loop}' 2>&1; rm busybox"
        self.assertIn("read\n", self.compare(script))

    def test_nobody_reads_in_the_pool_what_the_case_keeps_from_him(self):
        for mode, seen in ((0o755, "read\n"), (0o700, "")):
            for way in WAYS:
                with self.subTest(way, mode=oct(mode)):
                    case = self.inputs(way)
                    os.chmod(self.directory, mode)
                    process = self.start(
                        self.line(way, f"cat read >> made; until [ -e {self.directory}/go ]; do sleep 0.1; done"), case
                    )
                    found = self.in_pool("made")
                    tree = os.path.dirname(found)
                    ask = f"cat {tree}/made; cat {tree}/closed {tree}/hidden/open; ls {self.pool}/*; ls {os.path.dirname(tree)}"
                    answer = subprocess.run(
                        [*BECOME.split(), "sh", "-c", ask], capture_output=True, text=True, check=False
                    )
                    with open(f"{self.directory}/go", "w"):
                        pass
                    self.assertEqual(self.finish(process), 0, self.output)
                    self.assertEqual(answer.stdout, seen)
                    os.unlink(f"{self.directory}/go")
                    shutil.rmtree(case)

    def in_pool(self, name):
        until = time.monotonic() + 30
        while time.monotonic() < until:
            for directory, _, names in os.walk(self.pool):
                if name in names and os.path.getsize(os.path.join(directory, name)) > 0:
                    return os.path.join(directory, name)
            time.sleep(0.05)
        self.fail(f"{name} is not in the pool")


if __name__ == "__main__":
    outputcase.main()
