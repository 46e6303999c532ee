// realpath and its kin: in the program's eyes, so in the case.
#include <stdlib.h>
#include <sys/ipc.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {

ENTRY(char*, realpath, (const char* path, char* resolved)) {
  if (!active() || path == nullptr || path[0] == '\0') return NEXT(realpath)(path, resolved);
  Path from, out;
  if (path[0] != '/' && !absolute(AT_FDCWD, path, from)) return NEXT(realpath)(path, resolved);
  if (path[0] == '/') {
    from.append(path);
    if (from.too_long()) return NEXT(realpath)(path, resolved);
    to_virtual(from);
  }
  if (with_errno(resolve(from.text, out, true, false)) < 0) return nullptr;
  if (out.size == 0) out.append("/", 1);
  if (resolved == nullptr) resolved = static_cast<char*>(malloc(out.size + 1));
  if (resolved != nullptr) memcpy(resolved, out.text, out.size + 1);
  return resolved;
}

ENTRY(char*, __realpath_chk, (const char* path, char* resolved, size_t room)) {
  return resolved != nullptr && room < PATH_MAX ? NEXT(__realpath_chk)(path, resolved, room)
                                                : entry_realpath(path, resolved);
}

ENTRY(char*, canonicalize_file_name, (const char* path)) {
  return entry_realpath(path, nullptr);
}

ENTRY(key_t, ftok, (const char* path, int project)) {
  return NEXT(ftok)(Seen(AT_FDCWD, path, true).path, project);
}

}  // namespace forebay::redirect
