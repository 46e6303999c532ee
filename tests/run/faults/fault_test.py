"""The preloaded fault library does what its rules say, and only below its directory."""

import errno
import os
import subprocess
import sys
import tempfile
import unittest

LIBRARY = ""

# Runs in the child: each call is tried, and its errno (0: fine) or its count of bytes is printed.
CHILD = """
import ctypes, fcntl, os, struct, sys, time
inside = sys.argv[1]
def tried(call):
    try:
        return call() or 0
    except OSError as error:
        return -error.errno
{body}
"""


class FaultTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="forebay-fault-")
        self.inside = os.path.join(self.directory.name, "case")
        self.outside = os.path.join(self.directory.name, "pool")
        os.mkdir(self.inside)
        os.mkdir(self.outside)

    def tearDown(self):
        self.directory.cleanup()

    def run_child(self, body, rules="", file=""):
        environment = dict(os.environ, LD_PRELOAD=LIBRARY, FOREBAY_FAULT_PREFIX=self.inside, FOREBAY_FAULT=rules)
        if file:
            environment["FOREBAY_FAULT_FILE"] = file
        done = subprocess.run(
            [sys.executable, "-c", CHILD.format(body=body), self.inside],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return [int(word) for word in done.stdout.split()]

    def test_after_and_count_choose_the_calls(self):
        body = "f = os.open(inside + '/f', os.O_CREAT | os.O_WRONLY)\nfor i in range(6): print(tried(lambda: os.write(f, b'abcd')))"
        self.assertEqual(self.run_child(body, "write:EIO:after=2:count=2"), [4, 4, -errno.EIO, -errno.EIO, 4, 4])

    def test_a_short_write_takes_half(self):
        body = "f = os.open(inside + '/f', os.O_CREAT | os.O_WRONLY)\nprint(os.write(f, b'abcdefgh'), os.writev(f, [b'', b'abcdef', b'gh']), os.pwrite(f, b'abcd', 0))"
        self.assertEqual(self.run_child(body, "write:short"), [4, 4, 2])

    def test_each_call_fails_on_its_own(self):
        calls = {
            "open": "os.open(inside + '/new', os.O_CREAT | os.O_WRONLY)",
            "fsync": "os.fsync(f)",
            "lock": "fcntl.flock(f, fcntl.LOCK_EX)",
            "rename": "os.rename(inside + '/a', inside + '/b')",
            "mkdir": "os.mkdir('d', dir_fd=d)",
            "link": "os.link('a', 'c', src_dir_fd=d, dst_dir_fd=d)",
            "unlink": "os.unlink('a', dir_fd=d)",
            "read": "len(os.read(f, 1))",
            "close": "os.close(f)",
            "copy": "os.copy_file_range(f, d, 1)",
            "symlink": "os.symlink('a', 'c', dir_fd=d)",
            "truncate": "os.ftruncate(f, 5)",
            "allocate": "os.posix_fallocate(f, 0, 5)",
        }
        for name, call in calls.items():
            body = f"f = os.open(inside + '/a', os.O_CREAT | os.O_RDWR)\nd = os.open(inside, os.O_RDONLY)\nprint(tried(lambda: {call}))"
            with self.subTest(name):
                rule = f"{name}:ENOSPC" + (":after=2" if name == "open" else "")
                self.assertEqual(self.run_child(body, rule), [-errno.ENOSPC])

    def test_openat2_by_number_is_an_open(self):
        body = """
libc = ctypes.CDLL(None, use_errno=True)
how = struct.pack('QQQ', os.O_CREAT | os.O_WRONLY, 0o600, 0)
d = os.open(inside, os.O_RDONLY)
print(libc.syscall(437, d, b'x', how, len(how)) >= 0, ctypes.get_errno())
""".replace("print(libc", "print(0 + (libc").replace(">= 0, ctypes", ">= 0), ctypes")
        self.assertEqual(self.run_child(body, "open:EROFS:after=1"), [0, errno.EROFS])
        self.assertEqual(self.run_child(body), [1, 0])

    def test_nothing_outside_is_touched(self):
        with open(os.path.join(self.directory.name, "case2"), "w"):
            pass
        body = "\n".join(
            f"f = os.open(inside + '{path}', os.O_CREAT | os.O_WRONLY)\nprint(tried(lambda: os.write(f, b'abcd')))\nos.fsync(f)\nos.close(f)"
            for path in ("/../pool/f", "2")
        )
        # A path is taken as it is written, so the working directory makes the first one plain.
        body = body.replace("inside + '/../pool/f'", "os.path.dirname(inside) + '/pool/f'")
        self.assertEqual(self.run_child(body, "all:EIO"), [4, 4])

    def test_a_delay_takes_its_time(self):
        body = "f = os.open(inside + '/f', os.O_CREAT | os.O_WRONLY)\nb = time.monotonic()\nos.write(f, b'x')\nprint(int(1000 * (time.monotonic() - b)))"
        self.assertGreaterEqual(self.run_child(body, "write:delay=50ms")[0], 50)

    def test_a_kill_comes_before_the_call(self):
        body = "import subprocess\nprint(subprocess.run(['touch', inside + '/f']).returncode, len(os.listdir(inside)))"
        self.assertEqual(self.run_child(body, "open:kill:after=1"), [0, 1])
        self.assertEqual(self.run_child(body.replace("/f", "/g"), "open:kill"), [-9, 1])

    def test_the_control_file_turns_faults_on_and_off(self):
        control = os.path.join(self.directory.name, "control")
        body = f"""
f = os.open(inside + '/f', os.O_CREAT | os.O_WRONLY)
for rules in ('', 'write:EIO', '', 'write:ENOSPC:count=1'):
    with open({control!r} + '.new', 'w') as new: new.write(rules)
    os.rename({control!r} + '.new', {control!r})
    print(tried(lambda: os.write(f, b'x')))
print(tried(lambda: os.write(f, b'x')))
"""
        self.assertEqual(self.run_child(body, file=control), [1, -errno.EIO, 1, -errno.ENOSPC, 1])

    def test_a_rule_that_is_not_understood_ends_the_program(self):
        environment = dict(
            os.environ, LD_PRELOAD=LIBRARY, FOREBAY_FAULT_PREFIX=self.inside, FOREBAY_FAULT="write:EWHAT"
        )
        done = subprocess.run(["true"], env=environment, capture_output=True, text=True)
        done = (
            done
            if done.returncode
            else subprocess.run(["cat", "/dev/null"], env=environment, capture_output=True, text=True)
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("EWHAT", done.stderr)


if __name__ == "__main__":
    LIBRARY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
