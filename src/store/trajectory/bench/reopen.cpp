#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "parts.h"
#include "store/segment/segment.h"
#include "tools.h"

namespace forebay::trajectory::bench {
namespace {

// Memory of the process itself that is in use; mapped states do not count.
std::uint64_t own_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "RssAnon:") {
      std::uint64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}

// Maps the largest file below, which is the one with the segments, and reads one line for each record that a segment
// may hold, where their headers stand.
void walk_plainly(const std::string& directory, std::uint64_t segment_bytes, std::uint64_t state_bytes) {
  std::filesystem::directory_entry largest;
  std::uintmax_t size = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file() || entry.file_size() < size) continue;
    largest = entry;
    size = entry.file_size();
  }
  const Descriptor file = need(open_file(largest.path(), O_RDONLY));
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) give_in("cannot map " + largest.path().string());
  const std::uint64_t headers = segment::header_place(states_of_a_segment(segment_bytes, state_bytes));
  for (std::uint64_t at = 0; at + segment_bytes <= size; at += segment_bytes)
    consume(static_cast<const std::byte*>(address) + at, headers);
  ::munmap(address, size);
}

}  // namespace

nlohmann::json reopen(const Settings& s) {
  const Store::Tiers tiers{.directory = s.directory, .bytes = budget_for(s.states, s.state_bytes), .keep = true};
  std::uint64_t segment_bytes = 0;
  {
    const auto state = some_state(s.state_bytes);
    Store store(tiers);
    store.declare(s.state_bytes);
    put_all(store, s.states, state.data());
    segment_bytes = store.tier(0).segment_bytes;
  }
  std::vector<double> open, walk, memory;
  for (int i = 0; i < s.repetitions; ++i) {
    alternate(
        i,
        [&] {
          const std::uint64_t before = own_memory();
          std::unique_ptr<Store> store;
          std::uint64_t found = 0;
          open.push_back(seconds([&] {
            store = std::make_unique<Store>(tiers);
            need(forebay_trajectory_count_steps(store->get(), &found));
          }));
          if (found != s.states) give_in(fmt::format("{} of {} steps were found", found, s.states));
          memory.push_back(static_cast<double>(own_memory() - before) / static_cast<double>(found));
        },
        [&] { walk.push_back(seconds([&] { walk_plainly(s.directory, segment_bytes, s.state_bytes); })); });
  }
  const Store store(tiers);
  need(forebay_trajectory_keep(store.get(), 0));
  return {{"open", open}, {"walk", walk}, {"index_bytes_per_record", memory}};
}

}  // namespace forebay::trajectory::bench
