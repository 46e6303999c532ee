// Damage on tiers that are files is told, by default; and what the checksums cost in passes over memory.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <array>

#include <climits>
#include <cstring>
#include <functional>

#include "store/segment/check.h"
#include "store/trajectory/tests/flow.h"

namespace forebay::checks_test {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;  // 8 steps of 1000 doubles
constexpr int kSteps = 100;

// A file below a directory that this process has open, also one without a name.
Descriptor open_below(const std::string& directory) {
  DIR* const all = ::opendir("/proc/self/fd");
  Descriptor found;
  while (const dirent* entry = ::readdir(all)) {
    char target[PATH_MAX] = {};
    const std::string link = std::string("/proc/self/fd/") + entry->d_name;
    if (::readlink(link.c_str(), target, sizeof(target) - 1) <= 0) continue;
    if (std::string(target).rfind(directory, 0) != 0) continue;
    found = Descriptor(::open(link.c_str(), O_RDWR | O_CLOEXEC));
    break;
  }
  ::closedir(all);
  return found;
}

std::string content(const Descriptor& file) {
  std::string bytes(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
  EXPECT_EQ(::pread(file.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

void write(const Descriptor& file, std::uint64_t at, const std::string& bytes) {
  ASSERT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)),
            static_cast<ssize_t>(bytes.size()));
}

struct Damage {
  const char* name;
  std::function<void(const Descriptor&, const std::string& before, std::int64_t step)> make;
};

// The place of a state's payload in the file.
std::uint64_t place_of(const std::string& bytes, std::int64_t step) {
  double begin[8];
  for (std::uint64_t i = 0; i < 8; ++i) begin[i] = States::value(step, i);
  const auto at = bytes.find(std::string(reinterpret_cast<const char*>(begin), sizeof(begin)));
  EXPECT_NE(at, std::string::npos) << "step " << step << " is not on the tier";
  return at;
}

const Damage kDamages[] = {
    {"a flip",
     [](const Descriptor& file, const std::string& before, std::int64_t step) {
       const std::uint64_t at = place_of(before, step) + 4000;
       write(file, at, std::string(1, static_cast<char>(before[at] ^ 16)));
     }},
    {"a page of zeros",
     [](const Descriptor& file, const std::string& before, std::int64_t step) {
       write(file, (place_of(before, step) + 4095) / 4096 * 4096, std::string(4096, '\0'));
     }},
    {"a page of headers of zeros",
     [](const Descriptor& file, const std::string& before, std::int64_t step) {
       write(file, place_of(before, step) / kSegment * kSegment, std::string(4096, '\0'));
     }},
    {"pages in each other's place",
     [](const Descriptor& file, const std::string& before, std::int64_t step) {
       const std::uint64_t one = (place_of(before, step) + 4095) / 4096 * 4096, other = one + kSegment;
       write(file, one, before.substr(other, 4096));
       write(file, other, before.substr(one, 4096));
     }},
    {"segments in each other's place",
     [](const Descriptor& file, const std::string& before, std::int64_t step) {
       const std::uint64_t one = place_of(before, step) / kSegment * kSegment, other = one + kSegment;
       write(file, one, before.substr(other, kSegment));
       write(file, other, before.substr(one, kSegment));
     }},
    {"a cut file",
     [](const Descriptor& file, const std::string& before, std::int64_t step) {
       const auto at = static_cast<off_t>((place_of(before, step) + 4095) / 4096 * 4096);
       ASSERT_EQ(::ftruncate(file.get(), at), 0);
     }},
    {"a cut file that was made longer again",
     [](const Descriptor& file, const std::string& before, std::int64_t step) {
       const auto at = static_cast<off_t>((place_of(before, step) + 4095) / 4096 * 4096);
       ASSERT_EQ(::ftruncate(file.get(), at), 0);
       ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(before.size())), 0);
     }},
};

// Every state is right or told to be damaged; step 5 is not right.
void expect_no_wrong_state(States& run, const char* what) {
  int told = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double* u = nullptr;
    const int status = get_values(run, step, u);
    if (status != FOREBAY_OK) {
      ++told;
      continue;
    }
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(u[i], States::value(step, i)) << what << ", step " << step;
    forebay_trajectory_release(run, step);
  }
  EXPECT_GT(told, 0) << what;
}

TEST(Checks, AreOnWhereATierIsAFile) {
  for (const Damage& damage : kDamages) {
    const Scratch shared("/tmp");
    States run(OptionsOf().dram(4 * kSegment).shared(shared.path(), 50 * kSegment).segments(kSegment));
    for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    for (int step = 0; step < kSteps; ++step) ASSERT_TRUE(run.whole(step)) << "read once: damage comes later, too";
    for (int step = 0; step < kSteps; ++step) ASSERT_TRUE(run.whole(step));
    const Descriptor file = open_below(shared.path());
    ASSERT_TRUE(file);
    damage.make(file, content(file), 5);
    expect_no_wrong_state(run, damage.name);
  }
}

TEST(Checks, AreOnWhereTheFirstTierIsAFile) {
  // A mapped file that is cut is a SIGBUS, and no wrong state.
  for (std::size_t i = 0; i < 4; ++i) {
    const Scratch pool("/tmp");
    States run(OptionsOf().pool(pool.path(), 50 * kSegment).segments(kSegment));
    if (std::string(run.tier(0).medium) != "file") GTEST_SKIP() << "/tmp is no disk";
    for (int step = 0; step < kSteps; ++step) {
      ASSERT_STATUS(FOREBAY_OK, step % 2 == 0 ? run.put(step) : run.write(step));
    }
    const Descriptor file = open_below(pool.path());
    kDamages[i].make(file, content(file), 5);
    expect_no_wrong_state(run, kDamages[i].name);
  }
}

TEST(Checks, AreOnInAKeptStoreThatIsFoundAgain) {
  for (const Damage& damage : kDamages) {
    const Scratch pool, shared("/tmp");
    OptionsOf options;
    options.pool(pool.path(), 4 * kSegment).shared(shared.path(), 50 * kSegment).segments(kSegment).keep();
    options.process_only();
    {
      States run(options);
      for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    }
    {
      const Descriptor file(::open((shared.path() + "/trajectory-0/segments").c_str(), O_RDWR | O_CLOEXEC));
      damage.make(file, content(file), 5);
    }
    States run(options);
    const bool lost = run.count() < kSteps;
    // Zeros to the end of a file cannot be told from segments that were never used (docs/format.md).
    if (std::string_view(damage.name) != "a cut file that was made longer again") {
      EXPECT_EQ(lost, *forebay_trajectory_get_recovery(run) != '\0') << damage.name;
    }
    if (std::string_view(damage.name) != "segments in each other's place") expect_no_wrong_state(run, damage.name);
    for (std::uint64_t i = 0; i < run.count(); ++i) {
      std::int64_t step = 0;
      forebay_trajectory_get_step(run, i, &step, nullptr);
      const double* u = nullptr;
      if (get_values(run, step, u) != FOREBAY_OK) continue;
      for (std::uint64_t k = 0; k < 1000; ++k) ASSERT_EQ(u[k], States::value(step, k)) << damage.name;
      forebay_trajectory_release(run, step);
    }
  }
}

void flip(const std::string& path, std::int64_t step) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(file);
  kDamages[0].make(file, content(file), step);
}

int status_of(States& run, std::int64_t step) {
  const double* u = nullptr;
  const int status = get_values(run, step, u);
  if (status == FOREBAY_OK) forebay_trajectory_release(run, step);
  return status;
}

// A mapped file: its pages may come back from the disk at any time. Also while the segment is still being written.
TEST(Checks, AreComparedAtEveryReadOfAMappedFile) {
  for (const char* compare : {"every-read", "first-read"}) {
    const Scratch pool("/tmp");
    OptionsOf options;
    options.pool(pool.path(), 50 * kSegment).segments(kSegment).set("compare", compare);
    States run(options);
    if (std::string(run.tier(0).medium) != "file") GTEST_SKIP() << "/tmp is no disk";
    for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    for (int step = 0; step < kSteps; ++step) ASSERT_TRUE(run.whole(step));
    const Descriptor file = open_below(pool.path());
    const bool every = std::string_view(compare) == "every-read";
    for (const std::int64_t step : {std::int64_t{5}, std::int64_t{kSteps - 1}}) {
      kDamages[0].make(file, content(file), step);
      EXPECT_STATUS(every ? FOREBAY_E_DAMAGED : FOREBAY_OK, status_of(run, step));
      EXPECT_STATUS(every ? FOREBAY_E_DAMAGED : FOREBAY_OK, status_of(run, step)) << "and again";
    }
    EXPECT_TRUE(run.whole(6));
  }
}

// Whether a record has a checksum is told by itself: no head can take that back.
TEST(Checks, StayWhereAHeadWasLost) {
  for (const int tier : {0, 1}) {
    const Scratch pool("/tmp"), shared("/tmp");
    const std::string directory = (tier == 0 ? pool : shared).path() + "/trajectory-0";
    OptionsOf options;
    options.pool(pool.path(), 4 * kSegment).shared(shared.path(), 50 * kSegment).segments(kSegment).keep();
    options.process_only();
    {
      States run(options);
      for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    }
    {
      const Descriptor head(::open((directory + "/store").c_str(), O_RDWR | O_CLOEXEC));
      write(head, 20, "damage");
    }
    {
      States run(options);
      EXPECT_EQ(run.count(), static_cast<std::uint64_t>(kSteps));
      for (int step = kSteps; step < 2 * kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    }
    const std::int64_t damaged = tier == 0 ? 2 * kSteps - 2 : kSteps + 5;
    flip(directory + "/segments", damaged);
    if (tier == 1) flip(directory + "/segments", 5);
    for (const bool asked : {false, true}) {
      if (asked) options.checksum(true);
      States run(options);
      EXPECT_STATUS(FOREBAY_E_DAMAGED, status_of(run, damaged));
      EXPECT_STATUS(tier == 1 ? FOREBAY_E_DAMAGED : FOREBAY_OK, status_of(run, 5));
      EXPECT_TRUE(run.whole(6));
    }
  }
}

// The store was begun in memory and copied to a disk: steps that are written there get checksums.
TEST(Checks, ComeWithTheMediumAndNotWithTheStore) {
  const Scratch memory, disk("/tmp");
  OptionsOf before, after;
  before.pool(memory.path(), 50 * kSegment).segments(kSegment).keep();
  after.pool(disk.path(), 50 * kSegment).keep().process_only();
  {
    States run(before);
    for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  ASSERT_TRUE(make_private_directory(disk.path() + "/trajectory-0"));
  for (const char* name : {"/trajectory-0/store", "/trajectory-0/segments"}) {
    const Descriptor copy(::open((disk.path() + name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(write_all(copy.get(), std::string_view(*read_file(memory.path() + name)), name));
  }
  {
    States run(after);
    if (std::string(run.tier(0).medium) != "file") GTEST_SKIP() << "/tmp is no disk";
    for (int step = kSteps; step < kSteps + 20; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  flip(disk.path() + "/trajectory-0/segments", kSteps + 5);
  {
    States run(after);
    EXPECT_STATUS(FOREBAY_E_DAMAGED, status_of(run, kSteps + 5));
    EXPECT_TRUE(run.whole(5)) << "of before: it has none";
  }
  forebay_trajectory* t = nullptr;
  after.checksum(true);
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_open(after.get(), &t)) << "what has none gets none";
  EXPECT_NE(std::string(forebay_error_get_text()).find("100 steps"), std::string::npos) << forebay_error_get_text();
  before.checksum(true);
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_open(before.get(), &t));
  before.checksum(false);
  {
    States run(before);
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
  }
  before.checksum(true);
  States run(before);
  ASSERT_STATUS(FOREBAY_OK, run.put(0)) << "nothing is left that has none";
}

// So is another size of segments.
TEST(Options, ThatAFoundStoreCannotObeyAreRefused) {
  const Scratch pool;
  OptionsOf options;
  options.pool(pool.path(), 50 * kSegment).segments(kSegment - 1).keep();
  {
    States run(options);
    ASSERT_STATUS(FOREBAY_OK, run.put(0));
  }
  { States run(options); }
  forebay_trajectory* t = nullptr;
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_open(options.segments(2 * kSegment).get(), &t));
  EXPECT_NE(std::string(forebay_error_get_text()).find("segments of 65536 bytes"), std::string::npos)
      << forebay_error_get_text();
  States run(options.segments(std::nullopt));
  EXPECT_TRUE(run.whole(0));
}

TEST(Checks, OffIsAnOption) {
  const Scratch shared("/tmp");
  const auto before = segment::check_counts();
  States run(OptionsOf().dram(4 * kSegment).shared(shared.path(), 50 * kSegment).segments(kSegment).checksum(false));
  for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  for (int step = 0; step < kSteps; ++step) ASSERT_TRUE(run.whole(step));
  EXPECT_EQ(segment::check_counts().alone, before.alone);
  EXPECT_EQ(segment::check_counts().beside_copies, before.beside_copies);
}

// Bytes that are hashed: with a copy that is made anyway, and no more than once; nothing where a tier is plain memory.
TEST(Checks, CostNoPassOfTheirOwnWhereACopyIsMade) {
  constexpr std::uint64_t kBytes = std::uint64_t{8000} * kSteps;
  const auto cost = [](const OptionsOf& options, bool in_place) {
    const auto before = segment::check_counts();
    States run(options);
    for (int step = 0; step < kSteps; ++step) EXPECT_STATUS(FOREBAY_OK, in_place ? run.write(step) : run.put(step));
    run.close();
    const auto after = segment::check_counts();
    return std::pair(after.beside_copies - before.beside_copies, after.alone - before.alone);
  };
  using Cost = std::pair<std::uint64_t, std::uint64_t>;
  const Scratch memory, disk("/tmp");
  EXPECT_EQ(cost(OptionsOf().dram(50 * kSegment), false), Cost(0, 0));
  EXPECT_EQ(cost(OptionsOf().dram(20 * kSegment).pool(memory.path(), 50 * kSegment).segments(kSegment), false),
            Cost(0, 0));
  EXPECT_EQ(cost(OptionsOf().pool(disk.path(), 50 * kSegment), false), Cost(kBytes, 0)) << "put into a file";
  EXPECT_EQ(cost(OptionsOf().pool(disk.path(), 50 * kSegment), true), Cost(0, kBytes)) << "written in place";
  // Moving on costs one check of each state, by the spiller, where the file system reads it.
  const auto [copied, read] = cost(OptionsOf().dram(4 * kSegment).shared(disk.path(), 50 * kSegment), false);
  EXPECT_EQ(copied, 0u);
  EXPECT_LE(read, kBytes);
}

// Bytes that a get hashes: none where a tier is plain memory; of a mapped file of a disk all at every read, unless once
// is enough.
TEST(Checks, CostAGetOnePassOrNone) {
  constexpr std::uint64_t kBytes = std::uint64_t{8000} * kSteps;
  const auto cost = [](const OptionsOf& options) {
    States run(options);
    for (int step = 0; step < kSteps; ++step) EXPECT_STATUS(FOREBAY_OK, run.put(step));
    std::array<std::uint64_t, 2> sweeps{};
    for (std::uint64_t& hashed : sweeps) {
      const auto before = segment::check_counts();
      for (int step = kSteps - 1; step >= 0; --step) EXPECT_TRUE(run.whole(step));
      const auto after = segment::check_counts();
      EXPECT_EQ(after.beside_copies, before.beside_copies);
      hashed = after.alone - before.alone;
    }
    return sweeps;
  };
  using Sweeps = std::array<std::uint64_t, 2>;
  const Scratch disk("/tmp"), other("/tmp");
  EXPECT_EQ(cost(OptionsOf().dram(50 * kSegment)), Sweeps({0, 0}));
  EXPECT_EQ(cost(OptionsOf().pool(disk.path(), 50 * kSegment)), Sweeps({kBytes, kBytes})) << "at every read";
  const Sweeps once = cost(OptionsOf().pool(other.path(), 50 * kSegment).set("compare", "first-read"));
  EXPECT_LE(once[0], kBytes);
  EXPECT_EQ(once[1], 0u) << "no more after the first read";
}

}  // namespace
}  // namespace forebay::checks_test
