// Segments on a file system that is reached by large sequential reads and writes only, never by mapping: the shared
// one, or a disk below a faster tier.
#pragma once

#include <cstdint>
#include <span>

#include "base/base.h"
#include "segment/directory.h"

namespace forebay::segment {

class StreamFile {
 public:
  // `directory` outlives it. Goes past the page cache where the file system allows that.
  explicit StreamFile(StoreDirectory& directory);
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;
  ~StreamFile() = default;

  // The first `bytes.size()` bytes of the segment that begins at `offset`; both are multiples of the page size, and the
  // memory is aligned to it. With `lasting` it is on disk when this returns.
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, bool lasting);
  Status read(std::uint64_t offset, std::span<std::byte> bytes);
  // One word of a record, through the cache. Not synced.
  Status patch(std::uint64_t offset, std::span<const std::byte> bytes);

 private:
  StoreDirectory& directory_;
  Descriptor direct_;  // the same file, past the page cache; none where that does not work
};

}  // namespace forebay::segment
