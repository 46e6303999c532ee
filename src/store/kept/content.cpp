// The readable content of a store.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <span>

#include "store/codec/header.h"
#include "store/kept/files.h"
#include "store/segment/segment.h"
#include "store/trajectory/encoded.h"

namespace forebay::kept {
namespace {

using segment::RecordHeader;
using segment::RecordState;
using trajectory::Field;

constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;

// The fields, as a reader of the store needs them.
struct Layout {
  std::vector<Field> fields;
  bool encoded = false;
  std::uint64_t payload_bytes = 0;  // of each state; where a field is encoded, the most

  static Result<Layout> of(const segment::StoreHead& head, const std::string& path) {
    Layout layout;
    for (const segment::FieldEntry& entry : head.fields) {
      auto field = trajectory::field_of(entry);
      if (!field) return error(Code::lost, field.error().text, path);
      layout.encoded = layout.encoded || field->encoded();
      layout.fields.push_back(std::move(*field));
    }
    layout.payload_bytes = trajectory::largest_payload(layout.fields);
    return layout;
  }
};

// One segment where it lies.
class SegmentFile final : public segment::HeaderLines {
 public:
  SegmentFile(const Descriptor& file, const std::string& path, std::uint64_t at, std::uint64_t bytes)
      : file_(file), path_(path), at_(at), bytes_(bytes) {}
  std::uint64_t at() const { return at_; }
  std::uint64_t bytes() const { return bytes_; }

  // Bytes that cannot be read count as zeros, and are told by trouble().
  std::size_t read(std::uint64_t from, std::span<std::byte> to) {
    std::fill(to.begin(), to.end(), std::byte{0});
    const auto got = read_at(file_, at_ + from, to, path_);
    if (!got && !trouble_) trouble_ = got.error();
    return got.value_or(0);
  }
  // Lines of headers follow each other, mostly few: what is read at once grows.
  RecordHeader read(std::uint64_t record) override {
    const std::uint64_t place = segment::header_place(record);
    if (place < lines_at_ || place + segment::kLine > lines_at_ + lines_.size()) {
      lines_.resize(std::min(ahead_, (bytes_ - place) / segment::kLine * segment::kLine));
      ahead_ = std::min(2 * ahead_, kPiece);
      lines_at_ = place;
      read(place, lines_);
    }
    RecordHeader header;
    std::memcpy(&header, lines_.data() + (place - lines_at_), sizeof(header));
    return header;
  }
  std::uint64_t after(std::uint64_t record) override {
    const std::uint64_t place = segment::header_place(record + 1);
    if (place < lines_at_ + lines_.size() || place >= bytes_) return record + 1;
    return record + 1 + (data_from(place) - place) / segment::kLine;
  }
  // Where the first byte of a file may lie that is not in a hole of it: sparse files are as long as they like.
  std::uint64_t data_from(std::uint64_t from) const {
    const auto at = static_cast<off_t>(at_ + from);
    const off_t data = ::lseek(file_.get(), at, SEEK_DATA);
    if (data < 0) return errno == ENXIO ? bytes_ : from;
    return std::min(static_cast<std::uint64_t>(data) - at_, bytes_);
  }
  // Calls `use` with one piece after the other.
  void pieces(std::uint64_t from, std::uint64_t bytes, const std::function<void(std::span<const std::byte>)>& use) {
    piece_.resize(kPiece);
    for (std::uint64_t done = 0; done < bytes; done += kPiece) {
      const auto part = std::span(piece_).first(std::min(kPiece, bytes - done));
      read(from + done, part);
      use(part);
    }
  }
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  const Descriptor& file_;
  const std::string& path_;
  std::uint64_t at_, bytes_;
  std::uint64_t lines_at_ = 0, ahead_ = 4096;
  std::vector<std::byte> lines_, piece_;
  std::optional<Error> trouble_;
};

bool is_empty_from(SegmentFile& segment, std::uint64_t from) {
  bool empty = true;
  for (std::uint64_t at = segment.data_from(from); empty && at < segment.bytes(); at = segment.data_from(at + kPiece)) {
    segment.pieces(at, std::min(kPiece, segment.bytes() - at), [&](std::span<const std::byte> piece) {
      empty = std::all_of(piece.begin(), piece.end(), [](std::byte byte) { return byte == std::byte{0}; });
    });
  }
  return empty;
}

enum class Verdict { good, unchecked, damaged, stands_on_damage };

// The records of one segment, in the order of their numbers. Records that were dropped count where others stand on
// them. A step that stands on damage counts as lost, though a sweep that comes from later steps may reach it yet.
class RecordCheck {
 public:
  RecordCheck(const Layout& layout, SegmentFile& segment)
      : layout_(layout), segment_(segment), broken_(layout.fields.size(), true) {}

  Verdict check(const RecordHeader& record) {
    if (layout_.encoded) pass_over(record.record);
    const bool damaged = record.payload_check != 0 && record.payload_check != hash_of(record);
    if (!layout_.encoded) return damaged ? Verdict::damaged : of_unbroken(record);
    const bool fields_damaged = check_fields(record, damaged || record.payload_check == 0, damaged);
    if (damaged || fields_damaged) return Verdict::damaged;
    const bool stands = std::find(broken_.begin(), broken_.end(), true) != broken_.end();
    return stands ? Verdict::stands_on_damage : of_unbroken(record);
  }

 private:
  // Passes over what lies between the last record and this one, and cannot be read as records. Later ones may stand on
  // these fields all the same, as long as their headers tell where these are.
  void pass_over(std::uint64_t record) {
    constexpr std::uint64_t kMost = 64;  // longer than any chain of differences
    if (record - next_ > kMost) {
      next_ = record - kMost;
      broken_.assign(broken_.size(), true);
    }
    for (; next_ < record; ++next_) {
      const RecordHeader header = segment_.read(next_);
      const std::uint64_t payload = segment::payload_place(header.payload);
      const bool found =
          header.record == next_ && payload <= segment_.bytes() && header.payload_bytes <= segment_.bytes() - payload;
      if (found) {
        check_fields(header, true, false);
      } else {
        broken_.assign(broken_.size(), true);
      }
    }
    next_ = record + 1;
  }

  // Encoded fields have checksums of their own.
  Verdict of_unbroken(const RecordHeader& record) const {
    const auto checked = [](const Field& field) { return field.encoded() || field.bytes == 0; };
    const bool all = layout_.encoded && std::all_of(layout_.fields.begin(), layout_.fields.end(), checked);
    return record.payload_check != 0 || all ? Verdict::good : Verdict::unchecked;
  }

  std::uint64_t hash_of(const RecordHeader& record) {
    segment::PayloadHash hash;
    segment_.pieces(segment::payload_place(record.payload), record.payload_bytes,
                    [&](std::span<const std::byte> piece) { hash.add(piece.data(), piece.size()); });
    return hash.value();
  }

  // Which fields are broken in this record, by themselves or by what they stand on; whether one is by itself.
  bool check_fields(const RecordHeader& record, bool each, bool damaged) {
    const std::uint64_t payload = segment::payload_place(record.payload);
    bool any = false;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < layout_.fields.size(); ++i) {
      const Field& field = layout_.fields[i];
      if (!field.encoded()) {
        const bool cut = field.bytes > record.payload_bytes - std::min(at, record.payload_bytes);
        broken_[i] = damaged || cut;
        any = any || cut;
        at += segment::round_to_lines(field.bytes);
        continue;
      }
      const std::uint64_t rest = record.payload_bytes - std::min(at, record.payload_bytes);
      std::vector<std::byte> bytes(std::min<std::uint64_t>(sizeof(codec::Header), rest));
      segment_.read(payload + at, bytes);
      const auto header = codec::read_header(bytes);
      if (!header || header->payload_bytes > rest - sizeof(codec::Header)) {
        // Nothing tells where the fields behind it begin.
        std::fill(broken_.begin() + static_cast<std::ptrdiff_t>(i), broken_.end(), true);
        return true;
      }
      const bool alone = header->step_bytes == 0 || header->step_bytes < header->payload_bytes;
      const bool fits = !each || header->payload_check == check_of(payload + at + sizeof(codec::Header), *header);
      any = any || !fits;
      broken_[i] = !fits || (!alone && broken_[i]);
      at += segment::round_to_lines(sizeof(codec::Header) + header->payload_bytes);
    }
    return any;
  }

  std::uint64_t check_of(std::uint64_t at, const codec::Header& header) {
    Checksum check;
    segment_.pieces(at, header.payload_bytes, [&](std::span<const std::byte> piece) { check.add(piece); });
    return check.value();
  }

  const Layout& layout_;
  SegmentFile& segment_;
  std::vector<bool> broken_;  // by field, in the record before
  std::uint64_t next_ = 0;    // the number of the record that comes next
};

class Reading {
 public:
  // `own`: the head is that of the part that is read.
  Reading(const segment::DecodedHead& head, bool own, Layout layout, bool payloads)
      : head_(head), own_(own), layout_(std::move(layout)), payloads_(payloads) {}

  Status read(const Descriptor& file, const std::string& path) {
    const std::uint64_t bytes = head_.head.segment_bytes;
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return errno_error("cannot examine", path);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    const std::uint64_t whole = size / bytes;
    // Every segment has at least its first page.
    if (whole > 1024 + 8 * static_cast<std::uint64_t>(status.st_blocks)) {
      lose(fmt::format("the file has {} and is nearly empty", plural(size, "byte")));
      return {};
    }
    const segment::TierEntry known = known_of_it();
    const std::string held = known.steps == 0 ? ""
                                              : fmt::format(" of the {} that it held, up to step {}",
                                                            plural(known.steps, "step"), known.highest);
    if (whole < known.slots) lose(fmt::format("{} of {}{}", plural(known.slots - whole, "segment"), known.slots, held));
    if (known.losses > 0) {
      lose(fmt::format("{} before, as far as is known, of those up to step {}", plural(known.lost, "step"),
                       known.farthest));
    }
    for (std::uint64_t slot = 0; slot < whole; ++slot) {
      SegmentFile segment(file, path, slot * bytes, bytes);
      read_segment(segment, slot);
      if (segment.trouble()) return tl::unexpected(Error(*segment.trouble()));
    }
    if (size % bytes != 0 && size > segment::page_bytes())
      lose(fmt::format("segment {} is cut off after {}; its steps are lost", whole, plural(size % bytes, "byte")));
    return {};
  }

  void lose(std::string what) { content_.losses.push_back({std::move(what), {}}); }

  Content content() && {
    std::sort(live_.begin(), live_.end(), [](const Live& a, const Live& b) { return a.step < b.step; });
    for (const Live& each : live_) {
      if (content_.steps.empty() || content_.steps.back() != each.step) content_.steps.push_back(each.step);
    }
    if (!live_.empty()) {
      content_.first_time = live_.front().time;
      content_.last_time = live_.back().time;
    }
    return std::move(content_);
  }

 private:
  struct Live {
    std::int64_t step;
    double time;
  };

  // The head's entry of this tier; where the head is another tier's, nothing.
  segment::TierEntry known_of_it() const {
    const auto& ledger = head_.ledger;
    if (!own_ || !ledger || ledger->tiers.size() <= head_.head.tier) return {};
    segment::TierEntry known = ledger->tiers[head_.head.tier];
    if (ledger->epoch != head_.epoch) known = {.life = known.life, .slots = known.slots};
    return known;
  }

  void read_segment(SegmentFile& segment, std::uint64_t slot) {
    std::byte lines[segment::kFirstRecord];
    segment.read(0, lines);
    const auto newest = segment::newest_header(lines, head_.head.store);
    if (!newest) {
      // Behind one that was never used all is zero.
      const bool used = slot < known_of_it().slots;
      if (used || (payloads_ && !is_empty_from(segment, segment::kFirstRecord)))
        lose(fmt::format("the header of segment {} (byte {} of the file); the steps that it held are lost", slot,
                         segment.at()));
      return;
    }
    if (newest->header.epoch != head_.epoch) return;
    ++content_.segments;
    RecordCheck check(layout_, segment);
    Loss damaged, standing, strange;
    std::uint64_t first_damage = 0;
    const auto found = segment::find_records(
        segment.bytes(), segment, head_.head.store, newest->header, [&](const RecordHeader& record, RecordState state) {
          const bool live = state == RecordState::live;
          const bool of_fields = layout_.encoded ? record.payload_bytes <= layout_.payload_bytes
                                                 : record.payload_bytes == layout_.payload_bytes;
          if (!of_fields) {
            if (live) strange.steps.push_back(record.step);
            return;
          }
          const bool matters = payloads_ && (live || layout_.encoded);
          const Verdict verdict = matters ? check.check(record) : Verdict::good;
          if (!live) return;
          if (verdict == Verdict::unchecked) ++content_.unchecked;
          if (verdict == Verdict::damaged && damaged.steps.empty())
            first_damage = segment.at() + segment::payload_place(record.payload);
          if (verdict == Verdict::damaged || verdict == Verdict::stands_on_damage) {
            (verdict == Verdict::damaged ? damaged : standing).steps.push_back(record.step);
          } else {
            live_.push_back({record.step, record.time});
          }
        });
    for (const auto& damage : found.damages)
      lose(fmt::format("headers of {} in segment {} (from byte {} of the file)",
                       plural((damage.to - damage.from) / segment::kLine, "step"), slot, segment.at() + damage.from));
    if (found.damage_count > found.damages.size())
      lose(fmt::format("headers in {} of segment {} in all", plural(found.damage_count, "place"), slot));
    damaged.what = fmt::format("the bytes of steps in segment {} do not fit their checksums (from byte {} of the file)",
                               slot, first_damage);
    standing.what = fmt::format("steps in segment {} are stored as differences to such ones", slot);
    strange.what = fmt::format("steps in segment {} have another size than their fields", slot);
    for (Loss* const each : {&damaged, &standing, &strange}) {
      if (!each->steps.empty()) content_.losses.push_back(std::move(*each));
    }
  }

  const segment::DecodedHead& head_;
  const bool own_;
  const Layout layout_;
  const bool payloads_;
  std::vector<Live> live_;
  Content content_;
};

Result<Content> read(const Part& part, const segment::DecodedHead& head, bool payloads) {
  const std::uint64_t bytes = head.head.segment_bytes;
  if (bytes == 0 || bytes % segment::page_bytes() != 0 || bytes > segment::kLargestSegment)
    return error(Code::lost, fmt::format("the store is damaged: segments of {} in", plural(bytes, "byte")), part.path);
  auto layout = Layout::of(head.head, part.path);
  if (!layout) return forward(layout);
  const auto files = open_part(part);
  if (!files) return forward(files);
  Reading reading(head, part.head.has_value(), std::move(*layout), payloads);
  if (!files->segments) {
    // A process that died before a head told an epoch has kept nothing.
    if (head.epoch == 0) return Content{};
    reading.lose("the file \"segments\" is gone, with all steps that it held");
    return std::move(reading).content();
  }
  if (payloads) {
    const auto held = take_own_lock(files->segments.get(), part.path, true);
    if (!held) return forward(held);
    if (!*held)
      return error(Code::busy, "the store is in use by a process:", part.path, "wait until that has closed it");
  }
  if (auto ok = reading.read(files->segments, part.path); !ok) return forward(ok);
  return std::move(reading).content();
}

}  // namespace

Result<Content> list(const Part& part, const segment::DecodedHead& head) {
  return read(part, head, false);
}

Result<Content> verify(const Part& part, const segment::DecodedHead& head) {
  return read(part, head, true);
}

}  // namespace forebay::kept
