// Which file handler OpenFOAM's programs take, and where its collated one writes. Source: OpenFOAM v1912 (argList,
// Time::setControls, fileOperation::setNProcs), and what its programs were seen to make (docs/run/openfoam.md).
#include <algorithm>
#include <cstdlib>
#include <set>

#include "run/openfoam/dictionary_reader.h"
#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string() : std::string(text);
}

// The last value of `key` in a sub-dictionary of this name.
std::optional<std::string> entry_in(std::string_view text, std::string_view dictionary, std::string_view key) {
  std::optional<std::string> found;
  const auto take = [&](Reader& reader, bool is_certain) {
    reader.skip_space_and_comments();
    if (reader.at_end() || reader.front() != '{') return (void)reader.take_value();
    reader.take();
    const std::string_view inside = reader.rest();
    reader.skip_dictionary();
    if (auto value = dictionary_entry(inside.substr(0, inside.size() - reader.rest().size()), key))
      found = is_certain ? std::move(value) : std::nullopt;
  };
  find_entries(text, dictionary, take, [&] { found.reset(); });
  return found;
}

std::optional<std::string> handler_in(const std::string& control_dict) {
  const auto text = read_file(control_dict);
  return text ? entry_in(*text, "OptimisationSwitches", "fileHandler") : std::nullopt;
}

std::string file_handler(const std::vector<std::string>& words, const std::string& case_path) {
  if (auto of_case = handler_in(join(case_path, "system/controlDict"))) return *of_case;
  const auto option = std::ranges::find(words, "-fileHandler");
  if (option != words.end() && option + 1 != words.end()) return *(option + 1);
  if (std::string of_shell = variable("FOAM_FILEHANDLER"); !of_shell.empty()) return of_shell;
  const std::string project = variable("WM_PROJECT_DIR");
  return project.empty() ? "uncollated" : handler_in(join(project, "etc/controlDict")).value_or("uncollated");
}

// "(0 2)", "2(0 2)": the first ranks of the groups. The first rank of all is always one.
std::set<int> first_ranks(std::string_view list, int ranks) {
  std::set<int> first{0};
  list.remove_prefix(std::min(list.find('('), list.size()));
  for (std::size_t at = 0; (at = list.find_first_of("0123456789", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(list.find_first_not_of("0123456789", at), list.size());
    if (const auto rank = parse_integer(list.substr(at, end - at)); rank && *rank < ranks)
      first.insert(static_cast<int>(*rank));
    at = end;
  }
  return first;
}

}  // namespace

std::map<int, std::string> written_groups(const std::vector<std::string>& words, const std::string& case_path,
                                          int ranks) {
  std::map<int, std::string> groups;
  if (file_handler(words, case_path) != "collated") return groups;
  const std::set<int> first = first_ranks(variable("FOAM_IORANKS"), ranks);
  for (auto at = first.begin(); at != first.end(); ++at) {
    const auto next = std::next(at);
    const int last = (next == first.end() ? ranks : *next) - 1;
    groups[*at] = name_of_group({ranks, *at, last});
  }
  return groups;
}

}  // namespace forebay::openfoam
