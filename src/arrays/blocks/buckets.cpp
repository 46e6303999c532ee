#include "arrays/blocks/buckets.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "arrays/blocks/sized.h"

namespace forebay::blocks {
namespace {

// 2^14 doubles are 128 KiB, a part of the second cache; buckets of 2^13 or 2^15 places were slower. With more streams
// than these the first cache would have no line for each.
constexpr unsigned kLeastBits = 14;
constexpr std::uint64_t kMostStreams = 1024;
constexpr std::size_t kStreamLine = 64;

// As many items as a bucket has, aligned; where a block ends within, the items behind that are of the next bucket.
struct Chunk {
  std::uint64_t split = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t bucket = 0;
};

struct Chunks {
  explicit Chunks(const BlockMap& map) : bits(Buckets::bits(map)) {
    std::uint64_t end_of_block = 0;
    const auto begin_bucket = [&](std::uint64_t item) {
      if (item < end_of_block) return;
      first_of_block.push_back(buckets);
      end_of_block += map.block_items();
    };
    for (std::uint64_t item = 0; item < map.items(); item += std::uint64_t{1} << bits) {
      begin_bucket(item);
      Chunk chunk{.bucket = buckets++};
      if (end_of_block < std::min(item + (std::uint64_t{1} << bits), map.items())) {
        chunk.split = end_of_block;
        begin_bucket(end_of_block);
        ++buckets;
      }
      chunks.push_back(chunk);
    }
    first_of_block.push_back(buckets);
  }
  std::uint32_t bucket(std::uint64_t item) const {
    const Chunk& chunk = chunks[item >> bits];
    return chunk.bucket + (item >= chunk.split ? 1 : 0);
  }

  const unsigned bits;
  std::uint32_t buckets = 0;
  std::vector<std::uint32_t> first_of_block;
  std::vector<Chunk> chunks;
};

// Calls act(k, place) for the k-th item and its place among the sorted ones.
template <class Act>
void each_place(const Large<std::uint32_t>& bucket, std::vector<std::uint32_t> next, Act act) {
  for (std::size_t k = 0; k < bucket.size(); ++k) act(k, next[bucket[k]]++);
}

}  // namespace

// As many places for each bucket as it takes, and no more than a block has: a block ends in it at most once.
unsigned Buckets::bits(const BlockMap& map) {
  unsigned bits = kLeastBits;
  while (map.items() >> bits > kMostStreams) ++bits;
  return std::min(bits, static_cast<unsigned>(std::bit_width(map.block_items())) - 1);
}

Buckets::Buckets(std::span<const std::uint64_t> numbers, const BlockMap& map) {
  Chunks chunks(map);
  first_.resize(chunks.buckets + 1);
  bucket_.resize(numbers.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    bucket_[k] = chunks.bucket(numbers[k] - 1);
    ++first_[bucket_[k]];
  }
  std::uint32_t before = 0;
  for (std::uint32_t& each : first_) before += std::exchange(each, before);
  first_of_block_ = std::move(chunks.first_of_block);
}

std::uint64_t Buckets::bytes() const {
  return (bucket_.capacity() + first_.capacity() + first_of_block_.capacity()) * sizeof(std::uint32_t);
}

Large<std::uint32_t> Buckets::places(std::span<const std::uint64_t> numbers, const BlockMap& map) const {
  std::vector<std::uint64_t> first_item(first_.size());  // of the block of each bucket
  for (std::size_t block = 0; block + 1 < first_of_block_.size(); ++block) {
    std::fill(first_item.begin() + first_of_block_[block], first_item.begin() + first_of_block_[block + 1],
              block * map.block_items());
  }
  Large<std::uint32_t> places(numbers.size());
  each_place(bucket_, first_, [&](std::size_t k, std::uint32_t place) {
    places[place] = static_cast<std::uint32_t>(numbers[k] - 1 - first_item[bucket_[k]]);
    __builtin_prefetch(places.data() + place + kStreamLine / sizeof(std::uint32_t));
  });
  return places;
}

// The line that a stream comes to next is asked for: nothing happens where it lies behind the end.
void Buckets::sort(const std::byte* items, std::byte* sorted, std::size_t item_bytes) const {
  with_size(item_bytes, [&](auto size) {
    each_place(bucket_, first_, [&](std::size_t k, std::uint32_t place) {
      std::byte* to = sorted + place * size.value();
      std::memcpy(to, items + k * size.value(), size.value());
      __builtin_prefetch(to + kStreamLine);
    });
  });
}

void Buckets::unsort(const std::byte* sorted, std::byte* items, std::size_t item_bytes) const {
  with_size(item_bytes, [&](auto size) {
    each_place(bucket_, first_, [&](std::size_t k, std::uint32_t place) {
      const std::byte* from = sorted + place * size.value();
      std::memcpy(items + k * size.value(), from, size.value());
      __builtin_prefetch(from + kStreamLine);
    });
  });
}

}  // namespace forebay::blocks
