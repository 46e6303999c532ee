#include "tools.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "store/segment/segment.h"

namespace forebay::trajectory::bench {
namespace {

// A volatile store at the end of each reading keeps all of them.
volatile std::uint64_t consumed = 0;

}  // namespace

void give_in(const std::string& text) {
  fmt::print(stderr, "trajectory_bench: {}\n", text);
  std::exit(1);
}

void need(int status) {
  if (status != FOREBAY_OK) give_in(fmt::format("{}: {}", forebay_status_get_name(status), forebay_error_get_text()));
}

void need(const Status& status) {
  if (!status) give_in(status.error().text());
}

void consume(const void* memory, std::uint64_t bytes) {
  constexpr std::size_t kWords = 8;  // in a line
  const auto* word = static_cast<const std::uint64_t*>(memory);
  std::uint64_t sums[4 * kWords] = {};
  std::uint64_t lines = bytes / (kWords * sizeof(*word));
  for (; lines >= 4; lines -= 4, word += 4 * kWords) {
    for (std::size_t i = 0; i < 4 * kWords; ++i) sums[i] += word[i];
  }
  for (; lines > 0; --lines, word += kWords) {
    for (std::size_t i = 0; i < kWords; ++i) sums[i] += word[i];
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t part : sums) sum += part;
  consumed = sum;
}

std::vector<std::uint64_t> some_state(std::uint64_t bytes) {
  std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0x3ff0'0000'0000'0000 + i * 0x9e37'79b9'7f4a;
  return words;
}

Descriptor nameless_file(const std::string& directory, std::uint64_t bytes) {
  Descriptor file = need(open_file(directory, O_RDWR | O_TMPFILE, 0600));
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) give_in("cannot make a file in " + directory);
  return file;
}

Room::Room(const std::string& directory, std::uint64_t bytes) {
  const Descriptor file = nameless_file(directory, bytes);
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) give_in("cannot map a file of " + directory);
  memory_ = {static_cast<std::byte*>(address), bytes};
}

Room::~Room() {
  ::munmap(memory_.data(), memory_.size());
}

void Room::touch() {
  if (::madvise(memory_.data(), memory_.size(), MADV_POPULATE_WRITE) == 0) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < memory_.size(); at += page) static_cast<volatile std::byte*>(memory_.data())[at] = {};
}

Store::Store(const Tiers& tiers) {
  const std::unique_ptr<forebay_options, decltype(&forebay_options_free)> options(forebay_options_create(),
                                                                                  forebay_options_free);
  need(forebay_options_set(options.get(), "name", "bench"));
  need(forebay_options_add_pool(options.get(), tiers.directory.c_str(), tiers.bytes));
  if (tiers.segment_bytes != 0) {
    need(forebay_options_set_integer(options.get(), "segment-bytes", static_cast<std::int64_t>(tiers.segment_bytes)));
  }
  if (!tiers.disk.empty()) need(forebay_options_add_shared(options.get(), tiers.disk.c_str(), tiers.disk_bytes));
  need(forebay_options_set_integer(options.get(), "rank", tiers.rank));
  need(forebay_options_set_integer(options.get(), "ranks", tiers.ranks));
  need(forebay_options_set(options.get(), "keep", tiers.keep ? "on" : "off"));
  forebay_trajectory* opened = nullptr;
  need(forebay_trajectory_open(options.get(), &opened));
  handle_.reset(opened);
}

void Store::declare(std::uint64_t state_bytes) {
  need(forebay_trajectory_declare(get(), "state", FOREBAY_BYTES, state_bytes, nullptr));
}

void Store::declare_numbers(std::uint64_t count, double accepted_error) {
  need(forebay_trajectory_declare(get(), "state", FOREBAY_FLOAT64, count, nullptr));
  need(forebay_trajectory_set_accepted_error(get(), 0, accepted_error));
}

forebay_tier_info Store::tier(int number) const {
  forebay_tier_info info{};
  info.size = sizeof(info);
  need(forebay_trajectory_describe_tier(get(), number, &info));
  return info;
}

std::uint64_t budget_for(std::uint64_t states, std::uint64_t state_bytes) {
  constexpr std::uint64_t kHeaders = 4096, kSegments = std::uint64_t{256} << 20;
  return states * (state_bytes + 64) + states * state_bytes / 2 + kHeaders * 64 + kSegments;
}

std::uint64_t states_of_a_segment(std::uint64_t segment_bytes, std::uint64_t state_bytes) {
  return (segment_bytes - segment::kFirstRecord) / (segment::kLine + segment::round_to_lines(state_bytes));
}

void put_all(const Store& store, std::uint64_t states, const void* state) {
  for (std::uint64_t k = 0; k < states; ++k)
    need(forebay_trajectory_put(store.get(), static_cast<std::int64_t>(k), static_cast<double>(k), &state, 1));
}

void read_back(const Store& store, std::uint64_t states, std::uint64_t state_bytes) {
  const auto last = static_cast<std::int64_t>(states) - 1;
  need(forebay_trajectory_reverse(store.get(), last));
  for (std::int64_t step = last; step >= 0; --step) {
    const void* state = nullptr;
    need(forebay_trajectory_get(store.get(), step, 0, &state));
    consume(state, state_bytes);
    need(forebay_trajectory_release(store.get(), step));
  }
}

}  // namespace forebay::trajectory::bench
