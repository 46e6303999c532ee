"""Proves that a program in a container finds its inputs where only the case is bound in; and where it cannot, that it is told
what it does not see. Containers are made here by `unshare`, which needs root.
"""

import os
import shutil
import subprocess

import outputcase
from outputcase import OutputCase, files

# container BINDS PROGRAM...: a root directory with the system's programs and these paths alone.
CONTAINER = """#!/bin/sh
set -e
binds=$1 case=$PWD; shift
exec unshare -m sh -c '
set -e
root=$1 binds=$2 case=$3; shift 3
mount -t tmpfs -o mode=0755 none $root
mkdir $root/dev $root/tmp
for each in bin lib lib64 usr etc proc $(echo $binds | tr : " "); do
  each=/${each#/}
  [ -d $each ] || continue
  mkdir -p $root$each
  mount --rbind $each $root$each
done
exec chroot $root sh -c "cd \\"\\$1\\"; shift; exec \\"\\$@\\"" sh $case "$@"
' sh ROOT $binds $case "$@"
"""
SCRIPT = "cat input below/other; echo more >> input; mv below/other moved; echo made > output; ./tool"
# rank-with-own-pool POOL PROGRAM...: of two ranks the second has another file system where the pool is.
RANK = """#!/bin/sh
pool=$1; shift
[ "$OMPI_COMM_WORLD_RANK" = 1 ] || exec "$@"
exec unshare -m sh -c 'mount -t tmpfs none $0; exec "$@"' $pool "$@"
"""


class Containers(OutputCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
            self.skipTest("containers are made by root here")
        os.mkdir(f"{self.directory}/root")
        for name in ("apptainer", "other"):
            self.program(name, CONTAINER.replace("ROOT", f"{self.directory}/root"))
        self.program("rank", RANK)

    def program(self, name, text):
        with open(f"{self.directory}/{name}", "w") as file:
            file.write(text)
        os.chmod(f"{self.directory}/{name}", 0o755)

    def inputs(self, name):
        case = self.case(name, input="input\n", tool="#!/bin/sh\ncat input\n")
        os.chmod(f"{case}/tool", 0o755)
        os.mkdir(f"{case}/below")
        with open(f"{case}/below/other", "w") as file:
            file.write("other\n")
        return case

    def environment(self):
        return {**super().environment(), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def run_contained(self, container, case, way, *binds):
        words = [f"{self.directory}/{container}", ":".join([case, *binds]), "sh", "-c", SCRIPT]
        if way != "direct":
            words = [outputcase.FOREBAY, "run", "--pool", self.pool, "--via", way, "--", *words]
        return self.finish(self.start(words, case))

    def test_a_container_in_which_only_the_case_is_bound(self):
        direct = self.inputs("direct")
        self.assertEqual(self.run_contained("apptainer", direct, "direct"), 0, self.output)
        for way in ("auto", "namespace"):
            with self.subTest(way):
                case = self.inputs(way)
                self.assertEqual(self.run_contained("apptainer", case, way), 0, self.output)
                self.assertIn("inputs are copied, so that it needs nothing but the case there", self.output)
                self.assertEqual(files(case), files(direct))
                self.assert_pool_is_empty()

    def test_by_redirect_it_is_told_what_to_bind_and_with_that_it_runs(self):
        library = os.path.join(os.path.dirname(os.path.dirname(outputcase.FOREBAY)), "lib")
        direct = self.inputs("direct")
        self.assertEqual(self.run_contained("apptainer", direct, "direct"), 0, self.output)
        for container, way in (("apptainer", "redirect"), ("other", "namespace")):
            with self.subTest(container):
                case = self.inputs(f"{container}-1")
                self.assertNotEqual(self.run_contained(container, case, way, library), 0, self.output)
                self.assertRegex(
                    self.output, f"without {self.pool}/.*/lower, where its inputs lie: bind the pool and the case"
                )
                if container == "apptainer":
                    self.assertIn(f"bind the case and the pool into it, or it does not see {self.pool}", self.output)
                self.assertEqual(files(case)["input"], "input\n")
                case = self.inputs(f"{container}-2")
                self.assertEqual(self.run_contained(container, case, way, library, self.pool), 0, self.output)
                self.assertNotIn("where its inputs lie", self.output)
                self.assertEqual(files(case), files(direct))

    def test_a_rank_that_does_not_see_the_pool_says_so(self):
        if not shutil.which("mpirun"):
            self.skipTest("needs mpirun")
        for way in ("redirect", "path"):
            case = self.inputs(way)
            rank = ["mpirun", "-n", "2", "--oversubscribe", f"{self.directory}/rank", self.pool]
            words = ["run", "--pool", self.pool, "--via", way, "--", *rank, outputcase.FOREBAY, "exec", "--", "true"]
            self.assertNotEqual(self.finish(self.start([outputcase.FOREBAY, *words], case)), 0)
            self.assertIn("this process does not see the run's pool", self.output)
            self.assertIn("name a pool with --pool that all processes of the node see", self.output)


if __name__ == "__main__":
    outputcase.main()
