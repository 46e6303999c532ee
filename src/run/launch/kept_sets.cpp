#include "run/launch/kept_sets.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "run/tree/warm.h"

namespace forebay::launch {
namespace {

constexpr const char *warm_prefix = "warm-", *ahead_prefix = "stage-", *case_name = "case";

std::string name_for(const char* prefix, const std::string& case_path) {
  return prefix + hex(checksum(case_path));
}

void count_below(const std::string& directory, KeptSet& set) {
  const auto entries = list_directory(directory);
  if (!entries) return;
  for (const DirectoryEntry& entry : *entries) {
    const std::string path = join(directory, entry.name);
    if (entry.type == DT_DIR) {
      count_below(path, set);
    } else if (const auto status = status_of(path)) {
      ++set.files;
      set.bytes += static_cast<std::uint64_t>(status->st_size);
    }
  }
}

void count(KeptSet& set) {
  if (set.ahead) return count_below(join(set.directory, ahead_tree_name), set);
  for (const tree::WarmFile& file : tree::read_warm(set.directory)) {
    ++set.files;
    set.bytes += file.on_case.size;
  }
}

}  // namespace

bool is_run_name(std::string_view name) {
  return !name.starts_with(warm_prefix) && !name.starts_with(ahead_prefix);
}

std::string warm_directory(const std::string& pool_path, const std::string& case_path) {
  return join(user_directory_in(pool_path), name_for(warm_prefix, case_path));
}

std::string ahead_directory(const std::string& pool_path, const std::string& case_path) {
  return join(user_directory_in(pool_path), name_for(ahead_prefix, case_path));
}

std::vector<std::string> warm_directories(const PoolRun& run) {
  std::vector<std::string> all;
  for (const std::string& directory : run.directories) {
    const std::string pool(parent_of(parent_of(parent_of(directory))));
    std::string warm = warm_directory(pool, run.plan.case_path);
    if (std::ranges::find(all, warm) == all.end()) all.push_back(std::move(warm));
  }
  return all;
}

Status name_case(const std::string& directory, const std::string& case_path) {
  return replace_file(join(directory, case_name), case_path);
}

Result<Descriptor> lock_ahead(const std::string& directory) {
  auto file = open_file(join(directory, "lock"), O_RDWR | O_CREAT | O_NOFOLLOW);
  if (!file) return file;
  if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0)
    return error(Code::busy, "another `forebay stage` works on this case at", directory, "wait for it");
  return file;
}

std::vector<KeptSet> find_kept(const std::vector<std::string>& pool_paths, const std::string& case_path) {
  std::vector<std::string> own;
  for (const std::string& pool : pool_paths)
    for (std::string& each : user_directories_in(pool))
      if (std::ranges::find(own, each) == own.end()) own.push_back(std::move(each));
  std::vector<KeptSet> found;
  for (const std::string& each : own) {
    const auto entries = list_directory(each);
    if (!entries) continue;
    for (const DirectoryEntry& entry : *entries) {
      const bool ahead = entry.name.starts_with(ahead_prefix);
      if ((!ahead && !entry.name.starts_with(warm_prefix)) || entry.type != DT_DIR) continue;
      if (!case_path.empty() && entry.name != name_for(ahead ? ahead_prefix : warm_prefix, case_path)) continue;
      KeptSet set{join(each, entry.name), case_path, ahead};
      if (case_path.empty()) set.case_path = read_file(join(set.directory, case_name)).value_or("");
      count(set);
      found.push_back(std::move(set));
    }
  }
  return found;
}

Result<bool> remove_kept(const KeptSet& set) {
  const auto locked = set.ahead ? lock_ahead(set.directory) : Result<Descriptor>(Descriptor());
  if (!locked && locked.error().code == Code::busy) return false;
  if (auto removed = remove_tree(set.directory); !removed) return forward(removed);
  return true;
}

}  // namespace forebay::launch
