#include "run/launch/notices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/shell.h"

namespace forebay::launch {
namespace {

// OpenFOAM's option -case DIR leads out of the case.
std::string notice_of_other_case(const LaunchLine& line, const Plan& plan, const std::string& directory) {
  for (std::size_t at = 0; at + 1 < line.words.size(); ++at) {
    if (line.words[at] != "-case") continue;
    const std::string& given = line.words[at + 1];
    const auto real = real_path(given.starts_with('/') ? given : join(directory, given));
    if (!real || !leads_to_directory(*real) || *real == plan.case_path || is_below(*real, plan.case_path)) continue;
    return fmt::format(
        "the program is told -case {}, which is not the case of this run, {}: what it writes there goes past forebay; "
        "`forebay run --case {} -- ...` takes that case",
        printable(given), printable(plan.case_path), shell_word(given));
  }
  return {};
}

std::string notice_of_serial_ranks(const LaunchLine& line, const openfoam::CaseFacts& facts, const Plan& plan) {
  const bool decomposed = facts.ranks > 0 || facts.group_ranks > 0;
  const bool of_openfoam =
      std::ranges::all_of(line.programs, [](const std::string& program) { return openfoam::tolerates_links(program); });
  if (!facts.is_case || !decomposed || !of_openfoam || !plan.launched || line.ranks.value_or(2) == 1) return {};
  if (std::ranges::find(line.words, "-parallel") != line.words.end()) return {};
  return fmt::format(
      "{} is started on several ranks without -parallel: each of them takes the whole case for its own, and no "
      "processor directory is used",
      printable(name_of(line.programs.front())));
}

std::string notice_of_home(const openfoam::CaseFacts& facts, const Plan& plan) {
  const char* home = std::getenv("HOME");
  const auto real = real_path(home == nullptr ? "" : home);
  if (facts.is_case || !real || *real != plan.case_path) return {};
  return "the case of this run is your home directory, and all of it is shown to the program in local memory: start in "
         "the directory of the case, or name it with --case";
}

std::string notice_of_layout(const Plan& plan) {
  if (plan.groups.written.empty() || plan.settings.drain.layout != settings::Layout::collated) return {};
  return "the program writes collated files by itself: --layout collated changes nothing";
}

}  // namespace

std::vector<std::string> notices_of(const LaunchLine& line, const openfoam::CaseFacts& facts, const Plan& plan,
                                    const std::string& directory) {
  std::vector<std::string> notices{notice_of_other_case(line, plan, directory),
                                   notice_of_serial_ranks(line, facts, plan), notice_of_home(facts, plan),
                                   notice_of_layout(plan)};
  std::erase(notices, std::string());
  return notices;
}

}  // namespace forebay::launch
