#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "parts.h"
#include "tools.h"

namespace forebay::trajectory::bench {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{8} << 20;

// The disk as it is: a file past the page cache, in large pieces, one after the other.
class RawFile {
 public:
  RawFile(const std::string& directory, std::uint64_t bytes)
      : bytes_(bytes / kPiece * kPiece), memory_(directory_of_memory(), kPiece) {
    memory_.touch();
    file_ = nameless_file(directory, bytes_);
    const std::string self = fmt::format("/proc/self/fd/{}", file_.get());
    auto direct = open_file(self, O_RDWR | O_DIRECT);
    direct_ = direct.has_value();
    if (direct_) file_ = std::move(*direct);
  }
  bool direct() const { return direct_; }
  std::uint64_t bytes() const { return bytes_; }
  void write() {
    for (std::uint64_t at = 0; at < bytes_; at += kPiece)
      if (::pwrite(file_.get(), memory_.data(), kPiece, static_cast<off_t>(at)) != kPiece) give_in("cannot write");
  }
  void read() {
    for (std::uint64_t at = 0; at < bytes_; at += kPiece)
      if (::pread(file_.get(), memory_.data(), kPiece, static_cast<off_t>(at)) != kPiece) give_in("cannot read");
  }

 private:
  static std::string directory_of_memory() { return "/dev/shm"; }

  std::uint64_t bytes_;
  Room memory_;
  Descriptor file_;
  bool direct_ = false;
};

}  // namespace

nlohmann::json spill(const Settings& s) {
  const auto state = some_state(s.state_bytes);
  const std::uint64_t bytes = s.states * s.state_bytes;
  std::vector<double> put, put_waited, raw_write, sweep, get_waited, raw_read;
  RawFile raw(s.disk, bytes / 2);
  Store store({.directory = s.directory, .bytes = bytes / 3 * 2, .disk = s.disk, .disk_bytes = 2 * bytes});
  store.declare(s.state_bytes);
  const auto waited = [&] {
    std::pair<double, double> now;
    need(forebay_trajectory_waited(store.get(), &now.first, &now.second));
    return now;
  };
  for (int i = 0; i < s.repetitions; ++i) {
    const auto before = waited();
    alternate(
        i, [&] { raw_write.push_back(seconds([&] { raw.write(); })); },
        [&] {
          need(forebay_trajectory_rewind(store.get()));
          put.push_back(seconds([&] { put_all(store, s.states, state.data()); }));
        });
    alternate(
        i, [&] { sweep.push_back(seconds([&] { read_back(store, s.states, s.state_bytes); })); },
        [&] { raw_read.push_back(seconds([&] { raw.read(); })); });
    const auto after = waited();
    put_waited.push_back(after.first - before.first);
    get_waited.push_back(after.second - before.second);
  }
  const forebay_tier_info below = store.tier(1);
  // What a segment holds of states, the rest of it aside.
  const std::uint64_t held = (below.segment_bytes - 128) / (s.state_bytes + 64) * s.state_bytes;
  const auto a_sweep = [&](std::uint64_t segments) {
    return segments * held / static_cast<std::uint64_t>(s.repetitions);
  };
  return {{"put", put},
          {"put_waited", put_waited},
          {"raw_write", raw_write},
          {"sweep", sweep},
          {"get_waited", get_waited},
          {"raw_read", raw_read},
          {"raw_bytes", raw.bytes()},
          {"spilled_bytes", a_sweep(below.moved_in)},
          {"fetched_bytes", a_sweep(below.fetched)},
          {"direct", raw.direct()}};
}

}  // namespace forebay::trajectory::bench
