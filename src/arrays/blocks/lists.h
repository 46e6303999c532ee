// Lists of different lengths, one for each item: the vertices of cells, the cells of faces.
//
// The values of all lists stand behind each other in the order of their items. They are numbered and planned like
// items, so a checkpoint has two arrays of them: the ranges, on the location of the items, and the values, on one of
// their own.
#pragma once

#include <span>
#include <vector>

#include "arrays/blocks/exchange.h"

namespace forebay::blocks {

// Which values are an item's list, counted from 0: an array of two uint64 for each item.
struct ListRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

struct Lists {
  std::vector<ListRange> ranges;  // of this rank's items
  std::uint64_t values = 0;       // of all lists of all ranks
};

// Collective: numbers the values by the lengths of the lists. Where several ranks hold an item they must give the same
// length.
Result<Lists> number_lists(Exchange& items, std::span<const std::uint64_t> lengths);

// Collective: the plan of the values of this rank's lists, which lie behind each other in the order of its items.
// Ranges that were read from a file are looked at like any other numbers.
Result<Plan> plan_of_lists(const Team& team, std::span<const ListRange> ranges, std::uint64_t values,
                           const PlanRequest& request = {});

}  // namespace forebay::blocks
