#include "base/shell.h"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(ShellWord, IsPlainWhereAShellTakesItAsItIs) {
  EXPECT_EQ(shell_word("/shared/case-1/U.gz"), "/shared/case-1/U.gz");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my case"), "'my case'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$HOME\\x0a"), "'$HOME\\x0a'");
}

TEST(ShellWord, ShowsBytesThatATerminalMustNotGet) {
  EXPECT_EQ(shell_word("two\nlines"), "$'two\\x0alines'");
  EXPECT_EQ(shell_word("\xff\\'"), "$'\\xff\\\\\\''");
}

}  // namespace
}  // namespace forebay
