// A tool for tests: does what an agent does at the end of a time, without an agent. Groups the times of a decomposed
// case and removes processorK/T.
//   group_times CASE ALL_RANKS FIRST-LAST... : one group per argument
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "run/layouts/layouts.h"
#include "run/openfoam/openfoam.h"

namespace {

namespace fs = std::filesystem;
using namespace forebay;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "group_times: %s\n", text.c_str());
  std::exit(1);
}

std::vector<std::string> files_below(const fs::path& directory) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(directory));
  std::sort(files.begin(), files.end());
  return files;
}

void write_unit(const fs::path& case_path, const layouts::Unit& unit) {
  const fs::path target = case_path / unit.target;
  for (const auto& directory : unit.directories) fs::create_directories(target / directory.path);
  for (const auto& file : unit.files) {
    const std::string path = target / file.path;
    auto out = open_file(path, O_WRONLY | O_CREAT | O_EXCL, file.mode);
    if (!out) fail(out.error().text());
    for (const auto& piece : file.pieces) {
      std::string bytes = piece.literal;
      if (!piece.source.empty()) {
        const auto whole = read_file(piece.source);
        if (!whole) fail(whole.error().text());
        bytes = whole->substr(piece.offset, piece.length);
        if (bytes.size() != piece.length) fail("short piece of " + piece.source);
      }
      if (auto written = write_all(out->get(), bytes, path); !written) fail(written.error().text());
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) fail("usage: group_times CASE ALL_RANKS FIRST-LAST...");
  const fs::path case_path = arguments[1];
  const int all_ranks = std::atoi(arguments[2]);
  std::set<std::string> times;
  for (const auto& entry : fs::directory_iterator(case_path / "processor0"))
    if (const std::string name = entry.path().filename(); openfoam::is_time_name(name) && name != "0")
      times.insert(name);
  std::vector<std::pair<int, int>> groups;
  for (int i = 3; i < count; ++i) {
    int first = 0, last = 0;
    if (std::sscanf(arguments[i], "%d-%d", &first, &last) != 2) fail("not a range: " + std::string(arguments[i]));
    groups.emplace_back(first, last);
  }
  for (const std::string& time : times) {
    for (const auto& [first, last] : groups) {
      std::vector<layouts::RankTime> ranks;
      for (int rank = first; rank <= last; ++rank) {
        const fs::path directory = case_path / fmt::format("processor{}", rank) / time;
        if (fs::exists(directory)) ranks.push_back({rank, directory, files_below(directory)});
      }
      const auto unit = layouts::collated_time(ranks, time, all_ranks);
      if (!unit) fail(unit.error().text());
      write_unit(case_path, *unit);
      for (const auto& rank : ranks) fs::remove_all(rank.directory);
    }
  }
  std::printf("%s\n", layouts::io_ranks(groups).c_str());
}
