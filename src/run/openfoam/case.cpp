// The facts that a case directory tells about itself.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

std::optional<double> parse_number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (failure != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

void read_control(std::string_view control, CaseFacts& facts) {
  const auto word = [control](std::string_view key) { return dictionary_entry(control, key).value_or(""); };
  facts.application = word("application");
  facts.start_from = word("startFrom");
  facts.start_time = word("startTime");
  facts.write_control = word("writeControl");
  facts.write_interval = parse_number(dictionary_entry(control, "writeInterval"));
  if (const auto purge = parse_integer(word("purgeWrite")); purge && *purge >= 0 && *purge <= INT32_MAX)
    facts.purge_write = static_cast<int>(*purge);
}

void count_ranks(const std::set<int>& processors, CaseFacts& facts) {
  int expected = 0;
  for (const int rank : processors) {
    if (rank != expected) {
      facts.missing_rank = expected;
      return;
    }
    ++expected;
  }
  facts.ranks = expected;
}

}  // namespace

Result<CaseFacts> inspect(const std::string& directory) {
  const auto entries = list_directory(directory);
  if (!entries) return forward(entries);
  CaseFacts facts;
  std::set<int> processors, group_ranks;
  for (const DirectoryEntry& entry : *entries) {
    const auto rank = processor_of(entry.name);
    const auto group = group_of(entry.name);
    // Processor directories may be links into pools.
    if ((!rank && !group) || !leads_to_directory(join(directory, entry.name), entry)) continue;
    if (rank) processors.insert(*rank);
    if (group) {
      facts.groups.push_back(entry.name);
      group_ranks.insert(group->all_ranks);
    }
  }
  count_ranks(processors, facts);
  if (group_ranks.size() == 1) facts.group_ranks = *group_ranks.begin();

  const std::string control_path = join(directory, "system/controlDict");
  struct stat status {};
  if (::stat(control_path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return facts;
    return errno_error("cannot read", control_path);
  }
  const auto control = read_file(control_path);
  if (!control) return forward(control);
  facts.is_case = true;
  read_control(*control, facts);
  return facts;
}

}  // namespace forebay::openfoam
