// The way of scattered items to their blocks and back: worked out once, used for any number of arrays of any item size.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arrays/blocks/block_map.h"
#include "arrays/blocks/buckets.h"
#include "arrays/blocks/moves.h"
#include "arrays/blocks/team.h"

namespace forebay::blocks {

// The meaning of several ranks holding the same global number.
enum class Shared {
  refused,  // an error that names the number and its ranks
  once,     // ghosts and interfaces: the lowest rank's item is written, all of them are read
};

struct PlanRequest {
  BlockRequest blocks;
  Shared shared = Shared::refused;
};

// From this rank's items (sorted ones where they are kept as places) to the block of each rank, and from the message of
// each rank to the block of this one. Where there is one node only, whose ranks store into all blocks themselves,
// `incoming` is empty.
struct Route {
  Moves outgoing;
  Moves incoming;
};

struct PlanReport {
  double seconds = 0;
  std::uint64_t kept_bytes = 0;  // of memory on this rank, as long as the plan lives
  std::uint64_t peak_bytes = 0;  // and at most while it was made
};

class Plan {
 public:
  // Collective. `numbers` are those of this rank, 1-based, in the order of its items; `items` is how many there are in
  // all, the same on every rank. A number that is out of range, missing or refused as a duplicate is named in the
  // error, which is the same on every rank. The plan stays valid as long as the team.
  static Result<Plan> make(const Team& team, std::span<const std::uint64_t> numbers, std::uint64_t items,
                           const PlanRequest& request = {});

  const Team& team() const { return *team_; }
  const BlockMap& map() const { return map_; }
  Range block() const { return map_.block(team_->rank()); }
  std::uint64_t local_items() const { return local_items_; }
  // Items are sorted by them before they go to their blocks, and put in order when they come from there; empty where
  // they are as they should be.
  const Buckets& buckets() const { return buckets_; }
  // Some rank of the team sorts its items.
  bool sorts() const { return sorts_; }
  // Items that the ranks of a node have sorted are stored by the owner of their block, who stores to each of its lines
  // once; else each rank stores its own.
  bool owner_stores() const { return owner_stores_; }
  // The begin of the part of the sorted items that a route to the block of a rank counts from.
  std::uint64_t sorted_before(int rank) const;
  // The route for writing leaves out items that another rank writes; the one for reading has all.
  const Route& writing() const { return *writing_; }
  const Route& reading() const { return *reading_; }
  const PlanReport& report() const { return report_; }

 private:
  const Team* team_ = nullptr;
  BlockMap map_;
  std::uint64_t local_items_ = 0;
  Buckets buckets_;
  bool sorts_ = false;
  bool owner_stores_ = false;
  std::shared_ptr<const Route> writing_, reading_;
  PlanReport report_;
};

}  // namespace forebay::blocks
