// Proves: hints reach MPI and Lustre; those that nobody can use are refused, and no other hurts a file.
#include "arrays/blocks/file.h"
#include "arrays/blocks/tests/fake_lustre.h"
#include "checkpoints.h"
#include "mpi_calls.h"

namespace forebay::blocks {
namespace {

constexpr std::array kOfMpi = {Method::mpi_independent, Method::mpi_noncollective, Method::mpi_collective};

Options with_hints(Method method, const SharedScratch& scratch, const std::string& hints) {
  Options options = options_of(method, scratch);
  must(options.add_hints(hints, "the test"));
  return options;
}

TEST(Hints, AreKnownToMpiWhenAFileIsOpen) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  must(write_one(*team, Method::stdio, scratch, "a.h5", 1000));
  for (const Method method : kOfMpi) {
    for (const Access access : {Access::read, Access::write}) {
      SCOPED_TRACE(name_of(method));
      const Options options = with_hints(method, scratch, "cb_buffer_size=1234567");
      mpi_calls() = {};
      const auto file = must(BlockFile::open(*team, options, scratch.in("a.h5"), access));
      std::byte one{};
      must(file->read(index(team->rank()), {&one, 1}));
      must(file->close());
      EXPECT_EQ(mpi_calls().hints_of_file["cb_buffer_size"], "1234567");
    }
  }
}

TEST(Hints, OfStripingAreSetForTheDirectoryByRank0) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  const FakeLustre lustre(0);
  const Options options = with_hints(Method::mpi_collective, scratch, "striping_factor=8,striping_unit=4194304");
  must(Checkpoints::open(*team, scratch.path(), options));
  EXPECT_EQ(lustre.asked(),
            team->rank() == 0 ? "setstripe -c 8 -S 4194304 " + must(real_path(scratch.path())) + "\n" : "nothing");
}

TEST(Hints, OfStripingThatLustreRefusesAreAnErrorOfAll) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  const FakeLustre lustre(22);
  const auto store = Checkpoints::open(*team, scratch.path(), with_hints(Method::stdio, scratch, "striping_factor=8"));
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::bad_input);
}

TEST(Hints, ThatMpiRejectsAreRefusedOnEveryRank) {
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

TEST(Hints, ThatAreMisspeltAreRefused) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  for (const auto& [hint, meant] : {std::pair("stripping_factor=8", "striping_factor"), {"cb_node=4", "cb_nodes"}}) {
    const auto store = Checkpoints::open(*team, scratch.path(), with_hints(Method::mpi_collective, scratch, hint));
    ASSERT_FALSE(store) << hint;
    EXPECT_EQ(store.error().advice, std::string("did you mean ") + meant + "?");
  }
  for (const char* of_a_library : {"cb_config_list=*:1", "overstriping_factor=2", "ind_wr_buffer_size=100000"})
    must(Checkpoints::open(*team, scratch.path(), with_hints(Method::mpi_collective, scratch, of_a_library)));
}

TEST(Hints, ThatMpiMayNotLikeHurtNoFile) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  Fields fields(*team, 3000);
  std::int64_t step = 7;
  must(write_one(*team, Method::stdio, scratch, "a.h5", 3000));
  for (const char* hint : {"cb_nodes=1000", "cb_buffer_size=64", "collective_buffering=perhaps", "striping_factor=3",
                           "access_style=sideways", "nobody_knows=this"}) {
    for (const Method method : kOfMpi) {
      SCOPED_TRACE(testing::Message() << hint << ", " << name_of(method));
      const auto store = must(Checkpoints::open(*team, scratch.path(), with_hints(method, scratch, hint)));
      const Status written = store->write("a.h5", {step + 1, 0.5, "test", "box"}, fields.to_write());
      EXPECT_TRUE(same_on_all(team->all(), checksum(written ? "" : written.error().text())));
      if (written) ++step;
      const auto reader = must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)));
      EXPECT_EQ(must(reader->read("a.h5", "box", fields.to_read())).step, step);
      fields.expect_equal();
      if (std::string(hint) == "nobody_knows=this") {
        EXPECT_TRUE(written) << "what the library does not know it ignores";
      }
    }
  }
}

}  // namespace
}  // namespace forebay::blocks
