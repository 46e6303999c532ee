"""Proves that outputs arrive with the owner and the group that the program gave them, and that a setuid or setgid bit
never arrives, nor is under a temporary name, without the owner or group that it was set for.
"""

import os
import stat
import threading

import outputcase
from outputcase import WAYS, OutputCase

USER, GROUP = 33, 34
SCRIPT = """
cp /bin/id set-user; chown 33 set-user; chmod 4755 set-user
cp /bin/id set-group; chgrp 34 set-group; chmod 2755 set-group
cp /bin/id set-both; chown 33:34 set-both; chmod 6711 set-both
cp /bin/id of-ours; chmod 6755 of-ours
echo text > plain; chown 33:34 plain; chmod 640 plain
ln -s plain link; chown -h 33 link
mkdir shared; chgrp 34 shared; chmod 2775 shared; echo text > shared/in
mkdir given; chown 33:34 given
ln set-user second
echo more >> input
chown 33 copied; chmod 4711 linked
mv set-user-input renamed
"""


def entries(root):
    found = {}
    for directory, directories, names in os.walk(root):
        for name in directories + names:
            path = os.path.join(directory, name)
            status = os.lstat(path)
            found[os.path.relpath(path, root)] = (oct(status.st_mode), status.st_uid, status.st_gid)
    return found


class SetId(OutputCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root may give files away")
        os.chmod(self.directory, 0o755)

    def inputs(self, name):
        case = self.case(name, input="input\n", copied="input\n", linked="input\n")
        os.chown(os.path.join(case, "input"), USER, GROUP)
        path = os.path.join(case, "set-user-input")
        with open(path, "w") as file:
            file.write("input\n")
        os.chown(path, USER, GROUP)
        os.chmod(path, 0o6755)
        return case

    def test_each_has_the_owner_that_it_has_after_a_direct_run(self):
        case = self.inputs("direct")
        self.assertEqual(self.run_in(case, "direct", SCRIPT), 0, self.output)
        expected = entries(case)
        for way in WAYS:
            with self.subTest(way=way):
                case = self.inputs(way)
                self.assertEqual(self.run_in(case, way, SCRIPT, "--copy", "copied"), 0, self.output)
                self.assertEqual(entries(case), expected)
                self.assert_pool_is_empty()

    def test_also_where_it_is_changed_when_the_file_is_on_the_case(self):
        script = "mkdir d; echo text > d/f; sleep 1.5; chown 33:34 d d/f; sleep 0.1"
        for way in WAYS:
            with self.subTest(way=way):
                case = self.case(way)
                self.assertEqual(self.run_in(case, way, script, "--set", "drain.settle=100ms"), 0, self.output)
                found = entries(case)
                self.assertEqual({path: owner[1:] for path, owner in found.items()}, {"d": (33, 34), "d/f": (33, 34)})

    def test_no_set_id_file_of_ours_is_on_the_case_meanwhile(self):
        case, seen, done = self.case("meanwhile"), set(), threading.Event()

        def look():
            while not done.wait(0.001):
                for name in os.listdir(case):
                    try:
                        status = os.lstat(os.path.join(case, name))
                    except FileNotFoundError:
                        continue
                    if status.st_mode & (stat.S_ISUID | stat.S_ISGID) and (status.st_uid, status.st_gid) != (33, 34):
                        seen.add((name, oct(status.st_mode), status.st_uid, status.st_gid))

        looking = threading.Thread(target=look)
        looking.start()
        script = "for i in a b c d e f g h; do head -c 4000000 /dev/zero > $i; chown 33:34 $i; chmod 6755 $i; done"
        status = self.run_in(case, "namespace", script, "--bandwidth", "40M")
        done.set()
        looking.join()
        self.assertEqual(status, 0, self.output)
        self.assertEqual(seen, set())
        self.assertEqual(set(entries(case).values()), {(oct(0o106755), 33, 34)})


if __name__ == "__main__":
    outputcase.main()
