"""Proves: what `make test` checks of the sources is also checked in a tree without .git, as an archive gives it."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2]


class LintTest(unittest.TestCase):
    def test_a_tree_without_git_is_looked_at_as_well(self):
        tree = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (tree / "scripts").mkdir()
        for name in ("scripts/lint", ".gitignore"):
            shutil.copy(SOURCES / name, tree / name)
        (tree / "src/run").mkdir(parents=True)
        (tree / "build/src").mkdir(parents=True)
        for name in ("src/run/a.cpp", "build/src/b.cpp"):
            (tree / name).write_text("int main() {}\n")

        def lint(what):
            return subprocess.run([tree / "scripts/lint", what], capture_output=True, text=True)

        self.assertEqual(lint("files").stdout, "src/run/a.cpp\n")
        done = lint("clock")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (tree / "src/run/a.cpp").write_text("int main() { sleep(1); }\n")
        self.assertIn("wait for an event", lint("clock").stderr)
        self.assertEqual(lint("clock").returncode, 1)


if __name__ == "__main__":
    unittest.main()
