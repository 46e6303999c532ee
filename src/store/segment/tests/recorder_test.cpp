// Proves that no header becomes durable before its payload: a medium that records every store, flush and fence, and a
// model of persistent memory that builds every image a power cut could leave.
//
// The model: a line of 64 bytes that was stored to may reach the medium at any time, in any order among lines, and torn
// between its words of 8 bytes. It has certainly reached it once it was flushed and a fence followed.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "store/segment/arrive.h"
#include "store/segment/find_records.h"
#include "store/segment/writer.h"

namespace forebay::segment {
namespace {

constexpr std::uint64_t kTracedStore = 4711;
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
    if (forgets_fences_ && ++fences_ % 2 != 0) return 0;
    if (until_forgotten_ > 0 && --until_forgotten_ == 0) return 0;
    trace.push_back({Event::Kind::fence, 0, {}, 0});
    return 0;
  }
  // Another mutant: one fence is left out, the n-th from now.
  void forget_fence(unsigned n) { until_forgotten_ = n; }
  // Writes as a solver does in place: stores without a flush.
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
  unsigned until_forgotten_ = 0;
  Image memory_;
};

std::size_t size_of(std::int64_t step) {
  return 64 + 64 * static_cast<std::size_t>(step % 2);
}
std::byte content_of(std::int64_t step) {
  return static_cast<std::byte>(0x10 + step);
}

// The acts of a trajectory in one segment, recorded.
class Run {
 public:
  Run(Recorder& recorder, std::span<std::byte> segment) : recorder_(recorder), segment_(segment) {}

  void start(std::uint64_t generation) {
    writer_.start(recorder_, segment_, {kTracedStore, false}, generation, 1);
    records_.clear();
  }
  // The segment's content counts no more.
  void restart(std::uint64_t generation) {
    start(generation);
    note(Event::Kind::restarted, 0);
  }
  void put(std::int64_t step, bool in_place) {
    const std::vector<std::byte> payload(size_of(step), content_of(step));
    if (in_place) {
      recorder_.write(writer_.payload(payload.size()), payload.data(), payload.size());
    } else {
      recorder_.store(writer_.payload(payload.size()), payload.data(), payload.size());
    }
    records_[step] = writer_.record();
    writer_.commit(step, 0, payload.size(), in_place ? Writer::Payload::written : Writer::Payload::stored);
    note(Event::Kind::acknowledged, step);
  }
  // The room of the last one is used again.
  void drop(std::int64_t step) {
    writer_.drop(records_[step]);
    note(Event::Kind::dropped, step);
  }
  // Marks a step of a segment that is written no more.
  void mark(std::int64_t step) {
    mark_dropped(recorder_, segment_, records_[step]);
    note(Event::Kind::dropped, step);
  }
  void seal() { writer_.seal(); }
  void move_to(Run& other) {
    arrive(recorder_, other.segment_, segment_, writer_.extent(), kTracedStore, true);
    retire(recorder_, segment_, kTracedStore);
    other.records_ = records_;
  }

 private:
  void note(Event::Kind kind, std::int64_t step) { recorder_.trace.push_back({kind, 0, {}, step}); }

  Recorder& recorder_;
  std::span<std::byte> segment_;
  Writer writer_;
  std::map<std::int64_t, std::uint32_t> records_;
};

// Two uses of a segment, with drops of any record, taken back room and a seal.
void record(Recorder& recorder) {
  Run run(recorder, recorder.memory());
  run.start(1);
  run.put(1, true);
  run.put(2, false);
  run.put(3, true);
  run.drop(3);
  run.put(4, true);
  run.drop(2);
  run.put(5, false);
  run.seal();
  run.mark(1);
  run.restart(2);
  run.put(6, true);
  run.put(7, false);
  run.drop(7);
  run.put(8, true);
  run.drop(6);
  run.put(9, true);
}

// Finds records in an image, with their payloads.
using Visit = std::function<void(const RecordHeader&, const std::byte* payload)>;
using Find = std::function<void(const Image&, const Visit&)>;

void find_in(std::span<const std::byte> segment, const SegmentHeader& header, const Visit& visit) {
  find_records(segment, kTracedStore, header,
               [&](const RecordHeader& record) { visit(record, segment.data() + payload_place(record.payload)); });
}

void find_in_one(const Image& image, const Visit& visit) {
  const auto header = header_in_use(std::span(image).first<kFirstRecord>(), kTracedStore);
  if (header) find_in(image, *header, visit);
}

// As a reopening does: where two pieces of memory hold the same segment, the lower one counts.
constexpr std::size_t kHalf = kBytes / 2;
void find_in_two(const Image& image, const Visit& visit) {
  const std::span<const std::byte> upper = std::span(image).first(kHalf);
  const std::span<const std::byte> lower = std::span(image).subspan(kHalf);
  const auto above = header_in_use(upper.first<kFirstRecord>(), kTracedStore);
  const auto below = header_in_use(lower.first<kFirstRecord>(), kTracedStore);
  if (below) find_in(lower, *below, visit);
  if (above && (!below || above->generation != below->generation)) find_in(upper, *above, visit);
}

// Everything the model allows at one cut, checked.
class Cut {
 public:
  Cut(const std::vector<Event>& trace, std::size_t length, Find find) : find_(std::move(find)) {
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
    find_(image, [&](const RecordHeader& record, const std::byte* payload) {
      found.insert(record.step);
      for (std::size_t i = 0; i < size_of(record.step); ++i) {
        if (payload[i] != content_of(record.step)) {
          wrong = "step " + std::to_string(record.step) + " has a header before its payload";
        }
      }
      if (must_not_.count(record.step) != 0) wrong = "step " + std::to_string(record.step) + " came back";
    });
    for (const std::int64_t step : must_) {
      if (found.count(step) == 0 && may_vanish_.count(step) == 0) {
        wrong = "step " + std::to_string(step) + " was acknowledged and is lost";
      }
    }
    return wrong;
  }

  Find find_;
  std::map<std::size_t, std::vector<Line>> versions_;  // what may be on the medium, the certain one first
  std::set<std::int64_t> must_, must_not_, may_vanish_;
  bool pending_ = false;
};

std::string first_violation(const Recorder& recorder, std::size_t& images, const Find& find = find_in_one) {
  for (std::size_t length = 0; length <= recorder.trace.size(); ++length) {
    Cut cut(recorder.trace, length, find);
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

// A segment moves from the upper half of the memory to the lower one, where another was, and a new one takes its place.
void record_a_move(Recorder& recorder, bool forgets_a_fence) {
  Run upper(recorder, recorder.memory().first(kHalf));
  Run lower(recorder, recorder.memory().subspan(kHalf));
  lower.start(1);
  lower.put(10, true);
  lower.seal();
  lower.mark(10);
  upper.start(2);
  upper.put(2, true);
  upper.put(4, false);
  upper.drop(2);
  upper.seal();
  // Two fences set the lower segment free; the third stands between the records and the new headers.
  if (forgets_a_fence) recorder.forget_fence(3);
  upper.move_to(lower);
  upper.start(3);
  upper.put(6, true);
  lower.mark(4);
  upper.put(8, true);
}

TEST(PersistentMemory, NoCutAndNoReorderingLosesWhatMovesBetweenTiers) {
  Recorder recorder;
  record_a_move(recorder, false);
  std::size_t images = 0;
  EXPECT_EQ(first_violation(recorder, images, find_in_two), "");
  EXPECT_GT(images, 1000u);
  std::printf("%zu events, %zu images\n", recorder.trace.size(), images);
}

TEST(PersistentMemory, AMissingFenceOfAMoveIsCaught) {
  Recorder recorder;
  record_a_move(recorder, true);
  std::size_t images = 0;
  EXPECT_NE(first_violation(recorder, images, find_in_two), "");
}

}  // namespace
}  // namespace forebay::segment
