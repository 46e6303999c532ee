#include "run/drain/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace forebay::drain {

std::uint64_t checksum_of(const Marks& marks) {
  std::string text;
  for (const auto& [file, mark] : marks)
    text += fmt::format("{} {} {} {:o} {}\n", mark.inode, mark.size, mark.mtime_ns, mark.mode, file);
  return checksum(text);
}

std::string version_directory(const std::string& aside, int version) {
  return join(aside, std::to_string(version));
}

bool Checkpoint::is_to_be_looked_at(Time now, Clock::duration interval) {
  if (now < next_look_) return false;
  next_look_ = now + interval;
  return true;
}

// A version has a file that is new: what the program only removes from, it may be about to write again.
void Checkpoint::looked(std::optional<Marks> found, const std::string& local) {
  if (found && !cut_.empty()) {
    std::set<Birth> still_cut;
    for (const auto& [file, mark] : *found)
      if (const Birth birth = birth_of(join(local, file)); cut_.contains(birth)) still_cut.insert(birth);
    cut_ = std::move(still_cut);
  }
  if (found && (!cut_.empty() || std::ranges::all_of(*found, [&](const auto& each) { return is_held(each); })))
    found.reset();
  found_twice_ = is_doubtful_ = found && found == last_;
  last_ = std::move(found);
}

Checkpoint::Birth Checkpoint::birth_of(const std::string& local) {
  struct statx status {};
  if (::statx(AT_FDCWD, local.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &status) != 0) return {};
  return {status.stx_ino, std::int64_t{status.stx_btime.tv_sec} * 1'000'000'000 + status.stx_btime.tv_nsec};
}

void Checkpoint::distrust(const Marks& there, const std::string& local) {
  for (const auto& each : there)
    if (!is_held(each)) cut_.insert(birth_of(join(local, each.first)));
}

// Whether the newest version holds the file, or the case has it.
bool Checkpoint::is_held(const Marks::value_type& file) const {
  const auto held = marks_.find(file.first);
  return file.second == LocalMark{} || (held != marks_.end() && held->second == file.second);
}

bool Checkpoint::takes_doubt() {
  return std::exchange(is_doubtful_, false);
}

Status Checkpoint::keep(const std::string& local) {
  const std::string kept = directory(next());
  if (auto removed = remove_tree(kept); !removed) return removed;
  if (auto made = make_private_directory(kept); !made) return made;
  kept_.insert(next());
  for (const auto& [file, mark] : last_look()) {
    const std::string path = join(kept, file);
    if (auto made = make_private_directory(std::string(parent_of(path))); !made) return made;
    if (::linkat(AT_FDCWD, join(local, file).c_str(), AT_FDCWD, path.c_str(), 0) != 0 && errno != ENOENT)
      return errno_error("cannot keep a link to", join(local, file));
  }
  return {};
}

int Checkpoint::becomes_whole() {
  whole_ = next();
  marks_ = *last_;
  found_twice_ = false;
  release();
  return *whole_;
}

void Checkpoint::landed(bool home, Time now) {
  if (home) {
    home_ = taken_;
    last_home_ = now;
  }
  taken_.reset();
  release();
}

void Checkpoint::spoiled() {
  whole_ = home_;
  marks_.clear();
  release();
}

// Removes versions that nobody will ask for any more. A version that cannot be removed costs room until the end of the
// run.
void Checkpoint::release() {
  std::erase_if(kept_, [&](int version) {
    return version != to_carry() && version != taken_ && remove_tree(directory(version)).has_value();
  });
}

}  // namespace forebay::drain
