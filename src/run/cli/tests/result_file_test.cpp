#include "run/cli/result_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/tests/scratch.h"

namespace forebay::cli {
namespace {

const ResultKind notes{"page of notes", [](const std::string& text) { return text.starts_with("notes"); }};

class ResultFileTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) { ASSERT_TRUE(replace_file(at(name), text)); }
  std::string at(const std::string& name) const { return join(scratch_.path(), name); }
  Status write(const std::string& name) { return write_result_file(at(name), notes, "--to", "notes, newer\n"); }
  void expect_refused(const std::string& name, const std::string& what) {
    for (const Status& status : {check_result_file(at(name), notes, "--to"), write(name)}) {
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, Code::bad_input);
      EXPECT_NE(status.error().text().find(what), std::string::npos) << status.error().text();
    }
  }

  Scratch scratch_;
};

TEST_F(ResultFileTest, NothingAnEmptyFileAndOneOfTheSameKindAreReplaced) {
  put("empty", "");
  put("older", "notes, older\n");
  for (const std::string name : {"new", "empty", "older"}) {
    ASSERT_TRUE(write(name)) << name;
    EXPECT_EQ(*read_file(at(name)), "notes, newer\n");
  }
}

TEST_F(ResultFileTest, AnotherFileStaysAsItIs) {
  put("data", "what a user has\n");
  expect_refused("data", "--to names a file that is no page of notes");
  EXPECT_EQ(*read_file(at("data")), "what a user has\n");
  std::filesystem::create_directory(at("directory"));
  expect_refused("directory", "takes a file, not a directory");
  expect_refused("missing/file", "No such file or directory");
}

TEST_F(ResultFileTest, NothingIsWrittenThroughALink) {
  put("older", "notes, older\n");
  std::filesystem::create_symlink("older", at("link"));
  std::filesystem::create_symlink("nothing", at("dangling"));
  expect_refused("link", "--to names a link to a file");
  expect_refused("dangling", "--to names a link to a file");
  EXPECT_EQ(*read_file(at("older")), "notes, older\n");
  EXPECT_FALSE(name_exists(at("nothing")));
}

TEST_F(ResultFileTest, APipeIsWrittenToAlsoBehindALink) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", at("link"));
  for (const std::string name : {"pipe", "link"}) {
    const auto reader = open_file(at("pipe"), O_RDONLY | O_NONBLOCK);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(write(name));
    char text[32]{};
    ASSERT_GT(::read(reader->get(), text, sizeof text), 0);
    EXPECT_STREQ(text, "notes, newer\n");
  }
}

TEST_F(ResultFileTest, WhatChildrenWriteAndAreRefusedIsToldAlike) {
  put("data", "what a user has\n");
  const auto write_in_time = [&](const std::string& name) {
    return write_result_file_in_time(at(name), is_file_to_be(at(name)), notes, "--to", "notes, newer\n", real_clock());
  };
  ASSERT_TRUE(write_in_time("new"));
  EXPECT_EQ(*read_file(at("new")), "notes, newer\n");
  const Status refused = write_in_time("data");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::bad_input);
  EXPECT_EQ(refused.error().text(), write("data").error().text());
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(is_file_to_be(at("pipe")));
}

}  // namespace
}  // namespace forebay::cli
