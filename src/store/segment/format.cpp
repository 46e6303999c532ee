#include "store/segment/format.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace forebay::segment {
namespace {

// A list without items has no address, which memcpy must not be given.
void copy_items(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

// So that no header of one kind is ever taken for one of another.
constexpr std::uint64_t kRecordSalt = 0x7265636f72640001;
constexpr std::uint64_t kSegmentSalt = 0x7365676d656e0001;
constexpr std::uint64_t kEpochSalt = 0x65706f6368000001;
constexpr std::uint64_t kHeadSalt = 0x7374726561640001;
constexpr std::uint64_t kLedgerSalt = 0x6c65646765720001;
// The value of `state` in a live record, combined with the header's check.
constexpr std::uint64_t kLive = 0x4c4956454c495645;
constexpr std::uint64_t kDropped = 0x44524f5044524f50;

constexpr char kMagic[8] = {'f', 'o', 'r', 'e', 'b', 'a', 'y', 'T'};

std::uint64_t hash(const void* bytes, std::size_t count, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes, count, seed);
}

template <class Header>
std::uint64_t check_of(const Header& header, std::size_t end, std::uint64_t seed) noexcept {
  return hash(reinterpret_cast<const char*>(&header) + sizeof(header.check), end - sizeof(header.check), seed);
}

std::uint64_t record_check(const RecordHeader& header, std::uint64_t store) noexcept {
  return check_of(header, offsetof(RecordHeader, state), store ^ kRecordSalt);
}

// Fixed part of the head; the fields follow, the check of both ends the head.
struct FixedHead {
  char magic[8];
  std::uint32_t version;
  std::uint32_t field_count;
  std::uint64_t store;
  std::uint64_t segment_bytes;
  std::uint32_t rank, ranks, tier, tiers;
  std::uint64_t reserved;
};
struct FixedField {
  char name[kFieldName + 1];
  std::uint64_t count;
  std::uint32_t type;
  std::uint32_t extents;
};
// The part before the entries of the tiers.
struct FixedLedger {
  std::uint64_t check, serial, epoch, tiers, reserved[4];
};
static_assert(sizeof(FixedLedger) == kLine);
static_assert(sizeof(FixedHead) == 56 && sizeof(FixedField) == 64);
constexpr std::size_t kCheckAt = kHeadBytes - sizeof(std::uint64_t);
// The accepted errors of the fields, in a table behind the room for all fields.
constexpr std::size_t kAcceptedAt = sizeof(FixedHead) + kFieldLimit * sizeof(FixedField);
// Their extents follow.
constexpr std::size_t kShapesAt = kAcceptedAt + kFieldLimit * sizeof(double);
constexpr std::size_t kShapeBytes = kMostExtents * sizeof(std::uint64_t);
static_assert(kShapesAt + kFieldLimit * kShapeBytes <= kCheckAt);

tl::unexpected<Error> damaged(const std::string& path, std::size_t place, std::string_view what) {
  return error(Code::lost, fmt::format("the store is damaged at byte {} ({}):", place, what), path,
               "remove it, or restore it from a copy");
}

}  // namespace

void seal_header(RecordHeader& header, std::uint64_t store, RecordState state) noexcept {
  header.check = record_check(header, store);
  header.state = header.check ^ (state == RecordState::dropped ? kDropped : kLive);
}

RecordState state_of(const RecordHeader& header, std::uint64_t store) noexcept {
  if (header.check != record_check(header, store)) return RecordState::none;
  if (header.state == (header.check ^ kLive)) return RecordState::live;
  return header.state == (header.check ^ kDropped) ? RecordState::dropped : RecordState::none;
}

std::uint64_t dropped_state(const RecordHeader& header) noexcept {
  return header.check ^ kDropped;
}

void seal_header(SegmentHeader& header, std::uint64_t store) noexcept {
  header.check = check_of(header, sizeof(header), store ^ kSegmentSalt);
}

bool fits(const SegmentHeader& header, std::uint64_t store) noexcept {
  return header.generation != 0 && header.check == check_of(header, sizeof(header), store ^ kSegmentSalt);
}

std::optional<FoundHeader> newest_header(std::span<const std::byte, kFirstRecord> lines, std::uint64_t store) noexcept {
  std::optional<FoundHeader> newest;
  for (unsigned which = 0; which < 2; ++which) {
    SegmentHeader header;
    std::memcpy(&header, lines.data() + which * kLine, sizeof(header));
    if (!fits(header, store)) continue;
    if (!newest || header.serial > newest->header.serial) newest = FoundHeader{header, which};
  }
  return newest;
}

unsigned set_free(std::span<std::byte, kFirstRecord> lines, std::uint64_t store) noexcept {
  const auto newest = newest_header(lines, store);
  SegmentHeader header;
  header.generation = newest ? newest->header.generation : 1;
  header.serial = newest ? newest->header.serial + 1 : 1;
  seal_header(header, store);
  const unsigned line = newest ? 1 - newest->which : 0;
  std::memcpy(lines.data() + line * kLine, &header, sizeof(header));
  return line;
}

EpochLine epoch_line(std::uint64_t store, std::uint64_t epoch) noexcept {
  EpochLine line;
  line.line.epoch = epoch;
  line.line.check = check_of(line.line, sizeof(Epoch), store ^ kEpochSalt);
  line.at = kEpochAt + (epoch % 2) * kLine;
  line.other_at = kEpochAt + (1 - epoch % 2) * kLine;
  return line;
}

std::string encode_ledger(std::uint64_t store, const Ledger& ledger) {
  std::string bytes(kLedgerBytes, '\0');
  FixedLedger fixed{};
  fixed.serial = ledger.serial;
  fixed.epoch = ledger.epoch;
  fixed.tiers = std::min(ledger.tiers.size(), kMostTiers);
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  copy_items(bytes.data() + kLine, ledger.tiers.data(), fixed.tiers * sizeof(TierEntry));
  fixed.check = hash(bytes.data() + sizeof(fixed.check), kLedgerBytes - sizeof(fixed.check), store ^ kLedgerSalt);
  std::memcpy(bytes.data(), &fixed.check, sizeof(fixed.check));
  return bytes;
}

namespace {

std::optional<Ledger> decode_ledger(std::string_view bytes, std::uint64_t store) {
  FixedLedger fixed;
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  const std::string_view checked = bytes.substr(sizeof(fixed.check), kLedgerBytes - sizeof(fixed.check));
  if (fixed.check != hash(checked.data(), checked.size(), store ^ kLedgerSalt)) return std::nullopt;
  Ledger ledger{fixed.serial, fixed.epoch, std::vector<TierEntry>(std::min<std::uint64_t>(fixed.tiers, kMostTiers))};
  copy_items(ledger.tiers.data(), bytes.data() + kLine, ledger.tiers.size() * sizeof(TierEntry));
  return ledger;
}

}  // namespace

std::string encode_head(const StoreHead& head, std::uint64_t epoch, const Ledger& ledger) {
  std::string bytes(kStoreFileBytes, '\0');
  FixedHead fixed{};
  std::copy(std::begin(kMagic), std::end(kMagic), fixed.magic);
  fixed.version = kVersion;
  fixed.field_count = static_cast<std::uint32_t>(head.fields.size());
  fixed.store = head.store;
  fixed.segment_bytes = head.segment_bytes;
  fixed.rank = head.rank;
  fixed.ranks = head.ranks;
  fixed.tier = head.tier;
  fixed.tiers = head.tiers;
  std::memcpy(bytes.data(), &fixed, sizeof(fixed));
  std::size_t at = sizeof(fixed);
  for (const FieldEntry& field : head.fields) {
    FixedField entry{};
    field.name.copy(entry.name, kFieldName);
    entry.count = field.count;
    entry.type = field.type;
    entry.extents = static_cast<std::uint32_t>(std::min(field.shape.size(), kMostExtents));
    std::memcpy(bytes.data() + at, &entry, sizeof(entry));
    at += sizeof(entry);
  }
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    const FieldEntry& field = head.fields[i];
    std::memcpy(bytes.data() + kAcceptedAt + i * sizeof(double), &field.accepted, sizeof(double));
    const std::size_t extents = std::min(field.shape.size(), kMostExtents);
    copy_items(bytes.data() + kShapesAt + i * kShapeBytes, field.shape.data(), extents * sizeof(std::uint64_t));
  }
  const std::uint64_t check = hash(bytes.data(), kCheckAt, kHeadSalt);
  std::memcpy(bytes.data() + kCheckAt, &check, sizeof(check));
  const EpochLine line = epoch_line(head.store, epoch);
  for (const std::uint64_t place : {line.at, line.other_at}) std::memcpy(bytes.data() + place, &line.line, kLine);
  for (std::size_t copy = 0; copy < 2; ++copy)
    encode_ledger(head.store, ledger).copy(&bytes[kLedgerAt + copy * kLedgerBytes], kLedgerBytes);
  return bytes;
}

bool is_head(std::string_view bytes) noexcept {
  return bytes.starts_with(std::string_view(kMagic, sizeof(kMagic)));
}

Result<DecodedHead> decode_head(std::string_view bytes, const std::string& path) {
  FixedHead fixed{};
  if (bytes.size() < sizeof(fixed)) return damaged(path, bytes.size(), "the file ends here");
  if (!is_head(bytes)) return damaged(path, 0, "not a store");
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  if (fixed.version != kVersion) {
    const char* const advice = fixed.version < kVersion
                                   ? "read it with the forebay that wrote it, and put its states into a new store"
                                   : "read it with the forebay that wrote it, a newer one";
    return error(
        Code::conflict,
        fmt::format("the store has version {} of the format, this forebay reads version {}:", fixed.version, kVersion),
        path, advice);
  }
  if (bytes.size() < kStoreFileBytes) return damaged(path, bytes.size(), "the file ends here");
  std::uint64_t check = 0;
  std::memcpy(&check, bytes.data() + kCheckAt, sizeof(check));
  if (check != hash(bytes.data(), kCheckAt, kHeadSalt)) return damaged(path, kCheckAt, "the check of the head");
  if (fixed.field_count > kFieldLimit) return damaged(path, offsetof(FixedHead, field_count), "too many fields");

  DecodedHead decoded;
  decoded.head = {fixed.store, fixed.segment_bytes, fixed.rank, fixed.ranks, fixed.tier, fixed.tiers, {}};
  for (std::size_t i = 0; i < fixed.field_count; ++i) {
    FixedField entry{};
    std::memcpy(&entry, bytes.data() + sizeof(fixed) + i * sizeof(entry), sizeof(entry));
    const std::string name(entry.name, strnlen(entry.name, kFieldName));
    double accepted = 0;
    std::memcpy(&accepted, bytes.data() + kAcceptedAt + i * sizeof(accepted), sizeof(accepted));
    std::vector<std::uint64_t> shape(std::min<std::size_t>(entry.extents, kMostExtents));
    copy_items(shape.data(), bytes.data() + kShapesAt + i * kShapeBytes, shape.size() * sizeof(std::uint64_t));
    decoded.head.fields.push_back({name, entry.type, entry.count, accepted, std::move(shape)});
  }
  bool found = false;
  for (std::size_t which = 0; which < 2; ++which) {
    Epoch line;
    std::memcpy(&line, bytes.data() + kEpochAt + which * kLine, sizeof(line));
    if (line.check != check_of(line, sizeof(line), fixed.store ^ kEpochSalt)) continue;
    found = true;
    decoded.epoch = std::max(decoded.epoch, line.epoch);
  }
  if (!found) return damaged(path, kEpochAt, "no epoch fits");
  for (std::size_t copy = 0; copy < 2; ++copy) {
    auto ledger = decode_ledger(bytes.substr(kLedgerAt + copy * kLedgerBytes, kLedgerBytes), fixed.store);
    if (ledger && (!decoded.ledger || ledger->serial > decoded.ledger->serial)) decoded.ledger = std::move(ledger);
  }
  return decoded;
}

}  // namespace forebay::segment
