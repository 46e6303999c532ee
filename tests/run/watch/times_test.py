"""Who looks for times on the case while a program works finds only whole ones, in the order in which they were written,
however slowly they are carried; by each way in, for one process, for ranks, for ranks that a script starts, and for
OpenFOAM's own collated directories."""

import os
import re
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outputs"))
import outputcase  # noqa: E402
from outputcase import OutputCase  # noqa: E402

# Some times are large, so that several carriers would bring a later one first; a time takes a while to be written.
SOLVER = r"""
import os, sys, time
steps, meeting, tops = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
rank = os.environ.get("OMPI_COMM_WORLD_RANK")
if rank is not None:
    tops = [f"processor{rank}"]
    open(meeting + rank, "w").close()
    while not all(os.path.exists(meeting + str(each)) for each in range(int(os.environ["OMPI_COMM_WORLD_SIZE"]))):
        time.sleep(0.01)
for step in range(1, steps + 1):
    size = 150_000 if step % 3 == 1 else 5_000
    for top in tops:
        os.makedirs(os.path.join(top, f"0.{step}", "uniform"))
    for name in ("U", "p", "phi", "uniform/time"):
        for top in tops:
            with open(os.path.join(top, f"0.{step}", name), "wb") as file:
                file.write(os.urandom(size // 4))
        time.sleep(0.03)
    time.sleep(0.15)
"""
NAMES = ("U", "p", "phi", "uniform/time")
STEPS = 9
# What grows is looked at in between, too: nothing of a time does.
SLOWLY = ("--bandwidth", "400k", "--set", "drain.settle=200ms", "--set", "drain.refresh=100ms")


class Looking(OutputCase):
    def times(self, directory):
        """As foamListTimes finds them."""
        try:
            return {name for name in os.listdir(directory) if re.fullmatch(r"0\.\d+", name)}
        except FileNotFoundError:
            return set()

    def look(self, case, tops):
        """The times that the first directory has, each of which must be whole in all directories."""
        found = self.times(os.path.join(case, tops[0]))
        for name in found:
            for top in tops:
                missing = [each for each in NAMES if not os.path.exists(os.path.join(case, top, name, each))]
                self.assertEqual(missing, [], f"of {top}/{name}, with {sorted(found)}")
        for top in tops[1:]:
            for name in self.times(os.path.join(case, top)):
                missing = [each for each in NAMES if not os.path.exists(os.path.join(case, top, name, each))]
                self.assertEqual(missing, [], f"of {top}/{name}")
        return found

    def each_look(self, case, process, tops):
        looks = {}
        ends = time.monotonic() + 60
        while process.poll() is None:
            self.assertLess(time.monotonic(), ends)
            found = self.look(case, tops)
            self.assertEqual(found, {f"0.{step}" for step in range(1, len(found) + 1)}, "in the order of writing")
            looks[len(found)] = looks.get(len(found), 0) + 1
            time.sleep(0.01)
        return looks

    def whole_in_order(self, tops, launcher="", *options):
        program = os.path.join(self.directory, "solver.py")
        with open(program, "w") as file:
            file.write(SOLVER)

        def check(way):
            case = self.case(way)
            for top in tops:
                os.makedirs(os.path.join(case, top), exist_ok=True)
            meeting = os.path.join(self.directory, f"meeting-{way}-")
            line = f"{launcher} {sys.executable} {program} {STEPS} {meeting} {' '.join(top or '.' for top in tops)}"
            words = self.line(way, line, *SLOWLY, *options)
            if launcher:
                words = [*words[: words.index("--") + 1], *line.split()]
            process = self.start(words, case)
            looks = self.each_look(case, process, tops)
            self.assertEqual(self.finish(process), 0, self.output)
            self.assertEqual(len(self.look(case, tops)), STEPS)
            self.assertGreater(len(looks), 3, f"how many times the looks found: {looks}")

        self.in_each_way(check)

    def test_of_one_process(self):
        self.whole_in_order([""])

    def test_of_ranks(self):
        self.whole_in_order(
            ["processor0", "processor1"], "mpirun -n 2 --oversubscribe --bind-to none", "--set", "drain.threads=4"
        )

    def test_of_ranks_that_a_script_starts(self):
        self.whole_in_order(["processor0", "processor1", "processor2"])

    def test_of_collated_directories_that_openfoam_writes(self):
        self.whole_in_order(["processors4"])

    def test_what_was_held_until_the_end(self):
        self.whole_in_order([""], "", "--drain-when", "end")


if __name__ == "__main__":
    outputcase.main()
