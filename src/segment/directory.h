// The directory of one tier of a store, POOL/NAME-RANK: the files `store` (head and epoch) and `segments` (all
// segments, one behind the other), locked while it is open. A store that is not kept has no directory: its segments lie
// in a file without a name, which the kernel takes back when the process ends, however it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/base.h"
#include "segment/format.h"

namespace forebay::segment {

class StoreDirectory {
 public:
  // Kept: makes what is missing and takes the lock; Code::busy when another process holds it.
  static Result<StoreDirectory> open(const std::string& pool, const std::string& name, bool kept);
  StoreDirectory(StoreDirectory&&) noexcept = default;
  StoreDirectory& operator=(StoreDirectory&&) noexcept = default;

  int segments() const { return segments_.get(); }
  bool kept() const { return kept_; }
  // For messages: of the directory, or of the pool when there is none.
  const std::string& path() const { return kept_ ? path_ : pool_; }

  // Whether anything was ever written behind the head.
  bool has_segments() const;
  // nullopt when there is no head: nothing was committed here.
  Result<std::optional<DecodedHead>> read_head() const;
  Status write_head(const StoreHead& head, std::uint64_t epoch);
  Status write_epoch(std::uint64_t store, std::uint64_t epoch);

  // Gives an unnamed file its name, or removes the names again. The head is written by the caller, afterwards.
  Status keep(bool kept);

 private:
  StoreDirectory() = default;
  Status open_named();
  Status open_unnamed();

  std::string pool_;
  std::string path_;
  bool kept_ = false;
  Descriptor segments_;
};

}  // namespace forebay::segment
