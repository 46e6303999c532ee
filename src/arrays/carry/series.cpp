#include "arrays/carry/series.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "arrays/array_file/array_file.h"

namespace forebay::carry {

namespace {

constexpr std::string_view kStepEnding = ".vtkhdf";

// The name of the output of which a file is a step; "" where it is none.
std::string_view output_of(std::string_view file) {
  if (!file.ends_with(kStepEnding)) return {};
  file.remove_suffix(kStepEnding.size());
  const std::size_t dash = file.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == file.size()) return {};
  const std::string_view digits = file.substr(dash + 1);
  return digits.find_first_not_of("0123456789") == std::string_view::npos ? file.substr(0, dash) : std::string_view{};
}

}  // namespace

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

Status Series::look_into(const std::string& directory, const std::string& output) {
  const auto entries = list_directory(directory);
  if (!entries) return forward(entries);
  std::set<std::string> files;
  for (const auto& entry : *entries) files.insert(entry.name);
  list_only(files);
  for (const std::string& file : files) {
    if (output_of(file) != output || has(file)) continue;
    const auto step = array_file::describe(join(directory, file));
    if (step && step->form == array_file::Form::grid) add(file, step->time);
  }
  return {};
}

Status Series::write(const std::string& path) const {
  nlohmann::json json = {{"file-series-version", "1.0"}, {"files", nlohmann::json::array()}};
  for (const Entry& each : entries_) json["files"].push_back({{"name", each.name}, {"time", each.time}});
  return replace_file(path, json.dump(2) + "\n", 0666);
}

Status list_in_series(const std::string& path) {
  const std::string file(path.substr(path.rfind('/') + 1)), directory(parent_of(path));
  const std::string output(output_of(file));
  if (output.empty()) return {};
  const auto step = array_file::describe(path);
  if (!step || step->form != array_file::Form::grid) return {};
  const std::string list = join(directory, output + kSeriesEnding);
  const auto listed = Series::read(list);
  if (!listed) return forward(listed);
  Series series = *listed;
  if (auto ok = series.look_into(directory, output); !ok) return ok;
  return series == *listed ? Status{} : series.write(list);
}

}  // namespace forebay::carry
