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

    def test_names_the_array_in_which_a_bit_has_flipped(self):
        path = self.checkpoint("one.h5")
        with open(path, "rb") as file:
            content = bytearray(file.read())
        content[content.index(b"\0\0\0\0\0\0\xf0\x3f" * 8) + 3] ^= 16
        with open(path, "wb") as file:
            file.write(content)
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

    def test_what_is_no_checkpoint_is_refused_with_its_name(self):
        self.write("notes", "not HDF5")
        path = os.path.join(self.case, "notes")
        self.assertNotEqual(self.call("inspect", path), 0)
        self.assertIn(path, self.output)


if __name__ == "__main__":
    commandcase.main()
