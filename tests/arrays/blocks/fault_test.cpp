// Proves: a checkpoint that cannot be written is the same error on every rank, and leaves the one before as it was.
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "arrays/array_file/inspect.h"
#include "arrays/blocks/file.h"
#include "checkpoints.h"
#include "file_size_limit.h"

namespace forebay::blocks {
namespace {

constexpr std::uint64_t kCells = 100'000;  // 3 MB

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
    const std::string beside = must(read_file(join(directory, "a.h5.json")));
    const Status written = write_again(*store, fields);
    EXPECT_FALSE(written);
    expect_same_on_all(*team, written);
    EXPECT_TRUE(must(read_file(join(directory, "a.h5"))) == before);
    EXPECT_EQ(must(read_file(join(directory, "a.h5.json"))), beside);
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

// In a /dev/shm of its own: blocks/small_shared_memory.
TEST(Faults, MemoryThatANodeSharesNeedsNoRoomInDevShm) {
  struct statvfs shared {};
  ASSERT_EQ(::statvfs("/dev/shm", &shared), 0);
  const std::uint64_t bytes = shared.f_blocks * shared.f_frsize;
  if (bytes > std::uint64_t{128} << 20) GTEST_SKIP() << "needs a small /dev/shm";
  const auto team = team_of(all_ranks());
  const Numbering numbering{bytes / sizeof(double), 5};
  const auto numbers = numbers_of(numbering, team->ranks(), team->rank());
  const Plan plan = must(Plan::make(*team, numbers, numbering.items, {{0, 8, 1, 0}, Shared::refused}));
  ASSERT_TRUE(plan.sorts());  // in another such memory
  Exchange exchange(plan);
  NodeMemory image;
  must(image.reserve(team->node(), bytes));
  const auto items = items_of(numbers, sizeof(double));
  must(exchange.to_image(items.data(), sizeof(double), image.data()));
  const auto block = exchange.my_block(image.data(), sizeof(double));
  EXPECT_TRUE(items_of(plan.block(), sizeof(double)) == std::vector(block.begin(), block.end()));
}

TEST(Faults, TooLittleMemoryThatANodeSharesIsAnErrorOfTheNode) {
  const auto team = team_of(all_ranks(), 2);
  NodeMemory image;
  Status none;
  {
    const FileSizeLimit limit(team->is_leader() ? 1'000'000 : RLIM_INFINITY);
    none = image.reserve(team->node(), 2'000'000);
  }
  ASSERT_FALSE(none);
  expect_same_on_all(*team, none);
  for (const std::size_t bytes : {2'000'000, 30'000'000}) {  // shares of small and of huge pages
    must(image.reserve(team->node(), bytes));
    const auto mine = share_of(team->node(), {image.data(), bytes});
    std::fill(mine.begin(), mine.end(), static_cast<std::byte>(team->rank()));
    MPI_Barrier(team->node());
    for (std::size_t k = 0; k < bytes; k += 100'000) {
      const int there = std::to_integer<int>(image.data()[k]);
      EXPECT_TRUE(team->is_here(there));
      EXPECT_EQ(there == team->rank(), image.data() + k >= mine.data() && image.data() + k < mine.data() + mine.size());
    }
    MPI_Barrier(team->node());
  }
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
    const auto description = must(array_file::describe(scratch.in("a.h5")));
    const array_file::Array& last = *description.array("vertices", "height");
    Status written;
    {
      // Not rank 0, which lays the file out; in the middle of the last block of all.
      const bool limited = team->rank() != 0;
      const std::uint64_t half_a_block = last.bytes() / index(team->ranks()) / 2;
      const FileSizeLimit limit(limited ? last.offset + last.bytes() - half_a_block : RLIM_INFINITY);
      written = write_again(*store, fields);
      // Before the limit ends: staged, it is then carried in the background.
      EXPECT_TRUE(must(read_file(scratch.in("a.h5"))) == before);
      MPI_Barrier(team->all());
    }
    EXPECT_FALSE(written);
    expect_same_on_all(*team, written);
    if (method != Method::staged) {
      EXPECT_EQ(unnamed_in(scratch.path()), 0U);
    }
    MPI_Barrier(team->all());
    if (method == Method::staged) {
      EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 8);
    }
  }
}

// Also of rank 0, which writes for all of them (serial), and of those that write together.
TEST(Faults, AShortWriteByWhateverMethodIsFound) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  constexpr std::uint64_t kBlock = 100'000;
  const std::uint64_t all = kBlock * index(team->ranks());
  const std::vector<std::byte> data(all, std::byte{1});
  const std::string path = scratch.in("a");
  for (const Method method : kMethods) {
    if (method == Method::staged) continue;  // writes no such file
    SCOPED_TRACE(name_of(method));
    array_file::Description description{1, 0, "", "", {{"cells", all}}, {{"p", "cells", array_file::Type::uint8}}};
    if (team->rank() == 0) {
      must(array_file::lay_out(path, description));
      must(array_file::write_checks(open_file(path, O_WRONLY)->get(), path, description,
                                    {array_file::part_checks(0, data)}));
    }
    MPI_Barrier(team->all());
    description = must(array_file::describe(path));
    const std::uint64_t offset = description.arrays[0].offset;
    const auto file = must(BlockFile::open(*team, options_of(method, scratch), path, Access::write));
    Status written;
    {
      const FileSizeLimit limit(offset + all - kBlock / 2);  // in the middle of the last block
      written = file->write(offset + kBlock * index(team->rank()), std::span(data).first(kBlock));
      MPI_Barrier(team->all());
    }
    expect_same_on_all(*team, written);
    must(file->close());
    // What Open MPI (4.1) takes for whole is looked for before the file gets its name.
    EXPECT_EQ(must(array_file::verify(path, description, array_file::Where::at_holes)).size(), 1U);
    EXPECT_TRUE(!written || method == Method::mpi_collective);
    MPI_Barrier(team->all());
    if (team->rank() == 0) ::unlink(path.c_str());
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

// Staged checkpoints for a directory that is not there at times. Everything is collective.
class StagedFor {
 public:
  explicit StagedFor(int ranks_of_a_node) : team_(team_of(all_ranks(), ranks_of_a_node)), fields_(*team_, 3000) {
    by_rank_0([&] { std::filesystem::create_directory(target_); });
    starts_again();
  }
  const Team& team() const { return *team_; }
  const std::string& target() const { return target_; }
  void leaves() {
    by_rank_0([&] { std::filesystem::rename(target_, away_); });
  }
  void comes_back() {
    by_rank_0([&] { std::filesystem::rename(away_, target_); });
  }
  // While the others wait.
  template <class Act>
  void by_rank_0(Act act) {
    MPI_Barrier(team_->all());
    if (team_->rank() == 0) act();
    MPI_Barrier(team_->all());
  }
  void ends() { store_ = nullptr; }
  void starts_again() { store_ = must(Checkpoints::open(*team_, target_, options_of(Method::staged, scratch_))); }
  void write(std::int64_t step) { must(store_->write("a.h5", {step, 0.25, "test", "box"}, fields_.to_write())); }
  // Has an image for which there is no room.
  void cannot_write(std::int64_t step) {
    Fields large(*team_, 200'000, {0, 8, 1, 1});  // 6 MB, in the block of rank 0
    const FileSizeLimit limit(5'000'000);
    EXPECT_FALSE(store_->write("a.h5", {step, 0.25, "test", "box"}, large.to_write()));
  }
  Status settle() { return store_->settle(); }
  // On the last node, after the checkpoint was staged.
  void damage_image(int slot) {
    MPI_Barrier(team_->all());
    if (team_->is_leader() && team_->my_node() == team_->nodes() - 1) {
      const std::string real_target = join(must(real_path(scratch_.path())), "target");
      const auto directory = SlotDirectory::of(scratch_.path(), real_target, team_->group_of_machine());
      const auto image = open_file(directory.image(slot), O_RDWR);
      char byte = 0;
      EXPECT_EQ(::pread(image->get(), &byte, 1, 4321), 1);
      byte ^= 16;
      EXPECT_EQ(::pwrite(image->get(), &byte, 1, 4321), 1);
    }
    MPI_Barrier(team_->all());
  }
  bool has_recovered() const { return store_->recovered().size() == 1 && store_->recovered()[0].carried; }
  void expect(std::int64_t step) {
    EXPECT_EQ(must(store_->read("a.h5", "box", fields_.to_read())).step, step);
    fields_.expect_equal();
  }
  // Until it is carried in the background.
  void wait_for(std::int64_t step) {
    by_rank_0([&] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      bool there = false;
      while (!there && std::chrono::steady_clock::now() < end) {
        const auto described = array_file::describe(join(target_, "a.h5"));
        there = described && described->step == step;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      EXPECT_TRUE(there);
    });
  }

 private:
  const SharedScratch scratch_;
  const std::string target_ = scratch_.in("target"), away_ = scratch_.in("away");
  const std::optional<Team> team_;
  Fields fields_;
  std::unique_ptr<Checkpoints> store_;
};

TEST(Faults, WhatCouldNotBeCarriedGoesBeforeWhatIsNewer) {
  for (const int ranks_of_a_node : {0, 1}) {
    SCOPED_TRACE(ranks_of_a_node);
    StagedFor staged(ranks_of_a_node);
    staged.leaves();
    staged.write(7);
    const Status settled = staged.settle();
    ASSERT_FALSE(settled);
    EXPECT_EQ(settled.error().code, Code::undrained);
    staged.comes_back();
    staged.write(8);
    staged.wait_for(8);
    must(staged.settle());
    staged.expect(8);
  }
}

TEST(Faults, AFailureThatIsOverDisturbsNothing) {
  for (const int ranks_of_a_node : {0, 1}) {
    SCOPED_TRACE(ranks_of_a_node);
    StagedFor staged(ranks_of_a_node);
    staged.leaves();
    staged.write(1);
    staged.write(2);
    staged.comes_back();
    for (const std::int64_t step : {3, 4, 5}) {
      staged.write(step);
      staged.wait_for(step);
    }
    must(staged.settle());
  }
}

TEST(Faults, WhatCouldNotBeCarriedIsTriedAgainInTheBackground) {
  for (const int ranks_of_a_node : {0, 1}) {
    SCOPED_TRACE(ranks_of_a_node);
    StagedFor staged(ranks_of_a_node);
    staged.leaves();
    staged.write(7);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // by then it has failed
    staged.comes_back();
    staged.wait_for(7);
    staged.leaves();
    staged.write(8);
    EXPECT_FALSE(staged.settle());
    staged.comes_back();
    staged.wait_for(8);
    must(staged.settle());
  }
}

// The write that finds the older one not carried stops the newer one, which waits for it.
TEST(Faults, WhatWaitsIsCarriedAlsoWhereTheWriteThatStoppedItFails) {
  for (const int ranks_of_a_node : {0, 1}) {
    SCOPED_TRACE(ranks_of_a_node);
    StagedFor staged(ranks_of_a_node);
    staged.leaves();
    staged.write(7);
    staged.write(8);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it has failed twice, and sleeps for as long
    staged.comes_back();
    staged.cannot_write(9);
    staged.wait_for(8);
  }
}

TEST(Faults, WhatCouldNotBeCarriedOutlivesTheProgram) {
  StagedFor staged(2);
  staged.write(7);
  must(staged.settle());
  staged.leaves();
  staged.write(8);
  staged.ends();
  staged.comes_back();
  staged.starts_again();
  staged.expect(8);
}

TEST(Faults, WhatHasChangedSinceItWasStagedIsLostAndNothingElse) {
  for (const int ranks_of_a_node : {0, 1}) {
    for (const int slot : {0, 1}) {
      SCOPED_TRACE(testing::Message() << "nodes of " << ranks_of_a_node << ", slot " << slot);
      StagedFor staged(ranks_of_a_node);
      staged.leaves();
      staged.write(7);
      staged.write(8);
      staged.damage_image(slot);
      staged.comes_back();
      const Status settled = staged.settle();
      ASSERT_FALSE(settled);
      expect_same_on_all(staged.team(), settled);
      EXPECT_EQ(settled.error().code, Code::lost);
      staged.expect(slot == 0 ? 8 : 7);
      must(staged.settle());
      staged.write(9);
      staged.expect(9);
    }
  }
}

TEST(Faults, ACheckpointIsWrittenAlsoWhereTheOneThatHadItsSlotIsLost) {
  for (const int ranks_of_a_node : {0, 1}) {
    SCOPED_TRACE(ranks_of_a_node);
    StagedFor staged(ranks_of_a_node);
    staged.leaves();
    staged.write(7);
    staged.write(8);
    staged.damage_image(0);
    staged.comes_back();
    staged.write(9);
    const Status settled = staged.settle();
    ASSERT_FALSE(settled);
    expect_same_on_all(staged.team(), settled);
    EXPECT_EQ(settled.error().code, Code::lost);
    must(staged.settle());
    staged.expect(9);
  }
}

TEST(Faults, WhatHasChangedSinceItsProgramEndedIsReportedAsLost) {
  for (const int ranks_of_a_node : {0, 1}) {
    SCOPED_TRACE(ranks_of_a_node);
    StagedFor staged(ranks_of_a_node);
    staged.leaves();
    staged.write(7);
    staged.ends();
    staged.damage_image(0);
    staged.comes_back();
    staged.starts_again();
    EXPECT_FALSE(staged.has_recovered());
    staged.by_rank_0([&] { EXPECT_FALSE(name_exists(join(staged.target(), "a.h5"))); });
    staged.by_rank_0([&] { EXPECT_EQ(unnamed_in(staged.target()), 0U); });
    staged.write(8);
    staged.expect(8);
  }
}

// A node that dies between the two would take what was told then for what it is told after its return.
TEST(Faults, WhatNodesToldIsGoneBeforeTheFileHasItsName) {
  if (all_ranks() == 1) GTEST_SKIP() << "needs two nodes";
  StagedFor staged(1);
  const std::string in_the_way = join(staged.target(), "a.h5");
  staged.by_rank_0([&] { std::filesystem::create_directory(in_the_way); });
  staged.write(7);
  EXPECT_FALSE(staged.settle());
  const auto told = [&] {
    constexpr std::size_t kUnnamed = 20;  // ".fb-" and 16 digits; a dash and a node's number follow in what is told
    const auto entries = must(list_directory(staged.target()));
    return std::any_of(entries.begin(), entries.end(), [](const DirectoryEntry& each) {
      return each.name.starts_with(".fb-") && each.name.find('-', kUnnamed) != std::string::npos;
    });
  };
  // In the background they tell it once more, and it is heard; while the name is taken, that begins again and again.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool gone = !told();
  while (!gone && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    gone = !told();
  }
  EXPECT_TRUE(gone);
  staged.by_rank_0([&] { std::filesystem::remove(in_the_way); });
  must(staged.settle());
  staged.expect(7);
}

// Without forbid_sieving (src/arrays/blocks/file_mpi.cpp) one write in thirty, of three ranks or more, loses bytes.
TEST(Faults, NothingIsLostWhenEveryRankWritesForTheOthers) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  if (team->ranks() != 4) GTEST_SKIP() << "takes long, and loses bytes on four ranks as on others";
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

}  // namespace
}  // namespace forebay::blocks
