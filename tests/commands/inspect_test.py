"""Proves: `forebay inspect` tells what a checkpoint holds, whether it is whole, and how two differ."""

import json
import os
import random
import struct
import subprocess

import commandcase

COARSE = """<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>
<Piece NumberOfPoints="4" NumberOfCells="1"><Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points><Cells>
<DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 3</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">4</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">10</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>
"""
JUDGE = """
import hashlib, sys, h5py
for path in sys.argv[1:]:
    found = hashlib.sha256()
    def add(name, item):
        found.update(repr((name, sorted((each, str(value)) for each, value in item.attrs.items()))).encode())
        if isinstance(item, h5py.Dataset):
            found.update(repr((item.shape, item.dtype)).encode() + item[()].tobytes())
    try:
        with h5py.File(path) as file:
            add("/", file)
            file.visititems(add)
        print(found.hexdigest())
    except Exception:
        print()
"""


class InspectTest(commandcase.CommandCase):
    def inspected(self, *words):
        self.status = self.call("inspect", "--json", *words)
        return json.loads(self.done.stdout)

    def test_lists_what_a_checkpoint_holds(self):
        held = self.inspected(self.checkpoint("one.h5"))
        self.assertEqual(self.status, 0, self.output)
        self.assertEqual((held["step"], held["time"], held["mesh"], held["damaged"]), (7, 0.25, "cube", []))
        self.assertEqual([(each["name"], each["location"]) for each in held["arrays"]], [("pressure", "cells")])

    def damaged(self, name):
        path = self.checkpoint(name)
        with open(path, "rb") as file:
            content = bytearray(file.read())
        content[content.index(b"\0\0\0\0\0\0\xf0\x3f" * 8) + 3] ^= 16
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_names_the_array_in_which_a_bit_has_flipped(self):
        path = self.damaged("one.h5")
        self.assertEqual(self.call("inspect", path), 4, self.output)
        self.assertIn("pressure", self.output)
        self.assertEqual(self.call("inspect", "--no-verify", path), 0, self.output)

    def mesh(self, name):
        self.write("coarse.vtu", COARSE)
        path = os.path.join(self.case, name)
        coarse = os.path.join(self.case, "coarse.vtu")
        self.assertEqual(self.call("mesh", "multiply", coarse, "--levels", "1", "-o", path), 0, self.output)
        return path

    def judged(self, paths):
        """What another reader finds in each file, as one word; "" where it cannot read it."""
        done = subprocess.run(["/usr/bin/python3", "-c", JUDGE, *paths], capture_output=True, text=True)
        if "No module named" in done.stderr:
            self.skipTest("needs h5py of /usr/bin/python3")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("\n")[:-1]

    def test_calls_nothing_good_that_another_reader_finds_changed(self):
        chance = random.Random(5)
        for path in (self.checkpoint("one.h5"), self.mesh("fine.vtkhdf")):
            with open(path, "rb") as file:
                whole = bytearray(file.read())
            called_good = []
            for number in range(60):
                flipped = whole[:]
                flipped[chance.randrange(min(2048, len(whole)))] ^= 1 << chance.randrange(8)
                self.write(f"flipped-{number}", bytes(flipped))
                if self.call("inspect", os.path.join(self.case, f"flipped-{number}")) == 0:
                    called_good.append(os.path.join(self.case, f"flipped-{number}"))
                else:
                    self.assertEqual(self.done.stdout.count("every byte"), 0)
            good, *others = self.judged([path, *called_good])
            self.assertLessEqual(set(others), {good})  # none at all where every byte is of a checksum
            self.assertLess(len(called_good), 59)

    def test_names_the_object_that_no_reader_can_use(self):
        path = self.mesh("fine.vtkhdf")
        with open(path, "rb") as file:
            content = bytearray(file.read())
        content[content.index(struct.pack("<3q", 0, 4, 8))] ^= 1  # before the first end of a cell: in no checksum
        with open(path, "wb") as file:
            file.write(content)
        for words in ((), ("--no-verify",)):
            self.assertEqual(self.call("inspect", *words, path), 4, self.output)
            self.assertIn("VTKHDF/Offsets is damaged", self.output)
            self.assertNotIn("every byte", self.output)

    def test_tells_by_how_much_two_differ(self):
        one, other = self.checkpoint("one.h5"), self.checkpoint("other.h5", "1.5")
        self.assertEqual(self.call("inspect", one, self.checkpoint("same.h5")), 0, self.output)
        differences = self.inspected(one, other)["differences"]
        self.assertEqual(self.status, 1, self.output)
        self.assertEqual(
            [(each["name"], each["largest"], each["values"]) for each in differences], [("pressure", 0.5, 1000)]
        )

    def test_verifies_both_of_two(self):
        one, other = self.checkpoint("one.h5"), self.damaged("other.h5")
        self.assertEqual(self.call("inspect", one, other), 4, self.output)
        self.assertIn(f"DAMAGED {other}: cells/pressure", self.output)
        found = self.inspected(one, other)
        self.assertEqual((self.status, found["damaged"], len(found["damaged_in_other"])), (4, [], 1), self.output)
        self.assertEqual(self.call("inspect", "--no-verify", one, other), 1, self.output)

    def test_equal_arrays_of_another_step_time_or_mesh_are_no_equal_checkpoints(self):
        one = self.checkpoint("one.h5")
        for what, *words in (("step", "1", "8"), ("time", "1", "7", "0.5"), ("mesh", "1", "7", "0.25", "tube")):
            other = self.checkpoint(f"{what}.h5", *words)
            self.assertEqual(self.call("inspect", one, other), 1, self.output)
            found = self.inspected(one, other)
            self.assertEqual([each["what"] for each in found["head_differences"]], [what])
            self.assertEqual([each["values"] for each in found["differences"]], [0])

    def test_what_is_no_checkpoint_is_refused_with_its_name(self):
        self.write("notes", "not HDF5")
        path = os.path.join(self.case, "notes")
        self.assertNotEqual(self.call("inspect", path), 0)
        self.assertIn(path, self.output)


if __name__ == "__main__":
    commandcase.main()
