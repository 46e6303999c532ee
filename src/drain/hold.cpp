#include "drain/hold.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "drain/drain.h"

namespace forebay::drain {
namespace {

// As in src/redirect/redirect.h. The line of a rank begins with the time that it left, and that which may lack a file.
constexpr std::size_t words_in_line = 8;
constexpr double none = -std::numeric_limits<double>::infinity(), nobody = std::numeric_limits<double>::infinity();

using Words = std::atomic<std::uint64_t>*;

std::size_t bytes_for(std::size_t places) {
  constexpr std::size_t page = 4096;
  const std::size_t bytes = (places + 1) * words_in_line * sizeof(std::uint64_t);
  return (bytes + page - 1) / page * page;
}

std::size_t line_of(int rank) {
  return (static_cast<std::size_t>(std::max(rank, 0)) + 1) * words_in_line;
}

// The same value that ranks read from a name: theirs is the quotient of two numbers that a long double holds.
double value_of(const std::string& time) {
  return static_cast<double>(std::strtold(time.c_str(), nullptr));
}

double time_at(Words words, std::size_t place) {
  return std::bit_cast<double>(words[place].load());
}
void put_time(Words words, std::size_t place, double time) {
  words[place].store(std::bit_cast<std::uint64_t>(time));
}

// What a dead run left, of any content; no bytes where it is none of ours, or has no line for one of the ranks.
MappedFile map_page(const std::string& path, const std::vector<int>& ranks) {
  auto file = open_file(path, O_RDWR | O_NOFOLLOW);
  struct stat status {};
  if (!file || ::fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode) || ranks.empty()) return {};
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < 2 * sizeof(std::uint64_t)) return {};
  auto page = MappedFile::of(file->get(), 0, bytes, PROT_READ | PROT_WRITE, path);
  if (!page) return {};
  const std::uint64_t places = reinterpret_cast<Words>(page->bytes().data())[1].load();
  if (places >= bytes || bytes_for(places) > bytes) return {};
  if (line_of(*std::max_element(ranks.begin(), ranks.end())) > places * words_in_line) return {};
  return std::move(*page);
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
    for (const std::size_t word : {0, 1}) put_time(hold.words(), place * words_in_line + word, none);
  return hold;
}

// Nobody looks after the ranks any more: what they hand over stays.
Hold::~Hold() {
  if (words() != nullptr) free_nothing();
}

void Hold::begin_look() {
  free_nothing();
  left_ = newest_left_by_all();
}

void Hold::end_look(bool let) {
  let_ = let;
  words()[0] = let ? 0 : 1;
}

double Hold::newest_left_by_all() const {
  double left = nobody;
  for (std::size_t place = 1; place <= words()[1].load(); ++place)
    left = std::min(left, time_at(words(), place * words_in_line));
  return left;
}

bool Hold::may_be_freed(const std::string& time) const {
  return let_ && value_of(time) < left_;
}

bool Hold::keeps(int rank, const std::string& time) const {
  return value_of(time) <= time_at(words(), line_of(rank)) && !may_be_freed(time) && !may_lack(time);
}

bool Hold::may_lack(const std::string& time) const {
  const double value = value_of(time);
  for (std::size_t place = 1; place <= words()[1].load(); ++place)
    if (value <= time_at(words(), place * words_in_line + 1)) return true;
  return false;
}

std::optional<std::string> left_by_all(const std::string& path, const std::vector<int>& ranks,
                                       const std::set<std::string>& times) {
  const MappedFile page = map_page(path, ranks);
  const auto words = reinterpret_cast<Words>(page.bytes().data());
  if (words == nullptr) return std::nullopt;
  double left = nobody, lacking = none;
  for (const int rank : ranks) {
    left = std::min(left, time_at(words, line_of(rank)));
    lacking = std::max(lacking, time_at(words, line_of(rank) + 1));
  }
  if (!std::isfinite(left) || left <= lacking) return std::nullopt;
  const auto found =
      std::find_if(times.begin(), times.end(), [&](const std::string& time) { return value_of(time) == left; });
  return found != times.end() ? std::optional(*found) : std::nullopt;
}

void let_ranks_free(const std::string& home, const std::vector<int>& ranks) {
  const MappedFile page = map_page(join(home, hold_name), ranks);
  const auto words = reinterpret_cast<Words>(page.bytes().data());
  if (words == nullptr) return;
  std::set<std::size_t> here;
  for (const int rank : ranks) here.insert(line_of(rank));
  // Ranks of other nodes tell nothing here.
  for (std::size_t place = 1; place <= words[1].load(); ++place)
    if (!here.contains(place * words_in_line)) put_time(words, place * words_in_line, nobody);
  words[0] = 0;
}

}  // namespace forebay::drain
