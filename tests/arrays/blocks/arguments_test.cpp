// Proves: what one rank alone gives wrongly to the C interface is told on all ranks, of which none waits for another.
#include <string>
#include <vector>

#include "forebay/arrays.h"
#include "shared_scratch.h"

namespace forebay::blocks {
namespace {

class Arguments : public testing::Test {
 protected:
  Arguments() {
    const std::uint64_t first = 4 * index(rank_);
    for (std::uint64_t i = 1; i <= 4; ++i) points_.push_back(first + i);
    const std::uint64_t cell = index(rank_) + 1;
    expect_ok(forebay_team_create(MPI_COMM_WORLD, nullptr, &team_));
    expect_ok(forebay_plan_create(team_, points_.data(), 4, 4 * index(all_ranks()), nullptr, &of_points_));
    expect_ok(forebay_plan_create(team_, &cell, 1, index(all_ranks()), nullptr, &of_cells_));
    expect_ok(forebay_checkpoints_open(team_, scratch_.path().c_str(), nullptr, &store_));
    arrays_ = {{sizeof(forebay_array), "height", "points", FOREBAY_FLOAT64, 1, of_points_, height_.data()},
               {sizeof(forebay_array), "pressure", "cells", FOREBAY_FLOAT64, 1, of_cells_, pressure_.data()}};
    mesh_ = {sizeof mesh_, of_points_, places_.data(), of_cells_, &tetrahedron_, &corners_, points_.data()};
    expect_ok(forebay_checkpoints_write(store_, "a.h5", &head_, arrays_.data(), 2));
    expect_ok(forebay_mesh_output_open(store_, "flow", &mesh_, &output_));
  }
  ~Arguments() override {
    expect_ok(forebay_mesh_output_close(output_));
    expect_ok(forebay_checkpoints_close(store_));
    forebay_plan_free(of_points_);
    forebay_plan_free(of_cells_);
    forebay_team_free(team_);
  }

  static void expect_ok(int status) { EXPECT_EQ(status, FOREBAY_OK) << forebay_error_get_text(); }
  static void expect_refused(int status, const std::string& words) {
    EXPECT_EQ(status, FOREBAY_E_INVALID) << words;
    const std::string text = forebay_error_get_text();
    EXPECT_NE(text.find(words), std::string::npos) << text << "\nexpected: " << words;
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, checksum(text)));
  }
  // What the last rank gives, and the others.
  template <class T>
  T one_gives(T wrong, T right) const {
    return rank_ == all_ranks() - 1 ? wrong : right;
  }

  const int rank_ = rank_in(MPI_COMM_WORLD);
  const SharedScratch scratch_;
  forebay_team* team_ = nullptr;
  forebay_plan *of_points_ = nullptr, *of_cells_ = nullptr;
  forebay_checkpoints* store_ = nullptr;
  forebay_mesh_output* output_ = nullptr;
  const forebay_head head_{sizeof head_, 7, 0.5, "test", "box"};
  std::vector<std::uint64_t> points_;
  std::vector<double> places_ = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, height_ = {1, 2, 3, 4}, pressure_ = {5};
  const std::uint8_t tetrahedron_ = 10;
  const std::uint64_t corners_ = 4;
  std::vector<forebay_array> arrays_;
  forebay_mesh mesh_{};
};

TEST_F(Arguments, AHeadOfAnotherSizeIsRefusedOnAllRanks) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1} << 40}) {
    forebay_head wrong = head_;
    wrong.size = one_gives(size, sizeof wrong);
    const std::string words = "the size of forebay_head is " + std::to_string(size) + ",";
    expect_refused(forebay_checkpoints_write(store_, "b.h5", &wrong, arrays_.data(), 2), words);
    expect_refused(forebay_checkpoints_read(store_, "a.h5", "box", arrays_.data(), 2, &wrong), words);
    expect_refused(forebay_checkpoints_describe(store_, "a.h5", &wrong, nullptr, nullptr), words);
    expect_refused(forebay_mesh_output_write(output_, &wrong, arrays_.data(), 2), words);
  }
  EXPECT_FALSE(name_exists(scratch_.in("b.h5")));
  forebay_head told = head_;
  expect_ok(
      forebay_checkpoints_read(store_, "a.h5", "box", arrays_.data(), 2, one_gives<forebay_head*>(nullptr, &told)));
  expect_ok(forebay_mesh_output_write(output_, &head_, arrays_.data(), 2));
}

TEST_F(Arguments, ThatThereIsNoSuchCheckpointIsAStatusOfItsOwn) {
  forebay_checkpoints* nowhere = nullptr;
  for (const int status : {forebay_checkpoints_read(store_, "b.h5", "box", arrays_.data(), 2, nullptr),
                           forebay_checkpoints_describe(store_, "a.h5/b.h5", nullptr, nullptr, nullptr),
                           forebay_checkpoints_open(team_, scratch_.in("nowhere").c_str(), nullptr, &nowhere)}) {
    EXPECT_EQ(status, FOREBAY_E_NO_SUCH_FILE) << forebay_error_get_text();
  }
}

TEST_F(Arguments, WhatOneRankLeavesOutIsMissedOnAllRanks) {
  const forebay_head* const head = one_gives<const forebay_head*>(nullptr, &head_);
  const char* const name = one_gives<const char*>(nullptr, "a.h5");
  expect_refused(forebay_checkpoints_write(store_, "b.h5", head, arrays_.data(), 2), "the head is missing (NULL)");
  expect_refused(forebay_mesh_output_write(output_, head, arrays_.data(), 2), "the head is missing (NULL)");
  const std::string nameless = "the name of the file is missing (NULL)";
  expect_refused(forebay_checkpoints_write(store_, name, &head_, arrays_.data(), 2), nameless);
  expect_refused(forebay_checkpoints_read(store_, name, "box", arrays_.data(), 2, nullptr), nameless);
  expect_refused(forebay_checkpoints_describe(store_, name, nullptr, nullptr, nullptr), nameless);

  forebay_mesh_output* output = nullptr;
  auto* const place = one_gives<forebay_mesh_output**>(nullptr, &output);
  const forebay_mesh* const mesh = one_gives<const forebay_mesh*>(nullptr, &mesh_);
  expect_refused(forebay_mesh_output_open(store_, "none", &mesh_, place), "the place for the mesh output is missing");
  expect_refused(forebay_mesh_output_open(store_, name, &mesh_, &output), "the name of the files is missing (NULL)");
  expect_refused(forebay_mesh_output_open(store_, "none", mesh, &output), "the mesh is missing (NULL)");
  EXPECT_EQ(output, nullptr);

  forebay_checkpoints* store = nullptr;
  const char* const directory = one_gives<const char*>(nullptr, scratch_.path().c_str());
  expect_refused(forebay_checkpoints_open(team_, directory, nullptr, &store), "the directory is missing (NULL)");
  expect_refused(forebay_checkpoints_open(team_, scratch_.path().c_str(), nullptr,
                                          one_gives<forebay_checkpoints**>(nullptr, &store)),
                 "the place for the checkpoints is missing (NULL)");
  EXPECT_EQ(store, nullptr);

  forebay_plan* plan = nullptr;
  auto* const of_plan = one_gives<forebay_plan**>(nullptr, &plan);
  const std::string homeless = "the place for the plan is missing (NULL)";
  expect_refused(forebay_plan_create(team_, points_.data(), 4, 4 * index(all_ranks()), nullptr, of_plan), homeless);
  expect_refused(forebay_plan_create_lists(team_, nullptr, 0, 0, nullptr, of_plan), homeless);
  EXPECT_EQ(plan, nullptr);
  forebay_team* team = nullptr;
  expect_refused(forebay_team_create(MPI_COMM_WORLD, nullptr, one_gives<forebay_team**>(nullptr, &team)),
                 "the place for the team is missing (NULL)");
  EXPECT_EQ(team, nullptr);
}

// The elements lie as far apart as the first one says.
TEST_F(Arguments, ArraysOfDifferentSizesAreRefusedOnAllRanks) {
  const std::string size = std::to_string(sizeof(forebay_array));
  for (const std::size_t other : {std::size_t{0}, sizeof(forebay_array) + 8, ~std::size_t{0}}) {
    auto wrong = arrays_;
    wrong[1].size = one_gives(other, sizeof(forebay_array));
    const bool possible = other == sizeof(forebay_array) + 8;
    const std::string words =
        possible ? "the size of element 1 of the arrays is " + std::to_string(other) + ", that of the first one " + size
                 : "the size of forebay_array is " + std::to_string(other) + ", not " + size;
    expect_refused(forebay_checkpoints_write(store_, "b.h5", &head_, wrong.data(), 2), words);
    expect_refused(forebay_checkpoints_prepare(store_, wrong.data(), 2), words);
    expect_refused(forebay_checkpoints_read(store_, "a.h5", "box", wrong.data(), 2, nullptr), words);
    expect_refused(forebay_mesh_output_write(output_, &head_, wrong.data(), 2), words);
  }
  auto wrong = arrays_;
  wrong[0].size = one_gives(std::size_t{1} << 40, sizeof(forebay_array));
  expect_refused(forebay_checkpoints_write(store_, "b.h5", &head_, wrong.data(), 2),
                 "the size of forebay_array is 1099511627776, not " + size);
  EXPECT_FALSE(name_exists(scratch_.in("b.h5")));
}

}  // namespace
}  // namespace forebay::blocks
