// Planes: blocks of words stored as one plane per byte of the word, each made smaller by itself. Planes of zeros, which
// rounding and differences leave many of, cost four bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "store/codec/parts.h"

namespace forebay::codec {

enum class Packing {
  bits_lz4,    // the bits of each plane sorted into planes again, then lz4
  bytes_zstd,  // zstd
};

// Word is uint32_t or uint64_t; at most kBlockWords of them. The result is the number of bytes written, 0 where `out`
// has no room.
template <class Word>
std::size_t pack(Packing packing, std::span<const Word> words, Workspace::Parts& parts, std::span<std::byte> out);

// Fills `words` and moves `in` behind what was read. False: damaged.
template <class Word>
bool unpack(Packing packing, std::span<const std::byte>& in, Workspace::Parts& parts, std::span<Word> words);

}  // namespace forebay::codec
