#include "run/redirect/hand_over.h"

#include <dirent.h>
#include <stdio.h>

#include <bit>

#include "run/contract/flat_name.h"
#include "run/contract/time_name.h"

namespace forebay::redirect {
namespace {

using contract::hash_of;
using contract::is_time_name;
using contract::value_of;

constexpr double none = contract::no_time;

// "/0.1/uniform/time" -> "0.1%2Funiform%2Ftime" at the end of `out`. False where the text is not that of a time's file.
bool append_flat(const char* text, Path& out) {
  const char* const path = text + 1;
  for (bool first = true; *text == '/'; first = false) {
    const char* name = text + 1;
    const char* end = strchrnul(name, '/');
    const auto size = static_cast<size_t>(end - name);
    if (first ? !is_time_name(name, size) || *end == '\0' : size == 0 || (size <= 2 && memcmp(name, "..", size) == 0))
      return false;
    text = end;
  }
  if (text < path) return false;
  contract::put_flat(path, static_cast<size_t>(text - path),
                     [&](const char* bytes, size_t count) { out.append(bytes, count); });
  return true;
}

// The last component is one.
bool names_a_time(const char* path) {
  size_t end = strlen(path);
  while (end > 0 && path[end - 1] == '/') --end;
  size_t begin = end;
  while (begin > 0 && path[begin - 1] != '/') --begin;
  return is_time_name(path + begin, end - begin);
}

double read_time(const std::atomic<uint64_t>& word) {
  return std::bit_cast<double>(word.load(std::memory_order_acquire));
}

void store_time(std::atomic<uint64_t>& word, double time) {
  word.store(std::bit_cast<uint64_t>(time), std::memory_order_release);
}

bool lacks(const std::atomic<uint64_t>* line, double time) {
  return read_time(line[contract::hold_first_lacking]) <= time && time <= read_time(line[contract::hold_last_lacking]);
}

const std::atomic<uint64_t>* end_of_lines() {
  return state.times.hold +
         contract::hold_line_of(state.times.hold[contract::hold_lines].load(std::memory_order_relaxed));
}

bool any_lacks(double time) {
  for (const auto* line = state.times.hold + contract::hold_line; line < end_of_lines(); line += contract::hold_line)
    if (lacks(line, time)) return true;
  return false;
}

bool anything_lacks() {
  for (const auto* line = state.times.hold + contract::hold_line; line < end_of_lines(); line += contract::hold_line)
    if (read_time(line[contract::hold_last_lacking]) != none) return true;
  return false;
}

// The oldest of the times that ranks left last; -infinity: one has left none, or it may lack something.
double left_by_all() {
  double left = __builtin_inf(), lacking = none;
  const auto* const end = end_of_lines();
  for (const auto* line = state.times.hold + contract::hold_line; line < end && left != none;
       line += contract::hold_line) {
    const double of_rank = read_time(line[contract::hold_left]), last = read_time(line[contract::hold_last_lacking]);
    if (of_rank < left) left = of_rank;
    if (last > lacking) lacking = last;
  }
  return left <= lacking && any_lacks(left) ? none : left;
}

// Older times may be freed: this one is complete over all ranks. -infinity: none may be.
// The ranks' lines are read before the hold: what is returned was left before the agent's look began, if one goes on,
// and of such times it takes nothing but the newest for whole (src/run/drain/hold.h). It is told before anything is
// freed: where a newer one lacks something, it is what is left.
double newest_complete() {
  if (state.times.hold == nullptr) return none;
  std::atomic<uint64_t>& known = state.times.hold[contract::hold_complete];
  double complete = left_by_all();
  uint64_t word = known.load(std::memory_order_acquire);
  if (complete == none) {
    const double before = std::bit_cast<double>(word);
    if (before != none && !any_lacks(before)) complete = before;
  }
  while (std::bit_cast<double>(word) < complete &&
         !known.compare_exchange_weak(word, std::bit_cast<uint64_t>(complete), std::memory_order_acq_rel))
    continue;
  return state.times.hold[contract::hold_held].load(std::memory_order_acquire) == 0 ? complete : none;
}

// Stores `time` unless `keeps` holds for the time there. Threads of a program may do so at once.
template <class Keeps>
void store_unless(std::atomic<uint64_t>& word, double time, const Keeps& keeps) {
  uint64_t known = word.load(std::memory_order_acquire);
  while (!keeps(std::bit_cast<double>(known)) &&
         !word.compare_exchange_weak(known, std::bit_cast<uint64_t>(time), std::memory_order_acq_rel))
    continue;
}

// The last is told first: what is read meanwhile says too much rather than too little. What all ranks have left behind
// does not matter any more.
void note_lacking(double time) {
  if (state.times.hold == nullptr) return;
  std::atomic<uint64_t>& first = state.times.line[contract::hold_first_lacking];
  std::atomic<uint64_t>& last = state.times.line[contract::hold_last_lacking];
  if (read_time(last) < left_by_all()) {
    store_time(last, time);
    return store_time(first, time);
  }
  store_unless(last, time, [&](double known) { return known >= time; });
  store_unless(first, time, [&](double known) { return known <= time; });
}

// What was written last may be cut: to be asked before this rank makes room. (Where another one does at that very
// moment, the pool may look as if it had room; and there is an agent, as a rule, which looks at the pool, too.)
void note_full_pool() {
  const double begun = read_time(state.times.begun);
  struct statfs status;
  if (begun == none || sys_statfs(state.rank.keep.text, &status) != 0) return;
  if (static_cast<uint64_t>(status.f_bavail) * static_cast<uint64_t>(status.f_frsize) < contract::as_good_as_full)
    note_lacking(begun);
}

// The newest complete time, where what is older was not freed yet; -infinity: it was, or is to wait for the next purge,
// since a time that is complete now may lack what cannot be handed over then.
double left_since_freed() {
  // What is complete is no newer than what this rank has left: in most cases the others need not be asked.
  const double freed = read_time(state.times.freed);
  if (read_time(state.times.line[contract::hold_left]) <= freed || anything_lacks()) return none;
  const double complete = newest_complete();
  return complete > freed ? complete : none;
}

// Reads the entries of an open directory; `each` is called with their names and types.
template <class Each>
void for_entries(int fd, const Each& each) {
  alignas(dirent64) char entries[1024];
  constexpr long longest_entry = offsetof(dirent64, d_name) + NAME_MAX + 1 + alignof(dirent64);
  for (long size = sizeof entries; size > static_cast<long>(sizeof entries) - longest_entry;) {
    size = system_call(SYS_getdents64, fd, word(entries), sizeof entries);
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) each(entry->d_name, entry->d_type);
    }
  }
}

int open_directory(int directory, const char* path) {
  return sys_openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

bool remove_entry(int directory, const char* name, int deep);

// Removes those entries of the directory for which `goes(name)`, directories with all that is in them. True when those
// are gone, and there are no others.
template <class Goes>
bool remove_entries(int directory, const char* path, int deep, const Goes& goes) {
  const int fd = open_directory(directory, path);
  if (fd < 0) return false;
  bool all = true;
  for_entries(fd, [&](const char* name, unsigned char) { all = goes(name) && remove_entry(fd, name, deep) && all; });
  sys_close(fd);
  return all;
}

bool remove_entry(int directory, const char* name, int deep) {
  if (const int failed = sys_unlinkat(directory, name, 0); failed != -EISDIR) return failed == 0;
  return deep > 0 && remove_entries(directory, name, deep - 1, [](const char*) { return true; }) &&
         sys_unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

void handed_over_directory(Path& path) {
  path.assign(state.rank.keep.text, state.rank.keep.size);
  path.append("/", 1);
  path.append(contract::handed_over_name);
}

constexpr int deepest = 8;  // directories in each other that a time may have

// What was handed over of the times of this rank: how many files, and the sum of the hashes of their names. It knows
// the newest so many times; what it does not know is not freed.
class HandedOverTimes {
 public:
  explicit HandedOverTimes(const char* path) {
    const int fd = open_directory(AT_FDCWD, path);
    if (fd < 0) return;
    for_entries(fd, [&](const char* name, unsigned char type) { add(fd, name, type); });
    sys_close(fd);
  }

  // Where a newer time that is complete has files of the same names, it is nothing that a restart needs. One that lacks
  // a file of it does not supersede it (run/core/restartable.h). Nor does one that has more, as a rule the next one
  // will.
  bool is_superseded(double time, double complete) const {
    const Time* const older = find(time);
    for (int i = 0; older != nullptr && i < count_; ++i) {
      const Time& newer = times_[i];
      if (newer.time > time && newer.time <= complete && newer.files == older->files && newer.names == older->names &&
          !any_lacks(newer.time))
        return true;
    }
    return false;
  }
  // More times are held than a restart needs, and this one has the fewest files of those before `complete`, or is the
  // oldest of such.
  bool is_one_too_many(double time, double complete) const {
    constexpr int most = contract::most_restart_points;
    const Time* const own = find(time);
    int richer = 0;
    for (int i = 0; own != nullptr && i < count_ && richer < most; ++i) {
      const Time& other = times_[i];
      if (other.time >= complete || other.time == time || any_lacks(other.time)) continue;
      if (is_superseded(other.time, complete)) continue;
      if (other.files > own->files || (other.files == own->files && other.time > time)) ++richer;
    }
    return richer >= most;
  }

 private:
  static constexpr int most_times = 256;
  struct Time {
    double time;
    uint64_t names;
    int files;
  };

  const Time* find(double time) const {
    for (int i = 0; i < count_; ++i)
      if (times_[i].time == time) return &times_[i];
    return nullptr;
  }

  // "0.1%2Funiform%2Ftime" or the directory "0.1". The names of files are hashed as they stand in the former.
  void add(int directory, const char* name, unsigned char type) {
    const size_t length = strcspn(name, "%");
    if (!is_time_name(name, length)) return;
    const double time = value_of(name, length);
    if (name[length] == '\0' && type == DT_DIR) {
      add_below(directory, name, time, contract::hash_of_nothing, deepest);
    } else if (name[length] != '\0') {
      put(time, hash_of(name + length, strlen(name + length)));
    }
  }

  void add_below(int directory, const char* name, double time, uint64_t hash, int deep) {
    const int fd = deep > 0 ? open_directory(directory, name) : -1;
    if (fd < 0) {  // like no other time, then
      uint64_t own;
      memcpy(&own, &time, sizeof own);
      return put(time, own);
    }
    for_entries(fd, [&](const char* entry, unsigned char type) {
      uint64_t of_entry = hash;
      const auto add_hash = [&](const char* bytes, size_t count) { of_entry = hash_of(bytes, count, of_entry); };
      contract::put_flat("/", 1, add_hash);
      contract::put_flat(entry, strlen(entry), add_hash);
      if (type == DT_DIR) {
        add_below(fd, entry, time, of_entry, deep - 1);
      } else {
        put(time, of_entry);
      }
    });
    sys_close(fd);
  }

  void put(double time, uint64_t name) {
    int at = 0;
    while (at < count_ && times_[at].time != time) ++at;
    if (at == count_ && count_ < most_times) {
      times_[count_++] = {time, 0, 0};
    } else if (at == count_) {
      at = oldest();
      if (times_[at].time > time) return;
      times_[at] = {time, 0, 0};
    }
    times_[at].names += name;
    ++times_[at].files;
  }

  int oldest() const {
    int at = 0;
    for (int i = 1; i < count_; ++i)
      if (times_[i].time < times_[at].time) at = i;
    return at;
  }

  int count_ = 0;
  Time times_[most_times];
};

// What was handed over of times before this one that a newer one supersedes, and what will never be complete. While the
// agent looks this is not to be called: newest_complete() is -infinity then.
void free_older(double complete) {
  Path text;
  handed_over_directory(text);
  state.flags.has_handed_over.store(false, std::memory_order_relaxed);  // before it is looked what there is
  const HandedOverTimes times(text.text);
  const bool all = remove_entries(AT_FDCWD, text.text, deepest, [&](const char* name) {
    const size_t length = strcspn(name, "%");
    if (!is_time_name(name, length)) return false;
    const double time = value_of(name, length);
    if (any_lacks(time)) return true;
    return time < complete && (times.is_superseded(time, complete) || times.is_one_too_many(time, complete));
  });
  if (!all) state.flags.has_handed_over.store(true, std::memory_order_relaxed);
  store_time(state.times.freed, complete);
}

// To be called before what is not handed over of a time is removed.
void note_room_made_by(double time) {
  if (state.times.hold == nullptr || read_time(state.times.purged) == time) return;
  store_time(state.times.purged, time);
  note_full_pool();
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
  if (rest != nullptr && state.rank.name.size != 0) rest = *rest == '/' ? state.rank.name.rest(rest + 1) : nullptr;
  return rest;
}

// The same, "/<time>", where the path is that of a time of this rank; nullptr: it is none.
const char* own_time(int directory, const char* path, const Location& location, Path& text) {
  if (location.outside() || !names_a_time(location.path)) return nullptr;
  const char* rest = below_times(directory, path, text);
  return rest != nullptr && *rest != '\0' && strchr(rest + 1, '/') == nullptr ? rest : nullptr;
}

// Where `rest` of the times lies for a call that makes or takes a link of it.
Location linkable(const char* rest, const Location& location, Path& own) {
  if (state.rank.times.size == 0) return location;
  own.assign(state.rank.times.text, state.rank.times.size);
  own.append(rest);
  return {AT_FDCWD, own.text, Where::inside};
}

}  // namespace

void hand_over(int directory, const char* path, const Location& location) {
  if (state.rank.keep.size == 0) return;
  Path text;
  const char* rest = below_times(directory, path, text);
  if (rest == nullptr) return;
  Path target;
  target.assign(state.rank.keep.text, state.rank.keep.size);
  target.append("/", 1);
  const size_t keep_size = target.size;
  target.append(contract::handed_over_name);
  target.append("/", 1);
  const size_t directory_size = target.size;
  if (!append_flat(rest, target)) return;
  const double time = value_of(rest + 1, strcspn(rest + 1, "/"));
  if (state.times.hold != nullptr && lacks(state.times.line, time)) return note_room_made_by(time);
  if (target.size - directory_size > NAME_MAX || target.too_long()) {
    note_room_made_by(time);
    return note_lacking(time);
  }
  if (state.times.hold == nullptr || state.times.hold[contract::hold_held].load(std::memory_order_relaxed) != 0) {
    Path kept;
    kept.assign(target.text, keep_size);
    kept.append(target.text + directory_size, target.size - directory_size);
    struct stat status;
    if (sys_fstatat(AT_FDCWD, kept.text, &status, AT_SYMLINK_NOFOLLOW) == 0) return;
  }
  Path own;
  const Location source = linkable(rest, location, own);
  // Not moved: that would take a lock of the whole file system, which all ranks want at once.
  const auto link = [&] {
    return system_call(SYS_linkat, source.directory, word(source.path), AT_FDCWD, word(target.text), 0);
  };
  // An older file of this name that was handed over already says nothing of this one.
  long linked = link();
  if (linked == -EEXIST && sys_unlinkat(AT_FDCWD, target.text, 0) == 0) linked = link();
  if (linked == 0) {
    store_time(state.times.freed, none);
    return state.flags.has_handed_over.store(true, std::memory_order_relaxed);
  }
  struct stat status;  // remove() tries to unlink directories, too
  if (sys_fstatat(source.directory, source.path, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) return;
  note_room_made_by(time);
  note_lacking(time);
}

bool move_over(const char* path) {
  if (state.times.hold == nullptr || state.flags.meets_placed ||
      state.times.hold[contract::hold_held].load(std::memory_order_acquire) != 0)
    return false;
  if (strstr(path, "..") != nullptr) return false;  // behind a link it may lead elsewhere than its text says
  Path text;
  const Located location(AT_FDCWD, path);
  const char* rest = own_time(AT_FDCWD, path, location, text);
  if (rest == nullptr) return false;
  const double time = value_of(rest + 1, strlen(rest + 1));
  if (lacks(state.times.line, time)) return false;
  Path target, own;
  handed_over_directory(target);
  target.append(rest);
  const Location source = linkable(rest, location, own);
  struct stat status;
  if (target.too_long() || own.too_long() ||
      sys_fstatat(source.directory, source.path, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode))
    return false;
  const auto move = [&] {
    return system_call(SYS_renameat2, source.directory, word(source.path), AT_FDCWD, word(target.text),
                       RENAME_NOREPLACE);
  };
  // An older time of this name that was handed over already says nothing of this one.
  long moved = move();
  if (moved == -EEXIST) {
    note_full_pool();
    if (remove_entry(AT_FDCWD, target.text, deepest)) moved = move();
  }
  if (moved != 0) return false;
  forget_plain_directories();
  state.flags.has_handed_over.store(true, std::memory_order_relaxed);
  store_time(state.times.freed, none);
  free_handed_over(location);
  return true;
}

void note_begun(int directory, const char* path, const Location& location, bool made) {
  if (state.times.hold == nullptr) return;
  // What was there tells nothing of a process that has begun no time.
  if (!made && (errno != EEXIST || read_time(state.times.begun) == none)) return;
  Path text;
  const char* rest = own_time(directory, path, location, text);
  if (rest == nullptr) return;
  const double time = value_of(rest + 1, strlen(rest + 1)), last = read_time(state.times.begun);
  if (time == last || (time < last && !made)) return;
  note_full_pool();
  store_time(state.times.begun, time);
  store_time(state.times.purged, none);
  if (last == none || time < last) {
    // A program that has just begun, or goes back, has left nothing that tells of what comes.
    store_time(state.times.line[contract::hold_left], none);
    store_time(state.times.hold[contract::hold_complete], none);
    store_time(state.times.freed, none);
    if (time > read_time(state.times.line[contract::hold_last_lacking])) return;  // it may be a child of the rank
    store_time(state.times.line[contract::hold_last_lacking], none);
    store_time(state.times.line[contract::hold_first_lacking], contract::every_time);
  } else if (!lacks(state.times.line, last)) {
    store_time(state.times.line[contract::hold_left], last);
    // As make_room(), but whether the pool is full was asked just now.
    if (!state.flags.has_handed_over.load(std::memory_order_relaxed)) return;
    if (const double complete = left_since_freed(); complete != none) free_older(complete);
  }
}

void note_cut(const char* path) {
  if (state.times.hold == nullptr) return;
  if (const double begun = read_time(state.times.begun); begun != none) note_lacking(begun);
  const auto size_of = [](const char* name) { return strcspn(name, "/"); };
  const char* name = path + 1;
  // Whichever rank's it is.
  if (strncmp(name, contract::rank_prefix, contract::rank_prefix_size) == 0 && name[size_of(name)] == '/')
    name += size_of(name) + 1;
  if (is_time_name(name, size_of(name))) note_lacking(value_of(name, size_of(name)));
}

void free_handed_over(const Location& location) {
  if (state.times.hold == nullptr || !state.flags.has_handed_over.load(std::memory_order_relaxed) ||
      !names_a_time(location.path))
    return;
  const double complete = newest_complete();
  if (state.times.hold[contract::hold_held].load(std::memory_order_acquire) != 0) return;
  if (complete <= read_time(state.times.freed) && !anything_lacks()) return;
  note_full_pool();
  free_older(complete);
}

void free_left_behind() {
  if (state.times.hold == nullptr) return;
  const double complete = left_since_freed();
  if (complete == none) return;
  note_full_pool();
  free_older(complete);
}

}  // namespace forebay::redirect
