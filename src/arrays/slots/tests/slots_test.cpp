// Proves: what a program left in a pool is found, in order, only where it is whole and this user's, and by one at a
// time.
#include "arrays/slots/slots.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/tests/scratch.h"

namespace forebay::slots {
namespace {

StagedRecord some_record(std::uint64_t sequence) {
  StagedRecord record;
  record.id = 0x1234'5678'9abc'def0 + sequence;
  record.session = 3;
  record.sequence = sequence;
  record.committed = 1'700'000'000'000'000'000;
  record.node = 1;
  record.nodes = 3;
  record.path = "/case/a \"line\"\n\xff.h5";
  record.sidecar = "{}\n";
  record.description = "arrays";
  record.layout = {{0, std::string("\x89HDF\0\r\n%", 8)}, {std::uint64_t{1} << 40, "x"}};
  record.sums = {~std::uint64_t{0}, 5};
  record.extents = {{0, 1, 2, 3}, {4, 5, 6, std::uint64_t{1} << 40}};
  return record;
}

class Slots : public testing::Test {
 protected:
  SlotDirectory made(int group) {
    SlotDirectory directory = SlotDirectory::of(scratch_.path(), "/case", group);
    EXPECT_TRUE(directory.lock());
    return directory;
  }
  void commit(const SlotDirectory& directory, int slot, std::uint64_t sequence) {
    StagedRecord record = some_record(sequence);
    EXPECT_TRUE(directory.commit(slot, record));
  }

  Scratch scratch_;
};

TEST_F(Slots, ARecordComesBackAsItWas) {
  const StagedRecord record = some_record(7);
  const auto back = decode_record(encode(record), "x");
  ASSERT_TRUE(back);
  EXPECT_EQ(encode(*back), encode(record));
  EXPECT_EQ(back->path, record.path);
  EXPECT_EQ(back->extents[1].image, record.extents[1].image);
  EXPECT_EQ(back->layout[0].bytes, record.layout[0].bytes);
  EXPECT_EQ(back->sums, record.sums);
}

TEST_F(Slots, OnlyTheNodeOfRank0ClearsAwayWhatOthersHaveLeft) {
  StagedRecord record = some_record(7);
  record.path = join(scratch_.path(), "a.h5");
  const std::vector<std::string> ours = {record.temporary(), record.temporary() + ".json", record.part(1),
                                         record.unfinished_part(1), record.part(2)};
  for (const std::string& each : ours) ASSERT_TRUE(replace_file(each, ""));
  ASSERT_TRUE(replace_file(record.path, ""));
  clear_away(record);
  EXPECT_EQ(list_directory(scratch_.path())->size(), 4U);
  EXPECT_FALSE(name_exists(record.part(1)));
  EXPECT_FALSE(name_exists(record.unfinished_part(1)));
  record.node = 0;
  clear_away(record);
  ASSERT_EQ(list_directory(scratch_.path())->size(), 1U);
  EXPECT_TRUE(name_exists(record.path));
}

TEST_F(Slots, ADamagedRecordIsLost) {
  const std::string whole = encode(some_record(7));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    const auto back = decode_record(damaged, "x");
    ASSERT_FALSE(back) << i;
    EXPECT_EQ(back.error().code, Code::lost);
    EXPECT_FALSE(decode_record(whole.substr(0, i), "x"));
  }
}

TEST_F(Slots, ARecordThatLacksSomethingIsLost) {
  for (const std::string text : {"{}", "[]", "7", R"({"version": 3})", R"({"version": 3, "id": "x"})", "{"}) {
    const auto back = decode_record(hex(checksum(text)) + " " + text + "\n", "x");
    ASSERT_FALSE(back) << text;
    EXPECT_EQ(back.error().code, Code::lost);
  }
  const std::string other = R"({"version": 2})";
  EXPECT_EQ(decode_record(hex(checksum(other)) + " " + other + "\n", "x").error().code, Code::conflict);
}

TEST_F(Slots, OneAtATime) {
  SlotDirectory first = made(0);
  SlotDirectory second = SlotDirectory::of(scratch_.path(), "/case", 0);
  const auto locked = second.lock();
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, Code::busy);
  EXPECT_TRUE(locked.error().text().starts_with("another program stages checkpoints for this directory in"))
      << locked.error().text();
  EXPECT_TRUE(second.is_locked());
  first = SlotDirectory();
  EXPECT_FALSE(second.is_locked());
  EXPECT_TRUE(second.lock());
}

TEST_F(Slots, AChildThatLivesOnKeepsNoLock) {
  auto first = std::make_unique<SlotDirectory>(made(0));
  int wait[2];
  ASSERT_EQ(::pipe(wait), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::close(wait[1]);
    char end = 0;
    const int other = ::open("/dev/null", O_RDONLY);  // has the number that the lock's file had
    if (::read(wait[0], &end, 1) != 0) ::_exit(1);
    first.reset();
    ::_exit(::fcntl(other, F_GETFD) < 0 ? 2 : 0);
  }
  first.reset();
  EXPECT_TRUE(SlotDirectory::of(scratch_.path(), "/case", 0).lock());
  ::close(wait[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Slots, NoFileAndNoDirectoryStaysWhereEverythingIsCarried) {
  const SlotDirectory directory = made(0);
  for (int slot = 0; slot < kSlots; ++slot) ASSERT_TRUE(replace_file(directory.image(slot), "image"));
  commit(directory, 1, 5);
  EXPECT_EQ(directory.remove_carried(), 1);
  EXPECT_TRUE(name_exists(join(directory.path(), "lock"))) << "somebody must carry the other one";
  directory.forget(1);
  EXPECT_EQ(directory.remove_carried(), 1);
  EXPECT_FALSE(name_exists(directory.path()));
}

// Each removes the lock at its end, while others are about to take it.
TEST_F(Slots, OneAtATimeAlsoWhereTheLockGoes) {
  std::atomic<int> holders = 0, most = 0, turns = 0;
  const auto take_turns = [&] {
    for (int i = 0; i < 300; ++i) {
      SlotDirectory directory = SlotDirectory::of(scratch_.path(), "/case", 0);
      const auto held = directory.lock();
      if (!held) {
        EXPECT_EQ(held.error().code, Code::busy) << held.error().text();
        continue;
      }
      if (++holders > 1) most = 2;
      ++turns;
      --holders;
      directory.remove_carried();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(take_turns);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(most, 0) << "two had it at once";
  EXPECT_GT(turns, 0);
}

TEST_F(Slots, TheOlderOneComesFirst) {
  const SlotDirectory directory = made(0);
  commit(directory, 0, 6);
  commit(directory, 1, 5);
  const auto committed = directory.committed();
  ASSERT_EQ(committed.size(), 2U);
  EXPECT_EQ(committed[0].record->sequence, 5U);
  EXPECT_EQ(committed[1].slot, 0);
}

TEST_F(Slots, AnImageOfAnotherStartOfTheNodeIsLost) {
  const SlotDirectory directory = made(0);
  commit(directory, 0, 6);
  ASSERT_TRUE(directory.read(0));
  StagedRecord record = *directory.read(0);
  record.boot = "00000000-0000-0000-0000-000000000000\n";
  EXPECT_TRUE(replace_file(directory.record(0), encode(record)));
  ASSERT_FALSE(directory.read(0));
  EXPECT_EQ(directory.read(0).error().code, Code::lost);
}

TEST_F(Slots, AnImageStaysWhileItHasARecord) {
  const SlotDirectory directory = made(0);
  for (int slot = 0; slot < kSlots; ++slot) {
    EXPECT_TRUE(replace_file(directory.image(slot), "image"));
  }
  commit(directory, 1, 5);
  EXPECT_EQ(directory.remove_carried(), 1);
  EXPECT_FALSE(name_exists(directory.image(0)));
  EXPECT_TRUE(name_exists(directory.image(1)));
  directory.forget(1);
  EXPECT_TRUE(directory.committed().empty());
  EXPECT_EQ(directory.remove_carried(), 1);
}

TEST_F(Slots, OnlyDirectoriesOfThisUserAreFound) {
  const SlotDirectory directory = made(0);
  const std::string above(parent_of(directory.path()));
  ASSERT_EQ(::symlink(directory.path().c_str(), join(above, "blocks-link-0").c_str()), 0);
  EXPECT_TRUE(replace_file(join(above, "blocks-file-0"), ""));
  ASSERT_EQ(::mkdir(join(above, "some-run").c_str(), 0700), 0);
  const auto found = find({scratch_.path(), scratch_.path(), "/nowhere"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path(), directory.path());
}

TEST(SlotDirectory, IsMadeInNoPoolThatDoesNotExist) {
  const Scratch scratch;
  const std::string misspelt = scratch.path() + "/misspelt";
  auto staged = SlotDirectory::of(misspelt, "/case", 0);
  const auto locked = staged.lock();
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().errno_value, ENOENT);
  EXPECT_EQ(locked.error().path, misspelt);
  EXPECT_FALSE(leads_to_directory(misspelt));
}

}  // namespace
}  // namespace forebay::slots
