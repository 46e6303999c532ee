#include "run/drain/uncarried.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "run/drain/drain.h"
#include "run/drain/placed.h"
#include "run/drain/walk.h"

namespace forebay::drain {
namespace {

// Smaller than this the file is never written anew.
constexpr std::uint64_t small = std::uint64_t{1} << 20;
// It reserves an eighth of this at a time (Journal), which the least budget of a run has room for
// (launch/pool_share.cpp).
constexpr std::uint64_t budget = std::uint64_t{128} << 10;
// A name of a record costs its bytes, and a word's or line's share of blanks and checksum, about.
constexpr std::uint64_t per_name = 8;

// A process of the run tells that it lives at least every two seconds. It may be late on a busy machine, and the
// processes of a run need not be killed at the same moment.
constexpr std::chrono::nanoseconds grace = std::chrono::seconds(5);

void forget(Uncarried::Names& names, const std::string& path) {
  if (const auto directory = names.find(parent_of(path)); directory != names.end()) {
    directory->second.erase(std::string(name_of(path)));
    if (directory->second.empty()) names.erase(directory);
  }
  for (auto at = names.lower_bound(path); at != names.end() && at->first.starts_with(path);)
    at = is_below(at->first, path) ? names.erase(at) : std::next(at);
}

std::vector<Record> records_of(const char* kind, const Uncarried::Names& names) {
  std::vector<Record> records;
  for (const auto& [directory, in_it] : names) {
    Record record{kind, {directory}};
    record.words.insert(record.words.end(), in_it.begin(), in_it.end());
    records.push_back(std::move(record));
  }
  return records;
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Where the content of a name lies, or lay.
std::string place_of(const std::string& local, const std::vector<std::string>& placed) {
  if (placed.empty()) return local;
  const auto target = read_link(local);
  return target && is_placed(*target, placed) ? *target : local;
}

// When the nearest directory at or above `local` that is still there had a name made or removed in it; nullopt: it is
// in a pool that is not there.
std::optional<std::int64_t> changed_above(const std::string& local, const std::string& top) {
  for (std::string at(parent_of(local)); is_below(at, top); at = parent_of(at))
    if (const auto status = status_of(at)) return nanoseconds(status->st_mtim);
  return std::nullopt;
}

// Whether something wrote a file below `directory` later than `when`. A program may set a time of modification, and
// removing another of its names changes a file's ctime, but none of them does both.
bool is_written_after(const std::string& directory, std::int64_t when) {
  const auto entries = list_directory(directory);
  for (const DirectoryEntry& entry : entries ? *entries : std::vector<DirectoryEntry>()) {
    const std::string path = join(directory, entry.name);
    const auto status = status_of(path);
    if (!status) continue;
    if (S_ISDIR(status->st_mode) && is_written_after(path, when)) return true;
    if (S_ISREG(status->st_mode) && std::min(nanoseconds(status->st_mtim), nanoseconds(status->st_ctim)) > when)
      return true;
  }
  return false;
}

}  // namespace

void Uncarried::open(const std::string& path) {
  path_ = path;
  auto opened = Journal::open(path, false, budget);
  if (!opened) return clear();
  file_.emplace(std::move(*opened));
  const auto status = status_of(path);
  size_ = status ? static_cast<std::uint64_t>(status->st_size) : 0;
  compact_at_ = std::max(small, 2 * size_);
}

void tell_alive(const std::string& home) {
  ::utimensat(AT_FDCWD, join(home, uncarried_name).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void Uncarried::written(const std::string& path) {
  if (file_) written_[std::string(parent_of(path))].emplace(name_of(path));
}

void Uncarried::gone(const std::string& path) {
  only_local_.gone(path);
  if (!file_) return;
  forget(written_, path);
  gone_.insert(path);
}

std::set<std::string> Uncarried::find_missing(const std::vector<Root>& roots, const std::vector<std::string>& placed) {
  if (!file_) return {};
  auto paths = missing_files(std::string(parent_of(path_)), roots, placed);
  Names names;
  for (const std::string& path : paths) names[std::string(parent_of(path))].emplace(name_of(path));
  append(records_of("missing", names));
  return paths;
}

void Uncarried::tell_alive() const {
  if (file_) drain::tell_alive(std::string(parent_of(path_)));
}

void Uncarried::clear() {
  file_.reset();
  written_.clear();
  gone_.clear();
  ::unlink(path_.c_str());
}

void Uncarried::flush() {
  if (!file_ || (written_.empty() && gone_.empty())) return;
  std::vector<Record> records;
  if (!gone_.empty()) records.push_back({"gone", {gone_.begin(), gone_.end()}});
  for (Record& record : records_of("written", written_)) records.push_back(std::move(record));
  written_.clear();
  gone_.clear();
  append(records);
  if (size_ > compact_at_) compact();
}

void Uncarried::append(const std::vector<Record>& records) {
  if (!file_ || records.empty()) return;
  if (!file_->append(records)) return clear();
  for (const Record& record : records)
    for (const std::string& word : record.words) size_ += word.size() + per_name;
}

void Uncarried::compact() {
  const Contents contents = read(path_);
  const std::string path = path_, anew = path_ + ".new";
  ::unlink(anew.c_str());
  Uncarried next;
  next.open(anew);
  next.append(records_of("written", contents.written));
  next.append(records_of("missing", contents.missing));
  if (!next.file_ || ::rename(anew.c_str(), path.c_str()) != 0) return clear();
  file_.emplace(std::move(*next.file_));
  size_ = next.size_;
  compact_at_ = std::max(small, 2 * size_);
}

Uncarried::Contents Uncarried::read(const std::string& path) {
  Contents contents;
  const auto replayed = Journal::replay(path, [&](const Record& record) {
    if (record.kind == "gone") {
      for (const std::string& each : record.words) {
        forget(contents.written, each);
        forget(contents.missing, each);
      }
    } else if ((record.kind == "written" || record.kind == "missing") && !record.words.empty()) {
      Names& names = record.kind == "written" ? contents.written : contents.missing;
      names[record.words.front()].insert(record.words.begin() + 1, record.words.end());
    }
  });
  return replayed ? contents : Contents();
}

// The absence of a file tells nothing by itself: the program may have removed it after the last event that anybody
// read. But a program removes nothing any more when it is dead. Something else changed a directory of the pool if its
// time of modification is later than the last sign of life of the run, and than all that was written in its trees. Then
// a tmp cleaner (or somebody by hand) has removed the files that are missing there. A program that outlives all of
// forebay on its node shows that by its writes, and then no file is called missing. A process that sees the program of
// a dead agent alive leaves a sign (launch). A resume leaves a sign when it has looked, so that its own acts are not
// taken for somebody else's. The names that it found missing are in the file.
std::set<std::string> missing_files(const Uncarried::Contents& names, const std::vector<Root>& roots,
                                    const std::vector<std::string>& placed, std::int64_t last_sign) {
  const std::int64_t later = last_sign + grace.count();
  std::set<std::string> found, known;
  for (const auto& [directory, in_it] : names.written) {
    const auto missing = names.missing.find(directory);
    for (const std::string& name : in_it) {
      const std::string path = join(directory, name);
      const Root* root = root_of(roots, path);
      if (root == nullptr) continue;
      const std::string local = local_of(roots, path);
      const std::string content = place_of(local, placed);
      if (name_exists(content)) continue;
      if (missing != names.missing.end() && missing->second.contains(name)) {
        known.insert(path);
        continue;
      }
      const std::string top = content == local ? root->local : std::string(parent_of(content));
      if (const auto changed = changed_above(content, top); changed && *changed > later) found.insert(path);
    }
  }
  const auto outlived = [&] {
    return std::ranges::any_of(roots, [&](const Root& root) { return is_written_after(root.local, later); }) ||
           std::ranges::any_of(placed, [&](const std::string& each) { return is_written_after(each, later); });
  };
  if (!found.empty() && !outlived()) known.merge(found);
  return known;
}

bool drop_uncarried(const std::string& home, const std::vector<Root>& roots, const std::vector<std::string>& placed,
                    const std::string& path) {
  const std::string file = join(home, uncarried_name);
  Uncarried names;
  if (!name_exists(file)) return false;
  names.open(file);
  (void)names.find_missing(roots, placed);
  Uncarried::Names written = Uncarried::read(file).written;
  const std::size_t directories = written.size();
  const auto beside = written.find(parent_of(path));
  const bool is_name = beside != written.end() && beside->second.contains(std::string(name_of(path)));
  forget(written, path);
  names.gone(path);
  names.flush();
  return is_name || written.size() != directories;
}

std::set<std::string> missing_files(const std::string& home, const std::vector<Root>& roots,
                                    const std::vector<std::string>& placed) {
  const std::string file = join(home, uncarried_name);
  const auto status = status_of(file);
  if (!status) return {};
  return missing_files(Uncarried::read(file), roots, placed, nanoseconds(status->st_mtim));
}

}  // namespace forebay::drain
