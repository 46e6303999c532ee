#include "arrays/blocks/series.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace forebay::blocks {

Result<Series> Series::read(const std::string& path) {
  const auto text = read_file(path);
  if (!text && text.error().errno_value == ENOENT) return Series();
  if (!text) return forward(text);
  Series series;
  try {
    const auto json = nlohmann::json::parse(*text);
    for (const auto& file : json.at("files")) series.add(file.at("name"), file.at("time"));
  } catch (const nlohmann::json::exception&) {
    return error(Code::lost, "not a list of the files of a series:", path, "move it away");
  }
  return series;
}

bool Series::has(const std::string& name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& each) { return each.name == name; });
}

void Series::add(const std::string& name, double time) {
  std::erase_if(entries_, [&](const Entry& each) { return each.name == name; });
  const auto behind = std::upper_bound(entries_.begin(), entries_.end(), time,
                                       [](double value, const Entry& each) { return value < each.time; });
  entries_.insert(behind, {name, time});
}

void Series::list_only(const std::set<std::string>& files) {
  std::erase_if(entries_, [&](const Entry& each) {
    return each.name.find('/') == std::string::npos && !files.contains(each.name);
  });
}

Status Series::write(const std::string& path) const {
  nlohmann::json json = {{"file-series-version", "1.0"}, {"files", nlohmann::json::array()}};
  for (const Entry& each : entries_) json["files"].push_back({{"name", each.name}, {"time", each.time}});
  return replace_file(path, json.dump(2) + "\n", 0666);
}

}  // namespace forebay::blocks
