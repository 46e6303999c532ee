#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "parts.h"
#include "tools.h"

namespace forebay::trajectory::bench {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{8} << 20;

// The disk as it is: a file past the page cache, in large pieces, one after the other. The memory is of the same kind
// as the store's. A disk reads into pages that happen to follow each other up to 2.5 times as fast as into others, so
// each repetition takes new ones.
class RawFile {
 public:
  RawFile(const std::string& directory, std::uint64_t bytes, std::string directory_of_memory)
      : bytes_(bytes / kPiece * kPiece), directory_of_memory_(std::move(directory_of_memory)) {
    file_ = nameless_file(directory, bytes_);
    const std::string self = fmt::format("/proc/self/fd/{}", file_.get());
    auto direct = open_file(self, O_RDWR | O_DIRECT);
    direct_ = direct.has_value();
    if (direct_) file_ = std::move(*direct);
  }
  bool direct() const { return direct_; }
  std::uint64_t bytes() const { return bytes_; }
  void take_new_memory() {
    memory_.emplace(directory_of_memory_, kPiece);
    memory_->touch();
  }
  void write() {
    for (std::uint64_t at = 0; at < bytes_; at += kPiece)
      if (::pwrite(file_.get(), memory_->data(), kPiece, static_cast<off_t>(at)) != kPiece) give_in("cannot write");
  }
  void read() {
    for (std::uint64_t at = 0; at < bytes_; at += kPiece)
      if (::pread(file_.get(), memory_->data(), kPiece, static_cast<off_t>(at)) != kPiece) give_in("cannot read");
  }

 private:
  std::uint64_t bytes_;
  std::string directory_of_memory_;
  std::optional<Room> memory_;
  Descriptor file_;
  bool direct_ = false;
};

// The counts of the store so far.
struct Counts {
  explicit Counts(const Store& store) : below(store.tier(1)) {
    need(forebay_trajectory_get_waited(store.get(), &waited_for_room, &waited_for_states));
  }
  forebay_tier_info below;
  double waited_for_room = 0;
  double waited_for_states = 0;
};

}  // namespace

nlohmann::json spill(const Settings& s) {
  const auto state = some_state(s.state_bytes);
  const std::uint64_t bytes = s.states * s.state_bytes;
  std::vector<double> put, put_waited, raw_write, sweep, get_waited, raw_read;
  std::vector<std::uint64_t> spilled, fetched;
  RawFile raw(s.disk, bytes / 2, s.directory);
  Store store({.directory = s.directory, .bytes = bytes / 3 * 2, .disk = s.disk, .disk_bytes = 2 * bytes});
  store.declare(s.state_bytes);
  for (int i = 0; i < s.repetitions; ++i) {
    raw.take_new_memory();
    const Counts before(store);
    alternate(
        i, [&] { raw_write.push_back(seconds([&] { raw.write(); })); },
        [&] {
          need(forebay_trajectory_rewind(store.get()));
          put.push_back(seconds([&] { put_all(store, s.states, state.data()); }));
        });
    const Counts between(store);
    // Back from the newest state that has spilled; those above it are memory, which `steady` measures.
    const std::uint64_t in_a_segment = states_of_a_segment(between.below.segment_bytes, s.state_bytes);
    const std::uint64_t states = (between.below.moved_in - before.below.moved_in) * in_a_segment;
    alternate(
        i, [&] { sweep.push_back(seconds([&] { read_back(store, states, s.state_bytes); })); },
        [&] { raw_read.push_back(seconds([&] { raw.read(); })); });
    const Counts after(store);
    spilled.push_back(states * s.state_bytes);
    fetched.push_back((after.below.fetched - between.below.fetched) * in_a_segment * s.state_bytes);
    put_waited.push_back(between.waited_for_room - before.waited_for_room);
    get_waited.push_back(after.waited_for_states - between.waited_for_states);
  }
  return {{"put", put},
          {"put_waited", put_waited},
          {"raw_write", raw_write},
          {"sweep", sweep},
          {"get_waited", get_waited},
          {"raw_read", raw_read},
          {"raw_bytes", raw.bytes()},
          {"spilled_bytes", spilled},
          {"fetched_bytes", fetched},
          {"direct", raw.direct()}};
}

}  // namespace forebay::trajectory::bench
