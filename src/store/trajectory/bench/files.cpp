#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "parts.h"
#include "ranks.h"
#include "store/segment/copy.h"
#include "store/segment/format.h"
#include "tools.h"

namespace forebay::trajectory::bench {
namespace {

// As a code writes that has nothing better: one file for each step and rank, in one directory.
class Files {
 public:
  Files(const Settings& settings, int rank) : s_(settings), buffer_(some_state(settings.state_bytes)) {
    for (std::uint64_t k = 0; k < s_.states; ++k)
      paths_.push_back(fmt::format("{}/state-{}-{}", s_.directory, rank, k));
  }
  void write(const void* state) {
    for (const std::string& path : paths_) {
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
      const bool whole = file >= 0 && ::write(file, state, s_.state_bytes) == static_cast<ssize_t>(s_.state_bytes);
      if (!whole || ::close(file) != 0) give_in("cannot write " + path);
    }
  }
  void read_back() {
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) {
      const int file = ::open(path->c_str(), O_RDONLY | O_CLOEXEC);
      const bool whole =
          file >= 0 && ::read(file, buffer_.data(), s_.state_bytes) == static_cast<ssize_t>(s_.state_bytes);
      if (!whole || ::close(file) != 0) give_in("cannot read " + *path);
      consume(buffer_.data(), s_.state_bytes);
    }
  }
  void remove() {
    for (const std::string& path : paths_) ::unlink(path.c_str());
  }

 private:
  const Settings& s_;
  std::vector<std::string> paths_;
  std::vector<std::uint64_t> buffer_;
};

// The kernel frees some of what removed files held a little later, at the expense of whoever runs then.
void let_the_kernel_free() {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace

nlohmann::json files(const Settings& s) {
  Ranks ranks(s.ranks);
  const auto state = some_state(s.state_bytes);
  Files files(s, ranks.rank());
  Store store({.directory = s.directory,
               .bytes = budget_for(s.states, s.state_bytes),
               .rank = ranks.rank(),
               .ranks = ranks.count()});
  store.declare(s.state_bytes);
  // No store can be faster than this: each state copied, or consumed, and nothing else.
  Room room(s.directory, s.states * segment::round_to_lines(s.state_bytes));
  room.touch();
  const auto at = [&](std::uint64_t k) { return room.data() + k * segment::round_to_lines(s.state_bytes); };
  std::vector<double> put, written, get, read, copy, sweep;
  files.write(state.data());
  const double first_pass = ranks.seconds([&] { put_all(store, s.states, state.data()); });
  for (int i = 0; i < s.repetitions; ++i) {
    alternate(
        i,
        [&] {
          put.push_back(ranks.seconds([&] {
            need(forebay_trajectory_rewind(store.get()));
            put_all(store, s.states, state.data());
          }));
        },
        [&] {
          // This stands for the store's `rewind`: the states of the last pass go.
          written.push_back(ranks.seconds([&] {
            files.remove();
            files.write(state.data());
          }));
          let_the_kernel_free();
        });
    copy.push_back(ranks.seconds([&] {
      for (std::uint64_t k = 0; k < s.states; ++k) segment::stream(at(k), state.data(), s.state_bytes);
      segment::fence_stores();
    }));
    alternate(
        i, [&] { get.push_back(ranks.seconds([&] { read_back(store, s.states, s.state_bytes); })); },
        [&] { read.push_back(ranks.seconds([&] { files.read_back(); })); });
    sweep.push_back(ranks.seconds([&] {
      for (std::uint64_t k = 0; k < s.states; ++k) consume(at(k), s.state_bytes);
    }));
  }
  files.remove();
  return {{"put", put},     {"written", written},      {"get", get}, {"read", read}, {"copy", copy},
          {"sweep", sweep}, {"first_pass", first_pass}};
}

}  // namespace forebay::trajectory::bench
