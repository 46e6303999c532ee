// Growing files: what a program has appended is appended to the case's copy, the one exception to "nothing half-done
// under a final name". So that this is an exact prefix of the local file at any time, also after a crash.
#include <fmt/format.h>

#include <cerrno>

#include "run/publish/publish_parts.h"

namespace forebay::drain::parts {
namespace {

tl::unexpected<Error> changed_by_others(const std::string& path) {
  return error(Code::conflict, "changed on the case while the program appended to it:", path,
               "at the end of the run both versions are kept");
}

// An earlier attempt may have appended a part of what it had to bring.
Result<bool> is_from_before(const Context& context, const layouts::Unit& unit, const struct stat& now) {
  const auto size = static_cast<std::uint64_t>(now.st_size);
  const layouts::Piece& piece = unit.files.front().pieces.front();
  if (!context.attempts.appended || !S_ISREG(now.st_mode) || now.st_ino != unit.continues->inode ||
      size < unit.continues->size || size > piece.offset + piece.length)
    return false;
  return holds_beginning(context.shared, unit.target, piece.source, size);
}

}  // namespace

Result<Published> append(const Context& context, const layouts::Unit& unit) {
  if (auto turn = await_turn(context, unit); !turn) return forward(turn);
  SharedFiles& shared = context.shared;
  const std::string& path = unit.target;
  layouts::OutputFile rest = unit.files.front();
  layouts::Piece& piece = rest.pieces.front();
  const std::uint64_t until = piece.offset + piece.length;
  const auto before = shared.status(path);
  if (!before) return forward(before);
  // Another name of it may be somebody's snapshot.
  if (!*before || (*before)->st_nlink != 1) return changed_by_others(path);
  if (!still_is(**before, *unit.continues)) {
    const auto ours = is_from_before(context, unit, **before);
    if (!ours) return forward(ours);
    if (!*ours) return changed_by_others(path);
  }
  piece.offset = static_cast<std::uint64_t>((*before)->st_size);
  piece.length = until - piece.offset;
  auto file = shared.open_to_append(path, piece.offset);
  if (!file) return forward(file);
  const auto opened = shared.status(file->get(), path);
  if (!opened) return forward(opened);
  if (opened->st_ino != (*before)->st_ino || opened->st_size != (*before)->st_size) return changed_by_others(path);
  context.attempts.appended = true;
  const auto bytes = write_pieces(context, rest, file->get(), path);
  // A file that was cut while it was read has what there was of it.
  if (!bytes && !source_changed(bytes.error())) return forward(bytes);
  if (auto timed = shared.set_times(file->get(), rest.mtime_ns, path); !timed) return forward(timed);
  if (auto synced = shared.sync(file->get(), path); !synced) return forward(synced);
  const auto after = shared.status(file->get(), path);
  if (!after) return forward(after);
  const auto size = static_cast<std::uint64_t>(after->st_size);
  if (bytes && size != until)
    return error(Code::failed, fmt::format("appended up to byte {}, but {} found in", until, size), path);
  Published published;
  published.files.push_back({path, known_identity(*after), size - piece.offset, 0, {}});
  published.bytes = size - piece.offset;
  return published;
}

}  // namespace forebay::drain::parts
