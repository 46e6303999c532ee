#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "arrays/array_file/tests/version.h"
#include "checkpoints.h"

namespace forebay::blocks {
namespace {

TEST(Checkpoints, HaveTheSameBytesByEveryMethodOnAnyRanksAndNodesAndBlocks) {
  const SharedScratch scratch;
  std::string expected;
  for (const Method method : kMethods) {
    for (const int ranks : {all_ranks(), 1, (all_ranks() + 1) / 2}) {
      for (const int most_per_node : {0, 1, 2}) {
        const auto team = team_of(ranks, most_per_node);
        if (!team) continue;
        SCOPED_TRACE(testing::Message() << name_of(method) << ", " << ranks << " ranks, nodes of " << most_per_node);
        const BlockRequest blocks = {0, 8, 1, most_per_node == 2 ? 2 : 0};
        const auto written = write_one(*team, method, scratch, "a.h5", 3000, blocks);
        ASSERT_TRUE(written) << written.error().text();
        if (team->rank() != 0) continue;
        const std::string bytes = must(read_file(scratch.in("a.h5")));
        if (expected.empty()) expected = bytes;
        EXPECT_TRUE(bytes == expected) << "differs from the first file";
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Checkpoints, AreReadByEveryMethodOnAnotherNumberOfRanks) {
  const SharedScratch scratch;
  // More than one piece of 4 MiB.
  {
    const auto team = team_of(all_ranks());
    const auto written = write_one(*team, Method::mpi_collective, scratch, "a.h5", 250'000);
    ASSERT_TRUE(written) << written.error().text();
  }
  for (const Method method : kMethods) {
    for (const int ranks : {1, (all_ranks() + 1) / 2}) {
      const auto team = team_of(ranks, 2);
      if (!team) continue;
      SCOPED_TRACE(testing::Message() << name_of(method) << ", " << ranks << " ranks");
      Fields fields(*team, 250'000);
      const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(method, scratch)));
      const auto head = store->read("a.h5", "box", fields.to_read());
      ASSERT_TRUE(head) << head.error().text();
      EXPECT_EQ(head->step, 7);
      EXPECT_EQ(head->time, 0.25);
      fields.expect_equal();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Checkpoints, OfAnotherMeshAreRefusedOnEveryRank) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  ASSERT_TRUE(write_one(*team, Method::stdio, scratch, "a.h5", 1000));
  Fields fields(*team, 1200);
  const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)));
  const auto head = store->read("a.h5", "box", fields.to_read());
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().what, "of another mesh, with 1000 cells where this run has 1200:");
}

TEST(Checkpoints, OfAnotherVersionAreRefusedOnEveryRank) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  ASSERT_TRUE(write_one(*team, Method::stdio, scratch, "a.h5", 1000));
  if (team->rank() == 0) array_file::set_version(scratch.in("a.h5"), 2);
  MPI_Barrier(team->all());
  Fields fields(*team, 1000);
  const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)));
  for (const Status& refused : {Status(store->read("a.h5", "box", fields.to_read()).map([](auto&&) {})),
                                Status(store->describe("a.h5").map([](auto&&) {}))}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_EQ(refused.error().what, "of version 2, where this program knows 1:");
  }
}

TEST(Checkpoints, WithAFlippedBitAreRefusedWithTheNameOfTheArray) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  ASSERT_TRUE(write_one(*team, Method::stdio, scratch, "a.h5", 250'000));
  if (team->rank() == 0) {
    const auto found = must(array_file::describe(scratch.in("a.h5")));
    std::string bytes = must(read_file(scratch.in("a.h5")));
    bytes[found.array("cells", "velocity")->offset + 5'000'000] ^= 4;
    ASSERT_TRUE(replace_file(scratch.in("a.h5"), bytes));
  }
  MPI_Barrier(team->all());
  Fields fields(*team, 250'000);
  for (const Method method : kMethods) {
    const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(method, scratch)));
    const auto head = store->read("a.h5", "box", fields.to_read());
    ASSERT_FALSE(head) << name_of(method);
    EXPECT_EQ(head.error().code, Code::lost);
    EXPECT_EQ(head.error().what, "array cells/velocity is damaged in its 4 MiB from byte 4194304 on, in");
  }
}

TEST(Checkpoints, ThatCannotBeWrittenLeaveTheOneBefore) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  ASSERT_TRUE(write_one(*team, Method::stdio, scratch, "a.h5", 1000));
  const std::string before = must(read_file(scratch.in("a.h5"))), beside = must(read_file(scratch.in("a.h5.json")));
  Fields fields(*team, 1000);
  for (const Method method : kMethods) {
    const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(method, scratch)));
    auto wrong = fields.to_write();
    if (team->rank() == team->ranks() - 1) wrong[1].name = "a/b";
    const auto written = store->write("a.h5", {8, 0.5, "test", "box"}, wrong);
    ASSERT_FALSE(written) << name_of(method);
    EXPECT_EQ(must(read_file(scratch.in("a.h5"))), before) << name_of(method);
    EXPECT_EQ(must(read_file(scratch.in("a.h5.json"))), beside) << name_of(method);
  }
}

// Of each image of this node: its inode, and how many bytes it has and has taken.
using Image = std::array<std::uint64_t, 3>;
std::array<Image, kSlots> images_of(const Team& team, const Checkpoints& store) {
  const auto directory = SlotDirectory::of(store.options().pool, store.directory(), team.group_of_machine());
  std::array<Image, kSlots> images{};
  for (int slot = 0; slot < kSlots; ++slot) {
    struct stat image {};
    EXPECT_EQ(::stat(directory.image(slot).c_str(), &image), 0);
    images[index(slot)] = {image.st_ino, static_cast<std::uint64_t>(image.st_size),
                           static_cast<std::uint64_t>(image.st_blocks) * 512};
  }
  return images;
}

TEST(StagedCheckpoints, ReuseTheirSlotsAndArriveInOrder) {
  const SharedScratch scratch;
  for (const int most_per_node : {0, 2}) {
    const auto team = team_of(all_ranks(), most_per_node);
    Fields fields(*team, 3000);
    const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(Method::staged, scratch)));
    ASSERT_TRUE(store->prepare(fields.to_write()));
    const auto prepared = images_of(*team, *store);
    for (const auto& [inode, bytes, taken] : prepared) {
      EXPECT_EQ(over_all(team->all(), team->is_leader() ? bytes : 0, MPI_SUM), 3000U * (24 + 4) + 601 * 8);
      EXPECT_GE(taken, bytes);
    }
    std::int64_t there = -1;
    for (std::int64_t step = 0; step < 7; ++step) {
      must(store->write("a.h5", {step, 0, "test", "box"}, fields.to_write()));
      if (team->rank() != 0 || step < 2) continue;
      const auto found = must(array_file::describe(scratch.in("a.h5")));
      EXPECT_GE(found.step, std::max(there, step - 2)) << "its slot is used again";
      EXPECT_LE(found.step, step);
      there = found.step;
    }
    EXPECT_EQ(images_of(*team, *store), prepared);
    EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 6);
    fields.expect_equal();
    MPI_Barrier(team->all());
    if (team->rank() == 0) must(remove_tree(scratch.in("a.h5")));
  }
}

bool a_thread_gives_way_now() {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    const int id = std::stoi(thread.path().filename());
    if (::getpriority(PRIO_PROCESS, static_cast<id_t>(id)) == 19) return true;
  }
  return false;
}

// Soon: a thread that has just been started may have to wait for a core.
bool a_thread_gives_way() {
  for (int look = 0; look < 100; ++look) {
    if (a_thread_gives_way_now()) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

TEST(StagedCheckpoints, AreCarriedByThreadsThatGiveWay) {
  const SharedScratch scratch;
  const auto team = team_of(1);  // of several on few cores the leader comes to look late
  if (!team) return;
  const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(Method::staged, scratch)));
  Fields fields(*team, 300000);
  bool seen = false;
  for (int i = 0; i < 100 && !seen; ++i) {  // one may be carried before it is looked for
    must(store->write("a.h5", {i, 0, "test", "box"}, fields.to_write()));
    seen = a_thread_gives_way();
    must(store->settle());
  }
  EXPECT_TRUE(seen);
}

TEST(StagedCheckpoints, GiveTheirMemoryBackAtTheEnd) {
  const SharedScratch scratch;
  for (const int ranks_of_node : {1, 2}) {
    const auto team = team_of(all_ranks(), ranks_of_node);
    must(write_one(*team, Method::staged, scratch, "a.h5", 3000));
    MPI_Barrier(team->all());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.path())) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(entry.is_directory() || name.starts_with("a.h5")) << name;
    }
    MPI_Barrier(team->all());
  }
}

TEST(StagedCheckpoints, OfOneNameReplaceEachOtherInTheirOrder) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks(), 2);
  Fields large(*team, 500'000), small(*team, 100);
  const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(Method::staged, scratch)));
  must(store->write("a.h5", {1, 0, "test", "box"}, large.to_write()));
  must(store->write("a.h5", {2, 0, "test", "box"}, small.to_write()));
  EXPECT_EQ(must(store->read("a.h5", "box", small.to_read())).step, 2);
  small.expect_equal();
}

TEST(StagedCheckpoints, ThatCannotBeCarriedStayInThePoolForTheNextProgram) {
  const SharedScratch scratch;
  for (const int most_per_node : {0, 1}) {
    const auto team = team_of(all_ranks(), most_per_node);
    Fields fields(*team, 3000);
    // No file can take the place of a directory that is not empty.
    if (team->rank() == 0) must(make_private_directory(scratch.in("a.h5/in the way")));
    {
      const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(Method::staged, scratch)));
      ASSERT_TRUE(store->write("a.h5", {3, 0, "test", "box"}, fields.to_write()));
      const auto settled = store->settle();
      ASSERT_FALSE(settled);
      EXPECT_EQ(settled.error().what, "cannot rename to");
      EXPECT_EQ(settled.error().code, Code::undrained);
      EXPECT_FALSE(store->settle()) << "it is still in the way";
    }
    if (team->rank() == 0) must(remove_tree(scratch.in("a.h5")));
    MPI_Barrier(team->all());
    const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(Method::staged, scratch)));
    ASSERT_EQ(store->recovered().size(), 1U);
    EXPECT_TRUE(store->recovered()[0].carried);
    EXPECT_EQ(store->recovered()[0].path, must(real_path(scratch.path())) + "/a.h5");
    const auto head = store->read("a.h5", "box", fields.to_read());
    ASSERT_TRUE(head) << head.error().text();
    EXPECT_EQ(head->step, 3);
    fields.expect_equal();
    MPI_Barrier(team->all());
    if (team->rank() == 0) must(remove_tree(scratch.in("a.h5")));
  }
}

TEST(StagedCheckpoints, OfWhichANodeLostItsPartAreReportedAsLost) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks(), 1);
  if (team->nodes() == 1) GTEST_SKIP() << "needs two ranks";
  Fields fields(*team, 3000);
  if (team->rank() == 0) must(make_private_directory(scratch.in("a.h5/in the way")));
  {
    const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(Method::staged, scratch)));
    ASSERT_TRUE(store->write("a.h5", {3, 0, "test", "box"}, fields.to_write()));
  }
  if (team->rank() == 0) {
    must(remove_tree(scratch.in("a.h5")));
    const std::string mine = scratch.in("forebay-" + std::to_string(::geteuid()));
    const auto pools = must(list_directory(mine));
    ASSERT_EQ(pools.size(), index(team->nodes()));
    must(remove_tree(join(mine, pools.back().name)));
  }
  MPI_Barrier(team->all());
  const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(Method::staged, scratch)));
  ASSERT_EQ(store->recovered().size(), 1U);
  EXPECT_FALSE(store->recovered()[0].carried);
  EXPECT_FALSE(store->read("a.h5", "box", fields.to_read()));
}

}  // namespace
}  // namespace forebay::blocks
