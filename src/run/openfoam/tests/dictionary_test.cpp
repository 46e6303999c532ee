#include <gtest/gtest.h>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

std::optional<std::string> entry(std::string_view text, std::string_view key = "purgeWrite") {
  return dictionary_entry(text, key);
}

TEST(DictionaryTest, AnEntryIsFoundBehindHeaderCommentsAndSubDictionaries) {
  constexpr std::string_view text = R"(/* purgeWrite 7; */
FoamFile { version 2.0; class dictionary; purgeWrite 8; }
// purgeWrite 9;
functions
{
    #include "streamLines"
    probes { purgeWrite 3; fields (p U); note "}"; }
}
purgeWrite      1; // as in the seed
)";
  EXPECT_EQ(entry(text), "1");
}

TEST(DictionaryTest, TheLastEntryWins) {
  EXPECT_EQ(entry("purgeWrite 1; purgeWrite 2;"), "2");
  EXPECT_EQ(entry("purgeWrite 1; purgeWrite { a 2; }"), std::nullopt);
  EXPECT_EQ(entry("purgeWrite { a 2; } purgeWrite 1;"), "1");
}

TEST(DictionaryTest, WhatOnlyOpenFoamCanEvaluateIsAbsent) {
  EXPECT_EQ(entry("n 3; purgeWrite $n;"), std::nullopt);
  EXPECT_EQ(entry("purgeWrite ${n};"), std::nullopt);
  EXPECT_EQ(entry("purgeWrite #calc \"1+2\";"), std::nullopt);
  EXPECT_EQ(entry("purgeWrite #calc #{ return 1; #};"), std::nullopt);
  EXPECT_EQ(entry("purgeWrite 1;\npurgeWrite $n;"), std::nullopt);
  EXPECT_EQ(entry("#include \"purge\"\n"), std::nullopt);
  EXPECT_EQ(entry("#if 0\npurgeWrite 1;\n#endif\n"), std::nullopt);
  EXPECT_EQ(entry("purgeWrite 1;\n#remove purgeWrite\n"), std::nullopt);
}

TEST(DictionaryTest, DirectivesDoNotSwallowWhatFollows) {
  EXPECT_EQ(entry("#include \"x;{\"\n#includeFunc streamlines(U, {\npurgeWrite 4;"), "4");
  EXPECT_EQ(entry("#if 1\na 1;\n#endif\npurgeWrite 4;"), "4");
  EXPECT_EQ(entry("$defaults;\npurgeWrite 4;"), "4");
  EXPECT_EQ(entry("code #{ while (a) { b; } \" #}; purgeWrite 4;"), "4");
  EXPECT_EQ(entry("sub { a ${b}; c $d; } purgeWrite 4;"), "4");
}

TEST(DictionaryTest, ListsStringsAndWordsKeepTheirText) {
  EXPECT_EQ(entry("roots 2(\"/a;b\" \"/c\");", "roots"), "2 (\"/a;b\" \"/c\")");
  EXPECT_EQ(entry("list ( {a 1;} (1  2\n3) ); purgeWrite 5;", "list"), "({ a 1 ; } (1 2 3))");
  EXPECT_EQ(entry("div(phi,U) Gauss /* upwind */ linear;", "div(phi,U)"), "Gauss linear");
  EXPECT_EQ(entry("div(phi,U) Gauss linear; purgeWrite 5;"), "5");
  EXPECT_EQ(entry("name \"a \\\" b\";", "name"), "\"a \\\" b\"");
  EXPECT_EQ(entry("flag;", "flag"), "");
}

TEST(DictionaryTest, ATextCutOffAnywhereNeverHangsOrInvents) {
  constexpr std::string_view text =
      "a { b \"c\"; } list (1 2 {d 1;}); x #{ y #}; #include \"z\"\n/* c */ purgeWrite 12;";
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(entry(text.substr(0, length)), std::nullopt) << text.substr(0, length);
  EXPECT_EQ(entry(text), "12");
}

}  // namespace
}  // namespace forebay::openfoam
