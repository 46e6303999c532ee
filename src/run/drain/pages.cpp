#include "run/drain/pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace forebay::drain {
namespace {

// A writing thread that is further behind than so many lines has stopped writing times.
constexpr std::uint64_t most_lines_behind = contract::most_restart_points;

// nullopt: it is being written, or another has its place.
std::optional<core::Line> line_at(const contract::RankPage& page, std::uint64_t sequence) {
  const contract::TimeLine& from = page.line(sequence);
  if (from.sequence.load(std::memory_order_acquire) != sequence) return std::nullopt;
  std::array<char, contract::most_time_name + 1> name{};
  for (std::size_t i = 0; i < contract::TimeLine::name_words; ++i) {
    const std::uint64_t word = from.name[i].load(std::memory_order_acquire);
    std::memcpy(name.data() + i * sizeof word, &word, sizeof word);
  }
  core::Line line;
  line.id = {std::string(name.data()), sequence};
  line.begun_at = static_cast<core::Ticks>(from.begun_at.load(std::memory_order_acquire));
  line.state = from.state.load(std::memory_order_acquire);
  const std::uint64_t mesh = from.mesh.load(std::memory_order_acquire);
  const std::uint64_t flags = from.flags.load(std::memory_order_acquire);
  line.cut = (flags & contract::line_is_cut) != 0;
  line.begun_before = (flags & contract::line_was_begun_before) != 0;
  if (from.sequence.load(std::memory_order_relaxed) != sequence || line.id.time.empty()) return std::nullopt;
  if (mesh != 0) line.mesh = core::LineId{{}, mesh};
  return line;
}

}  // namespace

Result<Pages> Pages::make(const std::string& path, int ranks) {
  const auto count = static_cast<std::size_t>(std::max(ranks, 1));
  auto file = MappedFile::make(path, contract::bytes_of_pages(count));
  if (!file) return forward(file);
  Pages pages(std::move(*file));
  pages.node().ranks = count;
  pages.node().version = contract::version;
  return pages;
}

std::optional<Pages> Pages::left_in(const std::string& path) {
  auto file = open_file(path, O_RDWR | O_NOFOLLOW);
  struct stat status {};
  if (!file || ::fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < contract::bytes_of_pages(1)) return std::nullopt;
  auto mapped = MappedFile::of(file->get(), 0, bytes, PROT_READ | PROT_WRITE, path);
  if (!mapped) return std::nullopt;
  Pages pages(std::move(*mapped));
  const std::uint64_t ranks = pages.node().ranks;
  if (pages.node().version != contract::version || ranks >= bytes || contract::bytes_of_pages(ranks) > bytes)
    return std::nullopt;
  return pages;
}

contract::RankPage* Pages::of(int rank) const {
  const auto index = static_cast<std::uint64_t>(std::max(rank, 0));
  return index < node().ranks ? node().pages() + index : nullptr;
}

void Pages::clear_wish(const std::vector<int>& ranks) {
  for (const int rank : ranks)
    if (contract::RankPage* page = of(rank)) page->kept = 0;
  node().look = 0;
}

void Pages::note_ended(int rank) {
  if (contract::RankPage* page = of(rank)) page->ended = 1;
}

core::Page Pages::page_of(int rank) const {
  const contract::RankPage* page = of(rank);
  if (page == nullptr) return {};
  const std::uint64_t begun = page->begun, place = page->place;
  const bool still_writes = begun < place + most_lines_behind;
  return {.begun = begun, .states = page->states, .place = still_writes ? place : 0, .ended = page->ended != 0};
}

std::optional<core::Line> Pages::line(int rank, std::uint64_t sequence) const {
  const contract::RankPage* page = of(rank);
  return page == nullptr ? std::nullopt : line_at(*page, sequence);
}

}  // namespace forebay::drain
