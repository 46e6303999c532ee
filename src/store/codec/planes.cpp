#include "store/codec/planes.h"

#include <lz4.h>

#include <algorithm>
#include <cstring>

namespace forebay::codec {
namespace {

constexpr int kZstdLevel = 1;

std::size_t plane_bytes(std::size_t words) {
  return (words + 7) / 8 * 8;
}

// The bits of 8 bytes as an 8 by 8 matrix, transposed (Warren, Hacker's Delight, 2nd edition, 7-3).
std::uint64_t transposed(std::uint64_t bits) {
  std::uint64_t swap = (bits ^ (bits >> 7)) & 0x00AA00AA00AA00AA;
  bits ^= swap ^ (swap << 7);
  swap = (bits ^ (bits >> 14)) & 0x0000CCCC0000CCCC;
  bits ^= swap ^ (swap << 14);
  swap = (bits ^ (bits >> 28)) & 0x00000000F0F0F0F0;
  return bits ^ swap ^ (swap << 28);
}

// `from` and `to` have the same size, a multiple of 8: 8 planes, one for each bit of a byte, lowest first.
void sort_bits(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::size_t bytes = from.size() / 8;
  for (std::size_t i = 0; i < bytes; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, &from[8 * i], 8);
    bits = transposed(bits);
    for (std::size_t bit = 0; bit < 8; ++bit) to[bit * bytes + i] = static_cast<std::byte>(bits >> (8 * bit));
  }
}

void unsort_bits(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::size_t bytes = from.size() / 8;
  for (std::size_t i = 0; i < bytes; ++i) {
    std::uint64_t bits = 0;
    for (std::size_t bit = 0; bit < 8; ++bit)
      bits |= std::to_integer<std::uint64_t>(from[bit * bytes + i]) << (8 * bit);
    bits = transposed(bits);
    std::memcpy(&to[8 * i], &bits, 8);
  }
}

// Returns 0 where the result has no room in `out`.
std::size_t compress(Packing packing, std::span<const std::byte> in, Workspace::Parts& parts,
                     std::span<std::byte> out) {
  if (packing == Packing::bits_lz4) {
    const int written = LZ4_compress_fast_extState(parts.lz4.all().data(), reinterpret_cast<const char*>(in.data()),
                                                   reinterpret_cast<char*>(out.data()), static_cast<int>(in.size()),
                                                   static_cast<int>(out.size()), 1);
    return written > 0 ? static_cast<std::size_t>(written) : 0;
  }
  const std::size_t written =
      ZSTD_compressCCtx(parts.compressor.get(), out.data(), out.size(), in.data(), in.size(), kZstdLevel);
  return ZSTD_isError(written) ? 0 : written;
}

bool decompress(Packing packing, std::span<const std::byte> in, Workspace::Parts& parts, std::span<std::byte> out) {
  if (packing == Packing::bits_lz4) {
    const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out.data()),
                                         static_cast<int>(in.size()), static_cast<int>(out.size()));
    return made >= 0 && static_cast<std::size_t>(made) == out.size();
  }
  return ZSTD_decompressDCtx(parts.decompressor.get(), out.data(), out.size(), in.data(), in.size()) == out.size();
}

template <class Word>
Word bits_used(std::span<const Word> words) {
  Word used = 0;
  for (const Word word : words) used |= word;
  return used;
}

}  // namespace

template <class Word>
std::size_t pack(Packing packing, std::span<const Word> words, Workspace::Parts& parts, std::span<std::byte> out) {
  const std::size_t bytes = plane_bytes(words.size());
  const std::span<std::byte> plane = parts.plane.all().first(bytes);
  const std::span<std::byte> sorted = parts.shuffled.all().first(bytes);
  const Word used = bits_used(words);
  std::fill(plane.begin() + static_cast<std::ptrdiff_t>(words.size()), plane.end(), std::byte{0});

  std::size_t written = 0;
  for (std::size_t shift = 0; shift < 8 * sizeof(Word); shift += 8) {
    if (out.size() - written < 4) return 0;
    std::uint32_t size = 0;
    if (((used >> shift) & 0xff) != 0) {
      for (std::size_t i = 0; i < words.size(); ++i) plane[i] = static_cast<std::byte>(words[i] >> shift);
      if (packing == Packing::bits_lz4) sort_bits(plane, sorted);
      const std::span<const std::byte> source = packing == Packing::bits_lz4 ? sorted : plane;
      const std::span<std::byte> room = out.subspan(written + 4);
      // Below `bytes`, which stands for a plane that is stored as it is.
      size = static_cast<std::uint32_t>(compress(packing, source, parts, room.first(std::min(room.size(), bytes - 1))));
      if (size == 0) {
        if (room.size() < bytes) return 0;
        std::memcpy(room.data(), source.data(), bytes);
        size = static_cast<std::uint32_t>(bytes);
      }
    }
    std::memcpy(&out[written], &size, 4);
    written += 4 + size;
  }
  return written;
}

template <class Word>
bool unpack(Packing packing, std::span<const std::byte>& in, Workspace::Parts& parts, std::span<Word> words) {
  const std::size_t bytes = plane_bytes(words.size());
  const std::span<std::byte> plane = parts.plane.all().first(bytes);
  const std::span<std::byte> sorted = parts.shuffled.all().first(bytes);
  std::fill(words.begin(), words.end(), Word{0});

  for (std::size_t shift = 0; shift < 8 * sizeof(Word); shift += 8) {
    std::uint32_t size;
    if (in.size() < sizeof(size)) return false;
    std::memcpy(&size, in.data(), sizeof(size));
    in = in.subspan(sizeof(size));
    if (size == 0) continue;
    if (size > bytes || size > in.size()) return false;
    const std::span<std::byte> target = packing == Packing::bits_lz4 ? sorted : plane;
    if (size == bytes) {
      std::memcpy(target.data(), in.data(), bytes);
    } else if (!decompress(packing, in.first(size), parts, target)) {
      return false;
    }
    in = in.subspan(size);
    if (packing == Packing::bits_lz4) unsort_bits(sorted, plane);
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] |= static_cast<Word>(std::to_integer<Word>(plane[i]) << shift);
    }
  }
  return true;
}

template std::size_t pack(Packing, std::span<const std::uint32_t>, Workspace::Parts&, std::span<std::byte>);
template std::size_t pack(Packing, std::span<const std::uint64_t>, Workspace::Parts&, std::span<std::byte>);
template bool unpack(Packing, std::span<const std::byte>&, Workspace::Parts&, std::span<std::uint32_t>);
template bool unpack(Packing, std::span<const std::byte>&, Workspace::Parts&, std::span<std::uint64_t>);

}  // namespace forebay::codec
