#include "redirect/hand_over.h"

#include "redirect/redirect.h"

namespace forebay::redirect {
namespace {

// "/0.1/uniform/time" -> "0.1%2Funiform%2Ftime" at the end of `out`, as in src/drain/keep.h. False where the text is
// not that of a time's file, or too long for a name.
bool append_flat(const char* text, Path& out) {
  const size_t begin = out.size;
  for (bool first = true; *text == '/'; first = false) {
    const char* name = text + 1;
    const char* end = strchrnul(name, '/');
    const auto size = static_cast<size_t>(end - name);
    if (first ? !is_time_name(name, size) || *end == '\0' : size == 0 || (size <= 2 && memcmp(name, "..", size) == 0))
      return false;
    if (!first) out.append("%2F", 3);
    for (const char* at = name; at != end; ++at) *at == '%' ? out.append("%25", 3) : out.append(at, 1);
    text = end;
  }
  return out.size > begin && out.size - begin <= NAME_MAX;
}

}  // namespace

bool is_time_name(const char* name, size_t size) {
  if (size == 0 || name[0] < '0' || name[0] > '9') return false;
  for (size_t i = 0; i < size; ++i)
    if ((name[i] < '0' || name[i] > '9') && strchr(".e+-", name[i]) == nullptr) return false;
  return true;
}

void hand_over(int directory, const char* path, const Place& place) {
  if (state.keep.size == 0) return;
  Path text;
  if (!absolute(directory, path, text)) return;
  const char* rest = state.case_root.rest(text.text);
  if (rest != nullptr && state.keep_name.size != 0) rest = *rest == '/' ? state.keep_name.rest(rest + 1) : nullptr;
  if (rest == nullptr) return;
  Path kept;
  kept.assign(state.keep.text, state.keep.size);
  kept.append("/", 1);
  const size_t directory_size = kept.size;
  if (!append_flat(rest, kept) || kept.too_long()) return;
  struct stat status;
  if (sys_fstatat(AT_FDCWD, kept.text, &status, AT_SYMLINK_NOFOLLOW) == 0) return;
  text.assign(kept.text, directory_size);
  text.append(handed_over_name);
  text.append("/", 1);
  text.append(kept.text + directory_size, kept.size - directory_size);
  const auto link = [&] {
    return system_call(SYS_linkat, place.directory, word(place.path), AT_FDCWD, word(text.text), 0);
  };
  // An older file of this name that was handed over already says nothing of this one.
  if (link() == -EEXIST && sys_unlinkat(AT_FDCWD, text.text, 0) == 0) link();
}

}  // namespace forebay::redirect
