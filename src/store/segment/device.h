// A device of persistent memory without a file system (device DAX, /dev/daxX.Y), and which of its ranges belongs to
// which store. Every process that opens it maps all of it and keeps to its own range.
//
// The table at the device's beginning (docs/format.md, "On a device") has an entry for each range. A range is in use
// while a process holds the lock on its bytes. A range that is neither in use nor kept was left by a run that has
// ended, in whatever way. It goes to the next run that needs room.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/base.h"
#include "store/segment/pmem.h"

namespace forebay::segment {

struct DeviceEntry;

class Device {
 public:
  // A range of the device, locked by this Device; a Device has no more than one.
  struct Range {
    std::span<std::byte> bytes;
    DeviceEntry* entry = nullptr;
    bool kept = false;  // by an earlier process
  };

  static Result<Device> open(const std::string& path);
  // With a file in the place of the device, of which `memory` is all.
  Device(Descriptor file, PersistentMapping memory, std::string path)
      : file_(std::move(file)), memory_(std::move(memory)), path_(std::move(path)) {}

  // The range that was kept under this name; else one of `bytes` or a little more that nobody has. A range without a
  // name ("") is never found again. Code::busy when another process has the one of this name, ENOSPC when there is no
  // room.
  Result<Range> take(const std::string& name, std::uint64_t bytes);
  // From now on under another name, and not kept; refused where another one has that.
  Status rename(Range& range, const std::string& name);
  // Later processes are to find the range's content under its name.
  void set_kept(const Range& range) const;

  const Persist& persist() const { return memory_.persist; }
  const std::shared_ptr<void>& owner() const { return memory_.mapping.owner; }
  const std::string& path() const { return path_; }

 private:
  class TableLock;
  std::span<DeviceEntry> entries() const;
  Status begin_table();
  Status reclaim();
  Result<Range> found(DeviceEntry& entry);
  Result<std::uint64_t> gap_of(std::uint64_t bytes) const;
  Status lock_range(const DeviceEntry& entry) const;
  void write_entry(DeviceEntry& entry, const std::string& name, std::uint64_t begin, std::uint64_t bytes) const;

  OwnFile file_;
  PersistentMapping memory_;
  std::string path_;
};

// Ranges begin and end at multiples of this: huge pages are not shared.
constexpr std::uint64_t kDeviceUnit = std::uint64_t{2} << 20;

}  // namespace forebay::segment
