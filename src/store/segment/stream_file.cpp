#include "store/segment/stream_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/page_buffer.h"
#include "store/segment/check.h"
#include "store/segment/medium.h"

namespace forebay::segment {
namespace {

// A usual segment: every wait for a piece to be whole leaves the disk without work.
constexpr std::uint64_t kPiece = std::uint64_t{64} << 20;

// The pages in which something lies: those before `front`, and those from `back` on.
struct Pages {
  explicit Pages(const Extent& used) {
    const std::uint64_t page = page_bytes();
    front = (used.headers + page - 1) / page * page;
    back = std::max(front, used.payloads / page * page);
  }
  std::uint64_t front, back;
};

}  // namespace

StreamFile::StreamFile(StoreDirectory& directory, FileCalls calls) : directory_(directory), calls_(std::move(calls)) {
  const std::string self = "/proc/self/fd/" + std::to_string(directory.segments());
  if (auto opened = open_file(self, (directory.read_only() ? O_RDONLY : O_RDWR) | O_DIRECT))
    direct_ = OwnFile(std::move(*opened));
}

Status StreamFile::grow(std::uint64_t bytes) {
  struct stat status {};
  if (::fstat(directory_.segments(), &status) != 0) return errno_error("cannot examine", directory_.path());
  if (static_cast<std::uint64_t>(status.st_size) >= bytes) return {};
  if (::ftruncate(directory_.segments(), static_cast<off_t>(bytes)) != 0) {
    return errno_error("cannot grow the segments of", directory_.path());
  }
  return {};
}

template <class Move>
Status StreamFile::in_pieces(std::uint64_t begin, std::uint64_t end, const char* what, Move move) {
  while (begin < end) {
    const int file = direct_ ? direct_.get() : directory_.segments();
    const ssize_t n = move(file, begin, std::min(end - begin, kPiece));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EINVAL && direct_) {
      direct_.reset();
      continue;
    }
    if (n < 0) return errno_error(what, directory_.path());
    if (n == 0) return error(Code::lost, "a segment is cut off in", directory_.path());
    begin += static_cast<std::uint64_t>(n);
  }
  return {};
}

Status StreamFile::sync() {
  if (calls_.sync(directory_.segments()) != 0) return errno_error("cannot sync", directory_.path());
  return {};
}

Status StreamFile::write(std::uint64_t offset, std::span<const std::byte> segment, const Extent& used, How how) {
  auto written = write_in_order(offset, segment, used, how);
  if (!written) give_back(offset, segment.size());
  return written;
}

// Where the medium is full, nobody else is kept from the room that a part of a segment takes. Its first page stays: a
// segment that has been used has a header.
void StreamFile::give_back(std::uint64_t offset, std::uint64_t bytes) {
  const auto from = static_cast<off_t>(offset + page_bytes());
  (void)::fallocate(directory_.segments(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from,
                    static_cast<off_t>(bytes - page_bytes()));
}

Status StreamFile::write_in_order(std::uint64_t offset, std::span<const std::byte> segment, const Extent& used,
                                  How how) {
  const auto sync_if_lasting = [&] { return how.lasting ? sync() : Status{}; };
  // At once, so that a file that ends within a segment has lost something.
  if (auto ok = grow(offset + segment.size()); !ok) return ok;
  if (auto ok = retire(offset, how.store); !ok) return ok;
  if (auto ok = sync_if_lasting(); !ok) return ok;
  const Pages pages(used);
  std::optional<PageBuffer> with_checks;
  const std::byte* front = segment.data();
  if (how.checks) {
    auto headers = headers_of(segment, used);
    add_checks(headers, segment, how.store);
    with_checks.emplace(pages.front);
    std::memcpy(with_checks->bytes().data(), segment.data(), pages.front);
    std::memcpy(with_checks->bytes().data() + kFirstRecord, headers.data(), headers.size() * kLine);
    front = with_checks->bytes().data();
  }
  const auto write_between = [&](const std::byte* from, std::uint64_t begin, std::uint64_t end) -> Status {
    return in_pieces(begin, end, "cannot write a segment to", [&](int file, std::uint64_t at, std::uint64_t bytes) {
      return calls_.write(file, from + at, bytes, static_cast<off_t>(offset + at));
    });
  };
  if (auto ok = write_between(front, page_bytes(), pages.front); !ok) return ok;
  if (auto ok = write_between(segment.data(), pages.back, segment.size()); !ok) return ok;
  // Disks promise whole sectors, not pages: when the first page comes, all but its first sector is there already.
  const auto behind_headers = std::span(front, page_bytes()).subspan(kFirstRecord);
  if (auto ok = patch(offset + kFirstRecord, behind_headers); !ok) return ok;
  if (auto ok = sync_if_lasting(); !ok) return ok;
  if (auto ok = write_between(front, 0, page_bytes()); !ok) return ok;
  return sync_if_lasting();
}

Status StreamFile::read(std::uint64_t offset, std::span<std::byte> segment, const Extent& used) {
  const Pages pages(used);
  const auto read_between = [&](std::uint64_t begin, std::uint64_t end) {
    return in_pieces(begin, end, "cannot read a segment of", [&](int file, std::uint64_t at, std::uint64_t bytes) {
      return ::pread(file, segment.data() + at, bytes, static_cast<off_t>(offset + at));
    });
  };
  if (auto ok = read_between(0, pages.front); !ok) return ok;
  return read_between(pages.back, segment.size());
}

Status StreamFile::retire(std::uint64_t offset, std::uint64_t store) {
  std::byte lines[kFirstRecord] = {};
  if (auto got = directory_.read(offset, lines); !got) return forward(got);
  for (int i = 0; i < 2; ++i) set_free(lines, store);
  return patch(offset, lines);
}

Status StreamFile::patch(std::uint64_t offset, std::span<const std::byte> bytes) {
  const ssize_t n = calls_.write(directory_.segments(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (n != static_cast<ssize_t>(bytes.size())) return errno_error("cannot write to", directory_.path());
  return {};
}

}  // namespace forebay::segment
