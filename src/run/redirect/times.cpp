#include "run/redirect/times.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <initializer_list>

#include "run/contract/kept_name.h"
#include "run/contract/time_name.h"
#include "run/redirect/link.h"

namespace forebay::redirect {
namespace {

using contract::is_time_name;
using contract::RankPage;
using contract::TimeLine;

constexpr char state_file[] = "uniform/time", mesh_directory[] = "polyMesh/";
constexpr size_t most_digits = 20;  // of a number

// A time by its name, as a line has it.
struct TimeName {
  uint64_t words[TimeLine::name_words] = {};

  TimeName(const char* name, size_t size) {
    if (size < contract::most_time_name) memcpy(words, name, size);  // of a longer one nobody can tell
  }
  bool is_known() const { return words[0] != 0; }
  bool is_of(const TimeLine& line) const {
    for (size_t i = 0; i < TimeLine::name_words; ++i)
      if (line.name[i].load(std::memory_order_relaxed) != words[i]) return false;
    return is_known();
  }
};

size_t length_of_component(const char* text) {
  return static_cast<size_t>(strchrnul(text, '/') - text);
}

// The newest line of this time; nullptr: the rank has begun none.
TimeLine* find_line(RankPage& page, const TimeName& name) {
  const uint64_t newest = page.begun.load(std::memory_order_acquire);
  for (uint64_t sequence = newest; sequence > 0 && newest - sequence < RankPage::most_lines; --sequence)
    if (TimeLine& line = page.line(sequence); name.is_of(line)) return &line;
  return nullptr;
}

uint64_t now() {
  timespec date;
  clock_gettime(CLOCK_REALTIME_COARSE, &date);
  return static_cast<uint64_t>(date.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(date.tv_nsec);
}

// Its number comes last: who reads a line that is being written sees none. Ranks that share the case in one piece share
// a page, so each takes a number of its own.
TimeLine& begin_line(RankPage& page, const TimeName& name) {
  const bool before = find_line(page, name) != nullptr;
  const uint64_t sequence = page.begun.fetch_add(1, std::memory_order_acq_rel) + 1;
  TimeLine& line = page.line(sequence);
  line.sequence.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (size_t i = 0; i < TimeLine::name_words; ++i) line.name[i].store(name.words[i], std::memory_order_relaxed);
  line.begun_at.store(now(), std::memory_order_relaxed);
  line.state.store(0, std::memory_order_relaxed);
  line.mesh.store(page.mesh.load(std::memory_order_relaxed), std::memory_order_relaxed);
  line.flags.store(before ? contract::line_was_begun_before : 0, std::memory_order_relaxed);
  line.sequence.store(sequence, std::memory_order_release);
  return line;
}

bool is_main_thread() {
  return pthread_self() == state.times.main_thread;
}

// "/a//b/./c/../d/" -> "/a/b/d": a program that climbs from a time does so through no link.
void make_tidy(Path& path) {
  size_t size = 0;
  for (size_t at = 0; at < path.size;) {
    const char* name = path.text + at + 1;
    const size_t length = length_of_component(name);
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
  if (rest != nullptr && state.rank.name.size != 0) rest = *rest == '/' ? state.rank.name.rest(rest + 1) : nullptr;
  return rest;
}

// The same from behind its first slash, where it begins with a time: "0.1" or "0.1/uniform/time".
const char* in_own_time(int directory, const char* path, Path& text) {
  const char* rest = below_times(directory, path, text);
  if (rest == nullptr || *rest != '/') return nullptr;
  ++rest;
  return is_time_name(rest, length_of_component(rest)) ? rest : nullptr;
}

// Some component is one, so that the path is worth a closer look.
bool has_time(const char* path) {
  for (; *path != '\0'; path += *path == '/') {
    const size_t length = length_of_component(path);
    if (length > 0 && is_time_name(path, length)) return true;
    path += length;
  }
  return false;
}

// Where `rest` of the times lies for a call that gives it another name.
Location movable(const char* rest, const Location& location, Path& own) {
  if (state.rank.times.size == 0) return location;
  own.assign(state.rank.times.text, state.rank.times.size);
  own.append("/", 1);
  own.append(rest);
  return {AT_FDCWD, own.text, Where::inside};
}

void append_number(uint64_t number, Path& target) {
  char digits[most_digits + 1];
  char* at = digits + most_digits;
  *at = '\0';
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  target.append(&contract::kept_number, 1);
  target.append(at);
}

// Where a line goes when it is purged. `rest` begins with the time.
void append_kept(const char* rest, const TimeLine& line, Path& target) {
  target.assign(state.rank.keep.text, state.rank.keep.size);
  target.append("/", 1);
  target.append(rest, length_of_component(rest));
  for (const auto* number : {&line.sequence, &line.state, &line.mesh, &line.flags, &line.begun_at})
    append_number(number->load(std::memory_order_relaxed), target);
}

// Behind that, where a file of it goes by itself.
void append_kept_file(const char* file, Path& target) {
  const char separator = contract::kept_separator;
  target.append(&separator, 1);
  for (; *file != '\0'; ++file) {
    if (*file == '/') {
      target.append(contract::kept_slash);
    } else if (*file == contract::kept_separator) {
      target.append(contract::kept_percent);
    } else {
      target.append(file, 1);
    }
  }
}

long move(const Location& source, const Path& target, unsigned flags) {
  return system_call(SYS_renameat2, source.directory, word(source.path), AT_FDCWD, word(target.text), flags);
}

void note_purged() {
  RankPage& page = *state.times.page;
  if (page.kept.fetch_add(1, std::memory_order_relaxed) >= contract::most_kept)
    state.times.node->look.store(1, std::memory_order_release);
}

// The page of a time's line, where the program tells of its times.
TimeLine* line_of(const char* rest) {
  return find_line(*state.times.page, TimeName(rest, length_of_component(rest)));
}

// A child that has no library may have written it. `end`, in `text`, is where the time's name ends.
bool has_state(const Path& text, const char* end) {
  Path file;
  file.assign(text.text, static_cast<size_t>(end - text.text) + 1);
  file.append(state_file);
  const Located location(AT_FDCWD, file.text);
  struct stat status;
  return sys_fstatat(location.directory, location.path, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

void note_thread(const TimeName& name) {
  RankPage& page = *state.times.page;
  const uint64_t newest = page.begun.load(std::memory_order_acquire), place = page.place.load();
  const uint64_t oldest = newest > RankPage::most_lines ? newest - RankPage::most_lines + 1 : 1;
  for (uint64_t sequence = place > oldest ? place : oldest; sequence <= newest; ++sequence)
    if (name.is_of(page.line(sequence))) return page.place.store(sequence, std::memory_order_release);
}

// The last component could be a time.
bool names_time(const char* path) {
  size_t end = strlen(path);
  while (end > 0 && path[end - 1] == '/') --end;
  size_t begin = end;
  while (begin > 0 && path[begin - 1] != '/') --begin;
  return is_time_name(path + begin, end - begin);
}

}  // namespace

void note_time_made(int directory, const char* path, const Location& location) {
  if (state.times.page == nullptr || location.outside() || !is_main_thread() || !names_time(path)) return;
  Path text;
  const int before = errno;
  const char* rest = in_own_time(directory, path, text);
  if (rest != nullptr && rest[length_of_component(rest)] == '\0')
    begin_line(*state.times.page, TimeName(rest, strlen(rest)));
  errno = before;
}

void note_time_written(const Location& location) {
  if (state.times.page == nullptr || (location.directory == AT_FDCWD && !has_time(location.path))) [[likely]]
    return;
  Path text;
  const int before = errno;
  const char* rest = in_own_time(location.directory, location.path, text);
  errno = before;
  if (rest == nullptr) return;
  const size_t length = length_of_component(rest);
  if (rest[length] == '\0') return;
  RankPage& page = *state.times.page;
  const TimeName name(rest, length);
  if (!name.is_known()) return;
  if (!is_main_thread()) return note_thread(name);
  const char* const file = rest + length + 1;
  const bool is_state = strcmp(file, state_file) == 0;
  const uint64_t newest = page.begun.load(std::memory_order_relaxed);
  TimeLine* line = newest > 0 && name.is_of(page.line(newest)) ? &page.line(newest) : nullptr;
  // Begun again: it is not the newest line; or it is, and its state is written anew.
  if (line == nullptr) {
    TimeLine* const older = find_line(page, name);
    const bool stands_with_state =
        older != nullptr && (older->state.load(std::memory_order_relaxed) != 0 || has_state(text, rest + length));
    if (stands_with_state && !is_state) return;  // what is put into an older time begins nothing
    line = &begin_line(page, name);
  } else if (is_state && line->state.load(std::memory_order_relaxed) != 0) {
    line = &begin_line(page, name);
  }
  if (is_state) {
    const uint64_t number = page.states.load(std::memory_order_relaxed) + 1;
    line->state.store(number, std::memory_order_release);
    page.states.store(number, std::memory_order_release);
  }
  if (strncmp(file, mesh_directory, sizeof mesh_directory - 1) == 0) {
    const uint64_t sequence = line->sequence.load(std::memory_order_relaxed);
    line->mesh.store(sequence, std::memory_order_release);
    page.mesh.store(sequence, std::memory_order_release);
  }
}

void note_cut(const char* path) {
  if (state.times.page == nullptr) return;
  RankPage& page = *state.times.page;
  const auto cut = [](TimeLine& line) { line.flags.fetch_or(contract::line_is_cut, std::memory_order_release); };
  if (const uint64_t newest = page.begun.load(std::memory_order_acquire); newest > 0) cut(page.line(newest));
  const char* name = path + 1;
  if (strncmp(name, contract::rank_prefix, contract::rank_prefix_size) == 0 && name[length_of_component(name)] == '/')
    name += length_of_component(name) + 1;
  const TimeName time(name, length_of_component(name));
  for (uint64_t i = 0; i < RankPage::most_lines; ++i)
    if (time.is_of(page.line(i))) cut(page.line(i));
}

bool name_before_purge(Path& path) {
  if (state.times.page == nullptr) return false;
  const char* rest = state.rank.keep.rest(path.text);
  if (rest == nullptr || *rest != '/') return false;
  const char* const line = ++rest;
  while (*rest != '/' && *rest != contract::kept_separator && *rest != '\0') ++rest;
  const char* number = line;
  while (number < rest && *number != contract::kept_number) ++number;
  Path named;
  named.append(state.case_root.text, state.case_root.size);
  named.append("/", 1);
  named.append(state.rank.name.text, state.rank.name.size);
  if (state.rank.name.size != 0) named.append("/", 1);
  named.append(line, static_cast<size_t>(number - line));
  const bool is_file = *rest == contract::kept_separator;
  if (is_file) named.append("/", 1);
  for (rest += is_file; *rest != '\0'; ++rest) {
    const bool is_encoded = is_file && *rest == contract::kept_separator && rest[1] != '\0';
    if (is_encoded) ++rest;
    named.append(is_encoded ? (*rest == contract::kept_slash[1] ? "/" : contract::kept_percent) : rest, 1);
  }
  path.assign(named.text, named.size);
  return true;
}

bool purge_file(int directory, const char* path, const Location& location) {
  if (state.times.page == nullptr || location.outside()) return false;
  Path text;
  const char* rest = in_own_time(directory, path, text);
  if (rest == nullptr || rest[length_of_component(rest)] == '\0') return false;
  const TimeLine* const line = line_of(rest);
  struct stat status;  // remove() tries to unlink directories, too
  if (line == nullptr || sys_fstatat(location.directory, location.path, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  Path link;  // may stand for what the case has
  if (!S_ISREG(status.st_mode) && link_at(location.directory, location.path, link) != Link::staged) return false;
  Path target, own;
  append_kept(rest, *line, target);
  append_kept_file(rest + length_of_component(rest) + 1, target);
  const Location source = movable(rest, location, own);
  if (target.too_long() || own.too_long()) return false;
  if (move(source, target, RENAME_NOREPLACE) == 0) return true;
  if (errno != EEXIST && errno != EINVAL) return false;
  // A rename over another name of the same file does nothing.
  (void)sys_unlinkat(AT_FDCWD, target.text, 0);
  return move(source, target, 0) == 0;
}

bool purge_time(const char* path) {
  if (state.times.page == nullptr || state.flags.meets_placed) return false;
  if (strstr(path, "..") != nullptr) return false;  // behind a link it may lead elsewhere than its text says
  Path text;
  const Located location(AT_FDCWD, path);
  const char* rest = location.outside() ? nullptr : in_own_time(AT_FDCWD, path, text);
  if (rest == nullptr || rest[length_of_component(rest)] != '\0') return false;
  const TimeLine* const line = line_of(rest);
  if (line == nullptr) return false;
  Path target, own;
  append_kept(rest, *line, target);
  const Location source = movable(rest, location, own);
  struct stat status;
  if (target.too_long() || own.too_long() ||
      sys_fstatat(source.directory, source.path, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode))
    return false;
  if (move(source, target, RENAME_NOREPLACE) != 0) return false;
  forget_plain_directories();
  note_purged();
  return true;
}

void note_directory_removed(const Location& location) {
  if (state.times.page != nullptr && names_time(location.path)) note_purged();
}

}  // namespace forebay::redirect
