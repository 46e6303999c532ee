#include "store/segment/check.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace forebay::segment {
namespace {

// Half of a core's own cache, so that the copy finds there what the checksum has read. Where each piece costs a system
// call (a file that commits must reach), as much as all caches hold.
constexpr std::size_t kCachedPiece = std::size_t{256} << 10;
constexpr std::size_t kSyncedPiece = std::size_t{8} << 20;

std::atomic<std::uint64_t> beside_copies = 0;
std::atomic<std::uint64_t> alone = 0;

XXH3_state_t* state_in(std::byte* memory) {
  return std::launder(reinterpret_cast<XXH3_state_t*>(memory));
}

std::uint64_t never_0(std::uint64_t hash) {
  return hash == 0 ? 1 : hash;
}

}  // namespace

PayloadHash::PayloadHash() {
  static_assert(sizeof(XXH3_state_t) <= sizeof(state_) && alignof(XXH3_state_t) <= 64);
  auto* const state = new (state_) XXH3_state_t;
  XXH3_INITSTATE(state);
  XXH3_64bits_reset(state);
}

void PayloadHash::add(const void* bytes, std::size_t count) noexcept {
  XXH3_64bits_update(state_in(state_), bytes, count);
}

std::uint64_t PayloadHash::value() const noexcept {
  return never_0(XXH3_64bits_digest(state_in(const_cast<std::byte*>(state_))));
}

int store_hashed(Medium& medium, void* to, const void* from, std::size_t bytes, PayloadHash& hash) noexcept {
  const std::size_t piece = medium.kind() == "file" ? kSyncedPiece : kCachedPiece;
  for (std::size_t at = 0; at < bytes; at += piece) {
    const std::size_t part = std::min(piece, bytes - at);
    const auto* const source = static_cast<const std::byte*>(from) + at;
    hash.add(source, part);
    if (const int failed = medium.store(static_cast<std::byte*>(to) + at, source, part); failed != 0) return failed;
  }
  beside_copies.fetch_add(bytes, std::memory_order_relaxed);
  return 0;
}

std::uint64_t payload_check(const void* payload, std::uint64_t bytes) noexcept {
  alone.fetch_add(bytes, std::memory_order_relaxed);
  return never_0(XXH3_64bits(payload, bytes));
}

std::vector<RecordHeader> headers_of(std::span<const std::byte> segment, const Extent& used) {
  std::vector<RecordHeader> headers((used.headers - kFirstRecord) / kLine);
  std::memcpy(headers.data(), segment.data() + kFirstRecord, headers.size() * kLine);
  return headers;
}

bool is_record(const RecordHeader& header, std::uint64_t number, std::uint64_t store, std::uint64_t segment_bytes) {
  const std::uint64_t begin = payload_place(header.payload);
  return header.record == number && begin <= segment_bytes && header.payload_bytes <= segment_bytes - begin &&
         state_of(header, store) != RecordState::none;
}

void add_checks(std::vector<RecordHeader>& headers, std::span<const std::byte> segment, std::uint64_t store) {
  for (std::size_t i = 0; i < headers.size(); ++i) {
    RecordHeader& header = headers[i];
    if (header.payload_check != 0 || !is_record(header, i, store, segment.size())) continue;
    const RecordState state = state_of(header, store);
    header.payload_check = payload_check(segment.data() + payload_place(header.payload), header.payload_bytes);
    seal_header(header, store, state);
  }
}

CheckCounts check_counts() noexcept {
  return {beside_copies.load(std::memory_order_relaxed), alone.load(std::memory_order_relaxed)};
}

}  // namespace forebay::segment
