// Proves: a checkpoint that cannot be written is the same error on every rank, and leaves the one before as it was.
#include <fcntl.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "checkpoints.h"

namespace forebay::blocks {
namespace {

constexpr std::uint64_t kCells = 100'000;  // 3 MB

// While it lives this process writes no file beyond so many bytes: a write that crosses them is short, the next one
// fails.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

// Writes a second checkpoint over the first one.
Status write_again(Checkpoints& store, Fields& fields) {
  auto written = store.write("a.h5", {8, 0.5, "test", "box"}, fields.to_write());
  return written ? store.settle() : written;
}

// What is left while a file has no name.
std::size_t unnamed_in(const std::string& directory) {
  const auto entries = must(list_directory(directory));
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [](auto& entry) { return entry.name.starts_with(".fb-"); }));
}

void expect_same_on_all(const Team& team, const Status& status) {
  EXPECT_TRUE(same_on_all(team.all(), checksum(status ? "" : status.error().text())));
}

TEST(Faults, AFullDiskLeavesTheCheckpointBefore) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks(), 2);
  std::unique_ptr<SmallTmpfs> disk;
  if (team->rank() == 0) disk = std::make_unique<SmallTmpfs>(0, "size=5m");
  if (over_all(team->all(), disk && disk->mounted() ? 1 : 0, MPI_MAX) == 0) GTEST_SKIP() << "needs the right to mount";
  const std::string directory = broadcast(team->all(), disk ? disk->path() : "", 0);
  Fields fields(*team, kCells);
  for (const Method method : kMethods) {
    SCOPED_TRACE(name_of(method));
    const auto store = must(Checkpoints::open(*team, directory, options_of(method, scratch)));
    must(store->write("a.h5", {7, 0.25, "test", "box"}, fields.to_write()));
    must(store->settle());
    const std::string before = must(read_file(join(directory, "a.h5")));
    const Status written = write_again(*store, fields);
    EXPECT_FALSE(written);
    expect_same_on_all(*team, written);
    EXPECT_TRUE(must(read_file(join(directory, "a.h5"))) == before);
    if (method != Method::staged) {
      EXPECT_EQ(unnamed_in(directory), 0U);
    }
    MPI_Barrier(team->all());
    if (team->rank() == 0) must(remove_tree(join(directory, "a.h5")));
    MPI_Barrier(team->all());
    // Staged, it waits for room.
    if (method == Method::staged) {
      EXPECT_EQ(written.error().code, Code::undrained);
      EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 8);
      fields.expect_equal();
    }
  }
  MPI_Barrier(team->all());
}

TEST(Faults, AShortWriteOfSomeRanksIsAnErrorOfAll) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks(), 1);
  if (team->ranks() == 1) GTEST_SKIP() << "needs two ranks";
  Fields fields(*team, kCells);
  for (const Method method : {Method::stdio, Method::mpi_independent, Method::mpi_noncollective, Method::staged}) {
    SCOPED_TRACE(name_of(method));
    const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(method, scratch)));
    must(store->prepare(fields.to_write()));
    must(store->write("a.h5", {7, 0.25, "test", "box"}, fields.to_write()));
    must(store->settle());
    const std::string before = must(read_file(scratch.in("a.h5")));
    Status written;
    {
      // Not rank 0, which lays the file out; in the middle of the block of the last one.
      const bool limited = team->rank() != 0;
      const FileSizeLimit limit(limited ? before.size() - 100'000 : RLIM_INFINITY);
      written = write_again(*store, fields);
    }
    EXPECT_FALSE(written);
    expect_same_on_all(*team, written);
    EXPECT_TRUE(must(read_file(scratch.in("a.h5"))) == before);
    if (method != Method::staged) {
      EXPECT_EQ(unnamed_in(scratch.path()), 0U);
    }
    MPI_Barrier(team->all());
    if (method == Method::staged) {
      EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 8);
    }
  }
}

TEST(Faults, AFileThatCannotBeLaidOutIsAnErrorOfAll) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  Fields fields(*team, kCells);
  for (const Method method : kMethods) {
    SCOPED_TRACE(name_of(method));
    const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(method, scratch)));
    must(store->prepare(fields.to_write()));
    const FileSizeLimit limit(team->rank() == 0 ? 1'000'000 : RLIM_INFINITY);
    const Status written = write_again(*store, fields);
    EXPECT_FALSE(written);
    expect_same_on_all(*team, written);
    EXPECT_EQ(unnamed_in(scratch.path()), 0U);
  }
}

// A directory for checkpoints that is not there at times.
class Target {
 public:
  explicit Target(const SharedScratch& scratch)
      : path_(scratch.in("target")), away_(scratch.in("away")), owner_(is_first()) {
    if (owner_) std::filesystem::create_directory(path_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Target() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (owner_) std::filesystem::remove_all(path_);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  const std::string& path() const { return path_; }
  void leaves() { moves(path_, away_); }
  void comes_back() { moves(away_, path_); }

 private:
  static bool is_first() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
  }
  void moves(const std::string& from, const std::string& to) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (owner_) std::filesystem::rename(from, to);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::string path_, away_;
  bool owner_;
};

// Waits until it is carried in the background.
void wait_for_step(const Team& team, const std::string& path, std::int64_t step) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool there = false;
  while (team.rank() == 0 && !there && std::chrono::steady_clock::now() < end) {
    const auto described = arrays::describe(path);
    there = described && described->step == step;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(team.rank() != 0 || there);
  MPI_Barrier(team.all());
}

TEST(Faults, WhatCouldNotBeCarriedGoesBeforeWhatIsNewer) {
  const SharedScratch scratch;
  for (const int ranks_of_a_node : {0, 1}) {
    SCOPED_TRACE(ranks_of_a_node);
    const auto team = team_of(all_ranks(), ranks_of_a_node);
    Target target(scratch);
    Fields fields(*team, 3000);
    const auto store = must(Checkpoints::open(*team, target.path(), options_of(Method::staged, scratch)));
    target.leaves();
    must(store->write("a.h5", {7, 0.25, "test", "box"}, fields.to_write()));
    const Status settled = store->settle();
    ASSERT_FALSE(settled);
    EXPECT_EQ(settled.error().code, Code::undrained);
    target.comes_back();
    must(store->write("a.h5", {8, 0.5, "test", "box"}, fields.to_write()));
    wait_for_step(*team, join(target.path(), "a.h5"), 8);
    must(store->settle());
    EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 8);
    fields.expect_equal();
  }
}

TEST(Faults, AFailureThatIsOverDisturbsNothing) {
  const SharedScratch scratch;
  for (const int ranks_of_a_node : {0, 1}) {
    SCOPED_TRACE(ranks_of_a_node);
    const auto team = team_of(all_ranks(), ranks_of_a_node);
    Target target(scratch);
    Fields fields(*team, 3000);
    const auto store = must(Checkpoints::open(*team, target.path(), options_of(Method::staged, scratch)));
    const auto write = [&](std::int64_t step) {
      must(store->write("a.h5", {step, 0.25, "test", "box"}, fields.to_write()));
    };
    target.leaves();
    write(1);
    write(2);
    target.comes_back();
    for (const std::int64_t step : {3, 4, 5}) {
      write(step);
      wait_for_step(*team, join(target.path(), "a.h5"), step);
    }
    must(store->settle());
  }
}

TEST(Faults, WhatCouldNotBeCarriedOutlivesTheProgram) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks(), 2);
  Target target(scratch);
  Fields fields(*team, 3000);
  auto store = must(Checkpoints::open(*team, target.path(), options_of(Method::staged, scratch)));
  must(store->write("a.h5", {7, 0.25, "test", "box"}, fields.to_write()));
  must(store->settle());
  target.leaves();
  must(store->write("a.h5", {8, 0.5, "test", "box"}, fields.to_write()));
  store = nullptr;
  target.comes_back();
  store = must(Checkpoints::open(*team, target.path(), options_of(Method::staged, scratch)));
  EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 8);
  fields.expect_equal();
}

// A node that dies between the two would take what was told then for what it is told after its return.
TEST(Faults, WhatNodesToldIsGoneBeforeTheFileHasItsName) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks(), 1);
  if (team->ranks() == 1) GTEST_SKIP() << "needs two nodes";
  Target target(scratch);
  Fields fields(*team, 3000);
  const auto store = must(Checkpoints::open(*team, target.path(), options_of(Method::staged, scratch)));
  const std::string in_the_way = join(target.path(), "a.h5");
  if (team->rank() == 0) std::filesystem::create_directory(in_the_way);
  MPI_Barrier(team->all());
  must(store->write("a.h5", {7, 0.25, "test", "box"}, fields.to_write()));
  EXPECT_FALSE(store->settle());
  constexpr std::size_t kUnnamed = 20;  // ".fb-" and 16 digits; a dash and a node's number follow in what is told
  for (const DirectoryEntry& each : must(list_directory(target.path()))) {
    EXPECT_FALSE(each.name.starts_with(".fb-") && each.name.find('-', kUnnamed) != std::string::npos) << each.name;
  }
  MPI_Barrier(team->all());
  if (team->rank() == 0) std::filesystem::remove(in_the_way);
  MPI_Barrier(team->all());
  must(store->settle());
  EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 7);
  fields.expect_equal();
}

TEST(Faults, HintsThatMpiRejectsAreRefusedOnEveryRank) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  for (const auto& hint :
       {std::pair(std::string(MPI_MAX_INFO_KEY, 'n'), std::string("1")),
        std::pair(std::string("cb_nodes"), std::string(MPI_MAX_INFO_VAL, '1')),
        std::pair(std::string("cb_nodes"), std::string()), std::pair(std::string("cb_nodes"), std::string("0")),
        std::pair(std::string("cb_buffer_size"), std::string("1")),
        std::pair(std::string("striping_factor"), std::string("many"))}) {
    Options options = options_of(Method::mpi_collective, scratch);
    options.hints = {hint};
    const auto store = Checkpoints::open(*team, scratch.path(), options);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Code::bad_input);
  }
}

TEST(Faults, HintsThatMpiMayNotLikeHurtNoFile) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  Fields fields(*team, 3000);
  for (const char* hint : {"cb_nodes=1000", "cb_buffer_size=64", "collective_buffering=perhaps", "striping_factor=3",
                           "access_style=sideways", "nobody_knows=this"}) {
    for (const Method method : {Method::mpi_independent, Method::mpi_noncollective, Method::mpi_collective}) {
      SCOPED_TRACE(testing::Message() << hint << ", " << name_of(method));
      Options options = options_of(method, scratch);
      must(options.add_hints(hint, "the test"));
      const auto store = must(Checkpoints::open(*team, scratch.path(), options));
      const Status written = write_again(*store, fields);
      expect_same_on_all(*team, written);
      if (!written) continue;
      EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 8);
      fields.expect_equal();
    }
  }
}

// Without forbid_sieving (src/blocks/file_mpi.cpp) one write in thirty, of three ranks or more, loses bytes.
TEST(Faults, NothingIsLostWhenEveryRankWritesForTheOthers) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  if (team->ranks() < 3) GTEST_SKIP() << "needs three ranks";
  Fields fields(*team, 3000);
  Options options = options_of(Method::mpi_collective, scratch);
  options.hints = {{"cb_nodes", "1000"}};
  const auto store = must(Checkpoints::open(*team, scratch.path(), options));
  for (int i = 0; i < 100; ++i) {
    must(write_again(*store, fields));
    EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 8);
    fields.expect_equal();
  }
}

// Run by itself (blocks/sieving), since Open MPI reads its variable once.
TEST(Faults, DataSievingIsRefused) {
  const char* const wanted = std::getenv("OMPI_MCA_fbtl_posix_write_datasieving");
  if (wanted == nullptr || std::string(wanted) != "1") GTEST_SKIP() << "data sieving is off";
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  for (const Method method : kMethods) {
    const Status written = write_one(*team, method, scratch, "a.h5", 3000);
    EXPECT_EQ(written.has_value(), method != Method::mpi_collective) << name_of(method);
    expect_same_on_all(*team, written);
    if (!written) {
      EXPECT_EQ(written.error().code, Code::bad_input);
    }
  }
}

TEST(Faults, RanksThatAskForDifferentThingsAreToldSo) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  if (team->ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const bool last = team->rank() == team->ranks() - 1;
  const auto store =
      Checkpoints::open(*team, scratch.path(), options_of(last ? Method::serial : Method::mpi_collective, scratch));
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().what, "ranks ask for different methods or hints");

  const std::vector<std::uint64_t> numbers = {index(team->rank()) + 1};
  const BlockRequest blocks = {0, 8, last ? 2 : 1, 0};
  const auto plan = Plan::make(*team, numbers, index(team->ranks()), {blocks, Shared::refused});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().what, "ranks ask for different blocks, or not all of them for shared items");

  must(write_one(*team, Method::stdio, scratch, "a.h5", 1000));
  Fields fields(*team, 1000);
  auto wanted = fields.to_read();
  if (last) std::swap(wanted[0], wanted[1]);
  const auto read =
      must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)))->read("a.h5", "box", wanted);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "ranks do not agree about what to read from");
}

}  // namespace
}  // namespace forebay::blocks
