// The layout that changes nothing.
#include <fmt/format.h>

#include "layouts/local_files.h"

namespace forebay::layouts {

Result<Unit> verbatim_time(const RankTime& rank_time, const std::string& time) {
  Unit unit;
  unit.target = fmt::format("processor{}/{}", rank_time.rank, time);
  unit.is_directory = true;
  auto directories = directories_below(rank_time.directory);
  if (!directories) return forward(directories);
  unit.directories = std::move(*directories);
  for (const std::string& path : rank_time.files) {
    auto file = whole_file(join(rank_time.directory, path), path);
    if (!file) return forward(file);
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
