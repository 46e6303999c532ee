// A mesh as the ranks of a program have it: a row of cubes, every second one cut into two prisms.
#pragma once

#include <vector>

#include "arrays/blocks/mesh_output.h"
#include "numbering.h"

namespace forebay::blocks {

// Cell and vertex by global numbers, from 1.
struct Cell {
  std::uint8_t type;
  std::vector<std::uint64_t> vertices;
};
inline Cell cell_of(std::uint64_t number) {
  const std::uint64_t pair = (number - 1) / 3, place = (number - 1) % 3;  // a cube, then the two prisms of the next
  const std::uint64_t a = 8 * pair + (place == 0 ? 1 : 5), b = a + 4;     // first vertices of the squares around it
  if (place == 0) return {12, {a, a + 1, a + 2, a + 3, b, b + 1, b + 2, b + 3}};
  const std::uint64_t second = place == 1 ? 1 : 2;
  return {13, {a, a + second, a + second + 1, b, b + second, b + second + 1}};
}
// The squares stand along x, each counterclockwise about it.
inline std::vector<double> place_of(std::uint64_t number) {
  const std::uint64_t corner = (number - 1) % 4;
  return {static_cast<double>((number - 1) / 4), corner == 1 || corner == 2 ? 1.0 : 0.0, corner > 1 ? 1.0 : 0.0};
}

// `pairs` pairs of cubes, with a pressure of 1 / number on cells and the square's x twice on vertices.
class RowOfCubes {
 public:
  RowOfCubes(const Team& team, std::uint64_t pairs, const BlockRequest& blocks = {0, 8, 1, 0})
      : cells_(numbers_of({3 * pairs, 11, 4, -1, false}, team.ranks(), team.rank())) {
    for (const std::uint64_t number : cells_) {
      const Cell cell = cell_of(number);
      types_.push_back(cell.type);
      lengths_.push_back(cell.vertices.size());
      vertices_.insert(vertices_.end(), cell.vertices.begin(), cell.vertices.end());
      pressure_.push_back(1.0 / static_cast<double>(number));
    }
    points_ = vertices_;
    std::sort(points_.begin(), points_.end());
    points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
    for (const std::uint64_t number : points_) {
      const auto place = place_of(number);
      places_.insert(places_.end(), place.begin(), place.end());
      height_.insert(height_.end(), {static_cast<float>(place[0]), static_cast<float>(2 * place[0])});
    }
    point_plan_ = must(Plan::make(team, points_, 8 * pairs + 4, {blocks, Shared::once}));
    cell_plan_ = must(Plan::make(team, cells_, 3 * pairs, {blocks, Shared::refused}));
    point_exchange_ = std::make_unique<Exchange>(point_plan_);
    cell_exchange_ = std::make_unique<Exchange>(cell_plan_);
  }

  const std::vector<std::uint64_t>& cells() const { return cells_; }
  MeshToWrite mesh() const {
    return {point_exchange_.get(), places_, cell_exchange_.get(), types_, lengths_, vertices_};
  }
  std::vector<FieldToWrite> fields() const {
    return {{"pressure", "cells", array_file::Type::float64, 1, cell_exchange_.get(), pressure_.data()},
            {"height", "points", array_file::Type::float32, 2, point_exchange_.get(), height_.data()}};
  }

 private:
  std::vector<std::uint64_t> cells_, points_, lengths_, vertices_;
  std::vector<std::uint8_t> types_;
  std::vector<double> places_, pressure_;
  std::vector<float> height_;
  Plan point_plan_, cell_plan_;
  std::unique_ptr<Exchange> point_exchange_, cell_exchange_;
};

}  // namespace forebay::blocks
