// Proves: a file that the program closed is known by name until the case has it or the program removes it. The list of
// these names does not grow with those that came and went. The names that something else removed from a dead run are
// told, and no others.
#include "run/drain/uncarried.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "run/drain/drain.h"
#include "run/publish/tests/case_fixture.h"

namespace forebay::drain {
namespace {

class UncarriedTest : public CaseTest {
 protected:
  std::string file() const { return pool_ + "/" + uncarried_name; }
  std::set<std::string> noted() const {
    std::set<std::string> paths;
    for (const auto& [directory, names] : Uncarried::read(file()).written)
      for (const std::string& name : names) paths.insert(join(directory, name));
    return paths;
  }
};

TEST_F(UncarriedTest, NamesCountUntilTheyAreCarriedOrRemoved) {
  Uncarried names;
  names.open(file());
  for (const std::string path : {"a", "d/b", "d/e/c", "dd/b", "d"}) names.written(path);
  names.flush();
  EXPECT_EQ(noted(), (std::set<std::string>{"a", "d", "d/b", "d/e/c", "dd/b"}));
  names.gone("d");
  names.written("d/again");
  names.flush();
  EXPECT_EQ(noted(), (std::set<std::string>{"a", "d/again", "dd/b"}));
  Uncarried resumed;
  resumed.open(file());
  resumed.gone("a");
  resumed.flush();
  EXPECT_EQ(noted(), (std::set<std::string>{"d/again", "dd/b"}));
  resumed.clear();
  resumed.written("a");
  resumed.flush();
  EXPECT_FALSE(name_exists(file()));
}

TEST_F(UncarriedTest, WhatCameAndWentTakesNoRoom) {
  Uncarried names;
  names.open(file());
  names.written("stays/here");
  for (int i = 0; i < 5000; ++i) {
    const std::string path = "a directory of results/" + std::to_string(i);
    for (int each = 0; each < 50; ++each) names.written(path + "/values of " + std::to_string(each));
    names.flush();
    names.gone(path);
    names.flush();
  }
  EXPECT_LT(std::filesystem::file_size(file()), 3U << 20);
  EXPECT_EQ(noted(), (std::set<std::string>{"stays/here"}));
}

class MissingFilesTest : public UncarriedTest {
 protected:
  static constexpr std::int64_t seconds = 1'000'000'000;
  // The moment of the kill, in ns since 1970.
  static constexpr std::int64_t killed = 1'700'000'000 * seconds;

  void touch(const std::string& path, std::int64_t when) const {
    const timespec time{when / seconds, when % seconds};
    const timespec times[2] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0) << path;
  }
  void make(const std::string& path) {
    write(tree() + "/" + path, "");
    touch(tree() + "/" + path, killed - 10 * seconds);
  }
  std::string tree() const { return pool_ + "/tree/case"; }
  std::set<std::string> missing(const Uncarried::Names& known = {}, const std::vector<std::string>& placed = {}) const {
    return missing_files({{{"", {"a", "b"}}, {"d", {"c"}}}, known}, {{tree(), "", pool_}}, placed, killed);
  }
};

TEST_F(MissingFilesTest, OnlyWhatWasRemovedAfterTheLastSignOfLifeIsMissing) {
  for (const std::string path : {"a", "b", "d/c"}) make(path);
  EXPECT_EQ(missing(), std::set<std::string>());
  std::filesystem::remove(tree() + "/b");
  std::filesystem::remove_all(tree() + "/d");
  touch(tree(), killed + seconds);
  EXPECT_EQ(missing(), std::set<std::string>()) << "removed by the program, as far as can be told";
  touch(tree(), killed + 60 * seconds);
  EXPECT_EQ(missing(), (std::set<std::string>{"b", "d/c"}));
  std::filesystem::create_directory(tree() + "/d");
  touch(tree() + "/d", killed - seconds);
  EXPECT_EQ(missing(), std::set<std::string>{"b"}) << "each directory tells for itself";
}

TEST_F(MissingFilesTest, OfAProgramThatOutlivedForebayNothingIsMissing) {
  make("a");
  touch(tree(), killed + 60 * seconds);
  EXPECT_EQ(missing(), (std::set<std::string>{"b", "d/c"}));
  write(tree() + "/e/log", "written now");
  touch(tree(), killed + 60 * seconds);
  EXPECT_EQ(missing(), std::set<std::string>());
  EXPECT_EQ(missing({{"", {"b"}}}), std::set<std::string>{"b"}) << "that was found before stays missing";
  touch(tree() + "/e/log", killed - 10 * seconds);
  touch(tree(), killed + 60 * seconds);
  EXPECT_EQ(missing(), (std::set<std::string>{"b", "d/c"})) << "an old time that was set";
}

TEST_F(MissingFilesTest, ContentThatLiesInAnotherPoolIsMissedThere) {
  for (const std::string path : {"b", "d/c"}) make(path);
  const std::string placed = pool_ + "/other/placed";
  std::filesystem::create_directories(placed);
  std::filesystem::create_symlink(placed + "/1", tree() + "/a");
  touch(tree(), killed);
  touch(placed, killed + 60 * seconds);
  EXPECT_EQ(missing({}, {placed}), std::set<std::string>{"a"});
}

TEST_F(MissingFilesTest, WithoutTheTreeNothingIsToldOfItsFiles) {
  std::filesystem::create_directories(pool_);
  EXPECT_EQ(missing(), std::set<std::string>());
}

}  // namespace
}  // namespace forebay::drain
