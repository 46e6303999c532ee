#include "run/openfoam/stop_at.h"

#include <gtest/gtest.h>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

constexpr const char* control_path = "system/controlDict";

std::string refusal(const std::string& control) {
  const auto changed = with_stop_at(control, "writeNow", control_path);
  return changed ? "changed to " + *changed : changed.error().text();
}

bool names(const std::string& control, const std::string& words) {
  const std::string text = refusal(control);
  EXPECT_NE(text.find(control_path), std::string::npos) << text;
  return text.find(words) != std::string::npos || (ADD_FAILURE() << text, false);
}

TEST(StopAtTest, TheEntryThatCountsIsAddedAndAllElseStays) {
  const std::string control = R"(FoamFile { class dictionary; }
// stopAt writeNow;
application icoFoam;   /* runTimeModifiable no; */
stopAt endTime;
endTime $end; deltaT #calc "1/2"; start #codeStream { code #{ return "}"; #}; };
#include "more"
#if 0
stopAt noWriteNow;
#endif
functions { a { runTimeModifiable no; #includeFunc b } }
runTimeModifiable yes;
// ****)";
  const auto changed = with_stop_at(control, "nextWrite", control_path);
  ASSERT_TRUE(changed) << changed.error().text();
  EXPECT_TRUE(changed->starts_with(control + "\n"));
  EXPECT_EQ(dictionary_entry(*changed, "stopAt"), "nextWrite");
  const auto again = with_stop_at(*changed, "writeNow", control_path);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(dictionary_entry(*again, "stopAt"), "writeNow");
}

TEST(StopAtTest, EverySpellingOfYesIsOn) {
  for (const std::string on : {"yes", "on", "true", "y", "t", "1"})
    EXPECT_TRUE(with_stop_at("runTimeModifiable " + on + ";", "writeNow", control_path)) << on;
  for (const std::string off : {"no", "off", "false", "n", "f", "0", "none"})
    EXPECT_TRUE(names("\nrunTimeModifiable " + off + ";", "runTimeModifiable is " + off + " (line 2)"));
}

TEST(StopAtTest, WhatTheProgramDoesNotReadAgainIsRefused) {
  EXPECT_TRUE(names("stopAt endTime;", "runTimeModifiable is not there, and so off"));
  EXPECT_TRUE(names("runTimeModifiable yes;\nrunTimeModifiable no;", "(line 2)"));
  EXPECT_TRUE(names("a 1;\n#include \"b\"\n", "what line 2 brings in"));
  EXPECT_TRUE(names("a yes;\nrunTimeModifiable $a;", "only OpenFOAM can evaluate runTimeModifiable in line 2"));
  EXPECT_TRUE(names("#if 1\nrunTimeModifiable yes;\n#endif\n", "in line 2"));
  EXPECT_TRUE(names("runTimeModifiable yes;\nOptimisationSwitches { fileModificationChecking inotify; }",
                    "fileModificationChecking is inotify (line 2)"));
}

TEST(StopAtTest, WhatIsNotUnderstoodIsRefusedByItsLine) {
  const std::string on = "runTimeModifiable yes;\n";
  EXPECT_TRUE(names(on + "}\n", "line 2 is not understood (`}` stands alone)"));
  EXPECT_TRUE(names(on + "functions\n{\n a { b 1; }\n", "line 2 is not understood (what begins there has no end)"));
  EXPECT_TRUE(names(on + "stopAt endTime", "line 2 is not understood (what begins there has no end)"));
  EXPECT_TRUE(names(on + "a \"b;\n", "line 2 is not understood (what begins there has no end)"));
  EXPECT_TRUE(names(on + "a 1;\n/* b\nc\n", "has no end"));
  EXPECT_TRUE(names(on + "\n#inputMode protect\n", "line 3 is not understood (an entry that comes later"));
  EXPECT_TRUE(names(on + "#if 1\na 1;\n", "an #if has no #endif"));
  EXPECT_TRUE(names(on + "a (1 2;\n", "line 2 is not understood"));
}

}  // namespace
}  // namespace forebay::openfoam
