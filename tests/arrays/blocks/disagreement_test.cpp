// Proves: ranks that ask for different things are told so, all of them, and nothing is written.
#include "checkpoints.h"
#include "forebay/arrays.h"

namespace forebay::blocks {
namespace {

TEST(Faults, RanksThatAskForDifferentThingsAreToldSo) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  if (team->ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const bool last = team->rank() == team->ranks() - 1;
  const Options one_method = options_of(last ? Method::serial : Method::mpi_collective, scratch);
  Options one_verifies = options_of(Method::stdio, scratch);
  if (last) one_verifies.verify = carry::Verify::read_back;
  for (const Options& options : {one_method, one_verifies}) {
    const auto store = Checkpoints::open(*team, scratch.path(), options);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().what, "ranks ask for different methods or hints, or not all of them to read back");
  }

  const std::vector<std::uint64_t> numbers = {index(team->rank()) + 1};
  const BlockRequest blocks = {0, 8, last ? 2 : 1, 0};
  const auto plan = Plan::make(*team, numbers, index(team->ranks()), {blocks, Shared::refused});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().what, "ranks ask for different blocks, or not all of them for shared items");

  must(write_one(*team, Method::stdio, scratch, "a.h5", 1000));
  Fields fields(*team, 1000);
  for (const Method method : kMethods) {
    const auto writer = must(Checkpoints::open(*team, scratch.path(), options_of(method, scratch)));
    auto others = fields.to_write();
    if (last) others[0].name = "speed";
    for (const Status& written : {writer->write("a.h5", {8, 0.5, "test", "box"}, others),
                                  writer->write("a.h5", {last ? 9 : 8, 0.5, "test", "box"}, fields.to_write())}) {
      ASSERT_FALSE(written) << name_of(method);
      EXPECT_EQ(written.error().what, "ranks do not agree about the name, fields, step, time or mesh of a checkpoint");
    }
    EXPECT_EQ(must(writer->read("a.h5", "box", fields.to_read())).step, 7);
  }
  auto wanted = fields.to_read();
  if (last) std::swap(wanted[0], wanted[1]);
  const auto read =
      must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)))->read("a.h5", "box", wanted);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "ranks do not agree about what to read from");
}

// Each names a file, a directory or a mesh of its own in what it asks for.
TEST(Faults, RanksThatDisagreeHearTheSameWords) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  if (team->ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const auto refused = [&](const auto& outcome) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::bad_input);
    EXPECT_TRUE(same_on_all(team->all(), checksum(outcome.error().text()))) << outcome.error().text();
  };
  must(write_one(*team, Method::stdio, scratch, "a.h5", 1000));
  if (team->rank() == 0) must(make_private_directory(scratch.in("other")));
  MPI_Barrier(team->all());
  const std::string own = "of-" + std::to_string(team->rank());
  Fields fields(*team, 1000);
  auto fewer = fields.to_write();
  if (team->rank() == 0) fewer.pop_back();
  for (const Method method : kMethods) {
    SCOPED_TRACE(name_of(method));
    refused(Checkpoints::open(*team, team->rank() == 0 ? scratch.path() : scratch.in("other"),
                              options_of(method, scratch)));
    const auto store = must(Checkpoints::open(*team, scratch.path(), options_of(method, scratch)));
    refused(store->describe(own));
    refused(store->read(own, "box", fields.to_read()));
    refused(store->read("a.h5", own, fields.to_read()));
    refused(store->write(own, {8, 0.5, "test", "box"}, fields.to_write()));
    if (method == Method::staged) refused(store->prepare(fewer));
    EXPECT_EQ(must(store->read("a.h5", "box", fields.to_read())).step, 7);
  }
}

TEST(Faults, RanksThatMoveItemsOfDifferentSizesAreToldSo) {
  forebay_team* team = nullptr;
  forebay_plan* plan = nullptr;
  ASSERT_EQ(forebay_team_create(MPI_COMM_WORLD, nullptr, &team), FOREBAY_OK);
  const int ranks = all_ranks(), rank = rank_in(MPI_COMM_WORLD);
  const std::uint64_t number = index(rank) + 1;
  forebay_options* small = forebay_options_create();
  ASSERT_EQ(forebay_options_set_integer(small, "least-bytes", 1), FOREBAY_OK);
  ASSERT_EQ(forebay_plan_create(team, &number, 1, index(ranks), small, &plan), FOREBAY_OK);
  forebay_options_free(small);
  std::int64_t item = rank, block = -1;
  if (ranks > 1) {
    const std::size_t bytes = rank == ranks - 1 ? 4 : 8;
    for (const int status : {forebay_plan_move_to_block(plan, &item, bytes, &block),
                             forebay_plan_move_from_block(plan, &block, bytes, &item)}) {
      EXPECT_EQ(status, FOREBAY_E_INVALID);
      EXPECT_STREQ(forebay_error_get_text(), "ranks do not agree about the bytes of an item");
    }
  }
  EXPECT_EQ(forebay_plan_move_to_block(plan, &item, 8, &block), FOREBAY_OK);
  EXPECT_EQ(block, rank);
  forebay_plan_free(plan);
  forebay_team_free(team);
}

}  // namespace
}  // namespace forebay::blocks
