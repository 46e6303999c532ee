// Segments on a file system that is reached by large sequential reads and writes only, never by mapping: the shared
// one, or a disk below a faster tier.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <span>

#include "base/base.h"
#include "store/segment/directory.h"
#include "store/segment/format.h"

namespace forebay::segment {

// The calls that change a file and make it last; a test puts a recorder in their place.
struct FileCalls {
  std::function<ssize_t(int file, const void* from, std::size_t bytes, off_t at)> write = ::pwrite;
  std::function<int(int file)> sync = ::fdatasync;
};

class StreamFile {
 public:
  // `directory` outlives it. It goes past the page cache where the file system allows that.
  explicit StreamFile(StoreDirectory& directory, FileCalls calls = {});
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;
  ~StreamFile() = default;

  struct How {
    std::uint64_t store = 0;  // StoreHead::store
    bool checks = false;      // records get the checksums that they lack
    bool lasting = false;
  };
  // The pages of a segment that are in use, at `offset` of the file; addresses and sizes are multiples of the page
  // size. First what was there is marked as free, last comes the new header; with `lasting` each of these, and what the
  // new one names, is on disk before the next.
  Status write(std::uint64_t offset, std::span<const std::byte> segment, const Extent& used, How how);
  Status read(std::uint64_t offset, std::span<std::byte> segment, const Extent& used);
  // Marks a segment as free. Not synced.
  Status retire(std::uint64_t offset, std::uint64_t store);
  int file() const { return directory_.segments(); }
  // A few bytes of a record's header, through the cache. Not synced.
  Status patch(std::uint64_t offset, std::span<const std::byte> bytes);

 private:
  // Calls `move(file, begin, bytes)` for one piece after the other of what lies between two places of a segment.
  template <class Move>
  Status in_pieces(std::uint64_t begin, std::uint64_t end, const char* what, Move move);
  Status write_in_order(std::uint64_t offset, std::span<const std::byte> segment, const Extent& used, How how);
  void give_back(std::uint64_t offset, std::uint64_t bytes);
  Status grow(std::uint64_t bytes);
  Status sync();

  StoreDirectory& directory_;
  FileCalls calls_;
  OwnFile direct_;  // the same file, past the page cache; none where that does not work
};

}  // namespace forebay::segment
