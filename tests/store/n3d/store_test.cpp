#include "store.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"

namespace n3d {
namespace {

class StoreTest : public testing::Test {
 protected:
  StoreTest() { directory_ = ::mkdtemp(path_); }
  ~StoreTest() override { EXPECT_TRUE(forebay::remove_tree(directory_)); }

  std::vector<std::unique_ptr<StateStore>> every_store() {
    std::vector<std::unique_ptr<StateStore>> stores;
    stores.push_back(make_array_store(size));
    stores.push_back(make_file_store(size, directory_, 0, false));
    auto memory = make_trajectory_store(size, {dram_for(size, 100)}, 0, 1);
    EXPECT_TRUE(memory);
    if (memory) stores.push_back(std::move(*memory));
    auto pool = make_pool_store(size, directory_, 20, 0, 1);
    EXPECT_TRUE(pool);
    if (pool) stores.push_back(std::move(*pool));
    return stores;
  }
  static std::vector<double> state(Step step) { return std::vector<double>(size, 0.1 + static_cast<double>(step)); }
  std::string file_of(const char* name) const { return forebay::join(directory_, name); }

  static constexpr std::size_t size = 1000;
  char path_[32] = "/tmp/n3d-store-XXXXXX";
  std::string directory_;
};

TEST_F(StoreTest, every_store_gives_back_what_was_put_run_after_run) {
  for (const auto& store : every_store())
    for (int run = 0; run < 3; ++run) {
      ASSERT_TRUE(store->rewind());
      for (Step n = 0; n < 20; ++n) ASSERT_TRUE(store->put(n, state(n + 100 * run)));
      for (Step n = 20; n-- > 0;) {
        const auto got = store->get(n);
        ASSERT_TRUE(got);
        EXPECT_TRUE(std::ranges::equal(*got, state(n + 100 * run))) << n;
        store->drop(n);
      }
    }
}

TEST_F(StoreTest, a_trajectory_keeps_a_state_where_it_was_computed) {
  int in_place = 0;
  for (const auto& store : every_store())
    for (Step n = 0; n < 20; ++n) {
      const auto begun = store->begin(n);
      ASSERT_TRUE(begun);
      if (begun->empty()) break;
      std::ranges::copy(state(n), begun->begin());
      ASSERT_TRUE(store->put(n, *begun));
      const auto got = store->get(n);
      ASSERT_TRUE(got);
      EXPECT_EQ(got->data(), begun->data());
      EXPECT_TRUE(std::ranges::equal(*got, state(n)));
      ++in_place;
    }
  EXPECT_EQ(in_place, 2 * 20) << "in memory and in a pool";
}

TEST_F(StoreTest, no_store_makes_up_a_state_that_was_never_put) {
  for (const auto& store : every_store()) {
    ASSERT_TRUE(store->put(3, state(3)));
    EXPECT_FALSE(store->get(4));
    EXPECT_TRUE(store->get(3));
  }
}

TEST_F(StoreTest, a_pool_uses_the_room_of_dropped_states_again_at_once) {
  const auto pool = make_pool_store(size, directory_, 3, 0, 1);
  ASSERT_TRUE(pool);
  for (Step n = 0; n < 2; ++n) ASSERT_TRUE((*pool)->put(n, state(n)));
  for (Step n = 100; n > 2; --n) {
    ASSERT_TRUE((*pool)->put(n, state(n))) << n;
    const auto got = (*pool)->get(n);
    ASSERT_TRUE(got);
    EXPECT_TRUE(std::ranges::equal(*got, state(n))) << n;
    (*pool)->drop(n);
  }
}

TEST_F(StoreTest, a_file_that_was_cut_short_is_reported_with_its_name) {
  const auto store = make_file_store(size, directory_, 7, false);
  ASSERT_TRUE(store->put(3, state(3)));
  const std::string file = file_of("velocity.000003.rank0007");
  ASSERT_EQ(::truncate(file.c_str(), size * sizeof(double) - 1), 0);
  const auto got = store->get(3);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text(), "cannot read a whole state from " + file);
}

}  // namespace
}  // namespace n3d
