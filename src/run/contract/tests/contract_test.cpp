#include "run/contract/contract.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "run/contract/pages.h"
#include "run/contract/text.h"
#include "run/contract/time_name.h"

namespace forebay::contract {
namespace {

// Lines of vectors.txt of one kind, without it.
std::vector<std::vector<std::string>> vectors_of(const std::string& kind) {
  std::ifstream file(VECTORS);
  std::vector<std::vector<std::string>> found;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> columns;
    std::istringstream rest(line);
    for (std::string column; std::getline(rest, column, '\t');) columns.push_back(column);
    if (columns.empty() || columns[0] != kind) continue;
    columns.erase(columns.begin());
    found.push_back(columns);
  }
  EXPECT_FALSE(found.empty()) << kind << " in " << VECTORS;
  return found;
}

std::string read_word(const std::string& word) {
  std::string path;
  for (std::size_t at = 0; at < word.size();) path += next_of_word(word.data(), word.size(), at);
  return path;
}

TEST(ContractTest, ATimeHasTheValueOfItsName) {
  for (const auto& vector : vectors_of("time")) {
    EXPECT_TRUE(is_time_name(vector[0])) << vector[0];
    EXPECT_EQ(value_of(vector[0]), std::strtod(vector[1].c_str(), nullptr)) << vector[0];
  }
}

TEST(ContractTest, WhatIsNoNumberIsNoTime) {
  for (const auto& vector : vectors_of("no-time")) EXPECT_FALSE(is_time_name(vector[0])) << vector[0];
  for (const char* name : {"", "1 "}) EXPECT_FALSE(is_time_name(name)) << name;
  EXPECT_FALSE(is_time_name(std::string_view("1\0", 2)));
}

TEST(ContractTest, ValuesAreInTheOrderOfTheNames) {
  EXPECT_LT(value_of("0.1"), value_of("0.1000000000000001"));
  EXPECT_LT(value_of("-2"), value_of("-1.9999999999999998"));
  EXPECT_LT(value_of("1e-9999"), value_of("1e-299"));
  EXPECT_LT(value_of("1e299"), value_of("1e9999"));
}

TEST(ContractTest, TimesAreReadWhileTheProgramIsCompiled) {
  static_assert(is_time_name("0.25", 4) && value_of("0.25", 4) == 0.25);
  static_assert(!is_time_name("constant", 8));
}

TEST(ContractTest, APathInAListIsReadAsItWas) {
  for (const auto& vector : vectors_of("word")) {
    EXPECT_EQ(list_word(vector[0]), vector[1]);
    EXPECT_EQ(read_word(vector[1]), vector[0]);
  }
  // No byte behind the end of a text is read, whatever the text is.
  for (const std::string word : {"%", "%3", "%3g", "a%"}) EXPECT_EQ(read_word(word), word);
}

TEST(ContractTest, TheCaseItselfIsKeptBesideNoRank) {
  EXPECT_EQ(name_of_kept(-1, {}), "serial");
  EXPECT_EQ(name_of_kept(12, {}), "processor12");
  EXPECT_EQ(name_of_rank(12), "processor12");
}

TEST(ContractTest, TheFirstRankOfAWrittenGroupHasItsTimes) {
  const WrittenGroups groups{{0, "processors4_0-1"}, {2, "processors4_2-3"}};
  EXPECT_EQ(holder_of_times(2, groups), "processors4_2-3");
  EXPECT_EQ(holder_of_times(3, groups), "processor3");
  EXPECT_TRUE(has_times(2, groups) && has_times(3, {}) && has_times(-1, {}));
  EXPECT_FALSE(has_times(3, groups));
  EXPECT_EQ(holder_of_times(3, {}), "processor3");
  EXPECT_EQ(holder_of_times(-1, {}), "");
  EXPECT_EQ(name_of_kept(2, groups), "processors4_2-3");
}

// Programs with an older library, and runs that were killed, have pages of this layout on disk.
TEST(ContractTest, ThePagesLieAsThisVersionSays) {
  static_assert(version == 2);
  static_assert(sizeof(TimeLine) == 64 && offsetof(TimeLine, flags) == 32 && offsetof(TimeLine, name) == 40);
  static_assert(sizeof(RankPage) == 16384 && offsetof(RankPage, ended) == 32 && offsetof(RankPage, lines) == 64);
  static_assert(sizeof(NodePage) == 64 && offsetof(NodePage, look) == 24 && bytes_of_pages(2) == 64 + 2 * 16384);
  static_assert(sizeof(WriteErrors::Slot) == 1016 && offsetof(WriteErrors, count) == 16);
  static_assert(offsetof(WriteErrors, slot) == 64 && sizeof(WriteErrors) == 64 + 7 * 1016);
  EXPECT_EQ(hash_of("", 0), hash_of_nothing);
  EXPECT_EQ(hash_of("a", 1), 0xaf63dc4c8601ec8cU);  // of FNV's own test vectors
}

}  // namespace
}  // namespace forebay::contract
