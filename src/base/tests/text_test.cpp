#include "base/text.h"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(Text, EveryByteSurvivesEscaping) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::string word = escape(all);
  EXPECT_EQ(word.find_first_of(" \n\t"), std::string::npos);
  EXPECT_EQ(unescape(word), all);
  EXPECT_EQ(unescape(escape("")), "");
}

TEST(Text, AWordThatEscapeDidNotMakeIsRefused) {
  EXPECT_EQ(unescape(""), std::nullopt);
  EXPECT_EQ(unescape("a%"), std::nullopt);
  EXPECT_EQ(unescape("a%4"), std::nullopt);
  EXPECT_EQ(unescape("a%zz"), std::nullopt);
}

TEST(Text, ControlCharactersNeverReachATerminal) {
  EXPECT_EQ(printable("plain/p\xC3\xA4th"), "plain/p\xC3\xA4th");
  EXPECT_EQ(printable("a\x1b[31m\n"), "a\\x1b[31m\\x0a");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\xff"), "\\xff");
}

TEST(Text, AListNamesTheFirstAndCountsTheRest) {
  const std::vector<std::string> texts{"a", "b\n", "c"};
  EXPECT_EQ(listed(texts), "a, b\\x0a, c");
  EXPECT_EQ(listed(texts, 3), "a, b\\x0a, c");
  EXPECT_EQ(listed(texts, 1), "a and 2 more");
  EXPECT_EQ(listed(std::vector<std::string>()), "");
}

TEST(Text, WhatIsCountedHasItsNumber) {
  EXPECT_EQ(plural(1, "file"), "1 file");
  EXPECT_EQ(plural(2, "file"), "2 files");
  EXPECT_EQ(plural(0, "entry"), "0 entries");
  EXPECT_EQ(plural(3, "day"), "3 days");
  EXPECT_EQ(plural(2, "time directory"), "2 time directories");
  EXPECT_EQ(plural(2, "process"), "2 processes");
  EXPECT_EQ(plural(1, "set of files"), "1 set of files");
  EXPECT_EQ(plural(2, "set of files"), "2 sets of files");
}

TEST(Text, BytesAndDurationsReadAsPeopleWriteThem) {
  EXPECT_EQ(parse_bytes("64k"), 64000u);
  EXPECT_EQ(parse_bytes("2GiB"), 2147483648u);
  EXPECT_EQ(parse_bytes("1.5 G"), 1500000000u);
  EXPECT_EQ(parse_bytes("-1"), std::nullopt);
  EXPECT_EQ(parse_bytes("many"), std::nullopt);
  EXPECT_EQ(parse_duration("10m"), std::chrono::minutes(10));
  EXPECT_EQ(parse_duration("250ms"), std::chrono::milliseconds(250));
  EXPECT_EQ(parse_duration("nan"), std::nullopt);
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(7'500'000'000), "7.50 GB");
  EXPECT_EQ(human_bytes(999'999), "1.00 MB");
}

TEST(Text, ADurationThatIsRoundedUpHasTheNextUnit) {
  using Seconds = std::chrono::duration<double>;
  EXPECT_EQ(human_duration(Seconds(0.99996)), "1 s");
  EXPECT_EQ(human_duration(Seconds(0.9994)), "999 ms");
  EXPECT_EQ(human_duration(Seconds(0.00099996)), "1 ms");
  EXPECT_EQ(human_duration(Seconds(59.97)), "1 min 0 s");
  EXPECT_EQ(human_duration(Seconds(3599.7)), "1 h 0 min");
}

TEST(Text, ASuggestionIsNearTheWord) {
  EXPECT_EQ(closest("drian", {"run", "drain", "status"}), "drain");
  EXPECT_EQ(closest("wxyz", {"run", "drain", "status"}), "");
}

}  // namespace
}  // namespace forebay
