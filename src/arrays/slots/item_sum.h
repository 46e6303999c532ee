// The checksum of what a staged image has of an array, made by those who copy its items there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace forebay::slots {

// Each word of an item is mixed with its place in the array, and the results are added. So whoever copies items adds
// theirs while the processor has them, in any order, and nobody reads the image for it. Mixing (splitmix64,
// doi:10.1145/2660193.2660195) is one to one: what changes within one word is always seen.
class ItemSum {
 public:
  // `count` items that follow each other, the first one at `place`, counted in items of the array.
  [[gnu::always_inline]] void add(std::size_t item_bytes, const std::byte* items, std::size_t count,
                                  std::uint64_t place) {
    const std::size_t whole_words = item_bytes / kWord, rest = item_bytes % kWord;
    std::uint64_t word_place = place * (whole_words + (rest > 0 ? 1 : 0)), sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t word = 0; word < whole_words; ++word, items += kWord)
        sum += mixed(word_of(items, kWord), word_place++);
      if (rest == 0) continue;
      sum += mixed(word_of(items, rest), word_place++);
      items += rest;
    }
    value_ += sum;
    bytes_ += count * item_bytes;
  }
  void add(const ItemSum& other) {
    value_ += other.value_;
    bytes_ += other.bytes_;
  }

  std::uint64_t value() const { return value_; }
  std::uint64_t bytes() const { return bytes_; }  // that were added

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);

  static std::uint64_t word_of(const std::byte* at, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, bytes);
    return word;
  }
  static std::uint64_t mixed(std::uint64_t word, std::uint64_t place) {
    word += (place + 1) * 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
  }

  std::uint64_t value_ = 0, bytes_ = 0;
};

}  // namespace forebay::slots
