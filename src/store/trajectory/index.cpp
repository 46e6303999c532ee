#include "store/trajectory/index.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace forebay::trajectory {

constexpr std::size_t kFirstCapacity = 4096;

Index::~Index() {
  if (memory_ != nullptr) ::munmap(memory_, memory_bytes());
}

std::size_t Index::position(std::int64_t step) noexcept {
  if (size_ == 0) return 0;
  Entry* const begin = memory_ + first_;
  if (step > begin[size_ - 1].step) return size_;
  if (step <= begin[0].step) return 0;
  const Entry* found =
      std::lower_bound(begin, begin + size_, step, [](const Entry& entry, std::int64_t s) { return entry.step < s; });
  return static_cast<std::size_t>(found - begin);
}

Entry* Index::search(std::int64_t step) noexcept {
  const std::size_t at = position(step);
  if (at == size_ || memory_[first_ + at].step != step) return nullptr;
  return memory_ + first_ + at;
}

bool Index::make_room() noexcept {
  if (first_ + size_ < capacity_) return true;
  // Where old steps were dropped from the front, that room is used before more is asked for.
  if (first_ > size_) {
    std::memmove(memory_, memory_ + first_, size_ * sizeof(Entry));
    first_ = 0;
    return true;
  }
  const std::size_t more = capacity_ == 0 ? kFirstCapacity : 2 * capacity_;
  void* grown = capacity_ == 0
                    ? ::mmap(nullptr, more * sizeof(Entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                    : ::mremap(memory_, memory_bytes(), more * sizeof(Entry), MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) return false;
  memory_ = static_cast<Entry*>(grown);
  capacity_ = more;
  return true;
}

Entry* Index::insert(std::int64_t step) noexcept {
  if (!make_room()) return nullptr;
  const std::size_t at = position(step);
  Entry* const place = memory_ + first_ + at;
  if (at < size_) std::memmove(place + 1, place, (size_ - at) * sizeof(Entry));
  *place = {};
  place->step = step;
  ++size_;
  return place;
}

void Index::erase(Entry* entry) noexcept {
  Entry* const begin = memory_ + first_;
  const auto at = static_cast<std::size_t>(entry - begin);
  if (at < size_ / 2) {
    std::memmove(begin + 1, begin, at * sizeof(Entry));
    ++first_;
  } else {
    std::memmove(entry, entry + 1, (size_ - at - 1) * sizeof(Entry));
  }
  --size_;
}

void Index::clear() noexcept {
  first_ = 0;
  size_ = 0;
}

}  // namespace forebay::trajectory
