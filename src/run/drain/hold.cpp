#include "run/drain/hold.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "run/contract/text.h"
#include "run/drain/drain.h"

namespace forebay::drain {
namespace {

using contract::value_of;

constexpr double nobody = contract::every_time, none = contract::no_time;

using Words = std::atomic<std::uint64_t>*;

std::size_t bytes_for(std::size_t lines) {
  constexpr std::size_t page = 4096;
  return (contract::hold_bytes(lines) + page - 1) / page * page;
}

std::size_t line_of(int rank) {
  return contract::hold_line_of(static_cast<std::size_t>(std::max(rank, 0)));
}

double time_at(Words words, std::size_t at) {
  return std::bit_cast<double>(words[at].load());
}
void put_time(Words words, std::size_t at, double time) {
  words[at].store(std::bit_cast<std::uint64_t>(time));
}

bool any_lacks(Words words, const std::vector<std::size_t>& lines, double time) {
  return std::ranges::any_of(lines, [&](std::size_t line) {
    return time_at(words, line + contract::hold_first_lacking) <= time &&
           time <= time_at(words, line + contract::hold_last_lacking);
  });
}

// Over the ranks of these lines.
std::optional<double> newest_complete(Words words, const std::vector<std::size_t>& lines) {
  double newest = nobody;
  for (const std::size_t line : lines) newest = std::min(newest, time_at(words, line + contract::hold_left));
  // Where it may lack something, the one before it is still there.
  if (any_lacks(words, lines, newest)) newest = time_at(words, contract::hold_complete);
  if (!std::isfinite(newest) || any_lacks(words, lines, newest)) return std::nullopt;
  return newest;
}

std::vector<std::size_t> all_lines(Words words) {
  std::vector<std::size_t> lines;
  for (std::size_t rank = 0; rank < words[contract::hold_lines].load(); ++rank)
    lines.push_back(contract::hold_line_of(rank));
  return lines;
}

// What a dead run left, of any content; no bytes where it is none of ours, of another contract, or has no line for one
// of the ranks.
MappedFile map_page(const std::string& path, const std::vector<int>& ranks) {
  auto file = open_file(path, O_RDWR | O_NOFOLLOW);
  struct stat status {};
  if (!file || ::fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode) || ranks.empty()) return {};
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < contract::hold_bytes(0)) return {};
  auto page = MappedFile::of(file->get(), 0, bytes, PROT_READ | PROT_WRITE, path);
  if (!page) return {};
  const auto words = reinterpret_cast<Words>(page->bytes().data());
  if (words[contract::hold_version].load() != contract::version) return {};
  const std::uint64_t lines = words[contract::hold_lines].load();
  if (lines >= bytes || bytes_for(lines) > bytes) return {};
  if (line_of(*std::ranges::max_element(ranks)) >= contract::hold_line_of(lines)) return {};
  return std::move(*page);
}

}  // namespace

Result<Hold> Hold::make(const std::string& path, int ranks) {
  const auto lines = static_cast<std::size_t>(std::max(ranks, 1));
  auto page = MappedFile::make(path, bytes_for(lines));
  if (!page) return forward(page);
  Hold hold(std::move(*page));
  hold.words()[contract::hold_held] = 1;
  hold.words()[contract::hold_lines] = lines;
  hold.words()[contract::hold_version] = contract::version;
  put_time(hold.words(), contract::hold_complete, none);
  for (const std::size_t line : all_lines(hold.words())) {
    put_time(hold.words(), line + contract::hold_left, none);
    put_time(hold.words(), line + contract::hold_first_lacking, nobody);
    put_time(hold.words(), line + contract::hold_last_lacking, none);
  }
  return hold;
}

// Nobody looks after the ranks any more: what they hand over stays.
Hold::~Hold() {
  if (words() != nullptr) free_nothing();
}

void Hold::add_rank(int rank) {
  lines_.push_back(line_of(rank));
}

void Hold::begin_look() {
  free_nothing();
  complete_ = newest_complete(words(), lines_);
}

void Hold::end_look(bool let) {
  let_ = let;
  words()[contract::hold_held] = let ? 0 : 1;
}

bool Hold::ranks_keep() const {
  return let_ && std::ranges::all_of(lines_, [&](std::size_t line) {
           return std::isfinite(time_at(words(), line + contract::hold_left));
         });
}

bool Hold::may_be_freed(const std::string& time) const {
  return let_ && complete_ && value_of(time) < *complete_;
}

// Where it was not known what is complete when the look began, it may have been before, and older times been freed.
bool Hold::keeps(int rank, const std::string& time) const {
  const double value = value_of(time);
  return value <= time_at(words(), line_of(rank) + contract::hold_left) &&
         (!let_ || (complete_ && value >= *complete_)) && !may_lack(time);
}

bool Hold::may_lack(const std::string& time) const {
  return any_lacks(words(), lines_, value_of(time));
}

std::set<std::string> left_by_all(const std::string& path, const std::vector<int>& ranks,
                                  const std::set<std::string>& times) {
  const MappedFile page = map_page(path, ranks);
  if (page.bytes().empty()) return {};
  std::vector<std::size_t> lines;
  for (const int rank : ranks) lines.push_back(line_of(rank));
  const auto words = reinterpret_cast<Words>(page.bytes().data());
  const auto newest = newest_complete(words, lines);
  std::set<std::string> found;
  for (const std::string& time : times)
    if (newest && value_of(time) <= *newest && !any_lacks(words, lines, value_of(time))) found.insert(time);
  return found;
}

void let_ranks_free(const std::string& home, const std::vector<int>& ranks) {
  const MappedFile page = map_page(join(home, hold_name), ranks);
  if (page.bytes().empty()) return;
  const auto words = reinterpret_cast<Words>(page.bytes().data());
  std::set<std::size_t> here;
  for (const int rank : ranks) here.insert(line_of(rank));
  // Ranks of other nodes tell nothing here.
  for (const std::size_t line : all_lines(words))
    if (!here.contains(line)) put_time(words, line + contract::hold_left, nobody);
  words[contract::hold_held] = 0;
}

}  // namespace forebay::drain
