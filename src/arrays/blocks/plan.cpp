#include "arrays/blocks/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "arrays/blocks/coverage.h"
#include "arrays/blocks/order.h"
#include "base/text.h"

namespace forebay::blocks {
namespace {

constexpr std::uint64_t kMostCounted = std::numeric_limits<std::int32_t>::max();  // MPI counts with an int

// Runs pay where they are long enough, on all ranks together: both sides of a message must agree.
Moves::Form best_form(const Team& team, std::uint64_t runs, std::uint64_t items) {
  const std::uint64_t all_runs = over_all(team.all(), runs, MPI_SUM);
  const std::uint64_t all_items = over_all(team.all(), items, MPI_SUM);
  return all_runs * 4 < all_items ? Moves::Form::runs : Moves::Form::places;
}

Moves moves_of_runs(const Team& team, const Order& order, const BlockMap& map) {
  Moves moves(Moves::Form::runs);
  moves.reserve(order.size());
  std::size_t k = 0;
  for (int rank = 0; rank < team.ranks(); ++rank) {
    const Range block = map.block(rank);
    const std::size_t end = block.count == 0 ? k : order.end_of_block(k, block.end());
    for (; k < end; ++k) {
      const auto to = static_cast<std::uint32_t>(order.item(k) - block.first);
      moves.add({order.position(k), to, order.count(k, block.end())});
    }
    moves.end_section();
  }
  return moves;
}

Moves moves_of_rising(const Team& team, std::span<const std::uint64_t> numbers, const BlockMap& map) {
  Large<std::uint32_t> to(numbers.size());
  std::vector<std::uint64_t> ends;
  std::size_t k = 0;
  for (int rank = 0; rank < team.ranks(); ++rank) {
    const Range block = map.block(rank);
    for (; block.count > 0 && k < to.size() && numbers[k] <= block.end(); ++k)
      to[k] = static_cast<std::uint32_t>(numbers[k] - 1 - block.first);
    ends.push_back(k);
  }
  return Moves::of_places(std::move(to), ends);
}

Moves moves_of_sorted(const Team& team, std::span<const std::uint64_t> numbers, const BlockMap& map,
                      const Buckets& buckets) {
  std::vector<std::uint64_t> ends;
  std::uint64_t end = 0;
  for (int rank = 0; rank < team.ranks(); ++rank) {
    if (map.block(rank).count > 0) end = buckets.end_of_block(rank / map.rank_step());
    ends.push_back(end);
  }
  return Moves::of_places(buckets.places(numbers, map), ends);
}

std::uint64_t bytes_of(const Large<std::uint32_t>& words) {
  return words.capacity() * sizeof(std::uint32_t);
}

// Counts of MPI_Alltoallv, both ways, with the displacements they imply.
struct Counts {
  std::vector<int> out, in, out_at, in_at;
  int out_all = 0, in_all = 0;

  Counts(const Team& team, std::vector<int> outgoing) : out(std::move(outgoing)), in(out.size()) {
    MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, team.all());
    for (std::size_t peer = 0; peer < out.size(); ++peer) {
      out_at.push_back(out_all);
      in_at.push_back(in_all);
      out_all += out[peer];
      in_all += in[peer];
    }
  }
  Large<std::uint32_t> exchange(const Team& team, const std::uint32_t* words) const {
    Large<std::uint32_t> received(static_cast<std::size_t>(in_all));
    MPI_Alltoallv(words, out.data(), out_at.data(), MPI_UINT32_T, received.data(), in.data(), in_at.data(),
                  MPI_UINT32_T, team.all());
    return received;
  }
};

// The moves of others into a block, as its owner must know them. `peak`: of memory, on the way.
Moves incoming_moves(const Team& team, const Moves& outgoing, std::uint64_t& peak) {
  const std::size_t ranks = index(team.ranks());
  std::vector<int> out(ranks);
  if (outgoing.form() == Moves::Form::places) {
    for (std::size_t peer = 0; peer < ranks; ++peer) out[peer] = static_cast<int>(outgoing.items(peer));
    const Counts counts(team, std::move(out));
    std::vector<std::uint64_t> ends;
    for (std::size_t peer = 0; peer < ranks; ++peer) {
      ends.push_back(static_cast<std::uint64_t>(counts.in_at[peer] + counts.in[peer]));
    }
    return Moves::of_places(counts.exchange(team, outgoing.to().data()), ends);
  }
  Large<std::uint32_t> words;  // position and count of each run
  words.reserve(2 * outgoing.runs().size());
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    for (const Run& run : outgoing.runs(peer)) words.insert(words.end(), {run.to, run.count});
    out[peer] = 2 * static_cast<int>(outgoing.runs(peer).size());
  }
  const Counts counts(team, std::move(out));
  peak = std::max(peak, outgoing.bytes() + bytes_of(words) + index(counts.in_all) * sizeof(std::uint32_t));
  words = counts.exchange(team, words.data());
  Moves moves(Moves::Form::runs);
  moves.reserve(words.size() / 2);
  peak = std::max(peak, outgoing.bytes() + bytes_of(words) + moves.bytes());
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    const auto first = static_cast<std::size_t>(counts.in_at[peer]);
    for (std::size_t k = first; k < first + static_cast<std::size_t>(counts.in[peer]); k += 2) {
      moves.add({0, words[k], words[k + 1]});
    }
    moves.end_section();
  }
  moves.count_as_messages();
  return moves;
}

// The same error on every rank where a block is not covered as it must be.
Status check_coverage(const Team& team, const Coverage& coverage, std::uint64_t block_first, Shared shared) {
  const std::uint64_t missing = over_all(team.all(), coverage.missing, MPI_SUM);
  const std::uint64_t duplicates = over_all(team.all(), coverage.duplicates, MPI_SUM);
  Status mine;
  if (coverage.first_missing) {
    mine = error(Code::bad_input, fmt::format("global number {} is on no rank ({} missing in all)",
                                              block_first + *coverage.first_missing + 1, missing));
  } else if (coverage.duplicates > 0 && shared == Shared::refused) {
    const Twice& twice = *coverage.lowest_duplicate;
    const auto where = twice.first_peer == twice.second_peer
                           ? fmt::format("twice on rank {}", twice.first_peer)
                           : fmt::format("on ranks {} and {}", twice.first_peer, twice.second_peer);
    mine = error(Code::bad_input,
                 fmt::format("global number {} is {} ({} duplicates in all)", block_first + twice.position + 1, where,
                             duplicates),
                 {}, "items on several ranks must be declared as shared");
  }
  return team.agree(mine);
}

using Places = std::vector<std::vector<std::uint32_t>>;  // in its section, for each peer

std::uint64_t bytes_of(const Places& places) {
  std::uint64_t bytes = 0;
  for (const auto& each : places) bytes += each.capacity() * sizeof(std::uint32_t);
  return bytes;
}

// Tells the ranks which of their items another one writes.
Places exchange_repeated(const Team& team, Places repeated) {
  std::vector<int> out;
  std::size_t all = 0;
  for (const auto& each : repeated) all += each.size();
  Large<std::uint32_t> words;
  words.reserve(all);
  for (const auto& each : repeated) {
    out.push_back(static_cast<int>(each.size()));
    words.insert(words.end(), each.begin(), each.end());
  }
  const Counts counts(team, std::move(out));
  repeated = {};
  words = counts.exchange(team, words.data());
  Places written_by_others;
  for (std::size_t peer = 0; peer < counts.in.size(); ++peer) {
    const auto first = words.begin() + counts.in_at[peer];
    written_by_others.emplace_back(first, first + counts.in[peer]);
  }
  return written_by_others;
}

// Ranks of this node store into the block themselves; what is known of their moves has served.
void forget_own_node(const Team& team, Route& route) {
  if (team.nodes() == 1) {
    Moves none(route.incoming.form());
    for (int rank = 0; rank < team.ranks(); ++rank) none.end_section();
    route.incoming = std::move(none);
  }
}

Status check_sizes(const Team& team, std::uint64_t items, const BlockMap& map, Shared shared) {
  const std::uint64_t least = over_all(team.all(), items, MPI_MIN);
  const std::uint64_t most = over_all(team.all(), items, MPI_MAX);
  if (least != most) {
    return error(Code::bad_input, fmt::format("some ranks say that the number of items is {}, others {}",
                                              as_given(least), as_given(most)));
  }
  if (static_cast<std::int64_t>(items) < 0)
    return error(Code::bad_input, fmt::format("the number of items cannot be {}", as_given(items)));
  const auto asked = {map.block_items(), static_cast<std::uint64_t>(map.rank_step()),
                      static_cast<std::uint64_t>(shared)};
  if (!std::all_of(asked.begin(), asked.end(), [&](std::uint64_t each) { return same_on_all(team.all(), each); })) {
    return error(Code::bad_input, "ranks ask for different blocks, or not all of them for shared items");
  }
  if (map.block_items() > kMostCounted) {
    return error(Code::bad_input,
                 fmt::format("blocks of {} are larger than 2^31 - 1", plural(map.block_items(), "item")), {},
                 "ask for more blocks, or use more ranks");
  }
  return {};
}

}  // namespace

Result<Plan> Plan::make(const Team& team, std::span<const std::uint64_t> numbers, std::uint64_t items,
                        const PlanRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  Plan plan;
  plan.team_ = &team;
  plan.map_ = BlockMap(items, team.ranks(), request.blocks);
  plan.local_items_ = numbers.size();
  if (auto ok = check_sizes(team, items, plan.map_, request.shared); !ok) return forward(ok);

  const auto seen = survey(numbers, items);
  if (auto ok = team.agree(seen ? Status{} : Status(forward(seen))); !ok) return forward(ok);
  const Moves::Form form = best_form(team, seen->runs, numbers.size());
  auto route = std::make_shared<Route>();
  std::uint64_t peak = 0;
  if (form == Moves::Form::runs) {
    const Order order(numbers, *seen, items, plan.map_.block_items());
    route->outgoing = moves_of_runs(team, order, plan.map_);
    peak = std::max(order.peak_bytes(), order.size() * sizeof(std::uint64_t) + route->outgoing.bytes());
  } else if (seen->rising) {
    route->outgoing = moves_of_rising(team, numbers, plan.map_);
  } else {
    plan.buckets_ = Buckets(numbers, plan.map_);
    route->outgoing = moves_of_sorted(team, numbers, plan.map_, plan.buckets_);
  }
  plan.sorts_ = over_all(team.all(), plan.buckets_.empty() ? 0 : 1, MPI_MAX) != 0;
  route->incoming = incoming_moves(team, route->outgoing, peak);

  const Range block = plan.block();
  Coverage coverage = cover(route->incoming, block.count);
  const std::uint64_t both_ways = plan.buckets_.bytes() + route->outgoing.bytes() + route->incoming.bytes();
  // A list that grows is there twice, the old one half as large.
  peak = std::max(peak, both_ways + block.count / 8 + bytes_of(coverage.repeated) * 3 / 2);
  if (auto ok = check_coverage(team, coverage, block.first, request.shared); !ok) return forward(ok);

  plan.reading_ = plan.writing_ = route;
  std::uint64_t kept_twice = 0;
  if (over_all(team.all(), coverage.duplicates, MPI_SUM) > 0) {
    auto once = std::make_shared<Route>();
    once->incoming = route->incoming.messages_without(coverage.repeated);
    const std::uint64_t with_messages = both_ways + once->incoming.bytes();
    const std::uint64_t given = bytes_of(coverage.repeated);  // as many words again are sent
    const Places written_by_others = exchange_repeated(team, std::move(coverage.repeated));
    once->outgoing = route->outgoing.without(written_by_others);
    peak = std::max({peak, with_messages + 2 * std::max(given, bytes_of(written_by_others)),
                     with_messages + bytes_of(written_by_others) + once->outgoing.bytes()});
    forget_own_node(team, *once);
    kept_twice = once->outgoing.bytes() + once->incoming.bytes();
    plan.writing_ = once;
  }
  // Not with items that another rank writes: what is left of the others no longer follows the order of the buckets
  // without gaps. Nor where only some have blocks: the others would do nothing.
  plan.owner_stores_ = plan.sorts_ && plan.writing_ == plan.reading_ && plan.map_.blocks() == team.ranks();
  if (!plan.owner_stores_) forget_own_node(team, *route);
  plan.report_.kept_bytes = plan.buckets_.bytes() + route->outgoing.bytes() + route->incoming.bytes() + kept_twice;
  plan.report_.peak_bytes = std::max(peak, plan.report_.kept_bytes);
  plan.report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return plan;
}

std::uint64_t Plan::sorted_before(int rank) const {
  const Moves& all = reading_->outgoing;
  return all.form() == Moves::Form::places ? all.items_before(index(rank)) : 0;
}

}  // namespace forebay::blocks
