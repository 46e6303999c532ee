// The seam to memory: where segments lie, and what makes stores into them last. A test puts a recorder or a failing
// medium behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/base.h"
#include "store/segment/directory.h"
#include "store/segment/mapping.h"

namespace forebay::segment {

class StoreRange;

class Medium {
 public:
  virtual ~Medium() = default;
  // "dram", "tmpfs", "fsdax", "devdax" or "file".
  virtual std::string_view kind() const = 0;

  // The segment number `slot`, of `bytes` (a multiple of the page size): allocated, mapped and touched, so that stores
  // into it neither fail nor wait for the kernel. Content: what it was, or zero. A full medium is ENOSPC. Any thread.
  virtual Result<Mapping> make(std::uint32_t slot, std::uint64_t bytes) = 0;

  // Maps a segment that exists (of a kept store that was found): nothing is allocated or written.
  virtual Result<Mapping> map(std::uint32_t slot, std::uint64_t bytes) = 0;

  // Copies into a segment; a fence makes the copy last. 0, or the errno of the system call that failed.
  virtual int store(void* to, const void* from, std::size_t bytes) noexcept = 0;
  // The same for stores that the caller made himself.
  virtual int flush(const void* from, std::size_t bytes) noexcept = 0;
  // Everything flushed by this thread lasts before anything that follows. Other threads may see it only after
  // fence_stores().
  virtual int fence() noexcept = 0;

  // An error where a file has become shorter than what was mapped of it: whoever touches that is ended by SIGBUS.
  virtual Status look_at_length() const { return {}; }

  // Whether flushed and fenced stores outlive the machine's power, and whether they have to: off while nothing is kept.
  virtual bool persistent() const = 0;
  virtual void set_durable(bool durable) = 0;
};

std::unique_ptr<Medium> memory_of_process();
// The segments of a store's directory; `directory` outlives the medium. The kind follows from what lies beneath: tmpfs,
// DAX, or any other file system.
Result<std::unique_ptr<Medium>> memory_of_directory(StoreDirectory& directory);
// The segments of a store's range of a device.
std::unique_ptr<Medium> memory_of_range(StoreRange& range);

std::uint64_t page_bytes();
// Touches mapped memory for writing, in huge pages where the kernel gives some; ENOSPC when what backs it is full.
Status touch(std::span<std::byte> bytes, const std::string& path);

}  // namespace forebay::segment
