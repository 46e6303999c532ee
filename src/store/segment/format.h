// The bytes on a medium: docs/format.md, "Store of a trajectory". All numbers are little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/base.h"

namespace forebay::segment {

static_assert(std::endian::native == std::endian::little, "the formats are little-endian");

constexpr std::uint32_t kVersion = 4;
constexpr std::size_t kLine = 64;  // a cache line: the unit of alignment of everything in a segment

constexpr std::uint64_t round_to_lines(std::uint64_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

// Says where a payload is. Headers follow the segment's own, one line each, in the order of the commits. Payloads begin
// at the end of the segment and grow downwards, so that states read in reverse are memory read forwards, without gaps:
// the processor fetches that ahead of a reader. Self-checking: `check` covers the members up to `payload`, salted with
// the store's identity, and `state` is bound to `check`, so that a torn mixture of two headers fits neither.
struct RecordHeader {
  std::uint64_t check = 0;
  std::uint64_t generation = 0;
  std::int64_t step = 0;
  double time = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_check = 0;  // XXH3-64 of the payload; 0: none
  std::uint32_t record = 0;         // its number in the segment
  std::uint32_t payload = 0;        // where it begins, in lines from the beginning of the segment
  std::uint64_t state = 0;
};
static_assert(sizeof(RecordHeader) == kLine && std::is_trivially_copyable_v<RecordHeader>);
// Lines of a segment are numbered with 32 bits.
constexpr std::uint64_t kLargestSegment = std::uint64_t{128} << 30;

enum class RecordState { none, live, dropped };
// Fills in `check` and `state`.
void seal_header(RecordHeader& header, std::uint64_t store, RecordState state = RecordState::live) noexcept;
RecordState state_of(const RecordHeader& header, std::uint64_t store) noexcept;
// The value that turns a live header into a dropped one; stored alone, as one word.
std::uint64_t dropped_state(const RecordHeader& header) noexcept;

// The first two lines of a segment hold one of these each; the newer one that fits counts. The older one is
// overwritten, so one always stands.
struct SegmentHeader {
  std::uint64_t check = 0;
  std::uint64_t generation = 0;  // grows with every use of any segment of the store; 0: never used
  std::uint64_t serial = 0;      // which of the two headers of this piece of memory is the newer
  std::uint64_t epoch = 0;       // the segment counts while this is the store's epoch
  std::uint64_t payloads = 0;    // where the last payload begins, in bytes; 0: records may still follow
  std::uint64_t records = 0;     // how many, once it is sealed
  std::uint64_t reserved[2] = {0, 0};
};
static_assert(sizeof(SegmentHeader) == kLine && std::is_trivially_copyable_v<SegmentHeader>);
constexpr std::size_t kFirstRecord = 2 * kLine;
constexpr std::uint64_t header_place(std::uint64_t record) {
  return kFirstRecord + record * kLine;
}
constexpr std::uint64_t payload_place(std::uint32_t line) {
  return std::uint64_t{line} * kLine;
}
// The part of a segment that is in use: all headers lie before `headers`, all payloads from `payloads` to the end.
struct Extent {
  std::uint64_t headers = kFirstRecord;
  std::uint64_t payloads = 0;
};

void seal_header(SegmentHeader& header, std::uint64_t store) noexcept;
bool fits(const SegmentHeader& header, std::uint64_t store) noexcept;
// Where nothing is in use any more the header says so: it has the epoch 0, which no store has. So a segment without one
// was never used, or has lost it.
inline bool is_free(const SegmentHeader& header) noexcept {
  return header.epoch == 0;
}
// Replaces the header that does not count by one that says so and does; from then on the segment is free. Which line.
unsigned set_free(std::span<std::byte, kFirstRecord> lines, std::uint64_t store) noexcept;
// The one that counts of the two at the beginning of a segment, and which of the two it is.
struct FoundHeader {
  SegmentHeader header;
  unsigned which = 0;
};
std::optional<FoundHeader> newest_header(std::span<const std::byte, kFirstRecord> lines, std::uint64_t store) noexcept;
// The header of a segment that is in use.
inline std::optional<SegmentHeader> header_in_use(std::span<const std::byte, kFirstRecord> lines,
                                                  std::uint64_t store) noexcept {
  const auto newest = newest_header(lines, store);
  return newest && !is_free(newest->header) ? std::optional(newest->header) : std::nullopt;
}

// --- the head of a store: the file `store`, or the beginning of a device ---------------------------------------------

struct FieldEntry {
  std::string name;  // at most kFieldName bytes
  std::uint32_t type = 0;
  std::uint64_t count = 0;
  double accepted = 0;  // relative error with which it is encoded; 0: it is stored as it is
  // Extents, of which the last one runs fastest; their product is `count`.
  std::vector<std::uint64_t> shape{};
};
constexpr std::size_t kFieldName = 47;
constexpr std::size_t kFieldLimit = 256;
constexpr std::size_t kMostExtents = 8;

struct StoreHead {
  std::uint64_t store = 0;  // random identity, the salt of all checks
  std::uint64_t segment_bytes = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::uint32_t tier = 0;
  std::uint32_t tiers = 1;
  std::vector<FieldEntry> fields;
};

// The epoch follows the head, in two lines of which the higher one that fits counts: both tell the same but for a
// moment, so that damage of one brings no older epoch back. So does the ledger, behind the epoch.
constexpr std::size_t kHeadBytes = 36864;
constexpr std::size_t kEpochAt = kHeadBytes;
constexpr std::size_t kLedgerAt = kEpochAt + 2 * kLine;
constexpr std::size_t kStoreFileBytes = kEpochAt + 4096;

struct Epoch {
  std::uint64_t check = 0;
  std::uint64_t epoch = 0;
  std::uint64_t reserved[6] = {0, 0, 0, 0, 0, 0};
};
static_assert(sizeof(Epoch) == kLine);

// The entry that the head of each tier has of all tiers, so that a lost one can be named: as of the last time when a
// segment was closed or moved, or a little earlier.
struct TierEntry {
  std::uint64_t life = 0;     // a tier that was lost and begun anew has another one than what was lost
  std::uint64_t slots = 0;    // the first so many segments have been used: each has a header
  std::uint64_t steps = 0;    // that it holds,
  std::int64_t highest = 0;   // and the highest of them
  std::uint64_t losses = 0;   // how often it lost steps since the last rewind,
  std::uint64_t lost = 0;     // how many, as far as that was known,
  std::int64_t farthest = 0;  // and the highest step that it had then
  std::uint64_t reserved = 0;
};
static_assert(sizeof(TierEntry) == kLine);
struct Ledger {
  std::uint64_t serial = 0;  // of the ledgers of a store the highest counts
  std::uint64_t epoch = 0;   // steps and losses are those of this epoch
  std::vector<TierEntry> tiers;
};
constexpr std::size_t kMostTiers = 16;
constexpr std::size_t kLedgerBytes = (1 + kMostTiers) * kLine;
static_assert(kLedgerAt + 2 * kLedgerBytes <= kStoreFileBytes);
// The result is to be written to kLedgerAt, and once more behind that.
std::string encode_ledger(std::uint64_t store, const Ledger& ledger);

// A whole store file: head, `epoch` in both of its lines, and the ledger in both of its places.
std::string encode_head(const StoreHead& head, std::uint64_t epoch, const Ledger& ledger = {});
struct DecodedHead {
  StoreHead head;
  std::uint64_t epoch = 0;
  std::optional<Ledger> ledger{};  // none fits: it is damaged
};
// Whether they begin as every version of a store file does.
bool is_head(std::string_view bytes) noexcept;
// Errors: Code::conflict for another version, Code::lost for damage (with the byte where it is).
Result<DecodedHead> decode_head(std::string_view bytes, const std::string& path);
// The line to overwrite for a new epoch: its offset in the file, and its bytes. When it lasts, so does the other.
struct EpochLine {
  std::uint64_t at = 0;
  std::uint64_t other_at = 0;
  Epoch line;
};
EpochLine epoch_line(std::uint64_t store, std::uint64_t epoch) noexcept;

}  // namespace forebay::segment
