"""What a name of the case points to is there before the name: while a program works and its results are carried slowly,
at the end, after SIGTERM, and when a killed run is resumed; by each way in."""

import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outputs"))
import outputcase  # noqa: E402
from outputcase import OutputCase  # noqa: E402

# Data, then what names it: written in place, by a rename, as text that nobody knows, and by links that are switched in
# both ways. What was a link's target before goes.
PROGRAM = r"""
import json, os, shutil, sys, time
steps, pause = int(sys.argv[1]), float(sys.argv[2])
names = []
os.mkdir("VTK")
for step in range(steps):
    for part in range(6):
        names.append(f"VTK/out_{step}_{part}.vtu")
        with open(names[-1], "wb") as file:
            file.write(os.urandom(40_000))
    with open("VTK/out.pvd", "w") as file:
        file.write("".join(f'<DataSet timestep="{i}" file="{name[4:]}"/>\n' for i, name in enumerate(names)))
    with open("index.json.tmp", "w") as file:
        json.dump(names, file)
    os.rename("index.json.tmp", "index.json")
    with open("frames", "w") as file:
        file.write("\n".join(names) + "\n")
    os.makedirs(f"ckpt_{step}/part")
    for name in ("state", "part/mesh"):
        with open(f"ckpt_{step}/{name}", "wb") as file:
            file.write(os.urandom(30_000))
    os.symlink(f"ckpt_{step}", "switched")
    os.rename("switched", "latest")
    if step > 0:
        os.unlink("current")
    os.symlink("latest/state", "current")
    if step > 1:
        shutil.rmtree(f"ckpt_{step - 2}")
    time.sleep(pause)
open(f"{sys.argv[0]}.{os.path.basename(os.getcwd())}", "w").close()
if len(sys.argv) > 3:
    time.sleep(float(sys.argv[3]))
"""
SLOWLY = ("--bandwidth", "600k", "--set", "drain.settle=200ms", "--set", "drain.refresh=300ms")
LINKED = ("", "/state", "/part/mesh")


def named(case):
    """Each file that names others, with what it names."""
    found = {}
    for pointer, names in (
        ("VTK/out.pvd", lambda text: ["VTK/" + name for name in re.findall(r'file="(.*?)"', text)]),
        ("index.json", json.loads),
        ("frames", str.split),
    ):
        try:
            with open(os.path.join(case, pointer)) as file:
                found[pointer] = names(file.read())
        except FileNotFoundError:
            continue
    return found


def dangling(case):
    """How many pointers there are, and which of them lead to nothing."""
    found = named(case)
    wrong = [f"{pointer} names {name}" for pointer, names in found.items() for name in names if not there(case, name)]
    looked = len(found)
    for link in ("latest", "current"):
        before = texts_of_links(case)
        looked += before[link] is not None
        if before[link] is None or all(there(case, link + each) for each in (LINKED if link == "latest" else ("",))):
            continue
        if texts_of_links(case) == before:  # none was switched meanwhile
            wrong.append(f"{link} leads to {before[link]}")
    return looked, wrong


def texts_of_links(case):
    """Of both, since one leads through the other."""
    paths = {link: os.path.join(case, link) for link in ("latest", "current")}
    return {link: os.readlink(path) if os.path.islink(path) else None for link, path in paths.items()}


def there(case, name):
    return os.path.exists(os.path.join(case, name))


class Pointers(OutputCase):
    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.directory, "program.py")
        with open(self.program, "w") as file:
            file.write(PROGRAM)

    def begin(self, way, *arguments):
        case = self.case(way)
        line = f"exec {sys.executable} {self.program} {' '.join(map(str, arguments))}"
        return case, self.start(self.line(way, line, *SLOWLY), case)

    def has_written(self, way):
        return os.path.exists(f"{self.program}.{way}")

    def watch(self, case, process, until=lambda looks, pointers: False):
        """Looks until the process has ended, or `until` says so. How many looks found a pointer."""
        ends = time.monotonic() + 60
        looks = pointers = 0
        while process.poll() is None and not until(looks, pointers):
            self.assertLess(time.monotonic(), ends)
            looked, wrong = dangling(case)
            self.assertEqual(wrong, [], f"look {looks}")
            looks += 1
            pointers += looked > 0
            time.sleep(0.02)
        return pointers

    def assert_whole(self, case, steps):
        self.assertEqual(dangling(case), (5, []))
        self.assertEqual(len(named(case)["frames"]), 6 * steps)
        self.assertEqual(os.readlink(os.path.join(case, "latest")), f"ckpt_{steps - 1}")
        kept = sorted(name for name in os.listdir(case) if name.startswith("ckpt_"))
        self.assertEqual(kept, sorted(f"ckpt_{step}" for step in (steps - 2, steps - 1)))

    def test_while_a_program_works_and_at_the_end(self):
        def check(way):
            case, process = self.begin(way, 6, 0.4)
            self.assertGreater(self.watch(case, process), 10, "looks that found a pointer")
            self.assertEqual(self.finish(process), 0, self.output)
            self.assert_whole(case, 6)

        self.in_each_way(check)
        self.assert_pool_is_empty()

    def test_after_a_signal(self):
        def check(way):
            case, process = self.begin(way, 6, 0.1, 60)
            self.watch(case, process, lambda looks, pointers: pointers > 0 and self.has_written(way))
            process.send_signal(signal.SIGTERM)
            self.watch(case, process)
            self.finish(process)
            self.assert_whole(case, 6)

        self.in_each_way(check)

    def test_when_a_killed_run_is_resumed(self):
        def check(way):
            case, process = self.begin(way, 5, 0.1, 60)
            self.watch(case, process, lambda looks, pointers: pointers > 0 and self.has_written(way))
            self.kill_run(process)
            self.assertEqual(dangling(case)[1], [])
            resumed = subprocess.Popen(
                [outputcase.FOREBAY, "drain", "--pool", self.pool, "--resume", "--case", case],
                env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
            self.watch(case, resumed)
            self.assertEqual(self.finish(resumed), 0, self.output)
            self.assert_whole(case, 5)

        self.in_each_way(check)
        self.assert_pool_is_empty()

    def test_who_leads_out_of_the_case_or_to_nothing_is_not_waited_for(self):
        script = (
            "ln -s missing nowhere; ln -s /etc/passwd outside; exec 3> held; printf '\\000' >&3; ln -s held link;"
            " ln -s nowhere chain; echo after > after; until [ -e {word} ]; do sleep 0.1; done"
        )

        def check(way):
            case = self.case(way)
            word = os.path.join(self.directory, f"stop-{way}")
            process = self.start(self.line(way, script.format(word=word), "--set", "drain.settle=100ms"), case)
            ends = time.monotonic() + 20
            wanted = {"nowhere", "outside", "chain", "after"}
            while not wanted <= set(os.listdir(case)) and time.monotonic() < ends:
                time.sleep(0.05)
            self.assertEqual(set(os.listdir(case)) - {".forebay"}, wanted)
            with open(word, "w"):
                pass
            self.assertEqual(self.finish(process), 0, self.output)
            self.assertTrue(there(case, "link"))

        self.in_each_way(check)

    def test_a_file_that_is_written_again_and_again_holds_others_back_for_a_while_only(self):
        script = (
            "(until [ -e {word} ]; do echo $((n += 1)) > status.tmp; mv status.tmp status; sleep 0.05; done) &"
            " echo after > after; wait"
        )

        def check(way):
            case = self.case(way)
            word = os.path.join(self.directory, f"stop-{way}")
            process = self.start(self.line(way, script.format(word=word), "--set", "drain.settle=200ms"), case)
            ends = time.monotonic() + 20
            while not (there(case, "status") and there(case, "after")) and time.monotonic() < ends:
                time.sleep(0.05)
            self.assertTrue(there(case, "status") and there(case, "after"), os.listdir(case))
            with open(word, "w"):
                pass
            self.assertEqual(self.finish(process), 0, self.output)

        self.in_each_way(check)


if __name__ == "__main__":
    outputcase.main()
