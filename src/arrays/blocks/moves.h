// Copies of items between the order in which a rank holds them and the order of a block, or of a message.
//
// A list of moves is cut into sections, one for each peer. It is stored as runs where items that follow each other here
// do so there too, and as one place for each item otherwise: 12 bytes a run, 4 bytes an item (8 where some were left
// out).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arrays/blocks/large.h"
#include "arrays/slots/slots.h"

namespace forebay::blocks {

struct Run {
  std::uint32_t from = 0;  // position among the items of this side, as they are handed to put() and its like
  std::uint32_t to = 0;    // position in the block
  std::uint32_t count = 0;
};

// Where items that are put into a block are summed while they are copied; `first`: that of the block, in its array.
struct Summing {
  slots::ItemSum* sum = nullptr;  // none: nowhere
  std::uint64_t first = 0;
};

class Moves {
 public:
  enum class Form { runs, places };

  Moves() = default;
  // Sections are filled one after the other: add() and then end_section(), once for each peer.
  explicit Moves(Form form) : form_(form) {}
  // The items of each section follow each other; the k-th of all goes to to[k]. ends[p] is where the part of peer p
  // ends.
  static Moves of_places(Large<std::uint32_t> to, std::span<const std::uint64_t> ends);
  void reserve(std::size_t runs) { runs_.reserve(runs); }
  void add(Run run);
  void end_section();

  Form form() const { return form_; }
  std::size_t sections() const { return sections_.size() - 1; }
  std::uint64_t items_before(std::size_t peer) const { return sections_[peer].items; }
  std::uint64_t items(std::size_t peer) const { return sections_[peer + 1].items - sections_[peer].items; }
  std::uint64_t items() const { return sections_.back().items; }
  std::uint64_t bytes() const;  // of memory
  std::span<const Run> runs() const { return runs_; }
  std::span<const Run> runs(std::size_t peer) const;
  std::span<const std::uint32_t> to(std::size_t peer) const;  // of places
  std::span<const std::uint32_t> to() const { return {to_.data(), to_.size()}; }

  // The same moves without some items of each section, which are named by their rising places in it.
  Moves without(std::span<const std::vector<std::uint32_t>> dropped) const;
  // For the side that receives messages: the items of each section are counted as they follow each other in its
  // message; in one without those that were dropped, too.
  void count_as_messages();
  Moves messages_without(std::span<const std::vector<std::uint32_t>> dropped) const;

  // block[to] = items[from], and back. Where places are given, `items` are those of the section.
  void put(std::size_t peer, const std::byte* items, std::byte* block, std::size_t item_bytes,
           Summing summing = {}) const;
  void get(std::size_t peer, const std::byte* block, std::byte* items, std::size_t item_bytes) const;
  // Fills a whole block with places of several peers, none of which was left out. Each peer's places rise by stretches:
  // places below `end` come first, then those of the next `stretch` and so on, in any order within. Each stretch is put
  // together in a near cache and stored at once. So lines of the block are stored once, not fetched by every peer.
  // Where a stretch is larger than the cache, it is put() after all.
  struct Source {
    std::size_t peer = 0;
    const std::byte* items = nullptr;
  };
  void fill_by_stretches(std::span<const Source> sources, std::byte* block, std::size_t item_bytes, std::uint64_t end,
                         std::uint64_t stretch, Summing summing = {}) const;
  // message[k] = items[from of k], and back.
  void pack(std::size_t peer, const std::byte* items, std::byte* message, std::size_t item_bytes) const;
  void unpack(std::size_t peer, const std::byte* message, std::byte* items, std::size_t item_bytes) const;

 private:
  struct Section {
    std::uint64_t items = 0;
    std::uint64_t entries = 0;  // runs, or items
  };
  const std::uint32_t* from(std::size_t peer) const;
  template <class Act>
  void each_left(std::size_t peer, std::span<const std::uint32_t> dropped, Act act) const;
  Moves left(std::span<const std::vector<std::uint32_t>> dropped, bool with_from) const;
  template <class Seen>
  void put_seen(std::size_t peer, const std::byte* items, std::byte* block, std::size_t item_bytes, Seen& seen) const;
  template <class Seen>
  void fill_seen(std::span<const Source> sources, std::byte* block, std::size_t item_bytes, std::uint64_t end,
                 std::uint64_t stretch, Seen& seen) const;
  template <class Copy>
  void each_run(std::size_t peer, const std::byte* block, std::size_t item_bytes, Copy copy) const;

  Form form_ = Form::places;
  std::vector<Section> sections_{Section{}};
  std::uint64_t added_ = 0;
  std::vector<Run> runs_;
  Large<std::uint32_t> from_;  // empty: the k-th item of a section is at k
  Large<std::uint32_t> to_;
};

}  // namespace forebay::blocks
