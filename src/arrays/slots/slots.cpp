#include "arrays/slots/slots.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <thread>

namespace forebay::slots {
namespace {

constexpr std::string_view kPrefix = "blocks-";
constexpr std::chrono::milliseconds kInstant(5);

// Whether the name leads to this file.
bool has_name(const Descriptor& file, const std::string& path) {
  struct stat here {
  }, there{};
  return ::fstat(file.get(), &here) == 0 && ::lstat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

std::string this_boot() {
  return read_file("/proc/sys/kernel/random/boot_id").value_or("");
}

}  // namespace

SlotDirectory SlotDirectory::of(const std::string& pool, const std::string& target, int group) {
  return SlotDirectory(join(user_directory_in(pool), fmt::format("{}{}-{}", kPrefix, hex(checksum(target)), group)));
}

Status SlotDirectory::lock() {
  // A pool is given, and only what is ours in it is made: a misspelt one would be a directory on another medium.
  const std::string pool(directory_of(directory_of(path_)));
  struct stat status {};
  if (::stat(pool.c_str(), &status) != 0) {
    return errno_error("cannot stage checkpoints in", pool,
                       "give a directory of the node that exists (the option pool)");
  }
  // A process that only asks whether somebody has it holds it for an instant, and one that ends removes it with the
  // directory.
  constexpr int kTries = 20;
  for (int tries = kTries; tries > 0; --tries) {
    const auto made = make_private_directory(path_);
    if (!made && made.error().errno_value != ENOENT) return made;
    auto file = open_file(lock_path(), O_RDWR | O_CREAT | O_NOFOLLOW);
    if (!file && file.error().errno_value != ENOENT) return forward(file);
    if (file) {
      const auto taken =
          tries == kTries ? take_own_lock(file->get(), lock_path()) : take_lock(file->get(), lock_path());
      if (!taken) return forward(taken);
      if (*taken && has_name(*file, lock_path())) {
        lock_ = OwnFile(std::move(*file));
        return {};
      }
    }
    std::this_thread::sleep_for(kInstant);
  }
  return error(Code::busy, "another program stages checkpoints for this directory in", path_,
               "wait for its end, or use another pool");
}

bool SlotDirectory::is_locked() const {
  const auto file = open_file(lock_path(), O_RDONLY | O_NOFOLLOW);
  return file && ::flock(file->get(), LOCK_SH | LOCK_NB) != 0;
}

Status SlotDirectory::commit(int slot, StagedRecord& record_of_slot) const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  record_of_slot.committed = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  record_of_slot.boot = this_boot();
  return replace_file(record(slot), encode(record_of_slot));
}

Result<StagedRecord> SlotDirectory::read(int slot) const {
  auto text = read_file(record(slot));
  if (!text) return forward(text);
  auto decoded = decode_record(*text, record(slot));
  if (decoded && decoded->boot != this_boot()) {
    return error(Code::lost, "this node was started anew since it staged, so nobody knows how much is left of",
                 decoded->path, "`forebay clean --throw-away --throw-away` gives it up");
  }
  return decoded;
}

std::vector<SlotDirectory::Committed> SlotDirectory::committed() const {
  std::vector<Committed> all;
  for (int slot = 0; slot < kSlots; ++slot) {
    if (name_exists(record(slot))) all.push_back({slot, read(slot)});
  }
  std::sort(all.begin(), all.end(), [](const Committed& a, const Committed& b) {
    return a.record && b.record && a.record->sequence < b.record->sequence;
  });
  return all;
}

void SlotDirectory::give_up(int slot) const {
  if (const auto text = read_file(record(slot))) {
    if (const auto decoded = decode_record(*text, record(slot))) clear_away(*decoded);
  }
  forget(slot);
}

void SlotDirectory::forget(int slot) const {
  ::unlink(record(slot).c_str());
}

int SlotDirectory::remove_carried() const {
  int removed = 0;
  bool keeps = !lock_;
  for (int slot = 0; slot < kSlots; ++slot) {
    if (name_exists(record(slot))) {
      keeps = true;
      continue;
    }
    if (::unlink(image(slot).c_str()) == 0) ++removed;
  }
  ::unlink(layout().c_str());
  if (!keeps && ::unlink(lock_path().c_str()) == 0) ::rmdir(path_.c_str());
  return removed;
}

std::vector<SlotDirectory> find(const std::vector<std::string>& pools) {
  std::set<std::string> paths;
  for (const std::string& pool : pools) {
    for (const std::string& own : user_directories_in(pool)) {
      const auto entries = list_directory(own);
      if (!entries) continue;
      for (const DirectoryEntry& each : *entries) {
        const std::string path = join(own, each.name);
        if (each.name.starts_with(kPrefix) && is_own_directory(path)) paths.insert(path);
      }
    }
  }
  std::vector<SlotDirectory> found;
  found.reserve(paths.size());
  for (const std::string& path : paths) found.emplace_back(path);
  return found;
}

}  // namespace forebay::slots
