// Files get their names on the case in the order in which the program closed them. Then a name that points to others (a
// symbolic link, a .pvd, an index that a script writes behind its data) is never there before them, and none of these
// programs need be known.
#include "run/drain/order.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "run/drain/state.h"
#include "run/drain/version.h"

namespace forebay::drain {
namespace {

constexpr int most_links = 40;  // as the kernel follows

}  // namespace

std::optional<std::string> target_of(const std::vector<Root>& roots, const std::string& case_path,
                                     const std::string& path, int& links) {
  const auto link = read_link(local_of(roots, path));
  if (!link) return std::nullopt;
  auto target = target_in_case(path, *link, case_path);
  for (++links; target && links <= most_links; ++links) {
    std::string above;  // the first link among the directories above
    for (std::string at(parent_of(*target)); !at.empty(); at = parent_of(at))
      if (root_of(roots, at)->prefix != at && read_link(local_of(roots, at))) above = at;
    if (above.empty()) return target;
    const auto leads = target_in_case(above, *read_link(local_of(roots, above)), case_path);
    if (!leads) return std::nullopt;
    target = join(*leads, target->substr(above.size() + 1));
  }
  return std::nullopt;
}

bool names_others(const std::string& path) {
  static constexpr std::array<std::string_view, 13> endings{".pvd",  ".series", ".xmf",  ".xdmf", ".vtm",
                                                            ".pvtu", ".pvtp",   ".pvtr", ".pvts", ".pvti",
                                                            ".case", ".visit",  ".json"};
  return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

std::optional<std::string> target_in_case(const std::string& path, const std::string& target,
                                          const std::string& case_path) {
  auto leads = std::filesystem::path(target).lexically_normal();
  if (leads.is_absolute()) {
    if (!is_below(leads.string(), case_path)) return std::nullopt;
    leads = leads.lexically_relative(case_path);
  } else {
    leads = std::filesystem::path(parent_of(path)) / leads;
  }
  std::string inside = leads.lexically_normal().string();
  while (inside.ends_with('/')) inside.pop_back();
  if (inside == ".." || inside.starts_with("../")) return std::nullopt;
  return inside == "." ? std::string() : inside;
}

int links_from(const std::vector<Root>& roots, const std::string& case_path, std::string path) {
  int links = 0;
  while (links < most_links) {
    const auto target = target_of(roots, case_path, path, links);
    if (!target || target->empty()) break;
    path = *target;
  }
  return std::min(links, most_links);
}

std::string FinalOrder::next_time() {
  std::string time = std::move(times_.front());
  times_.pop_front();
  return time;
}

void FinalOrder::forget_found() {
  files_.clear();
  other_times_.clear();
}

// The turns that events told are exact. Otherwise the time at which the kernel noted the last change or rename tells.
// Files of one tick of that clock go by their inodes, which most file systems count upwards. Files of kinds that name
// others come last. Behind them come links, and links to links.
void FinalOrder::add(const Output& output, int links) {
  const auto turn = turns_.find(output.path);
  Rank rank{0, 0, output.mark.ctime_ns, output.mark.inode};
  if (turn != turns_.end())
    rank = {1, turn->second, 0, 0};
  else if (names_others(output.path))
    rank.kind = 2;
  if (links > 0) rank.kind = 2 + links;
  files_.emplace_back(rank, output.path);
  is_sorted_ = false;
}

std::optional<std::string> FinalOrder::next() {
  if (files_.empty()) return std::nullopt;
  if (!std::exchange(is_sorted_, true)) std::ranges::sort(files_, std::greater());
  std::string path = std::move(files_.back().second);
  files_.pop_back();
  return path;
}

}  // namespace forebay::drain
