#include "slots/slots.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

namespace forebay::slots {
namespace {

constexpr std::string_view kPrefix = "blocks-";

std::string user_directory(const std::string& pool) {
  return join(pool, fmt::format("forebay-{}", ::geteuid()));
}

bool is_own_directory(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

}  // namespace

SlotDirectory SlotDirectory::of(const std::string& pool, const std::string& target, int group) {
  return SlotDirectory(join(user_directory(pool), fmt::format("{}{}-{}", kPrefix, hex(checksum(target)), group)));
}

Status SlotDirectory::lock() {
  if (auto made = make_private_directory(path_); !made) return made;
  auto file = open_file(join(path_, "lock"), O_RDWR | O_CREAT | O_NOFOLLOW);
  if (!file) return forward(file);
  if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
    return error(Code::busy, "another program stages blocks for this directory in", path_,
                 "wait for its end, or use another pool");
  }
  lock_ = std::move(*file);
  return {};
}

bool SlotDirectory::is_locked() const {
  const auto file = open_file(join(path_, "lock"), O_RDONLY | O_NOFOLLOW);
  return file && ::flock(file->get(), LOCK_SH | LOCK_NB) != 0;
}

Result<StagedRecord> SlotDirectory::read(int slot) const {
  auto text = read_file(record(slot));
  if (!text) return forward(text);
  return decode_record(*text, record(slot));
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

void SlotDirectory::forget(int slot) const {
  ::unlink(record(slot).c_str());
}

int SlotDirectory::remove_carried() const {
  int removed = 0;
  for (int slot = 0; slot < kSlots; ++slot) {
    if (name_exists(record(slot))) continue;
    if (::unlink(image(slot).c_str()) == 0) ++removed;
    ::unlink(layout(slot).c_str());
  }
  return removed;
}

std::vector<SlotDirectory> find(const std::vector<std::string>& pools) {
  std::set<std::string> paths;
  for (const std::string& pool : pools) {
    const auto entries = list_directory(user_directory(pool));
    if (!entries) continue;
    for (const DirectoryEntry& each : *entries) {
      const std::string path = join(user_directory(pool), each.name);
      if (each.name.starts_with(kPrefix) && is_own_directory(path)) paths.insert(path);
    }
  }
  std::vector<SlotDirectory> found;
  for (const std::string& path : paths) found.emplace_back(path);
  return found;
}

}  // namespace forebay::slots
