#include "run/journal/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

namespace forebay::drain {
namespace {

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-journal-XXXXXX";
    directory_ = mkdtemp(pattern);
    path_ = directory_ + "/journal";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write_three() {
    auto journal = Journal::open(path_, false);
    ASSERT_TRUE(journal);
    ASSERT_TRUE(journal->append(Record{"staged", {"0/U", "1"}}));
    ASSERT_TRUE(journal->append({Record{"drained", {"1/U"}}, Record{"deleted", {"1/U"}}}));
  }
  std::string bytes() const { return read_file(path_).value(); }
  void set_bytes(const std::string& bytes) const { ASSERT_TRUE(replace_file(path_, bytes)); }
  std::vector<std::string> kinds() const {
    std::vector<std::string> found;
    const auto records = Journal::read(path_).value();
    for (const Record& record : records) found.push_back(record.kind);
    return found;
  }

  std::string directory_, path_;
};

using Kinds = std::vector<std::string>;

TEST_F(JournalTest, RecordsComeBackInOrderAndTheFileIsPrivate) {
  write_three();
  EXPECT_EQ(kinds(), (Kinds{"staged", "drained", "deleted"}));
  EXPECT_EQ(Journal::read(path_).value()[0].words, (std::vector<std::string>{"0/U", "1"}));
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0600));
}

TEST_F(JournalTest, AnyBytesSurviveAsWords) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  const Record hostile{"kept aside", {"", " ", "\n", "a b\nstaged x", "%", "%41", every, std::string(255, '\xff')}};
  ASSERT_TRUE(Journal::open(path_, false)->append({hostile, Record{"bare", {}}}));
  const auto records = Journal::read(path_).value();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].kind, hostile.kind);
  EXPECT_EQ(records[0].words, hostile.words);
  EXPECT_TRUE(records[1].words.empty());
}

TEST_F(JournalTest, ATornTailIsDroppedAtEveryLength) {
  write_three();
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    set_bytes(whole.substr(0, length));
    const auto records = Journal::read(path_);
    ASSERT_TRUE(records) << length << ": " << records.error().text();
    const auto lines =
        static_cast<std::size_t>(std::count(whole.begin(), whole.begin() + static_cast<long>(length), '\n'));
    EXPECT_EQ(records->size(), lines == 0 ? 0 : lines - 1) << length;
  }
}

TEST_F(JournalTest, AppendingBehindATornTailLosesOnlyTheTornRecord) {
  write_three();
  set_bytes(bytes().substr(0, bytes().size() - 5));
  ASSERT_TRUE(Journal::open(path_, false)->append(Record{"resumed", {}}));
  EXPECT_EQ(kinds(), (Kinds{"staged", "drained", "resumed"}));
}

TEST_F(JournalTest, AFlippedBitInAnyWholeLineIsAnError) {
  write_three();
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (whole[at] == '\n') continue;
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    set_bytes(flipped);
    const auto records = Journal::read(path_);
    ASSERT_FALSE(records) << "flip at " << at;
    EXPECT_EQ(records.error().code, Code::lost);
  }
}

TEST_F(JournalTest, AMissingLineFeedInTheMiddleIsAnError) {
  write_three();
  std::string glued = bytes();
  glued.erase(glued.find('\n', glued.find('\n') + 1), 1);
  set_bytes(glued);
  EXPECT_FALSE(Journal::read(path_));
}

TEST_F(JournalTest, AnotherVersionAndAnotherFileAreRefused) {
  const std::string words = "forebay-journal 9";
  set_bytes(hex(checksum(words)) + " " + words + "\n");
  EXPECT_EQ(Journal::read(path_).error().code, Code::bad_input);
  EXPECT_EQ(Journal::open(path_, false).error().code, Code::bad_input);
  const std::string other = "something else";
  set_bytes(hex(checksum(other)) + " " + other + "\n");
  EXPECT_EQ(Journal::read(path_).error().code, Code::bad_input);
}

TEST_F(JournalTest, ALinkOrPipeInItsPlaceIsRefused) {
  ASSERT_EQ(symlink("/dev/null", path_.c_str()), 0);
  EXPECT_FALSE(Journal::open(path_, false));
  EXPECT_FALSE(Journal::read(path_));
  ASSERT_EQ(unlink(path_.c_str()), 0);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(Journal::open(path_, false));
  EXPECT_FALSE(Journal::read(path_));
}

TEST_F(JournalTest, ConcurrentAppendsStayWhole) {
  auto journal = Journal::open(path_, false);
  ASSERT_TRUE(journal);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i)
        EXPECT_TRUE(journal->append({Record{"a", {std::to_string(thread), std::to_string(i)}}, Record{"b", {}}}));
    });
  for (std::thread& thread : threads) thread.join();
  const auto records = Journal::read(path_).value();
  ASSERT_EQ(records.size(), 3200u);
  std::vector<int> next(8, 0);
  for (std::size_t i = 0; i < records.size(); i += 2) {
    ASSERT_EQ(records[i].kind, "a");
    ASSERT_EQ(records[i + 1].kind, "b");
    const auto thread = static_cast<std::size_t>(std::stoi(records[i].words[0]));
    EXPECT_EQ(std::stoi(records[i].words[1]), next[thread]++);
  }
}

TEST_F(JournalTest, ItReservesNoMoreThanAPartOfTheBudget) {
  const std::uint64_t budget = 800'000;
  auto journal = Journal::open(path_, false, budget);
  ASSERT_TRUE(journal);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_GT(status.st_blocks, 0);
  EXPECT_LE(static_cast<std::uint64_t>(status.st_blocks) * 512, budget / 8 + 4096);
  EXPECT_TRUE(journal->has_room());
}

TEST_F(JournalTest, AFailedAppendLeavesNoHalfRecordBehind) {
  auto journal = Journal::open(path_, true);
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->append(Record{"before", {}}));
  // A file size limit makes the write short and then fail, as a full pool does.
  struct rlimit old {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit tight { bytes().size() + 30, old.rlim_max };
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto failed = journal->append(Record{"full", {std::string(200, 'x')}});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().errno_value, EFBIG);
  EXPECT_EQ(kinds(), (Kinds{"before"}));
  ASSERT_TRUE(journal->append(Record{"after", {}}));
  EXPECT_EQ(kinds(), (Kinds{"before", "after"}));
}

TEST_F(JournalTest, AHundredThousandRecordsAreReadInWellUnderASecond) {
#ifdef FOREBAY_SANITIZED
  GTEST_SKIP() << "no speed is promised under a sanitizer";
#endif
  {
    auto journal = Journal::open(path_, false);
    ASSERT_TRUE(journal);
    std::vector<Record> records;
    for (int i = 0; i < 100'000; ++i)
      records.push_back({"drained", {"processor3/" + std::to_string(i) + "/uniform/time", "1 2 3 4", "17", "abcdef"}});
    ASSERT_TRUE(journal->append(records));
  }
  // Processor time: a busy machine takes none of it.
  const std::clock_t begin = std::clock();
  EXPECT_EQ(Journal::read(path_)->size(), 100'000u);
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC * 9 / 10);
}

}  // namespace
}  // namespace forebay::drain
