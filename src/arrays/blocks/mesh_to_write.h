// A mesh as the ranks of a program have it, and whether what they have is one.
#pragma once

#include <cstdint>
#include <span>

#include "arrays/blocks/exchange.h"

namespace forebay::blocks {

// Shared vertices where their plan lets them be shared.
struct MeshToWrite {
  Exchange* points = nullptr;
  std::span<const double> places;  // three of each of this rank's vertices
  Exchange* cells = nullptr;
  std::span<const std::uint8_t> types;      // of this rank's cells: cell_types.h
  std::span<const std::uint64_t> lengths;   // how many vertices each has
  std::span<const std::uint64_t> vertices;  // their global numbers, from 1, cell after cell, each in VTK's order
};

// Collective, and the same on every rank: sizes that do not fit the plans, cells that are of no shape, have more or
// fewer vertices than it, or vertices that are none. A cell is named by its global number.
Status check(const Team& team, const MeshToWrite& mesh);

}  // namespace forebay::blocks
