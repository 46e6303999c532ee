// Where one tier of a store lies, beside the segments themselves: what is kept of it, and whether another process may
// find it. A directory of a file system (directory.h) or a range of a device (range.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "base/base.h"
#include "store/segment/format.h"

namespace forebay::segment {

class StoreHome {
 public:
  virtual ~StoreHome() = default;

  virtual bool kept() const = 0;
  // For messages.
  virtual const std::string& path() const = 0;

  // Whether anything was ever written behind the head.
  virtual bool has_segments() const = 0;
  // nullopt when there is no head: nothing was committed here.
  virtual Result<std::optional<DecodedHead>> read_head() const = 0;
  virtual Status write_head(const StoreHead& head, std::uint64_t epoch, const Ledger& ledger) = 0;
  virtual Status write_epoch(std::uint64_t store, std::uint64_t epoch) = 0;
  // Not synced: what is lost of it is told less exactly.
  virtual Status write_ledger(std::uint64_t store, const Ledger& ledger) = 0;
  // From now on as if opened so; the head is written by the caller, afterwards.
  virtual Status keep(bool kept) = 0;
  // Before that, where states lie here: a head that tells no epoch. A process that dies before one does has kept
  // nothing.
  virtual Status prepare_to_keep(const StoreHead&) { return {}; }
  // Discards files that such a process left: they count for nothing.
  virtual Status discard() = 0;
  // Removes what opening it, or preparing to keep it, has made, where nothing was.
  virtual void take_back() {}

  // Where segments lie: how many bytes there are, and how many of them have room on the medium.
  struct Room {
    std::uint64_t bytes = 0;
    std::uint64_t allocated = 0;
  };
  virtual Result<Room> room(std::uint64_t segment_bytes) const = 0;
  // Bytes of segments that can ever lie here.
  virtual std::uint64_t most_bytes() const { return std::numeric_limits<std::uint64_t>::max(); }
  // Bytes that the medium could still give.
  virtual std::uint64_t available() const { return 0; }
  // The bytes from byte `at` on; less than asked for where it ends.
  virtual Result<std::size_t> read(std::uint64_t at, std::span<std::byte> to) const = 0;

 protected:
  StoreHome() = default;
  StoreHome(const StoreHome&) = default;
  StoreHome(StoreHome&&) noexcept = default;
  StoreHome& operator=(const StoreHome&) = default;
  StoreHome& operator=(StoreHome&&) noexcept = default;
};

}  // namespace forebay::segment
