#include "run/publish/publish.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "run/publish/tests/case_fixture.h"
#include "run/publish/tests/faulty_files.h"

namespace forebay::drain {
namespace {

using PublishTest = BookedCaseTest;

TEST_F(PublishTest, AFileHasItsBytesModeAndTimeWhateverTheUmask) {
  const std::string bytes(3 * 1024 * 1024 + 17, 'x');
  const mode_t old = umask(077);
  const auto published = publish(file_unit("U", bytes));
  umask(old);
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(content(case_ + "/U"), bytes);
  EXPECT_EQ(mode("U"), 0640u);
  EXPECT_EQ(identity(case_ + "/U").mtime_ns, 1'500'000'000'123'456'789);
  ASSERT_EQ(published->files.size(), 1u);
  EXPECT_EQ(published->files[0].path, "U");
  EXPECT_EQ(published->files[0].identity, identity(case_ + "/U"));
  EXPECT_EQ(published->files[0].checksum, checksum(bytes));
  EXPECT_EQ(published->bytes, bytes.size());
  EXPECT_EQ(names(), std::set<std::string>{"U"});
  EXPECT_TRUE(booked_.empty());
}

TEST_F(PublishTest, PiecesOfSeveralSourcesAndLiteralsAreJoined) {
  write(pool_ + "/a", "0123456789");
  const std::string big(2 * 1024 * 1024 + 1, 'b');
  write(pool_ + "/b", big);
  layouts::Unit unit = file_unit("joined", "");
  unit.files[0].pieces = {{"head(", "", 0, 0},      {"", pool_ + "/a", 2, 3},
                          {")", "", 0, 0},          {"", pool_ + "/b", 0, big.size()},
                          {"", pool_ + "/a", 9, 1}, {std::string(3'000'000, 't'), "", 0, 0}};
  auto exact = settings(Verify::read_back);
  ASSERT_TRUE(drain::publish(*files_, unit, "run1", exact));
  EXPECT_TRUE(content(case_ + "/joined") == "head(234)" + big + "9" + std::string(3'000'000, 't'));
}

TEST_F(PublishTest, AnEmptyFileIsPublished) {
  ASSERT_TRUE(publish(file_unit("empty", "")));
  EXPECT_EQ(content(case_ + "/empty"), "");
}

// The agent's own umask is 0.
TEST_F(PublishTest, MissingDirectoriesAreMadeAsTheProgramWouldHaveMadeThem) {
  const mode_t before = umask(0);
  auto asked = settings();
  asked.umask = 0026;
  const auto published = drain::publish(*files_, file_unit("post/forces/0/force.dat", "f"), "run1", asked);
  ASSERT_EQ(chmod((case_ + "/post").c_str(), 02750), 0);
  const auto below = drain::publish(*files_, file_unit("post/probes/0/p", "p"), "run1", asked);
  const auto time = drain::publish(*files_, time_unit("post/0.5", "velocity"), "run1", asked);
  umask(before);
  ASSERT_TRUE(published) << published.error().text();
  ASSERT_TRUE(below) << below.error().text();
  ASSERT_TRUE(time) << time.error().text();
  EXPECT_EQ(mode("post/forces"), 0751u);
  EXPECT_EQ(mode("post/forces/0"), 0751u);
  EXPECT_EQ(mode("post/probes"), 02751u) << "a directory hands its group down";
  EXPECT_EQ(mode("post/0.5") & 02000, 02000u) << "a time that appears as a whole, too";
}

TEST_F(PublishTest, ALinkKeepsItsTextAndTime) {
  layouts::Unit unit = file_unit("link", "");
  unit.files[0].pieces.clear();
  unit.files[0].link_target = "../some where\n";
  ASSERT_TRUE(publish(unit));
  EXPECT_EQ(read_link(case_ + "/link").value(), "../some where\n");
  EXPECT_EQ(identity(case_ + "/link").mtime_ns, 1'500'000'000'123'456'789);
}

TEST_F(PublishTest, ADirectoryAppearsWithEverythingInIt) {
  layouts::Unit unit = time_unit("processor0/0.5", "velocity");
  unit.files[0].mtime_ns = 1'500'000'000'000'000'002;
  unit.files[1].mtime_ns = 1'500'000'000'000'000'001;
  const auto published = publish(unit);
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(names(),
            (std::set<std::string>{"processor0", "processor0/0.5", "processor0/0.5/U", "processor0/0.5/uniform",
                                   "processor0/0.5/uniform/time", "processor0/0.5/latest"}));
  EXPECT_EQ(content(case_ + "/processor0/0.5/U"), "velocity");
  EXPECT_EQ(mode("processor0/0.5"), 0750u);
  EXPECT_EQ(mode("processor0/0.5/uniform"), 0700u);
  EXPECT_EQ(identity(case_ + "/processor0/0.5").mtime_ns, 1'500'000'000'000'000'002);
  EXPECT_EQ(identity(case_ + "/processor0/0.5/uniform").mtime_ns, 1'500'000'000'000'000'001);
  EXPECT_EQ(mode("processor0/0.5/U"), 0640u);
  ASSERT_EQ(published->files.size(), 3u);
  for (const PublishedFile& file : published->files)
    EXPECT_EQ(file.identity, identity(case_ + "/" + file.path)) << file.path;
}

TEST_F(PublishTest, NothingIsSeenUnderTheFinalNameBeforeItIsWhole) {
  for (const layouts::Unit& unit :
       {file_unit("deep/U", std::string(3 << 20, 'x')), time_unit("deep/0.5", "velocity")}) {
    FaultyFiles watched(*files_);
    bool renamed = false;
    watched.before = [&](const std::string& call, const std::string& path) {
      if (!renamed) {
        EXPECT_FALSE(files_->status(unit.target).value()) << call << " " << path;
      }
      if (call == "rename_new") renamed = true;
    };
    ASSERT_TRUE(drain::publish(watched, unit, "run1", settings()));
    EXPECT_TRUE(renamed);
  }
}

TEST_F(PublishTest, HostileNamesArePublishedAsTheyAre) {
  for (const std::string& name :
       {std::string("a\nb"), std::string(255, 'n'), std::string("\xff\xfe\x01"), std::string("-rf")}) {
    ASSERT_TRUE(publish(file_unit(name, name)));
    EXPECT_EQ(content(case_ + "/" + name), name);
  }
}

TEST_F(PublishTest, NamesThatLeaveTheCaseOrTheUnitAreRefused) {
  for (const char* target : {"../out", "/tmp/forebay-out", "a/../../out", ".", "..", ""})
    EXPECT_FALSE(publish(file_unit(target, "x"))) << target;
  for (const char* path : {"../out", "/tmp/forebay-out", "..", "", "uniform/../../out"}) {
    layouts::Unit unit = time_unit("0.5", "v");
    unit.files[0].path = path;
    EXPECT_FALSE(publish(unit)) << path;
  }
  EXPECT_TRUE(names().empty());
  EXPECT_FALSE(std::filesystem::exists("/tmp/forebay-out"));
}

TEST_F(PublishTest, ALinkPlantedInTheCaseIsNotFollowed) {
  std::filesystem::create_directory_symlink(pool_, case_ + "/processor0");
  EXPECT_EQ(publish(file_unit("processor0/U", "x")).error().errno_value, ELOOP);
  EXPECT_EQ(publish(time_unit("processor0/0.5", "x")).error().errno_value, ELOOP);
  write(pool_ + "/victim", "keep");
  std::filesystem::create_symlink(pool_ + "/victim", case_ + "/final");
  EXPECT_EQ(publish(file_unit("final", "x")).error().code, Code::conflict);
  EXPECT_EQ(content(pool_ + "/victim"), "keep");
  EXPECT_TRUE(std::filesystem::is_symlink(case_ + "/final"));
  EXPECT_FALSE(std::filesystem::exists(pool_ + "/0.5"));
}

TEST_F(PublishTest, ALinkPlantedAsTheTemporaryNameIsNeitherFollowedNorRemoved) {
  write(pool_ + "/victim", "keep");
  FaultyFiles planted(*files_);
  planted.before = [&](const std::string& call, const std::string& path) {
    if (call == "create" && !std::filesystem::is_symlink(case_ + "/" + path))
      std::filesystem::create_symlink(pool_ + "/victim", case_ + "/" + path);
  };
  EXPECT_EQ(drain::publish(planted, file_unit("U", "x"), "run1", settings()).error().errno_value, EEXIST);
  EXPECT_EQ(content(pool_ + "/victim"), "keep");
  EXPECT_EQ(temporaries().size(), 1u);
  EXPECT_TRUE(booked_.empty());
}

TEST_F(PublishTest, ATakenNameIsAConflictAndBothAreKept) {
  write(case_ + "/U", "hers");
  const auto conflict = publish(file_unit("U", "ours"));
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code, Code::conflict);
  EXPECT_NE(conflict.error().text().find("U.forebay-run1"), std::string::npos) << conflict.error().text();
  EXPECT_EQ(content(case_ + "/U"), "hers");
  EXPECT_EQ(content(case_ + "/U.forebay-run1"), "ours");
  // A second try with the same content keeps no second copy; another content does.
  EXPECT_EQ(publish(file_unit("U", "ours")).error().code, Code::conflict);
  EXPECT_EQ(publish(file_unit("U", "later")).error().code, Code::conflict);
  EXPECT_EQ(names(), (std::set<std::string>{"U", "U.forebay-run1", "U.forebay-run1-2"}));
}

TEST_F(PublishTest, ATakenDirectoryIsAConflictAndBothAreKept) {
  write(case_ + "/0.5/U", "hers");
  EXPECT_EQ(publish(time_unit("0.5", "ours")).error().code, Code::conflict);
  EXPECT_EQ(content(case_ + "/0.5/U"), "hers");
  EXPECT_EQ(content(case_ + "/0.5.forebay-run1/U"), "ours");
  write(case_ + "/0.6", "a file");
  EXPECT_EQ(publish(time_unit("0.6", "ours")).error().code, Code::conflict);
  EXPECT_EQ(content(case_ + "/0.6"), "a file");
  EXPECT_TRUE(temporaries().empty());
}

TEST_F(PublishTest, ALongNameKeptBesideIsCutAndStaysApart) {
  const std::string name(255, 'n'), other = std::string(254, 'n') + "m";
  write(case_ + "/" + name, "hers");
  write(case_ + "/" + other, "hers");
  EXPECT_EQ(publish(file_unit(name, "ours")).error().code, Code::conflict);
  EXPECT_EQ(publish(file_unit(other, "ours")).error().code, Code::conflict);
  EXPECT_EQ(names().size(), 4u);
}

TEST_F(PublishTest, TheSameContentAlreadyThereCountsAsPublished) {
  for (const layouts::Unit& unit : {file_unit("U", "ours"), time_unit("0.5", "ours")}) {
    ASSERT_TRUE(publish(unit));
    const auto again = publish(unit);
    ASSERT_TRUE(again) << again.error().text();
    for (const PublishedFile& file : again->files) EXPECT_EQ(file.identity, identity(case_ + "/" + file.path));
  }
  write(case_ + "/0.5/extra", "hers");
  EXPECT_EQ(publish(time_unit("0.5", "ours")).error().code, Code::conflict);
  EXPECT_TRUE(temporaries().empty());
}

TEST_F(PublishTest, TheExpectedFileIsReplaced) {
  write(case_ + "/log", "old");
  layouts::Unit unit = file_unit("log", "new");
  unit.replaces = identity(case_ + "/log");
  const auto published = publish(unit);
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(content(case_ + "/log"), "new");
  EXPECT_EQ(published->files[0].identity, identity(case_ + "/log"));
  EXPECT_EQ(names(), std::set<std::string>{"log"});
  EXPECT_TRUE(booked_.empty());
}

TEST_F(PublishTest, OwnerAndGroupOfTheReplacedFileAreKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a file away needs root";
  write(case_ + "/U", "old");
  ASSERT_EQ(::chown((case_ + "/U").c_str(), 12345, 23456), 0);
  layouts::Unit unit = file_unit("U", "new");
  unit.files[0].mode = 0750;
  unit.replaces = identity(case_ + "/U");
  ASSERT_TRUE(publish(unit));
  struct stat found {};
  ASSERT_EQ(::lstat((case_ + "/U").c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, 12345u);
  EXPECT_EQ(found.st_gid, 23456u);
  EXPECT_EQ(mode("U"), 0750u);
}

TEST_F(PublishTest, AFileIsReplacedThoughItsOwnerCannotBeKept) {
  write(case_ + "/U", "old");
  // Where nobody is root here, owner and group are those that the new file has anyway.
  (void)!::chown((case_ + "/U").c_str(), 12345, 23456);
  layouts::Unit unit = file_unit("U", "new");
  unit.replaces = identity(case_ + "/U");
  FaultyFiles refusing(*files_);
  refusing.refuse("set_owner", EPERM);
  ASSERT_TRUE(drain::publish(refusing, unit, "run1", settings()));
  EXPECT_EQ(content(case_ + "/U"), "new");
}

TEST_F(PublishTest, ASetIdBitIsThereOnlyWithTheOwnerAndTheGroupItWasSetFor) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  for (const bool may_give : {true, false}) {
    for (layouts::Unit unit : {file_unit("tool", std::string(1 << 20, 'x')), time_unit("processor0/1", "velocity")}) {
      layouts::OutputFile& file = unit.files.front();
      const std::string& source = file.pieces.front().source;
      file.mode = 06755;
      file.owner = Owner{33, 34};
      ASSERT_EQ(::chown(source.c_str(), 33, 34), 0);
      ASSERT_EQ(::chmod(source.c_str(), file.mode), 0);
      FaultyFiles watched(*files_);
      if (!may_give) watched.refuse("set_owner", EPERM);
      watched.before = [&](const std::string& call, const std::string& path) {
        struct stat status {};
        for (const std::string& name : names()) {
          if (::lstat(join(case_, name).c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
          if ((status.st_mode & 06000) != 0) {
            EXPECT_EQ(owner_of(status), *file.owner) << name << " before " << call << " " << path;
          }
        }
      };
      const auto published = drain::publish(watched, unit, "run1", settings());
      ASSERT_TRUE(published) << published.error().text();
      const std::string target = unit.is_directory ? unit.target + "/U" : unit.target;
      EXPECT_EQ(mode(target), may_give ? 06755u : 0755u);
      EXPECT_EQ(published->without_set_id, may_give ? std::vector<std::string>() : std::vector{target});
      std::filesystem::remove_all(case_ + "/" + unit.target);
    }
  }
}

TEST_F(PublishTest, ASetIdBitIsNotForAnotherContent) {
  layouts::Unit unit = file_unit("tool", "text");
  unit.files.front().mode = 04755;
  unit.files.front().owner = Owner{::geteuid(), ::getegid()};  // the mode is no longer the file's
  const auto published = publish(unit);
  ASSERT_FALSE(published);
  EXPECT_TRUE(source_changed(published.error()));
}

TEST_F(PublishTest, AnEditedFileIsNotReplaced) {
  write(case_ + "/log", "old");
  layouts::Unit unit = file_unit("log", "new");
  unit.replaces = identity(case_ + "/log");
  write(case_ + "/log", "edited");
  EXPECT_EQ(publish(unit).error().code, Code::conflict);
  EXPECT_EQ(content(case_ + "/log"), "edited");
  EXPECT_EQ(content(case_ + "/log.forebay-run1"), "new");
}

TEST_F(PublishTest, AFileOfWhichAnotherNameIsJustBeingReplacedIsReplaced) {
  write(case_ + "/log", "old");
  std::filesystem::create_hard_link(case_ + "/log", case_ + "/twin");
  layouts::Unit unit = file_unit("log", "new");
  unit.replaces = identity(case_ + "/log");
  std::filesystem::rename(case_ + "/twin", case_ + "/temporary");  // which changes the ctime
  clock_.while_asleep = [this] { std::filesystem::remove(case_ + "/temporary"); };
  const auto published = publish(unit);
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(content(case_ + "/log"), "new");
}

TEST_F(PublishTest, AFileRemovedOnTheCaseIsWrittenNew) {
  write(case_ + "/log", "old");
  layouts::Unit unit = file_unit("log", "new");
  unit.replaces = identity(case_ + "/log");
  std::filesystem::remove(case_ + "/log");
  ASSERT_TRUE(publish(unit));
  EXPECT_EQ(content(case_ + "/log"), "new");
}

TEST_F(PublishTest, AnEditBetweenTheCheckAndTheExchangeIsGivenBack) {
  write(case_ + "/log", "old");
  layouts::Unit unit = file_unit("log", "new");
  unit.replaces = identity(case_ + "/log");
  FaultyFiles racing(*files_);
  bool edited = false;
  racing.before = [&](const std::string& call, const std::string&) {
    if (call == "exchange" && !edited) write(case_ + "/log", "edited meanwhile");
    if (call == "exchange") edited = true;
  };
  const auto conflict = drain::publish(racing, unit, "run1", settings());
  ASSERT_TRUE(edited);
  if (!conflict) {  // always where the file system can exchange; without it this instant cannot be closed
    EXPECT_EQ(conflict.error().code, Code::conflict);
    EXPECT_EQ(content(case_ + "/log"), "edited meanwhile");
    EXPECT_EQ(content(case_ + "/log.forebay-run1"), "new");
  }
  EXPECT_TRUE(temporaries().empty());
}

TEST_F(PublishTest, WithoutExchangeTheExpectedFileIsReplacedByRename) {
  write(case_ + "/log", "old");
  layouts::Unit unit = file_unit("log", "new");
  unit.replaces = identity(case_ + "/log");
  FaultyFiles plain(*files_);
  plain.refuse("exchange", EINVAL);
  ASSERT_TRUE(drain::publish(plain, unit, "run1", settings()));
  EXPECT_EQ(content(case_ + "/log"), "new");
  EXPECT_EQ(names(), std::set<std::string>{"log"});
}

TEST_F(PublishTest, AKnownDirectoryIsReplacedInOneStepWhateverRenamesTheFileSystemHas) {
  for (const bool exchange : {true, false}) {
    const auto before = publish(time_unit("state", "old"));
    ASSERT_TRUE(before);
    FaultyFiles plain(*files_);
    if (!exchange) plain.refuse("exchange", EINVAL);
    const layouts::Unit unit = replacing(time_unit("state", "new"), *before);
    const auto published = drain::publish(plain, unit, "run1", settings());
    ASSERT_TRUE(published) << published.error().text();
    EXPECT_EQ(content(case_ + "/state/U"), "new");
    EXPECT_EQ(published->files[0].identity, identity(case_ + "/state/U"));
    EXPECT_TRUE(temporaries().empty() && booked_.empty());
    std::filesystem::remove_all(case_ + "/state");
  }
}

// The server did what it was asked and its answer was lost: what it has is of the run itself.
class UnansweredTest : public BookedCaseTest {
 protected:
  void lose_the_answer(const layouts::Unit& unit) {
    FaultyFiles lossy(*files_);
    lossy.lose_answers("rename_new");
    ASSERT_FALSE(drain::publish(lossy, unit, "run1", settings(), attempts_));
    ASSERT_TRUE(files_->status(unit.target).value());
  }
  Result<Published> try_again(const layouts::Unit& unit) {
    return drain::publish(*files_, unit, "run1", settings(), attempts_);
  }

  Attempts attempts_;
};

TEST_F(UnansweredTest, WhatTheProgramWroteSinceReplacesIt) {
  lose_the_answer(file_unit("log", "first"));
  lose_the_answer(file_unit("log", "first and more"));
  ASSERT_TRUE(try_again(file_unit("log", "all of it")));
  EXPECT_EQ(content(case_ + "/log"), "all of it");

  attempts_ = {};
  lose_the_answer(time_unit("0.5", "first"));
  const auto published = try_again(time_unit("0.5", "second"));
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(content(case_ + "/0.5/U"), "second");
  EXPECT_EQ(published->files[0].identity, identity(case_ + "/0.5/U"));
  EXPECT_TRUE(temporaries().empty() && booked_.empty());
}

TEST_F(UnansweredTest, HalfADirectoryThatItShowsWhenItComesBackIsMadeWhole) {
  const layouts::Unit unit = time_unit("0.5", "content");
  lose_the_answer(unit);
  std::filesystem::remove(case_ + "/0.5/uniform/time");
  const auto published = try_again(unit);
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(content(case_ + "/0.5/uniform/time"), "0.5");
  EXPECT_TRUE(temporaries().empty() && booked_.empty());
}

TEST_F(UnansweredTest, WhatTheUserChangedSinceIsKept) {
  lose_the_answer(file_unit("log", "ours"));
  write(case_ + "/log", "of the user");
  EXPECT_EQ(try_again(file_unit("log", "ours")).error().code, Code::conflict);
  EXPECT_EQ(content(case_ + "/log"), "of the user");

  lose_the_answer(time_unit("0.5", "ours"));
  write(case_ + "/0.5/notes", "of the user");
  EXPECT_EQ(try_again(time_unit("0.5", "ours")).error().code, Code::conflict);
  EXPECT_EQ(content(case_ + "/0.5/notes"), "of the user");

  lose_the_answer(time_unit("0.6", "ours"));
  std::filesystem::remove_all(case_ + "/0.6");
  std::filesystem::create_directory(case_ + "/0.6");
  EXPECT_EQ(try_again(time_unit("0.6", "ours")).error().code, Code::conflict) << "an empty one, but hers";
  EXPECT_TRUE(std::filesystem::is_empty(case_ + "/0.6"));
}

TEST_F(UnansweredTest, AFailureAfterTheRenameIsOneOfThem) {
  FaultyFiles failing(*files_);
  failing.before = [&](const std::string& call, const std::string&) {
    if (call == "rename_new") failing.refuse("fstat", EIO);
  };
  ASSERT_FALSE(drain::publish(failing, file_unit("log", "first"), "run1", settings(), attempts_));
  ASSERT_EQ(content(case_ + "/log"), "first");
  ASSERT_TRUE(try_again(file_unit("log", "first and more")));
  EXPECT_EQ(content(case_ + "/log"), "first and more");
}

// A file that the user had changed came out of the exchange, and nobody saw it: she is told.
TEST_F(UnansweredTest, AnExchangeIsNoneOfThem) {
  for (const bool directory : {false, true}) {
    const auto made = [&](const std::string& bytes) {
      return directory ? time_unit("0.5", bytes) : file_unit("U", bytes);
    };
    const std::string edited = case_ + (directory ? "/0.5/U" : "/U");
    const auto before = publish(made("old"));
    ASSERT_TRUE(before);
    const auto replacement = [&](const std::string& bytes) {
      layouts::Unit unit = made(bytes);
      if (directory) return replacing(unit, *before);
      unit.replaces = before->files[0].identity;
      return unit;
    };
    attempts_ = {};
    FaultyFiles lossy(*files_);
    lossy.lose_answers("exchange");
    lossy.before = [&](const std::string& call, const std::string&) {
      if (call != "exchange") return;
      write(edited, "of the user");
      lossy.refuse("status", EIO);
    };
    ASSERT_FALSE(drain::publish(lossy, replacement("new"), "run1", settings(), attempts_));
    ASSERT_EQ(content(edited), "new");
    const auto again = try_again(replacement("newer"));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Code::conflict) << again.error().text();
  }
}

TEST_F(PublishTest, ADirectoryWithAnythingElseInItIsNotReplaced) {
  const auto before = publish(time_unit("state", "old"));
  ASSERT_TRUE(before);
  write(case_ + "/state/uniform/notes", "of the user");
  const auto conflict = publish(replacing(time_unit("state", "new"), *before));
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code, Code::conflict);
  EXPECT_EQ(content(case_ + "/state/U"), "old");
  EXPECT_EQ(content(case_ + "/state/uniform/notes"), "of the user");
  EXPECT_EQ(content(case_ + "/state.forebay-run1/U"), "new");
}

TEST_F(PublishTest, AFileMadeInADirectoryBetweenTheCheckAndTheExchangeIsGivenBack) {
  const auto before = publish(time_unit("state", "old"));
  ASSERT_TRUE(before);
  FaultyFiles racing(*files_);
  bool made = false;
  racing.before = [&](const std::string& call, const std::string&) {
    if (call == "exchange" && !made) write(case_ + "/state/notes", "of the user");
    if (call == "exchange") made = true;
  };
  const auto conflict = drain::publish(racing, replacing(time_unit("state", "new"), *before), "run1", settings());
  ASSERT_TRUE(made);
  if (!conflict) {  // always where the file system can exchange
    EXPECT_EQ(conflict.error().code, Code::conflict);
    EXPECT_EQ(content(case_ + "/state/notes") + content(case_ + "/state/U"), "of the userold");
  }
  EXPECT_TRUE(temporaries().empty());
}

TEST_F(PublishTest, AVanishedShorterOrStrangeSourceIsAChangedSource) {
  layouts::Unit unit = file_unit("U", "twelve bytes");
  const std::string source = unit.files[0].pieces[0].source;
  unit.files[0].pieces[0].length = 13;
  auto shorter = publish(unit);
  ASSERT_FALSE(shorter);
  EXPECT_TRUE(source_changed(shorter.error())) << shorter.error().text();
  std::filesystem::remove(source);
  EXPECT_TRUE(source_changed(publish(unit).error()));
  std::filesystem::create_symlink("/etc/hostname", source);
  EXPECT_TRUE(source_changed(publish(unit).error()));
  std::filesystem::remove(source);
  ASSERT_EQ(mkfifo(source.c_str(), 0600), 0);
  EXPECT_TRUE(source_changed(publish(unit).error()));
  EXPECT_TRUE(names().empty());
}

TEST_F(PublishTest, ASourceThatMustKeepItsTimeAndIsWrittenToMeanwhileIsAChangedSource) {
  layouts::Unit unit = file_unit("U", std::string(1 << 20, 'x'));
  const std::string source = unit.files[0].pieces[0].source;
  std::filesystem::last_write_time(source, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  unit.files[0].mtime_ns = identity(source).mtime_ns;
  auto paced = settings();
  paced.pace = [&](std::size_t) {
    std::fstream(source, std::ios::in | std::ios::out) << "T";
    return true;
  };
  unit.files[0].must_keep_time = true;
  const auto changed = drain::publish(*files_, unit, "run1", paced);
  ASSERT_FALSE(changed);
  EXPECT_TRUE(source_changed(changed.error())) << changed.error().text();
  EXPECT_TRUE(names().empty());
  unit.files[0].must_keep_time = false;
  EXPECT_TRUE(drain::publish(*files_, unit, "run1", paced)) << "others come again when they are closed";
}

TEST_F(PublishTest, ReadBackFindsWhatTheFileSystemSpoiled) {
  FaultyFiles spoiling(*files_);
  spoiling.before = [&](const std::string& call, const std::string& path) {
    if (call != "open_read") return;
    std::fstream file(case_ + "/" + path, std::ios::in | std::ios::out | std::ios::binary);
    file.put('?');
  };
  const auto bad = drain::publish(spoiling, file_unit("U", "content"), "run1", settings(Verify::read_back));
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().text().find("reads back different"), std::string::npos);
  EXPECT_TRUE(names().empty());
}

TEST_F(PublishTest, PaceSeesEveryByteAndCanStop) {
  auto paced = settings();
  std::size_t seen = 0;
  paced.pace = [&](std::size_t bytes) { return (seen += bytes) <= (2u << 20); };
  EXPECT_FALSE(drain::publish(*files_, file_unit("U", std::string(3 << 20, 'x')), "run1", paced));
  EXPECT_TRUE(names().empty());
  seen = 0;
  ASSERT_TRUE(drain::publish(*files_, file_unit("U", std::string((2 << 20) - 5, 'x')), "run1", paced));
  EXPECT_EQ(seen, (2u << 20) - 5);
}

TEST_F(PublishTest, NothingIsMadeThatTheJournalDoesNotKnow) {
  PublishSettings deaf;
  deaf.temporary = [](const std::string& path, bool) -> Status { return error(Code::failed, "journal full", path); };
  EXPECT_FALSE(drain::publish(*files_, file_unit("U", "x"), "run1", deaf));
  EXPECT_FALSE(drain::publish(*files_, time_unit("0.5", "x"), "run1", deaf));
  EXPECT_TRUE(names().empty());
}

TEST_F(PublishTest, ThreadsMakeTheSameMissingDirectories) {
  std::vector<layouts::Unit> units;
  for (int i = 0; i < 16; ++i) units.push_back(file_unit("a/b/c/" + std::to_string(i), std::to_string(i)));
  std::vector<std::thread> threads;
  for (const layouts::Unit& unit : units)
    threads.emplace_back([&, this] {
      const auto published = drain::publish(*files_, unit, "run1", {});
      EXPECT_TRUE(published) << published.error().text();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(names().size(), 19u);
}

TEST_F(PublishTest, AFileIsRemovedOnlyWhileItIsTheExpectedOne) {
  write(case_ + "/U", "x");
  const Identity seen = identity(case_ + "/U");
  write(case_ + "/U", "hers");
  EXPECT_EQ(remove_published(*files_, "U", seen, clock_).error().code, Code::conflict);
  EXPECT_EQ(content(case_ + "/U"), "hers");
  EXPECT_TRUE(remove_published(*files_, "U", identity(case_ + "/U"), clock_));
  EXPECT_TRUE(remove_published(*files_, "U", seen, clock_));
  EXPECT_TRUE(names().empty());
}

TEST_F(PublishTest, OnlyTemporaryNamesAreRemovedAsTemporaries) {
  write(case_ + "/0/.fb-0123456789abcdef/deep/file", "x");
  std::filesystem::create_directory_symlink(pool_, case_ + "/0/.fb-0123456789abcdef/deep/link");
  write(pool_ + "/keep", "keep");
  for (const char* name : {"0", "0/.fb-0123456789abcde", "0/.fb-0123456789abcdeX", "0/.fb-0123456789abcdef/deep", ""})
    EXPECT_FALSE(remove_temporary(*files_, name)) << name;
  std::filesystem::permissions(case_ + "/0/.fb-0123456789abcdef/deep", std::filesystem::perms(0500));
  EXPECT_TRUE(remove_temporary(*files_, "0/.fb-0123456789abcdef"));
  EXPECT_TRUE(remove_temporary(*files_, "0/.fb-0123456789abcdef"));
  EXPECT_EQ(names(), std::set<std::string>{"0"});
  EXPECT_EQ(content(pool_ + "/keep"), "keep");
}

TEST_F(PublishTest, OfARunWithoutAJournalTheTemporariesAreKnownByTheirNames) {
  const std::string file = temporary_name("0/U", "mine"),
                    directory = temporary_name("0/uniform/functionObjects", "mine");
  write(case_ + "/" + file, "x");
  write(case_ + "/" + directory + "/deep/file", "x");
  const std::string others = temporary_name("0/U", "another run's");
  for (const std::string& name : {others, std::string("0/.fb-0123456789abcdef"), std::string("0/U")})
    write(case_ + "/" + name, "x");
  std::filesystem::create_directory_symlink(pool_, case_ + "/" + temporary_name("0/link", "mine"));
  std::filesystem::create_directory_symlink(pool_, case_ + "/processor0");
  write(pool_ + "/" + temporary_name("U", "mine"), "below a link");
  EXPECT_EQ(*remove_temporaries(*files_, "mine"), 3u);
  EXPECT_EQ(names(), (std::set<std::string>{"0", others, "0/.fb-0123456789abcdef", "0/U", "0/uniform", "processor0"}));
  EXPECT_EQ(*remove_temporaries(*files_, "mine"), 0u);
}

TEST(PublishNames, ATemporaryNameIsShortHashedAndNew) {
  const std::string first = temporary_name("processor0/1/" + std::string(255, 'n'), "run");
  EXPECT_TRUE(first.starts_with("processor0/1/.fb-"));
  EXPECT_EQ(name_of(first).size(), 20u);
  EXPECT_NE(first, temporary_name("processor0/1/" + std::string(255, 'n'), "run"));
  EXPECT_EQ(parent_of(temporary_name("U", "run")), "");
}

TEST_F(PublishTest, WhereTheFileSystemMakesNoHardLinksSecondNamesAreFilesOfTheirOwn) {
  for (const int refusal : {0, EPERM, EMLINK, EOPNOTSUPP}) {
    FaultyFiles files(*files_);
    if (refusal != 0) files.refuse("make_hard_link", refusal);
    const std::string time = "1." + std::to_string(refusal);
    layouts::Unit unit = time_unit(time, "content");
    layouts::OutputFile second = unit.files[0];
    second.path = "U_old";
    second.hard_link = layouts::HardLink{"U", true};
    unit.files.push_back(second);
    const auto published = drain::publish(files, unit, "run1", settings());
    ASSERT_TRUE(published) << published.error().text();
    EXPECT_EQ(content(case_ + "/" + time + "/U_old"), "content");
    EXPECT_EQ(published->separated, refusal == 0 ? 0u : 1u);
    EXPECT_EQ(identity(case_ + "/" + time + "/U").inode == identity(case_ + "/" + time + "/U_old").inode, refusal == 0);
  }
}

TEST_F(PublishTest, AHardLinkIsNeverMadeToAFileThatTheUserChanged) {
  const auto first = publish(file_unit("a", "content"));
  ASSERT_TRUE(first);
  write(case_ + "/a", "the user's own");
  layouts::Unit unit = file_unit("b", "content");
  unit.files[0].hard_link = layouts::HardLink{"a", false, first->files[0].identity};
  const auto published = publish(unit);
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(content(case_ + "/b"), "content");
  EXPECT_EQ(content(case_ + "/a"), "the user's own");
  EXPECT_EQ(published->separated, 1u);
  EXPECT_TRUE(temporaries().empty());
}

}  // namespace
}  // namespace forebay::drain
