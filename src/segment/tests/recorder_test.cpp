// Proves that no header becomes durable before its payload: a medium that records every store, flush and fence, and a
// model of persistent memory that builds every image a power cut could leave.
//
// The model: a line of 64 bytes that was stored to may reach the medium at any time, in any order among lines, and torn
// between its words of 8 bytes; it has certainly reached it once it was flushed and a fence followed.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "segment/walk.h"
#include "segment/writer.h"

namespace forebay::segment {
namespace {

constexpr std::uint64_t kStore = 4711;
constexpr std::size_t kBytes = 1536;
using Image = std::vector<std::byte>;
using Line = std::array<std::uint64_t, 8>;

struct Event {
  enum class Kind { store, flush, fence, acknowledged, dropped, restarted } kind;
  std::size_t line = 0;
  Line content{};         // of the line after the store
  std::int64_t step = 0;  // that was acknowledged or dropped
};

class Recorder final : public Medium {
 public:
  explicit Recorder(bool forgets_fences = false) : forgets_fences_(forgets_fences), memory_(kBytes) {}
  std::string_view kind() const override { return "recorder"; }
  Result<Mapping> make(std::uint32_t, std::uint64_t) override { return error(Code::failed, "not needed"); }
  Result<Mapping> map(std::uint32_t, std::uint64_t) override { return error(Code::failed, "not needed"); }
  bool persistent() const override { return true; }
  void set_durable(bool) override {}

  int store(void* to, const void* from, std::size_t bytes) noexcept override {
    write(to, from, bytes);
    return flush(to, bytes);
  }
  int flush(const void* from, std::size_t bytes) noexcept override {
    for_lines(from, bytes, [&](std::size_t line) { trace.push_back({Event::Kind::flush, line, {}, 0}); });
    return 0;
  }
  int fence() noexcept override {
    // The first fence of a commit orders payload before header: the mutant leaves it out.
    if (!forgets_fences_ || ++fences_ % 2 == 0) trace.push_back({Event::Kind::fence, 0, {}, 0});
    return 0;
  }
  // What a solver does in place: stores without a flush.
  void write(void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    for_lines(to, bytes, [&](std::size_t line) {
      Event event{Event::Kind::store, line, {}, 0};
      std::memcpy(event.content.data(), memory_.data() + line * kLine, kLine);
      trace.push_back(event);
    });
  }
  std::span<std::byte> memory() { return memory_; }

  std::vector<Event> trace;

 private:
  template <class Use>
  void for_lines(const void* from, std::size_t bytes, Use use) {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(from) - memory_.data());
    for (std::size_t line = offset / kLine; line * kLine < offset + bytes; ++line) use(line);
  }
  bool forgets_fences_;
  unsigned fences_ = 0;
  Image memory_;
};

std::size_t size_of(std::int64_t step) {
  return 64 + 64 * static_cast<std::size_t>(step % 2);
}
std::byte content_of(std::int64_t step) {
  return static_cast<std::byte>(0x10 + step);
}

// Two uses of a segment, with drops, taken back room and a seal.
void record(Recorder& recorder) {
  Writer writer;
  const auto start = [&](std::uint64_t generation) {
    writer.start(recorder, recorder.memory(), {kStore, false}, generation, 1);
    recorder.trace.push_back({Event::Kind::restarted, 0, {}, 0});
  };
  const auto put = [&](std::int64_t step, bool in_place) {
    const std::vector<std::byte> payload(size_of(step), content_of(step));
    if (in_place) {
      recorder.write(writer.payload(payload.size()), payload.data(), payload.size());
    } else {
      recorder.store(writer.payload(payload.size()), payload.data(), payload.size());
    }
    writer.commit(step, 0, payload.size(), in_place ? Writer::Payload::written : Writer::Payload::stored);
    recorder.trace.push_back({Event::Kind::acknowledged, 0, {}, step});
  };
  const auto drop_last = [&](std::int64_t step) {
    writer.drop(writer.record() - 1);
    recorder.trace.push_back({Event::Kind::dropped, 0, {}, step});
  };
  start(1);
  put(1, true);
  put(2, false);
  put(3, true);
  drop_last(3);
  put(4, true);
  put(5, false);
  writer.seal();
  start(2);
  put(6, true);
  put(7, false);
  drop_last(7);
  put(8, true);
  put(9, true);
}

// Everything the model allows at one cut, checked.
class Cut {
 public:
  explicit Cut(const std::vector<Event>& trace, std::size_t length) {
    for (std::size_t line = 0; line < kBytes / kLine; ++line) versions_[line] = {Line{}};
    std::map<std::size_t, std::size_t> flushed;
    for (std::size_t i = 0; i < length; ++i) {
      const Event& event = trace[i];
      switch (event.kind) {
        case Event::Kind::store:
          versions_[event.line].push_back(event.content);
          break;
        case Event::Kind::flush:
          flushed[event.line] = versions_[event.line].size() - 1;
          break;
        case Event::Kind::fence:
          for (auto& [line, version] : flushed) {
            auto& all = versions_[line];
            all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(version));
          }
          flushed.clear();
          break;
        case Event::Kind::acknowledged:
          must_.insert(event.step);
          break;
        case Event::Kind::dropped:
          must_.erase(event.step);
          must_not_.insert(event.step);
          break;
        case Event::Kind::restarted:
          must_not_.insert(must_.begin(), must_.end());
          must_.clear();
          break;
      }
      // While a drop or a restart is under way, the old state may still show.
      const bool changing = event.kind == Event::Kind::store;
      if (changing) pending_ = true;
      if (event.kind == Event::Kind::acknowledged || event.kind == Event::Kind::restarted ||
          event.kind == Event::Kind::dropped) {
        pending_ = false;
      }
    }
    for (std::size_t i = length; i < trace.size() && pending_; ++i) {
      if (trace[i].kind == Event::Kind::acknowledged) break;
      if (trace[i].kind == Event::Kind::dropped) may_vanish_.insert(trace[i].step);
      if (trace[i].kind == Event::Kind::restarted) may_vanish_.insert(must_.begin(), must_.end());
      if (trace[i].kind == Event::Kind::dropped || trace[i].kind == Event::Kind::restarted) break;
    }
  }

  std::size_t images = 0;

  // "" or what is wrong.
  std::string check() {
    std::vector<std::size_t> open;
    for (const auto& [line, all] : versions_) {
      if (all.size() > 1) open.push_back(line);
    }
    Image image(kBytes);
    for (const auto& [line, all] : versions_) std::memcpy(image.data() + line * kLine, all[0].data(), kLine);
    return choose(image, open, 0);
  }

 private:
  std::string choose(Image& image, const std::vector<std::size_t>& open, std::size_t next) {
    if (next == open.size()) return look(image);
    const auto& all = versions_[open[next]];
    for (std::size_t version = 0; version < all.size(); ++version) {
      std::byte* const at = image.data() + open[next] * kLine;
      std::memcpy(at, all[version].data(), kLine);
      if (auto wrong = choose(image, open, next + 1); !wrong.empty()) return wrong;
      if (version + 1 == all.size()) break;
      // Torn between this version and the following one.
      for (unsigned mask = 1; mask < 255; ++mask) {
        Line torn = all[version];
        for (unsigned word = 0; word < 8; ++word) {
          if ((mask >> word & 1) != 0) torn[word] = all[version + 1][word];
        }
        if (torn == all[version] || torn == all[version + 1]) continue;
        std::memcpy(at, torn.data(), kLine);
        if (auto wrong = choose(image, open, next + 1); !wrong.empty()) return wrong;
        // Torn payloads all fail the same way: one is enough.
        if (open[next] != open.back()) break;
      }
    }
    return "";
  }

  std::string look(const Image& image) {
    ++images;
    std::set<std::int64_t> found;
    std::string wrong;
    const auto header = newest_header(std::span(image).first<kFirstRecord>(), kStore);
    if (header) {
      walk(image, kStore, header->header, [&](const RecordHeader& record) {
        found.insert(record.step);
        const std::byte* payload = image.data() + payload_place(record.payload);
        for (std::size_t i = 0; i < size_of(record.step); ++i) {
          if (payload[i] != content_of(record.step)) {
            wrong = "step " + std::to_string(record.step) + " has a header before its payload";
          }
        }
        if (must_not_.count(record.step) != 0) wrong = "step " + std::to_string(record.step) + " came back";
      });
    }
    for (const std::int64_t step : must_) {
      if (found.count(step) == 0 && may_vanish_.count(step) == 0) {
        wrong = "step " + std::to_string(step) + " was acknowledged and is lost";
      }
    }
    return wrong;
  }

  std::map<std::size_t, std::vector<Line>> versions_;  // what may be on the medium, the certain one first
  std::set<std::int64_t> must_, must_not_, may_vanish_;
  bool pending_ = false;
};

std::string first_violation(const Recorder& recorder, std::size_t& images) {
  for (std::size_t length = 0; length <= recorder.trace.size(); ++length) {
    Cut cut(recorder.trace, length);
    if (auto wrong = cut.check(); !wrong.empty()) return "cut " + std::to_string(length) + ": " + wrong;
    images += cut.images;
  }
  return "";
}

TEST(PersistentMemory, NoCutAndNoReorderingShowsAHeaderBeforeItsPayload) {
  Recorder recorder;
  record(recorder);
  std::size_t images = 0;
  EXPECT_EQ(first_violation(recorder, images), "");
  EXPECT_GT(images, 1000u);
  std::printf("%zu events, %zu images\n", recorder.trace.size(), images);
}

TEST(PersistentMemory, AMissingFenceIsCaught) {
  Recorder recorder(true);
  record(recorder);
  std::size_t images = 0;
  EXPECT_NE(first_violation(recorder, images), "");
}

}  // namespace
}  // namespace forebay::segment
