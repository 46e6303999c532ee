#include "drain/hold.h"

#include <fcntl.h>

#include <algorithm>
#include <bit>
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
  auto page = MappedFile::make(path, bytes_for(places));
  if (!page) return forward(page);
  Hold hold(std::move(*page));
  hold.words()[0] = 1;
  hold.words()[1] = places;
  for (std::size_t place = 1; place <= places; ++place)
    hold.words()[place * words_in_line] = std::bit_cast<std::uint64_t>(none);
  return hold;
}

// Nobody looks after the ranks any more: what they hand over stays.
Hold::~Hold() {
  if (words() != nullptr) free_nothing();
}

bool Hold::tells(int rank) const {
  return std::isfinite(std::bit_cast<double>(words()[(place_of(rank) + 1) * words_in_line].load()));
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
