#include "arrays/blocks/exchange.h"

#include <algorithm>

namespace forebay::blocks {
namespace {

constexpr std::uint64_t kMostPerMessage = std::uint64_t{1} << 30;  // items: MPI counts with an int

// Starts the messages of one parcel; the other side cuts it the same way.
template <class Start>
void each_piece(const Parcel& parcel, Start start) {
  for (std::uint64_t done = 0; done < parcel.items; done += kMostPerMessage) {
    start(parcel.first + done, static_cast<int>(std::min(kMostPerMessage, parcel.items - done)));
  }
}

}  // namespace

ImageLayout ImageLayout::of(const Team& team, const BlockMap& map) {
  ImageLayout layout;
  for (const int rank : team.members()) {
    layout.first.push_back(layout.items);
    layout.items += map.block(rank).count;
  }
  return layout;
}

Exchange::Exchange(const Plan& plan)
    : plan_(&plan),
      layout_(ImageLayout::of(plan.team(), plan.map())),
      writing_(Post::of(plan.team(), plan.writing())),
      reading_(Post::of(plan.team(), plan.reading())) {
  if (!plan.sorts()) return;
  const Team& team = plan.team();
  const bool needs_room = plan.owner_stores() || !plan.buckets().empty();
  const std::uint64_t items = needs_room ? plan.local_items() : 0;
  const NodeSums sums(team, {items});
  sorted_items_ = sums.all[0];
  sorted_first_ = sums.before[0];
  std::vector<std::uint64_t> mine;
  for (const int rank : team.members()) mine.push_back(sorted_first_ + plan.sorted_before(rank));
  sorted_at_.resize(mine.size());
  MPI_Alltoall(mine.data(), 1, MPI_UINT64_T, sorted_at_.data(), 1, MPI_UINT64_T, team.node());
}

Status Exchange::reserve(const Post& post, std::size_t item_bytes) {
  const Team& team = plan_->team();
  if (team.nodes() == 1 && !plan_->sorts()) return {};
  Status mine = sorted_.reserve(team.node(), sorted_items_ * item_bytes);
  if (mine) mine = out_.reserve(team.node(), post.out_items * item_bytes);
  if (mine) mine = in_.reserve(team.node(), post.in_items * item_bytes);
  return team.agree(mine);
}

// Sends the parcels of this node, and waits for those of the others: backwards, the incoming area is what is sent.
void Exchange::deliver(const Post& post, Direction direction, std::size_t item_bytes) {
  const Team& team = plan_->team();
  team.meet_on_node();
  if (team.is_leader()) {
    const bool forwards = direction == Direction::to_blocks;
    const ItemType item(item_bytes);
    std::vector<MPI_Request> requests;
    const auto request = [&] { return &requests.emplace_back(); };
    for (const Parcel& parcel : forwards ? post.in : post.out) {
      each_piece(parcel, [&](std::uint64_t at, int count) {
        MPI_Irecv((forwards ? in_ : out_).data() + at * item_bytes, count, item.get(), parcel.node, 0, team.leaders(),
                  request());
      });
    }
    for (const Parcel& parcel : forwards ? post.out : post.in) {
      each_piece(parcel, [&](std::uint64_t at, int count) {
        MPI_Isend((forwards ? out_ : in_).data() + at * item_bytes, count, item.get(), parcel.node, 0, team.leaders(),
                  request());
      });
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  team.meet_on_node();
}

std::span<std::byte> Exchange::my_block(std::byte* image, std::size_t item_bytes) const {
  const std::uint64_t first = layout_.first[index(plan_->team().place_in_node())];
  return {image + first * item_bytes, plan_->block().count * item_bytes};
}

// With what all ranks of the node have sorted, and what came from others.
void Exchange::fill_my_block(std::byte* image, std::size_t item_bytes, slots::ItemSum* sum) const {
  const Team& team = plan_->team();
  std::vector<Moves::Source> sources;
  for (int rank = 0; rank < team.ranks(); ++rank) {
    if (!team.is_here(rank)) sources.push_back({index(rank), in_.data() + writing_.in_at[index(rank)] * item_bytes});
  }
  for (std::size_t place = 0; place < team.members().size(); ++place) {
    sources.push_back({index(team.members()[place]), sorted_.data() + sorted_at_[place] * item_bytes});
  }
  const std::uint64_t bucket = std::uint64_t{1} << Buckets::bits(plan_->map());
  const std::uint64_t first_end = bucket - plan_->block().first % bucket;
  std::byte* block = my_block(image, item_bytes).data();
  plan_->writing().incoming.fill_by_stretches(sources, block, item_bytes, first_end, bucket,
                                              {sum, plan_->block().first});
}

Status Exchange::to_image(const std::byte* items, std::size_t item_bytes, std::byte* image, slots::ItemSum* sum) {
  const Team& team = plan_->team();
  const Route& route = plan_->writing();
  if (auto ok = reserve(writing_, item_bytes); !ok) return ok;
  const bool in_order = plan_->buckets().empty();  // these are sorted as they are
  if (!in_order) plan_->buckets().sort(items, my_sorted(item_bytes), item_bytes);
  const std::byte* sorted = in_order ? items : my_sorted(item_bytes);
  const auto part_for = [&](int rank) { return sorted + plan_->sorted_before(rank) * item_bytes; };
  if (!plan_->owner_stores()) {
    for (std::size_t place = 0; place < team.members().size(); ++place) {
      const int rank = team.members()[place];
      route.outgoing.put(index(rank), part_for(rank), image + layout_.first[place] * item_bytes, item_bytes,
                         {sum, plan_->map().block(rank).first});
    }
  } else if (in_order) {
    std::copy_n(items, plan_->local_items() * item_bytes, my_sorted(item_bytes));
  }
  if (team.nodes() > 1) {
    for (int rank = 0; rank < team.ranks(); ++rank) {
      if (team.is_here(rank)) continue;
      route.outgoing.pack(index(rank), part_for(rank), out_.data() + writing_.out_at[index(rank)] * item_bytes,
                          item_bytes);
    }
    deliver(writing_, Direction::to_blocks, item_bytes);
  } else if (plan_->owner_stores()) {
    team.meet_on_node();  // all have sorted
  }
  if (plan_->owner_stores()) {
    fill_my_block(image, item_bytes, sum);
  } else if (team.nodes() > 1) {
    std::byte* block = my_block(image, item_bytes).data();
    for (int rank = 0; rank < team.ranks(); ++rank) {
      if (team.is_here(rank)) continue;
      route.incoming.put(index(rank), in_.data() + writing_.in_at[index(rank)] * item_bytes, block, item_bytes,
                         {sum, plan_->block().first});
    }
  }
  team.meet_on_node();
  return {};
}

Status Exchange::from_image(std::byte* image, std::size_t item_bytes, std::byte* items) {
  const Team& team = plan_->team();
  const Route& route = plan_->reading();
  if (auto ok = reserve(reading_, item_bytes); !ok) return ok;
  std::byte* sorted = plan_->buckets().empty() ? items : my_sorted(item_bytes);
  const auto part_of = [&](int rank) { return sorted + plan_->sorted_before(rank) * item_bytes; };
  team.meet_on_node();
  for (std::size_t place = 0; place < team.members().size(); ++place) {
    const int rank = team.members()[place];
    route.outgoing.get(index(rank), image + layout_.first[place] * item_bytes, part_of(rank), item_bytes);
  }
  if (team.nodes() > 1) {
    const std::byte* block = my_block(image, item_bytes).data();
    for (int rank = 0; rank < team.ranks(); ++rank) {
      if (team.is_here(rank)) continue;
      route.incoming.get(index(rank), block, in_.data() + reading_.in_at[index(rank)] * item_bytes, item_bytes);
    }
    deliver(reading_, Direction::from_blocks, item_bytes);
    for (int rank = 0; rank < team.ranks(); ++rank) {
      if (team.is_here(rank)) continue;
      route.outgoing.unpack(index(rank), out_.data() + reading_.out_at[index(rank)] * item_bytes, part_of(rank),
                            item_bytes);
    }
  }
  if (sorted != items) plan_->buckets().unsort(sorted, items, item_bytes);
  team.meet_on_node();
  return {};
}

}  // namespace forebay::blocks
