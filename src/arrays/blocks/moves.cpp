#include "arrays/blocks/moves.h"

#include <algorithm>
#include <cstring>

#include "arrays/blocks/sized.h"
#include "store/segment/copy.h"

namespace forebay::blocks {
namespace {

// Positions that are listed, or the numbers 0, 1, 2, ... where there is no list.
struct Listed {
  const std::uint32_t* positions;
  std::size_t operator()(std::size_t k) const { return positions[k]; }
};
struct InOrder {
  std::size_t operator()(std::size_t k) const { return k; }
};

// Stores wait for their lines one after the other where these follow no stream, so lines are asked for ahead: with one
// item in four that lie on this rank, that makes scattering items a third faster, and runs of 32 of them twice as fast.
constexpr std::size_t kItemsAhead = 32, kRunsAhead = 16;
constexpr std::size_t kMostNear = std::size_t{1} << 20;    // what the second cache holds
constexpr std::size_t kMostSeen = std::size_t{1} << 14;    // of a run, at once: in the first cache
constexpr std::size_t kLine = 64, kMostAhead = 8 * kLine;  // of a run; longer ones are streams of their own

void fetch(const std::byte* at, std::size_t bytes) {
  for (std::size_t line = 0; line < std::min(bytes, kMostAhead); line += kLine) __builtin_prefetch(at + line);
}

// A visitor of items that are copied: it sums them, or does nothing.
struct Unseen {
  static constexpr bool kSees = false;
  template <class Size>
  void operator()(Size, const std::byte*, std::size_t, std::uint64_t) {}
};
struct Summed {
  static constexpr bool kSees = true;
  std::uint64_t first;
  slots::ItemSum sum;
  template <class Size>
  void operator()(Size size, const std::byte* items, std::size_t count, std::uint64_t place) {
    sum.add(size.value(), items, count, first + place);
  }
};

template <class Act>
void with_seen(Summing summing, Act act) {
  if (summing.sum == nullptr) {
    Unseen unseen;
    return act(unseen);
  }
  Summed summed{summing.first, {}};
  act(summed);
  summing.sum->add(summed.sum);
}

template <class Size, class To, class From, class Seen>
void copy_sized(Size size, std::byte* to, To place, const std::byte* from, From pick, std::size_t count, Seen& all) {
  Seen seen = all;  // no store to an item changes this one
  const auto copy = [&](std::size_t k) {
    const std::byte* item = from + pick(k) * size.value();
    std::memcpy(to + place(k) * size.value(), item, size.value());
    seen(size, item, 1, place(k));
  };
  std::size_t k = 0;
  for (; k + kItemsAhead < count; ++k) {
    __builtin_prefetch(to + place(k + kItemsAhead) * size.value());
    copy(k);
  }
  for (; k < count; ++k) copy(k);
  all = seen;
}

template <class To, class From, class Seen>
void copy_each(std::size_t item_bytes, std::byte* to, To place, const std::byte* from, From pick, std::size_t count,
               Seen& seen) {
  with_size(item_bytes, [&](auto size) { copy_sized(size, to, place, from, pick, count, seen); });
}

// to[place of k] = from[pick of k], where no list stands for 0, 1, 2, ...
void copy_places(std::size_t item_bytes, std::byte* to, const std::uint32_t* places, const std::byte* from,
                 const std::uint32_t* picks, std::size_t count) {
  Unseen unseen;
  if (places != nullptr && picks != nullptr) {
    copy_each(item_bytes, to, Listed{places}, from, Listed{picks}, count, unseen);
  } else if (places != nullptr) {
    copy_each(item_bytes, to, Listed{places}, from, InOrder{}, count, unseen);
  } else if (picks != nullptr) {
    copy_each(item_bytes, to, InOrder{}, from, Listed{picks}, count, unseen);
  } else if (count > 0) {  // or there may be no memory at all
    std::memcpy(to, from, count * item_bytes);
  }
}

// Around the caches, from the first whole line on.
void stream(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t before = std::min(bytes, -reinterpret_cast<std::uintptr_t>(to) % kLine);
  std::memcpy(to, from, before);
  segment::stream(to + before, from + before, bytes - before);
}

}  // namespace

Moves Moves::of_places(Large<std::uint32_t> to, std::span<const std::uint64_t> ends) {
  Moves moves(Form::places);
  for (const std::uint64_t end : ends) moves.sections_.push_back({end, end});
  moves.to_ = std::move(to);
  return moves;
}

void Moves::add(Run run) {
  added_ += run.count;
  if (form_ == Form::runs) {
    runs_.push_back(run);
    return;
  }
  for (std::uint32_t i = 0; i < run.count; ++i) {
    from_.push_back(run.from + i);
    to_.push_back(run.to + i);
  }
}

void Moves::end_section() {
  sections_.push_back({added_, form_ == Form::runs ? runs_.size() : to_.size()});
}

std::uint64_t Moves::bytes() const {
  return sections_.capacity() * sizeof(Section) + runs_.capacity() * sizeof(Run) +
         (from_.capacity() + to_.capacity()) * sizeof(std::uint32_t);
}

std::span<const Run> Moves::runs(std::size_t peer) const {
  return std::span(runs_).subspan(sections_[peer].entries, sections_[peer + 1].entries - sections_[peer].entries);
}

std::span<const std::uint32_t> Moves::to(std::size_t peer) const {
  return to().subspan(sections_[peer].entries, sections_[peer + 1].entries - sections_[peer].entries);
}

const std::uint32_t* Moves::from(std::size_t peer) const {
  return from_.empty() ? nullptr : from_.data() + sections_[peer].entries;
}

// Calls act(run) for what of a section is not dropped, in pieces.
template <class Act>
void Moves::each_left(std::size_t peer, std::span<const std::uint32_t> dropped, Act act) const {
  auto next = dropped.begin();
  std::uint32_t place = 0;
  const auto act_on_rest = [&](Run run) {
    const std::uint32_t end = place + run.count;
    while (next != dropped.end() && *next < end) {
      const std::uint32_t before = *next - place;
      if (before > 0) act(Run{run.from, run.to, before});
      run = {run.from + before + 1, run.to + before + 1, run.count - before - 1};
      place = *next++ + 1;
    }
    if (run.count > 0) act(run);
    place = end;
  };
  if (form_ == Form::runs) {
    for (const Run& run : runs(peer)) act_on_rest(run);
    return;
  }
  const std::span<const std::uint32_t> places = to(peer);
  const std::uint32_t* picks = from(peer);
  for (std::uint32_t k = 0; k < places.size(); ++k) act_on_rest({picks == nullptr ? k : picks[k], places[k], 1});
}

// Counted first: room that grows would be taken twice.
Moves Moves::left(std::span<const std::vector<std::uint32_t>> dropped, bool with_from) const {
  std::size_t entries = 0;
  for (std::size_t peer = 0; peer < sections(); ++peer) {
    each_left(peer, dropped[peer], [&](const Run&) { ++entries; });
  }
  Moves rest(form_);
  if (form_ == Form::runs) rest.runs_.reserve(entries);
  if (form_ == Form::places) rest.to_.reserve(entries);
  if (form_ == Form::places && with_from) rest.from_.reserve(entries);
  for (std::size_t peer = 0; peer < sections(); ++peer) {
    each_left(peer, dropped[peer], [&](const Run& run) {
      if (form_ == Form::runs || with_from) return rest.add(run);
      ++rest.added_;
      rest.to_.push_back(run.to);
    });
    rest.end_section();
  }
  return rest;
}

Moves Moves::without(std::span<const std::vector<std::uint32_t>> dropped) const {
  return left(dropped, true);
}

Moves Moves::messages_without(std::span<const std::vector<std::uint32_t>> dropped) const {
  Moves rest = left(dropped, false);
  rest.count_as_messages();
  return rest;
}

void Moves::count_as_messages() {
  from_ = {};
  for (std::size_t peer = 0; peer < sections(); ++peer) {
    std::uint32_t place = 0;
    for (std::uint64_t run = sections_[peer].entries; form_ == Form::runs && run < sections_[peer + 1].entries; ++run) {
      runs_[run].from = place;
      place += runs_[run].count;
    }
  }
}

// Calls copy(run) for each, with the block's lines of those to come asked for.
template <class Copy>
void Moves::each_run(std::size_t peer, const std::byte* block, std::size_t item_bytes, Copy copy) const {
  const std::span<const Run> all = runs(peer);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k + kRunsAhead < all.size()) {
      const Run& later = all[k + kRunsAhead];
      fetch(block + later.to * item_bytes, later.count * item_bytes);
    }
    copy(all[k]);
  }
}

template <class Size, class Seen>
void copy_run(Size size, const Run& run, const std::byte* items, std::byte* block, Seen& seen) {
  // Items that are also seen are read only once: piece by piece.
  const std::size_t most = Seen::kSees ? std::max<std::size_t>(1, kMostSeen / size.value()) : run.count;
  for (std::size_t done = 0; done < run.count; done += most) {
    const std::size_t count = std::min(most, run.count - done), to = run.to + done;
    const std::byte* from = items + (run.from + done) * size.value();
    std::memcpy(block + to * size.value(), from, count * size.value());
    seen(size, from, count, to);
  }
}

template <class Seen>
void Moves::put_seen(std::size_t peer, const std::byte* items, std::byte* block, std::size_t item_bytes,
                     Seen& seen) const {
  if (form_ == Form::runs) {
    with_size(item_bytes, [&](auto size) {
      each_run(peer, block, item_bytes, [&](const Run& run) { copy_run(size, run, items, block, seen); });
    });
    return;
  }
  const Listed places{to(peer).data()};
  if (const std::uint32_t* picks = from(peer)) {
    copy_each(item_bytes, block, places, items, Listed{picks}, this->items(peer), seen);
  } else {
    copy_each(item_bytes, block, places, items, InOrder{}, this->items(peer), seen);
  }
}

void Moves::put(std::size_t peer, const std::byte* items, std::byte* block, std::size_t item_bytes,
                Summing summing) const {
  with_seen(summing, [&](auto& seen) { put_seen(peer, items, block, item_bytes, seen); });
}

void Moves::fill_by_stretches(std::span<const Source> sources, std::byte* block, std::size_t item_bytes,
                              std::uint64_t end, std::uint64_t stretch, Summing summing) const {
  with_seen(summing, [&](auto& seen) { fill_seen(sources, block, item_bytes, end, stretch, seen); });
}

template <class Seen>
void Moves::fill_seen(std::span<const Source> sources, std::byte* block, std::size_t item_bytes, std::uint64_t end,
                      std::uint64_t stretch, Seen& seen) const {
  struct Rest {
    std::span<const std::uint32_t> to;
    const std::byte* items;
  };
  std::vector<Rest> rests;
  std::uint64_t left = 0;
  for (const Source& source : sources) {
    rests.push_back({to(source.peer), source.items});
    left += rests.back().to.size();
  }
  const std::uint64_t bytes = std::min(stretch, left) * item_bytes;
  if (bytes > kMostNear) {  // large items share few lines, and so many others are far between
    for (const Source& source : sources) put_seen(source.peer, source.items, block, item_bytes, seen);
    return;
  }
  Large<std::byte> buffer(bytes);
  std::byte* const near = buffer.data();
  with_size(item_bytes, [&](auto size) {
    for (std::uint64_t begin = 0; begin < left; begin = end, end += stretch) {
      end = std::min(end, left);
      for (Rest& rest : rests) {
        std::size_t k = 0;
        for (; k < rest.to.size() && rest.to[k] < end; ++k) {
          std::memcpy(near + (rest.to[k] - begin) * size.value(), rest.items + k * size.value(), size.value());
        }
        rest = {rest.to.subspan(k), rest.items + k * size.value()};
      }
      seen(size, near, end - begin, begin);
      stream(block + begin * size.value(), near, (end - begin) * size.value());
    }
  });
  segment::fence_stores();
}

void Moves::get(std::size_t peer, const std::byte* block, std::byte* items, std::size_t item_bytes) const {
  if (form_ == Form::places) {
    return copy_places(item_bytes, items, from(peer), block, to(peer).data(), this->items(peer));
  }
  each_run(peer, block, item_bytes, [&](const Run& run) {
    std::memcpy(items + run.from * item_bytes, block + run.to * item_bytes, run.count * item_bytes);
  });
}

void Moves::pack(std::size_t peer, const std::byte* items, std::byte* message, std::size_t item_bytes) const {
  if (form_ == Form::places) return copy_places(item_bytes, message, nullptr, items, from(peer), this->items(peer));
  for (const Run& run : runs(peer)) {
    std::memcpy(message, items + run.from * item_bytes, run.count * item_bytes);
    message += run.count * item_bytes;
  }
}

void Moves::unpack(std::size_t peer, const std::byte* message, std::byte* items, std::size_t item_bytes) const {
  if (form_ == Form::places) return copy_places(item_bytes, items, from(peer), message, nullptr, this->items(peer));
  for (const Run& run : runs(peer)) {
    std::memcpy(items + run.from * item_bytes, message, run.count * item_bytes);
    message += run.count * item_bytes;
  }
}

}  // namespace forebay::blocks
