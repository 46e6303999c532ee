#include "drain/hold.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <limits>
#include <utility>

namespace forebay::drain {
namespace {

// As in src/redirect/redirect.h.
constexpr std::size_t words_in_line = 8;
constexpr double none = -std::numeric_limits<double>::infinity();

std::size_t bytes_for(std::size_t places) {
  constexpr std::size_t page = 4096;
  const std::size_t bytes = (places + 1) * words_in_line * sizeof(std::uint64_t);
  return (bytes + page - 1) / page * page;
}

std::size_t place_of(int rank) {
  return static_cast<std::size_t>(std::max(rank, 0));
}

}  // namespace

Result<Hold> Hold::make(const std::string& path, int ranks) {
  const auto places = static_cast<std::size_t>(std::max(ranks, 1));
  const std::size_t size = bytes_for(places);
  auto file = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (!file) return forward(file);
  // None could be had by touching it when the pool is full (SIGBUS).
  if (const int failed = ::posix_fallocate(file->get(), 0, static_cast<off_t>(size)); failed != 0) {
    errno = failed;
    return errno_error("cannot take room for", path);
  }
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
  if (mapped == MAP_FAILED) return errno_error("cannot map", path);
  auto* words = static_cast<std::atomic<std::uint64_t>*>(mapped);
  words[0] = 1;
  words[1] = places;
  for (std::size_t place = 1; place <= places; ++place)
    words[place * words_in_line] = std::bit_cast<std::uint64_t>(none);
  return Hold(words, size);
}

Hold::Hold(Hold&& other) noexcept : words_(std::exchange(other.words_, nullptr)), size_(other.size_) {}

// Nobody looks after the ranks any more: what they hand over stays.
Hold::~Hold() {
  if (words_ == nullptr) return;
  free_nothing();
  ::munmap(words_, size_);
}

bool Hold::tells(int rank) const {
  return std::isfinite(std::bit_cast<double>(words_[(place_of(rank) + 1) * words_in_line].load()));
}

std::optional<double> left_by_all(const std::string& path, const std::vector<int>& ranks) {
  auto file = open_file(path, O_RDONLY | O_NOFOLLOW);
  if (!file || ranks.empty()) return std::nullopt;
  std::optional<double> left;
  for (const int rank : ranks) {
    double time = 0;
    const auto at = static_cast<off_t>((place_of(rank) + 1) * words_in_line * sizeof time);
    if (::pread(file->get(), &time, sizeof time, at) != static_cast<ssize_t>(sizeof time) || !std::isfinite(time))
      return std::nullopt;
    left = left ? std::min(*left, time) : time;
  }
  return left;
}

}  // namespace forebay::drain
