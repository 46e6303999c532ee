#include "meshes/multiply/names.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/tests/scratch.h"
#include "meshes/mesh/tests/meshes.h"

namespace forebay::multiply::test {
namespace {

using mesh::test::need;

// Three whole files that wait for their names.
class Names : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string name : {"a", "b", "c"}) {
      const std::string path = join(scratch_.path(), name);
      files_.push_back({temporary_of(path), path});
      EXPECT_TRUE(replace_file(files_.back().temporary, "new"));
    }
  }
  std::string content_of(const std::string& path) const { return need(read_file(path)); }
  bool is_there(const std::string& path) const { return ::access(path.c_str(), F_OK) == 0; }
  std::size_t entries() const { return need(list_directory(scratch_.path())).size(); }

  const Scratch scratch_;
  std::vector<Unnamed> files_;
};

TEST_F(Names, AllAreGivenAndNothingElseStays) {
  ASSERT_TRUE(replace_file(files_[1].path, "old"));
  ASSERT_TRUE(give_names(files_, true));
  for (const Unnamed& file : files_) EXPECT_EQ(content_of(file.path), "new");
  EXPECT_EQ(entries(), 3U);
}

TEST_F(Names, NoneIsGivenWhereOneIsTaken) {
  for (const Unnamed& taken : files_) {
    ASSERT_TRUE(replace_file(taken.path, "somebody's"));
    const Status named = give_names(files_, false);
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().errno_value, EEXIST);
    EXPECT_EQ(content_of(taken.path), "somebody's");
    ::unlink(taken.path.c_str());
    EXPECT_EQ(entries(), 3U) << "the temporary names alone, after " << taken.path << " was taken";
    for (const Unnamed& file : files_) EXPECT_EQ(content_of(file.temporary), "new");
  }
}

TEST_F(Names, WhatWasThereIsBackWhereAnotherCannotBeReplaced) {
  ASSERT_TRUE(replace_file(files_[0].path, "old"));
  ASSERT_EQ(::mkdir(files_[2].path.c_str(), 0700), 0);  // no file takes its place
  const Status named = give_names(files_, true);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().path, files_[2].path);
  EXPECT_EQ(content_of(files_[0].path), "old");
  EXPECT_FALSE(is_there(files_[1].path)) << "there was none before";
  EXPECT_EQ(entries(), 4U) << "two temporary names, the old file, the directory";
}

// A full disk, say; here something stands where it would be kept.
TEST_F(Names, NothingIsReplacedThatCannotBeKept) {
  ASSERT_TRUE(replace_file(files_[1].path, "old"));
  ASSERT_TRUE(replace_file(files_[1].temporary + "-was", "in the way"));
  const Status named = give_names(files_, true);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().errno_value, EEXIST);
  EXPECT_EQ(content_of(files_[1].path), "old");
  for (const Unnamed& file : files_) EXPECT_EQ(content_of(file.temporary), "new");
}

TEST_F(Names, ADirectoryIsSeenBeforeAnythingIsMade) {
  ASSERT_EQ(::mkdir(files_[2].path.c_str(), 0700), 0);
  const Status way = make_way(files_[2].path, true);
  ASSERT_FALSE(way);
  EXPECT_EQ(way.error().what, "a directory, where a file shall be:");
}

TEST_F(Names, WhatAKilledProgramLeftGoesOnTheNextWay) {
  ASSERT_TRUE(replace_file(files_[0].path, "named already"));
  ASSERT_EQ(::link(files_[0].path.c_str(), (files_[0].temporary + "-was").c_str()), 0);
  for (const Unnamed& file : files_) ASSERT_TRUE(make_way(file.path, true));
  EXPECT_EQ(entries(), 1U);
  EXPECT_EQ(content_of(files_[0].path), "named already");
}

}  // namespace
}  // namespace forebay::multiply::test
