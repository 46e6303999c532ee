"""The lines that mistakes are planted in are those of the source, each once."""

import importlib.machinery
import importlib.util
import os
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def load_plant():
    loader = importlib.machinery.SourceFileLoader("plant", os.path.join(HERE, "plant"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("plant", loader))
    loader.exec_module(module)
    return module


class PlantTest(unittest.TestCase):
    def test_each_line_is_in_its_file_once(self):
        plant = load_plant()
        for name, (_, path, before, after) in plant.MISTAKES.items():
            with self.subTest(name), open(os.path.join(plant.SOURCE, path)) as file:
                self.assertEqual(file.read().count(before), 1, f"{path}:\n{before}")
            self.assertNotEqual(before, after, name)


if __name__ == "__main__":
    unittest.main()
