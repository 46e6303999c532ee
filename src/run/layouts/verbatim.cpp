// The layout that changes nothing.
#include <sys/stat.h>

#include <map>
#include <utility>

#include "run/contract/text.h"
#include "run/layouts/local_files.h"

namespace forebay::layouts {

Result<Unit> verbatim_time(const RankTime& rank_time, const std::string& time) {
  Unit unit;
  unit.target = contract::name_of_rank(rank_time.rank) + "/" + time;
  unit.is_directory = true;
  auto directories = directories_below(rank_time.directory);
  if (!directories) return forward(directories);
  unit.directories = std::move(*directories);
  std::map<std::pair<dev_t, ino_t>, std::string> names;
  for (const std::string& path : rank_time.files) {
    const std::string local_path = join(rank_time.directory, path);
    auto file = whole_file(local_path, path);
    if (!file) return forward(file);
    if (const auto status = status_of(local_path); status && S_ISREG(status->st_mode) && status->st_nlink > 1) {
      const auto [first, is_first] = names.try_emplace({status->st_dev, status->st_ino}, path);
      if (!is_first) file->hard_link = HardLink{first->second, true};
    }
    unit.files.push_back(std::move(*file));
  }
  return unit;
}

Result<Unit> verbatim_file(const std::string& local_path, const std::string& case_path,
                           std::optional<Identity> replaces) {
  auto file = whole_file(local_path, "");
  if (!file) return forward(file);
  Unit unit;
  unit.target = case_path;
  unit.files.push_back(std::move(*file));
  unit.replaces = replaces;
  return unit;
}

}  // namespace forebay::layouts
