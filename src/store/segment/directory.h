// The directory of one tier of a store, POOL/NAME-RANK: the files `store` (head and epoch) and `segments` (all
// segments, one behind the other), locked while it is open. A store that is not kept has no directory: its segments lie
// in a file without a name, which the kernel takes back when the process ends, however it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/base.h"
#include "store/segment/home.h"

namespace forebay::segment {

class StoreDirectory final : public StoreHome {
 public:
  enum class How { unnamed, named, read_only };
  // Named: makes what is missing and takes the lock, Code::busy when another process holds it. To be read only: makes
  // nothing, and shares the lock with others who only read.
  static Result<StoreDirectory> open(const std::string& pool, const std::string& name, How how);
  // Whether anything is kept there under this name.
  static Result<bool> exists(const std::string& pool, const std::string& name);

  bool read_only() const { return read_only_; }
  int segments() const { return segments_.get(); }
  bool kept() const override { return kept_; }
  // The path of the directory, or of the pool when there is none.
  const std::string& path() const override { return kept_ ? path_ : pool_; }

  bool has_segments() const override;
  Result<std::optional<DecodedHead>> read_head() const override;
  Status write_head(const StoreHead& head, std::uint64_t epoch, const Ledger& ledger) override;
  Status write_epoch(std::uint64_t store, std::uint64_t epoch) override;
  Status write_ledger(std::uint64_t store, const Ledger& ledger) override;
  // Gives an unnamed file its name, or removes the names again.
  Status keep(bool kept) override;
  Status prepare_to_keep(const StoreHead& head) override;
  Status discard() override;
  void take_back() override;
  Result<Room> room(std::uint64_t segment_bytes) const override;
  std::uint64_t available() const override;
  Result<std::size_t> read(std::uint64_t at, std::span<std::byte> to) const override;

 private:
  StoreDirectory() = default;
  Status open_named();
  Status open_unnamed();
  Status lock();
  Status remove_what_nobody_kept() const;

  std::string pool_;
  std::string path_;
  bool kept_ = false;
  bool read_only_ = false;
  bool made_ = false;  // it was not there
  Descriptor segments_;
  OwnFile lock_;  // the same file, opened again: a child's mappings would keep the locks of the other
};

}  // namespace forebay::segment
