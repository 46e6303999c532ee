#include "redirect/hand_over.h"

#include <dirent.h>

#include <bit>

#include "redirect/redirect.h"

namespace forebay::redirect {
namespace {

constexpr double none = -__builtin_inf();

// "/0.1/uniform/time" -> "0.1%2Funiform%2Ftime" at the end of `out`, as in src/drain/keep.h. False where the text is
// not that of a time's file.
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
  return out.size > begin;
}

// Of a time's name. The libc's own would ask the locale for the decimal point. Up to 19 digits are exact, so times that
// differ have different values in the order of their names.
double value_of(const char* name, size_t size) {
  long double value = 0;
  int scale = 0;
  size_t at = *name == '-' ? 1 : 0;
  for (bool fraction = false; at < size && name[at] != 'e'; ++at) {
    if (name[at] == '.') fraction = true;
    if (name[at] < '0' || name[at] > '9') continue;
    value = value * 10 + (name[at] - '0');
    if (fraction) --scale;
  }
  int exponent = 0;
  const bool negative = at + 1 < size && name[at + 1] == '-';
  for (; at < size && exponent < 1000; ++at)
    if (name[at] >= '0' && name[at] <= '9') exponent = exponent * 10 + (name[at] - '0');
  scale += negative ? -exponent : exponent;
  for (; scale > 0; --scale) value *= 10;
  long double divisor = 1;
  for (; scale < 0; ++scale) divisor *= 10;
  value /= divisor;
  // OpenFOAM has the processor signal what overflows (and a comparison with what is no number: there is none here).
  constexpr long double largest = 1e300L;
  if (value > largest) value = largest;
  return static_cast<double>(*name == '-' ? -value : value);
}

// The last component is one.
bool names_a_time(const char* path) {
  size_t end = strlen(path);
  while (end > 0 && path[end - 1] == '/') --end;
  size_t begin = end;
  while (begin > 0 && path[begin - 1] != '/') --begin;
  return is_time_name(path + begin, end - begin);
}

// Older times may be freed: all ranks have left this one, or a later one, so it is complete. -infinity: none may be.
// The ranks' places are read before the hold: what is returned was left before the agent's look began, if one goes on,
// and of such times it takes nothing but the newest for whole (src/drain/hold.h).
double newest_left_by_all() {
  if (state.hold == nullptr) return none;
  double left = __builtin_inf();
  for (uint64_t place = 1; place <= state.hold[1].load(std::memory_order_relaxed); ++place) {
    const double of_rank =
        std::bit_cast<double>(state.hold[place * hold_line + hold_left].load(std::memory_order_acquire));
    if (of_rank < left) left = of_rank;
  }
  return state.hold[0].load(std::memory_order_acquire) == 0 ? left : none;
}

// Only this rank writes its place.
void note_lacking(double time) {
  if (state.hold == nullptr) return;
  std::atomic<uint64_t>& lacking = state.place[hold_lacking];
  if (std::bit_cast<double>(lacking.load(std::memory_order_relaxed)) < time)
    lacking.store(std::bit_cast<uint64_t>(time), std::memory_order_release);
}

// Once for each time that is purged, before that makes room: where a pool is full, what was written last may be cut.
void note_full_pool(double purged) {
  constexpr uint64_t as_good_as_full = 64 << 10;  // as in src/launch/pressure.cpp
  if (state.hold == nullptr || std::bit_cast<double>(state.purged.exchange(std::bit_cast<uint64_t>(purged),
                                                                           std::memory_order_relaxed)) == purged)
    return;
  struct statfs status;
  if (sys_statfs(state.keep.text, &status) != 0) return;
  if (static_cast<uint64_t>(status.f_bavail) * static_cast<uint64_t>(status.f_bsize) >= as_good_as_full) return;
  const double begun = std::bit_cast<double>(state.begun.load(std::memory_order_relaxed));
  note_lacking(begun > purged ? begun : purged);
}

// "/a//b/./c/../d/" -> "/a/b/d": a program that climbs from a time does so through no link.
void make_tidy(Path& path) {
  size_t size = 0;
  for (size_t at = 0; at < path.size;) {
    const char* name = path.text + at + 1;
    const auto length = static_cast<size_t>(strchrnul(name, '/') - name);
    if (length == 2 && memcmp(name, "..", 2) == 0) {
      while (size > 0 && path.text[--size] != '/') continue;
    } else if (length > 0 && !(length == 1 && *name == '.')) {
      memmove(path.text + size, path.text + at, length + 1);
      size += length + 1;
    }
    at += length + 1;
  }
  path.size = size;
  path.text[size] = '\0';
}

// The text of `path` behind the directory of the case that holds this rank's times; nullptr: it does not lie there.
const char* below_times(int directory, const char* path, Path& text) {
  if (!absolute(directory, path, text)) return nullptr;
  make_tidy(text);
  const char* rest = state.case_root.rest(text.text);
  if (rest != nullptr && state.keep_name.size != 0) rest = *rest == '/' ? state.keep_name.rest(rest + 1) : nullptr;
  return rest;
}

}  // namespace

bool is_time_name(const char* name, size_t size) {
  const size_t sign = size > 0 && name[0] == '-' ? 1 : 0;
  if (size <= sign || name[sign] < '0' || name[sign] > '9') return false;
  for (size_t i = sign; i < size; ++i)
    if ((name[i] < '0' || name[i] > '9') && strchr(".e+-", name[i]) == nullptr) return false;
  return true;
}

void hand_over(int directory, const char* path, const Place& place) {
  if (state.keep.size == 0) return;
  Path text;
  const char* rest = below_times(directory, path, text);
  if (rest == nullptr) return;
  Path target;
  target.assign(state.keep.text, state.keep.size);
  target.append("/", 1);
  const size_t keep_size = target.size;
  target.append(handed_over_name);
  target.append("/", 1);
  const size_t directory_size = target.size;
  if (!append_flat(rest, target)) return;
  const double time = value_of(rest + 1, strcspn(rest + 1, "/"));
  note_full_pool(time);
  if (time < newest_left_by_all()) return;
  if (target.size - directory_size > NAME_MAX || target.too_long()) return note_lacking(time);
  if (state.hold == nullptr || state.hold[0].load(std::memory_order_relaxed) != 0) {
    Path kept;
    kept.assign(target.text, keep_size);
    kept.append(target.text + directory_size, target.size - directory_size);
    struct stat status;
    if (sys_fstatat(AT_FDCWD, kept.text, &status, AT_SYMLINK_NOFOLLOW) == 0) return;
  }
  Path own;
  own.assign(state.times.text, state.times.size);
  own.append(rest);
  const Place source = state.times.size > 0 ? Place{AT_FDCWD, own.text, Where::inside} : place;
  // Not moved: that would take a lock of the whole file system, which all ranks want at once.
  const auto link = [&] {
    return system_call(SYS_linkat, source.directory, word(source.path), AT_FDCWD, word(target.text), 0);
  };
  // An older file of this name that was handed over already says nothing of this one.
  long linked = link();
  if (linked == -EEXIST && sys_unlinkat(AT_FDCWD, target.text, 0) == 0) linked = link();
  if (linked == 0) return state.has_handed_over.store(true, std::memory_order_relaxed);
  struct stat status;  // remove() tries to unlink directories, too
  if (sys_fstatat(source.directory, source.path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
    note_lacking(time);
}

void note_begun(int directory, const char* path, const Place& place, bool made) {
  if (state.hold == nullptr || place.outside() || !names_a_time(place.path)) return;
  // What was there tells nothing of a process that has begun no time.
  if (!made && (errno != EEXIST || std::bit_cast<double>(state.begun.load(std::memory_order_relaxed)) == none)) return;
  Path text;
  const char* rest = below_times(directory, path, text);
  if (rest == nullptr || *rest == '\0' || strchr(rest + 1, '/') != nullptr) return;
  const double time = value_of(rest + 1, strlen(rest + 1));
  const double last =
      std::bit_cast<double>(state.begun.exchange(std::bit_cast<uint64_t>(time), std::memory_order_relaxed));
  if (last == time) return;
  // A program that goes back, or has just begun, has left nothing that tells of what comes.
  state.place[hold_left].store(std::bit_cast<uint64_t>(last < time ? last : none), std::memory_order_release);
}

void free_handed_over(const Place& place) {
  if (!state.has_handed_over.load(std::memory_order_relaxed) || !names_a_time(place.path)) return;
  const double left = newest_left_by_all();
  if (left == none) return;
  Path text;
  text.assign(state.keep.text, state.keep.size);
  text.append("/", 1);
  text.append(handed_over_name);
  const int fd = sys_openat(AT_FDCWD, text.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  alignas(dirent64) char entries[8192];
  bool all = true;
  state.has_handed_over.store(false, std::memory_order_relaxed);  // before it is looked what there is
  for (;;) {
    const long size = system_call(SYS_getdents64, fd, word(entries), sizeof entries);
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      const size_t length = strcspn(entry->d_name, "%");
      if (!is_time_name(entry->d_name, length)) continue;
      if (!(value_of(entry->d_name, length) < left) || sys_unlinkat(fd, entry->d_name, 0) != 0) all = false;
    }
  }
  sys_close(fd);
  if (!all) state.has_handed_over.store(true, std::memory_order_relaxed);
}

}  // namespace forebay::redirect
