// Checkpoints of made-up fields, in a directory that all ranks share.
#pragma once

#include <array>

#include "numbering.h"
#include "shared_scratch.h"

namespace forebay::blocks {

// Cells with a vector and a number, vertices with a scalar, as one rank of a partitioned mesh has them.
class Fields {
 public:
  Fields(const Team& team, std::uint64_t cells, const BlockRequest& blocks = {0, 8, 1, 0})
      : cells_(numbers_of({cells, 11, 8, -1, false}, team.ranks(), team.rank())),
        vertices_(numbers_of({cells / 5 + 1, 12, 1, -1, true}, team.ranks(), team.rank())),
        cell_plan_(must(Plan::make(team, cells_, cells, {blocks, Shared::refused}))),
        vertex_plan_(must(Plan::make(team, vertices_, cells / 5 + 1, {blocks, Shared::once}))),
        cell_exchange_(cell_plan_),
        vertex_exchange_(vertex_plan_),
        data_{items_of(cells_, 24), items_of(cells_, 4), items_of(vertices_, 8)} {}

  std::vector<FieldToWrite> to_write() {
    return {{"velocity", "cells", array_file::Type::float64, 3, &cell_exchange_, data_[0].data()},
            {"flag", "cells", array_file::Type::int32, 1, &cell_exchange_, data_[1].data()},
            {"height", "vertices", array_file::Type::float64, 1, &vertex_exchange_, data_[2].data()}};
  }
  std::vector<FieldToRead> to_read() {
    for (std::size_t i = 0; i < data_.size(); ++i) back_[i].assign(data_[i].size(), std::byte{});
    std::vector<FieldToRead> fields;
    std::size_t i = 0;
    for (const FieldToWrite& each : to_write()) {
      fields.push_back({each.name, each.location, each.type, each.components, each.exchange, back_[i++].data()});
    }
    return fields;
  }
  void expect_equal() const {
    for (std::size_t i = 0; i < data_.size(); ++i) EXPECT_TRUE(back_[i] == data_[i]) << "field " << i;
  }

 private:
  std::vector<std::uint64_t> cells_, vertices_;
  Plan cell_plan_, vertex_plan_;
  Exchange cell_exchange_, vertex_exchange_;
  std::array<std::vector<std::byte>, 3> data_;
  std::array<std::vector<std::byte>, 3> back_;
};

inline Status write_one(const Team& team, Method method, const SharedScratch& scratch, const std::string& name,
                        std::uint64_t cells, const BlockRequest& blocks = {0, 8, 1, 0}) {
  Fields fields(team, cells, blocks);
  const auto store = must(Checkpoints::open(team, scratch.path(), options_of(method, scratch)));
  if (auto ok = store->write(name, {7, 0.25, "test", "box"}, fields.to_write()); !ok) return ok;
  return store->settle();
}

}  // namespace forebay::blocks
