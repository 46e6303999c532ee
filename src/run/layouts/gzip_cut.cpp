// A gzip file without the front of its content, most of its deflate stream being kept bit by bit (RFC 1951).
//
// A stream may only be entered between two of its blocks, and what follows refers to the 32 KiB before. So the content
// from the cut to the first such place at least 32 KiB behind it is deflated anew. Then come empty blocks, so that the
// kept rest begins at the bit of a byte where it did before:
//
//   new header | front, deflated | empty blocks | rest of a byte | the file's own bytes ... | new checksum and size
//
// Solvers need it that write a list at every time, with writeCompression on. pimpleFoam on a mesh that moves
// (movingCone) writes polyMesh/points.gz, sprayFoam its clouds. Without it none of their times would be collated.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "run/layouts/gzip.h"

namespace forebay::layouts {
namespace {

constexpr int raw_deflate = -MAX_WBITS;
constexpr std::size_t reach = std::size_t{1} << MAX_WBITS;  // of references, backwards
constexpr std::size_t most_front = std::size_t{1} << 20;    // deflated; by zlib's own blocks it is a tenth
constexpr std::size_t trailer_bytes = 8;

// Bits in the order of RFC 1951: into each byte from its lowest.
class BitWriter {
 public:
  explicit BitWriter(std::string& bytes) : bytes_(bytes) {}
  void put(unsigned value, int count) {
    for (int i = 0; i < count; ++i) {
      if (position_ == 0) bytes_ += '\0';
      bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | (value >> i & 1) << position_);
      position_ = (position_ + 1) % 8;
    }
  }
  int position() const { return position_; }

 private:
  std::string& bytes_;
  int position_ = 0;
};

// 10 bits: not the last, fixed codes, end of block.
void put_empty_fixed_block(BitWriter& bits) {
  bits.put(0b010, 3);
  bits.put(0, 7);
}

// 91 bits: a block with codes of its own, of which only that for its end is used.
void put_empty_dynamic_block(BitWriter& bits) {
  bits.put(0b100, 3);
  bits.put(0, 5);   // 257 codes for literals, end and lengths
  bits.put(1, 5);   // 2 codes for distances
  bits.put(14, 4);  // 18 lengths of code lengths, in the order 16 17 18 0 8 ... 14 1:
  for (int i = 0; i < 18; ++i) bits.put(i == 2 || i == 17 ? 1 : 0, 3);  // "1" is 0, "18" (a run of zeros) is 1
  bits.put(1, 1);
  bits.put(138 - 11, 7);
  bits.put(1, 1);
  bits.put(118 - 11, 7);  // the 256 literals have no code
  bits.put(0, 1);         // the end of the block has one of length 1
  bits.put(0, 2);         // so have both distances
  bits.put(0, 1);         // the end of the block
}

void pad_to(BitWriter& bits, int position) {
  if (position % 2 != 0) put_empty_dynamic_block(bits);
  while (bits.position() != position) put_empty_fixed_block(bits);
}

// Appends a deflate stream to a string.
class Deflater {
 public:
  explicit Deflater(std::string& bytes) : bytes_(bytes) {}
  ~Deflater() { ::deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  bool start() {
    constexpr int memory_level = 8;  // zlib's default
    return ::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_deflate, memory_level, Z_DEFAULT_STRATEGY) ==
           Z_OK;
  }
  void add(std::string_view text) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // only read
    stream_.avail_in = static_cast<uInt>(text.size());
    run(Z_NO_FLUSH);
  }
  void finish() { run(Z_FINISH); }
  void end_on_whole_byte() { run(Z_SYNC_FLUSH); }

 private:
  void run(int flush) {
    std::array<char, 4096> buffer;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_.avail_out = static_cast<uInt>(buffer.size());
      (void)::deflate(&stream_, flush);
      bytes_.append(buffer.data(), buffer.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  std::string& bytes_;
  z_stream stream_{};
};

}  // namespace

Result<std::vector<Piece>> cut_gzip(const std::string& path, std::uint64_t cut) {
  GzipReader reader(path);
  std::string front(gzip_header);
  Deflater deflater(front);
  errno = ENOMEM;
  if (!deflater.start()) return errno_error("cannot deflate", path);
  std::optional<GzipReader::Boundary> entry;
  std::uint64_t bytes = 0, to_skip = cut;
  uLong sum = ::crc32(0, nullptr, 0);
  for (;;) {
    const auto found = reader.next(!entry);
    if (!found) return forward(found);
    if (!*found) break;
    std::string_view content = **found;
    const std::size_t skipped = static_cast<std::size_t>(std::min<std::uint64_t>(to_skip, content.size()));
    content.remove_prefix(skipped);
    to_skip -= skipped;
    bytes += content.size();
    sum = ::crc32_z(sum, reinterpret_cast<const Bytef*>(content.data()), content.size());
    if (entry) continue;
    deflater.add(content);
    if (bytes >= reach) entry = reader.between_blocks();
    if (!entry && front.size() > most_front) return error(Code::failed, "no place to cut a compressed file at:", path);
  }
  if (to_skip > 0 || reader.members() != 1)
    return error(Code::failed, "cannot cut a compressed file of several members:", path);

  std::string trailer;
  append_number(trailer, sum, 4);
  append_number(trailer, bytes, 4);
  if (!entry) {
    deflater.finish();
    return std::vector<Piece>{{front + trailer, {}, 0, 0}};
  }
  deflater.end_on_whole_byte();
  BitWriter bits(front);
  pad_to(bits, (8 - entry->unused_bits) % 8);
  bits.put(entry->last_byte >> (8 - entry->unused_bits), entry->unused_bits);
  const std::uint64_t length = reader.file_bytes() - trailer_bytes - entry->offset;
  return std::vector<Piece>{
      {std::move(front), {}, 0, 0}, {{}, path, entry->offset, length}, {std::move(trailer), {}, 0, 0}};
}

}  // namespace forebay::layouts
