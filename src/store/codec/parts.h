// The parts of a workspace.
#pragma once

#include <zstd.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "store/codec/workspace.h"

namespace forebay::codec {

// Memory that only grows. Its content is lost when it grows.
class Buffer {
 public:
  // Empty where there is no memory (and `bytes` is not 0).
  std::span<std::byte> grow(std::size_t bytes) {
    if (bytes > size_) {
      size_ = 0;
      memory_.reset(new (std::nothrow) std::byte[bytes]());
      if (!memory_) return {};
      size_ = bytes;
    }
    return {memory_.get(), bytes};
  }
  // All bytes that it has.
  std::span<std::byte> all() const { return {memory_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
};

// The words that are packed and unpacked together: few enough for all of it to stay in a core's own cache.
inline constexpr std::size_t kBlockWords = 65536;
inline constexpr std::size_t kWordBytes = 8;  // at most

// Kept by the zfp codec between calls; defined where zfp is known.
struct ZfpStream;
struct ZfpStreamEnd {
  void operator()(ZfpStream* stream) const;
};

struct Workspace::Parts {
  struct EndOfContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  Buffer words;     // one block, before the bytes are sorted into planes
  Buffer plane;     // one plane of a block
  Buffer shuffled;  // the same, bits sorted into planes
  Buffer lz4;       // state of the compressor
  Buffer field;     // zfp: a whole decoded field
  std::unique_ptr<ZSTD_CCtx, EndOfContext> compressor;
  std::unique_ptr<ZSTD_DCtx, EndOfContext> decompressor;
  std::unique_ptr<ZfpStream, ZfpStreamEnd> zfp;
};

}  // namespace forebay::codec
