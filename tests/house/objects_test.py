"""scripts/objects counts members and lines as a reader does."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)

HEADER = """
namespace forebay {
struct Small {
  struct Inside {
    int a = 0, b = 0;
  } inside;
  static constexpr int limit = 3;
  void act() const;
};
class Large {
 public:
  explicit Large(int& of) : of_(of) {}
  int sum(int a, int b) const { return a + b; }

 private:
  int& of_;
  %s
};
}  // namespace forebay
"""


def lines(number):
    return "".join(f"  value += {i};\n" for i in range(number))


class Objects(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def enterContext(self, context):  # unittest has it from Python 3.11 on
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def write(self, path, text):
        path = self.directory / path
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def look(self, *words):
        return subprocess.run([SCRIPT, *words, self.directory], capture_output=True, text=True)

    def write_large(self, members):
        names = ", ".join(f"m{i}_ = {i}" for i in range(members - 1))
        self.write("large.h", HEADER % f"int {names};")

    def test_members_that_a_mutex_guards_are_counted_too(self):
        guarded = "\n  ".join(f"std::vector<int> m{i}_ GUARDED_BY(mutex_);" for i in range(19))
        self.write("large.h", HEADER % f"Mutex mutex_;\n  {guarded}")
        self.assertIn("21  Large  ", self.look().stdout)
        self.assertEqual(self.look("--check").returncode, 1)

    def test_members_are_counted_each_by_its_name(self):
        self.write_large(16)
        self.assertIn("16  Large  ", self.look().stdout)
        self.assertNotIn("Small", self.look().stdout)

    def test_check_names_an_object_of_more_than_20_members(self):
        self.write_large(20)
        self.assertEqual(self.look("--check").returncode, 0)
        self.write_large(21)
        looked = self.look("--check")
        self.assertEqual(looked.returncode, 1)
        self.assertIn("large.h:10: Large: 21 members, at most 20", looked.stderr)

    def test_check_names_a_function_of_more_than_60_lines(self):
        short = "namespace {\nint few() {\n" + lines(58) + "}\n}\n"
        self.write("few.cpp", short)
        self.assertEqual(self.look("--check").returncode, 0)
        self.write("few.cpp", short.replace("{\n  value", "{\n  int value = 0;\n  value"))
        looked = self.look("--check")
        self.assertEqual(looked.returncode, 1)
        self.assertIn("few.cpp:2: few: 61 lines, at most 60", looked.stderr)

    def test_an_object_of_a_source_is_counted_too(self):
        names = "".join(f"  int m{i} = 0;\n" for i in range(17))
        self.write("inside.cpp", "namespace {\nclass Hidden {\n" + names + "};\n}\nstruct A::B {\n" + names + "};\n")
        self.assertIn("17  Hidden  ", self.look().stdout)
        self.assertIn("17  A::B  ", self.look().stdout)

    def test_data_that_everybody_may_change_are_told(self):
        self.write("open.h", "struct Open {\n  int value = 0;\n  void change();\n};\n")
        self.write(
            "closed.h",
            "struct Plain {\n  int value = 0;\n  int twice() const;\n};\n"
            "class Closed {\n public:\n  Closed(int);\n  void change();\n private:\n  int value_ = 0;\n};\n",
        )
        looked = self.look("--check")
        self.assertEqual(looked.returncode, 1)
        self.assertIn("open.h:1: Open: its data are public", looked.stderr)
        self.assertNotIn("closed.h", looked.stderr)
        known = self.directory / "known.txt"
        known.write_text(f"{self.directory.name}/open.h:Open\n")
        self.assertEqual(self.look("--check", "--open", known).returncode, 0)
        known.write_text(known.read_text() + f"{self.directory.name}/closed.h:Closed\n")
        looked = self.look("--check", "--open", known)
        self.assertEqual(looked.returncode, 1)
        self.assertIn("closed.h:Closed: its data are private now", looked.stderr)

    def test_tests_and_benches_are_left_out(self):
        self.write("tests/long.cpp", "void f() {\n" + lines(80) + "}\n")
        self.assertEqual(self.look("--check").returncode, 0)
        self.assertIn("0 lines in 0 files", self.look().stdout)


unittest.main()
