#include "run/publish/shared.h"

#include <gtest/gtest.h>

#include "run/publish/tests/case_fixture.h"

namespace forebay::drain {
namespace {

// Everything holds with openat2 and without it.
class SharedTest : public CaseTest, public testing::WithParamInterface<Resolve> {
 protected:
  void SetUp() override {
    CaseTest::SetUp();
    files_ = open_shared(case_, GetParam()).value();
  }
  void create(const std::string& path, const std::string& bytes = "new") {
    auto file = files_->create(path, 0600);
    ASSERT_TRUE(file) << file.error().text();
    ASSERT_EQ(files_->write(file->get(), std::as_bytes(std::span(bytes.data(), bytes.size())), path).value(),
              bytes.size());
  }
};

std::string name_of_resolve(const testing::TestParamInfo<Resolve>& tested) {
  return tested.param == Resolve::by_kernel ? "ByKernel" : "ByComponent";
}
INSTANTIATE_TEST_SUITE_P(Resolve, SharedTest, testing::Values(Resolve::by_kernel, Resolve::by_component),
                         name_of_resolve);

TEST_P(SharedTest, NoPathLeavesTheCase) {
  write(pool_ + "/secret", "secret");
  for (const char* path : {"../x", "a/../../x", "..", ".", "", "/etc/passwd", "a//b", "a/", "/", "./a"}) {
    EXPECT_FALSE(files_->create(path, 0600)) << path;
    EXPECT_FALSE(files_->make_directory(path, 0700)) << path;
    EXPECT_FALSE(files_->remove_file(path)) << path;
    EXPECT_FALSE(files_->status(path)) << path;
    EXPECT_FALSE(files_->rename_new("a", path)) << path;
  }
  EXPECT_FALSE(files_->create(std::string("a\0b", 3), 0600));
  EXPECT_TRUE(names().empty());
}

TEST_P(SharedTest, ALinkInAComponentIsRefusedAndTold) {
  std::filesystem::create_directory_symlink(pool_, case_ + "/processor0");
  write(pool_ + "/1/U", "outside");
  const auto created = files_->create("processor0/1/new", 0600);
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().errno_value, ELOOP);
  EXPECT_NE(created.error().text().find("symbolic link"), std::string::npos) << created.error().text();
  EXPECT_FALSE(files_->open_read("processor0/1/U"));
  EXPECT_FALSE(files_->remove_file("processor0/1/U"));
  EXPECT_FALSE(files_->remove_directory("processor0/1"));
  EXPECT_FALSE(files_->make_directory("processor0/2", 0700));
  EXPECT_FALSE(files_->status("processor0/1/U"));
  EXPECT_FALSE(files_->sync_directory("processor0"));
  EXPECT_FALSE(files_->list("processor0"));
  EXPECT_FALSE(files_->finish_directory("processor0", 0777));
  EXPECT_EQ(content(pool_ + "/1/U"), "outside");
}

TEST_P(SharedTest, ALinkAtTheEndIsNeverFollowed) {
  write(pool_ + "/victim", "keep");
  std::filesystem::create_symlink(pool_ + "/victim", case_ + "/link");
  std::filesystem::create_symlink(pool_ + "/fresh", case_ + "/dangling");
  EXPECT_EQ(files_->create("link", 0600).error().errno_value, EEXIST);
  EXPECT_FALSE(files_->create("dangling", 0600));
  EXPECT_FALSE(files_->open_read("link"));
  EXPECT_TRUE(S_ISLNK(files_->status("link").value()->st_mode));
  EXPECT_EQ(files_->read_link("link").value(), pool_ + "/victim");
  EXPECT_FALSE(std::filesystem::exists(pool_ + "/fresh"));
  ASSERT_TRUE(files_->set_link_times("link", 5'000'000'000));
  EXPECT_EQ(identity(case_ + "/link").mtime_ns, 5'000'000'000);
  ASSERT_TRUE(files_->remove_file("link"));
  EXPECT_EQ(content(pool_ + "/victim"), "keep");
}

TEST_P(SharedTest, ALinkThatWasNamedAtTheBeginningIsTheDirectoryThatItLeadsToAndNoOtherIsFollowed) {
  const std::string far = pool_ + "/far";
  std::filesystem::create_directories(far + "/0");
  std::filesystem::create_directory_symlink(far, case_ + "/processor0");
  std::filesystem::create_directory_symlink(pool_, far + "/out");
  struct stat status {};
  ASSERT_EQ(::stat(far.c_str(), &status), 0);
  files_ = open_shared(case_, GetParam(), std::nullopt, {{"processor0", far, status.st_ino}}).value();
  create("processor0/0/U");
  EXPECT_EQ(content(far + "/0/U"), "new");
  EXPECT_TRUE(S_ISDIR(files_->status("processor0").value()->st_mode));
  EXPECT_EQ(files_->list("processor0").value().size(), 2u);
  EXPECT_FALSE(files_->create("processor0/out/x", 0600));
  EXPECT_FALSE(files_->create("processor0/../x", 0600));
  EXPECT_EQ(read_link(case_ + "/processor0").value(), far);
  EXPECT_FALSE(open_shared(case_, GetParam(), std::nullopt, {{"processor0", far, status.st_ino + 1}}))
      << "what lies there now is another directory";
}

TEST_P(SharedTest, RenameNewNeverReplacesAFile) {
  create("from", "new");
  write(case_ + "/to", "old");
  EXPECT_EQ(files_->rename_new("from", "to").error().errno_value, EEXIST);
  EXPECT_EQ(content(case_ + "/to"), "old");
  EXPECT_EQ(content(case_ + "/from"), "new");
  std::filesystem::create_symlink("nowhere", case_ + "/dangling");
  EXPECT_EQ(files_->rename_new("from", "dangling").error().errno_value, EEXIST);
  ASSERT_TRUE(files_->rename_new("from", "free"));
  EXPECT_EQ(names(), (std::set<std::string>{"to", "dangling", "free"}));
}

TEST_P(SharedTest, RenameNewNeverReplacesADirectory) {
  ASSERT_TRUE(files_->make_directory("from", 0700));
  create("from/U");
  ASSERT_TRUE(files_->make_directory("empty", 0700));
  EXPECT_EQ(files_->rename_new("from", "empty").error().errno_value, EEXIST);
  ASSERT_TRUE(files_->rename_new("from", "to"));
  EXPECT_EQ(names(), (std::set<std::string>{"empty", "to", "to/U"}));
}

TEST_P(SharedTest, RenameNewMovesALink) {
  ASSERT_TRUE(files_->make_link("some where", "from"));
  ASSERT_TRUE(files_->rename_new("from", "to"));
  EXPECT_EQ(files_->read_link("to").value(), "some where");
  EXPECT_FALSE(files_->status("from").value());
}

TEST_P(SharedTest, AnExchangeSwapsOrSaysThatItCannot) {
  create("a", "a");
  create("b", "b");
  const auto exchanged = files_->exchange("a", "b");
  if (exchanged) {
    EXPECT_EQ(content(case_ + "/a"), "b");
    EXPECT_EQ(content(case_ + "/b"), "a");
  } else {
    EXPECT_TRUE(exchanged.error().errno_value == EINVAL || exchanged.error().errno_value == ENOSYS);
    EXPECT_EQ(content(case_ + "/a"), "a");
  }
}

TEST_P(SharedTest, HostileNamesAreOnlyNames) {
  for (const std::string& name :
       {std::string("a\nb"), std::string(255, 'n'), std::string("\xff\xfe"), std::string("-rf"),
        std::string("$(touch x)"), std::string("a b"), std::string("...")}) {
    create(name, name);
    EXPECT_EQ(content(case_ + "/" + name), name);
    ASSERT_TRUE(files_->remove_file(name));
  }
  EXPECT_EQ(files_->create(std::string(256, 'n'), 0600).error().errno_value, ENAMETOOLONG);
}

TEST_P(SharedTest, AMissingNameHasNoStatusAndAnErrorNamesTheWholePath) {
  EXPECT_FALSE(files_->status("nothing").value());
  EXPECT_FALSE(files_->status("no/such/directory").value());
  const auto missing = files_->open_read("nothing");
  EXPECT_NE(missing.error().text().find(case_ + "/nothing"), std::string::npos);
}

TEST_P(SharedTest, TheCaseStaysTheSameDirectoryWhenItsNameIsTakenByAnother) {
  std::filesystem::rename(case_, case_ + ".moved");
  std::filesystem::create_directory(case_);
  create("file");
  EXPECT_TRUE(std::filesystem::exists(case_ + ".moved/file"));
  EXPECT_TRUE(names().empty());
  ASSERT_TRUE(remove_tree(case_ + ".moved"));
}

TEST_P(SharedTest, ADirectoryIsSyncedAndListedAndTheCaseItselfToo) {
  ASSERT_TRUE(files_->make_directory("0", 0700));
  create("0/p");
  EXPECT_TRUE(files_->sync_directory(""));
  EXPECT_TRUE(files_->sync_directory("0"));
  EXPECT_EQ(files_->list("").value().size(), 1u);
  EXPECT_EQ(files_->list("0").value()[0].name, "p");
  ASSERT_TRUE(files_->finish_directory("0", 0555, 1'500'000'000));
  EXPECT_EQ(files_->status("0").value()->st_mode & 07777, 0555u);
  EXPECT_EQ(identity_of(*files_->status("0").value()).mtime_ns, 1'500'000'000);
}

TEST(Shared, AMissingCaseIsAnError) {
  EXPECT_FALSE(open_shared("/no/such/case"));
}

}  // namespace
}  // namespace forebay::drain
