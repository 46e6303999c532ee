// One tier of a store in its range of a device: a unit with the head, then the segments. A store that is not kept has a
// range without a name, which the next process that needs room takes back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "store/segment/device.h"
#include "store/segment/home.h"

namespace forebay::segment {

class StoreRange final : public StoreHome {
 public:
  // Kept: finds what was kept under this name. `budget`: bytes of segments, where nothing was.
  static Result<StoreRange> open(Device device, const std::string& name, bool kept, std::uint64_t budget);

  std::span<std::byte> segments() const { return range_.bytes.subspan(kDeviceUnit); }
  const Device& device() const { return device_; }

  bool kept() const override { return kept_; }
  const std::string& path() const override { return path_; }
  bool has_segments() const override;
  Result<std::optional<DecodedHead>> read_head() const override;
  Status write_head(const StoreHead& head, std::uint64_t epoch, const Ledger& ledger) override;
  Status write_epoch(std::uint64_t store, std::uint64_t epoch) override;
  Status write_ledger(std::uint64_t store, const Ledger& ledger) override;
  Status keep(bool kept) override;
  Status discard() override {
    range_.kept = false;
    return {};
  }
  Result<Room> room(std::uint64_t segment_bytes) const override;
  std::uint64_t most_bytes() const override { return segments().size(); }
  Result<std::size_t> read(std::uint64_t at, std::span<std::byte> to) const override;

 private:
  StoreRange(Device device, Device::Range range, std::string name, bool kept)
      : device_(std::move(device)),
        range_(range),
        name_(std::move(name)),
        path_(device_.path() + " (" + name_ + ")"),
        kept_(kept) {}
  void free_what_was_never_used(const StoreHead& head);

  Device device_;
  Device::Range range_;
  std::string name_;
  std::string path_;
  bool kept_;
};

}  // namespace forebay::segment
