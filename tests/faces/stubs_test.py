"""The type stubs of the Python package say of it what is so, and mypy takes what a program does with them for right or wrong
as Python does. Run with mypy installed."""

import ast
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

import forebay

PACKAGE = pathlib.Path(forebay.__file__).parent
CONFIGURATION = pathlib.Path(__file__).parent / "mypy.ini"
PROGRAM = """
import forebay
import numpy as np

with forebay.Trajectory([forebay.dram(1e6)], mode="any", checksum=None) as states:
    number: int = states.declare("u", (3, 4))
    with states.begin(0, 0.0) as step:
        step["u"] = np.zeros((3, 4))
    for state in states.reverse():
        print(state.step + 1, state["u"].sum())
"""
WRONG = {
    'mode="append"': 'mode="any"',
    'mode="any", survives="machine"': 'mode="any"',
    "checksum=-1": "checksum=None",
    "number: str": "number: int",
    "step.commit(1)": 'step["u"] = np.zeros((3, 4))',
}


def mypy(module, *arguments):
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=False)


class Stubs(unittest.TestCase):
    def test_each_has_what_its_module_has(self):
        # What forebay.pyadjoint is made of has no types.
        there = [path.stem for path in PACKAGE.glob("*.pyi") if path.stem not in ("__init__", "pyadjoint")]
        modules = ["forebay." + name for name in there if name != "arrays" or importlib.util.find_spec("mpi4py")]
        self.assertIn("forebay.trajectory", modules)
        done = mypy("mypy.stubtest", "--mypy-config-file", str(CONFIGURATION), *modules)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_package_has_the_names_of_its_stub(self):
        tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
        names = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        self.assertEqual(names, set(forebay.__all__))
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_a_program_is_checked_by_them(self):
        texts = [PROGRAM, *(PROGRAM.replace(right, wrong) for wrong, right in WRONG.items())]
        with tempfile.TemporaryDirectory() as directory:
            paths = [pathlib.Path(directory) / f"program_{i}.py" for i in range(len(texts))]
            for path, text in zip(paths, texts, strict=True):
                path.write_text(text)
            done = mypy("mypy", "--config-file", str(CONFIGURATION), *map(str, paths))
        wrong = {path.name for path in paths if f"{path.name}:" in done.stdout}
        self.assertEqual(wrong, {path.name for path in paths[1:]}, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
