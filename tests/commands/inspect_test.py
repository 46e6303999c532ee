"""Proves: `forebay inspect` tells what a checkpoint holds, whether it is whole, and how two differ."""

import json
import os

import commandcase


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
