#include "run/drain/only_local.h"

#include <algorithm>
#include <iterator>

#include "base/base.h"

namespace forebay::drain {

void OnlyLocal::closed(const std::string& path, std::uint64_t bytes, double when) {
  Directory& directory = directories_[std::string(parent_of(path))];
  if (directory.files.empty()) directory.since = when;
  const auto [file, added] = directory.files.try_emplace(std::string(name_of(path)), 0);
  directory.bytes += bytes - file->second;
  file->second = bytes;
}

void OnlyLocal::gone(const std::string& path) {
  if (const auto directory = directories_.find(parent_of(path)); directory != directories_.end()) {
    auto& [name, in_it] = *directory;
    if (const auto file = in_it.files.find(name_of(path)); file != in_it.files.end()) {
      in_it.bytes -= file->second;
      in_it.files.erase(file);
    }
    if (in_it.files.empty()) directories_.erase(directory);
  }
  for (auto at = directories_.lower_bound(path); at != directories_.end() && at->first.starts_with(path);)
    at = is_below(at->first, path) ? directories_.erase(at) : std::next(at);
}

OnlyLocalAmount OnlyLocal::amount(double now) const {
  OnlyLocalAmount amount;
  for (const auto& [name, directory] : directories_) {
    amount.files += directory.files.size();
    amount.bytes += directory.bytes;
    amount.seconds = std::max(amount.seconds, now - directory.since);
  }
  return amount;
}

}  // namespace forebay::drain
