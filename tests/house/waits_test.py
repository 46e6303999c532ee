"""Proves: every wait of the file side stands in docs/run/waits.md with its bound. What scripts/waits finds in the sources is what
that page names, no more and no less; its settings and constants exist with the values that it tells; so do its tests. A wait
that is planted is found."""

import importlib.machinery
import importlib.util
import os
import re
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/run/waits.md"
PLACE = re.compile(r"`([\w./]+)` `([\w:]+)`(?: ×(\d+))?")
UNITS = {"ms": 1, "s": 1000, "min": 60_000}
PLANTED = """
namespace forebay {
namespace {
int here(int fd) { return fd; }
struct Watcher {
  void look(Clock& clock) { PLANTED }  // it may sleep(1)
};
}  // namespace
}  // namespace forebay
"""
WAITS = (
    "clock.sleep(std::chrono::milliseconds(1));",
    "while (::waitpid(-1, nullptr, 0) < 0) {}",
    "::flock(fd, LOCK_EX);",
    "::fcntl(fd, F_OFD_SETLKW, &lock);",
    "changed_.wait(lock);",
    "::read(pipe_.get(), &byte, 1);",
    "thread_.join();",
    "clock_->poll(waits, -1ms);",
    "std::this_thread::sleep_for(1s);",
    "system_call(SYS_futex, word, FUTEX_WAIT, 1);",
)
NO_WAITS = (
    "::flock(fd, LOCK_EX | LOCK_NB);",
    "Journal::read(path);",
    'say("poll(), wait() and sleep()");',
    "// sleep(1)",
)


def module(path):
    loader = importlib.machinery.SourceFileLoader("waits", str(path))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("waits", loader))
    loader.exec_module(made)
    return made


waits = module(ROOT / "scripts/waits").waits


def path_of(name):
    """src/base is named with its first part, src/run without."""
    return f"src/{name}" if name.startswith("base/") else f"src/run/{name}"


class WaitsTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)
        rows = [line for line in Path(PAGE).read_text().splitlines() if line.startswith("| `")]
        self.rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
        self.sources = {
            path: path.read_text()
            for path in [*Path("src/run").rglob("*"), *Path("src/base").rglob("*")]
            if path.is_file()
        }

    def test_what_the_sources_wait_for_is_what_the_page_tells(self):
        told = {}
        for where, *_ in self.rows:
            for file, function, number in PLACE.findall(where):
                told[path_of(file), function] = int(number or 1)
            self.assertEqual(PLACE.sub("", where).strip("; "), "")
        found = dict(waits(["src/run", "src/base"]))
        missing = {place: number for place, number in found.items() if told.get(place) != number}
        self.assertEqual(missing, {}, f"waits without a row in {PAGE}, or with another number there")
        self.assertEqual(set(told) - set(found), set(), f"rows of {PAGE} for what waits no more")

    def test_each_has_a_bound_or_a_reason(self):
        settings = set(re.findall(r'\{"([a-z]+\.[a-z_]+)"', Path("src/run/settings/keys.cpp").read_text()))
        for where, _, at_most, *_ in self.rows:
            if not at_most.startswith(("none", "caller")):
                self.assertRegex(at_most, r"`", where)
            elif at_most.startswith("none"):
                self.assertRegex(at_most, r"^none[ :]\w* ?.{8,}", where)
            for name, number, unit in re.findall(r"`([\w.]+)`(?: = ([\d.]+) (ms|s|min))?", at_most):
                if "." in name:
                    self.assertIn(name, settings, where)
                elif number:
                    self.assertEqual(self.values(name), {float(number) * UNITS[unit]}, f"{where}: {name}")

    def values(self, name):
        """In milliseconds, of all constants of this name that are times."""
        found = set()
        pattern = rf"\b{name}\s*(?:\(|\{{|= )([\d']+)(ms|s|min)?"
        for path, text in self.sources.items():
            if path.suffix not in (".h", ".cpp") or "tests" in path.parts:
                continue
            for line in text.splitlines():
                if not re.search(r"constexpr", line):
                    continue
                for digits, unit in re.findall(pattern, line):
                    unit = unit or ("ms" if "chrono::milliseconds" in line else "s")
                    found.add(float(digits.replace("'", "")) * UNITS[unit])
        return found

    def test_its_tests_exist(self):
        known = set()
        for path, text in self.sources.items():
            if "tests" in path.parts:
                known |= {f"{a}.{b}" for a, b in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", text, re.M)}
        for where, *_, shown in self.rows:
            for name in re.findall(r"`([^`]+)`", shown):
                self.assertTrue(Path(name).exists() if "/" in name else name in known, f"{where}: {name}")

    def test_one_that_is_planted_is_found(self):
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory, "planted.cpp")
            for text, number in [(each, 1) for each in WAITS] + [(each, 0) for each in NO_WAITS]:
                source.write_text(PLANTED.replace("PLANTED", text))
                found = waits([directory])
                self.assertEqual(dict(found), {(str(source), "Watcher::look"): 1} if number else {}, text)


if __name__ == "__main__":
    unittest.main()
