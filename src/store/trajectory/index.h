// Where every stored step lies: 32 bytes a step, sorted by step.
#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::trajectory {

struct Entry {
  std::int64_t step = 0;
  double time = 0;
  std::uint32_t segment = 0;  // number of the segment in Tiers; kNone while the state has none yet
  std::uint32_t record = 0;   // number of the record in the segment
  std::uint32_t payload = 0;  // where it begins in the segment, in lines of 64 bytes
  std::uint32_t pins = 0;     // gets without release
};
static_assert(sizeof(Entry) == 32);

// Steps usually come in order and are read in reverse, without gaps: then every operation takes constant time. Not
// thread-safe. Pointers to entries hold until the next insert or erase.
class Index {
 public:
  Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;
  ~Index();

  std::size_t size() const noexcept { return size_; }
  Entry& operator[](std::size_t position) noexcept { return memory_[first_ + position]; }
  // nullptr when the step is not stored. Where none is missing, its place is known without a search.
  Entry* find(std::int64_t step) noexcept {
    if (size_ == 0) return nullptr;
    Entry* const begin = memory_ + first_;
    const std::uint64_t guess = static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(begin->step);
    return guess < size_ && begin[guess].step == step ? begin + guess : search(step);
  }
  // Position of the first entry whose step is `step` or higher.
  std::size_t position(std::int64_t step) noexcept;
  // An entry for a step that is not stored yet, all else 0; nullptr without memory.
  Entry* insert(std::int64_t step) noexcept;
  void erase(Entry* entry) noexcept;
  void clear() noexcept;
  std::size_t memory_bytes() const noexcept { return capacity_ * sizeof(Entry); }

 private:
  Entry* search(std::int64_t step) noexcept;
  bool make_room() noexcept;

  Entry* memory_ = nullptr;  // a mapping of its own, so that growing moves pages and copies nothing
  std::size_t capacity_ = 0;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace forebay::trajectory
