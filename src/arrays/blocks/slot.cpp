#include "arrays/blocks/slot.h"

#include <unistd.h>

#include <cerrno>

#include "arrays/blocks/memory.h"
#include "store/segment/medium.h"

namespace forebay::blocks {

Status Slot::reserve(const Team& team, const std::string& path, std::uint64_t bytes) {
  // A node without blocks has an image, too: what is carried is always there.
  const bool grows = !made_ || bytes > image_.bytes().size();
  if (over_all(team.all(), grows ? 1 : 0, MPI_MAX) == 0) return {};
  Status mine;
  if (grows && team.is_leader()) {
    auto file = open_file(path, O_RDWR | O_CREAT);
    if (!file) {
      mine = forward(file);
    } else if (::ftruncate(file->get(), static_cast<off_t>(bytes)) != 0) {
      mine = errno_error("cannot make room in", path);
    }
  }
  if (auto ok = team.agree(mine); !ok) return ok;
  mine = grows && bytes > 0 ? map(team, path, bytes) : Status{};
  auto done = team.agree(mine);
  made_ = done.has_value();
  return done;
}

Status Slot::map(const Team& team, const std::string& path, std::uint64_t bytes) {
  image_ = MappedFile();
  auto file = open_file(path, O_RDWR);
  if (!file) return forward(file);
  auto mapped = MappedFile::of(file->get(), 0, bytes, PROT_READ | PROT_WRITE, path);
  if (!mapped) return forward(mapped);
  // Each rank takes its part of the room; then it maps what the others took.
  const std::span image = mapped->bytes();
  auto touched = segment::touch(share_of(team.node(), image), path);
  if (auto ok = agree(team.node(), touched); !ok) {
    if (team.is_leader() && ::truncate(path.c_str(), 0) != 0) return errno_error("cannot give room back in", path);
    return ok;
  }
  image_ = std::move(*mapped);
  return segment::touch(image, path);
}

}  // namespace forebay::blocks
