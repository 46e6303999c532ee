// Names of time directories, processor directories and groups.
#include <charconv>
#include <cmath>

#include "run/contract/contract.h"
#include "run/contract/text.h"
#include "run/contract/time_name.h"
#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

// OpenFOAM does not read a number that no double holds.
std::optional<double> parse_time(std::string_view name) {
  if (!contract::is_time_name(name)) return std::nullopt;
  const double value = contract::value_of(name), size = std::abs(value);
  if (value != 0 && (size <= contract::least_time || size >= contract::largest_time)) return std::nullopt;
  return value;
}

// Digits without a leading zero, as OpenFOAM writes ranks.
std::optional<int> parse_rank(std::string_view digits) {
  int value = 0;
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

bool is_time_name(std::string_view name) {
  return parse_time(name).has_value();
}

bool time_less(std::string_view a, std::string_view b) {
  const double first = parse_time(a).value_or(HUGE_VAL);
  const double second = parse_time(b).value_or(HUGE_VAL);
  return first != second ? first < second : a < b;
}

bool same_time(std::string_view a, std::string_view b) {
  const auto first = parse_time(a), second = parse_time(b);
  return first && second && *first == *second;
}

std::optional<int> processor_of(std::string_view name) {
  constexpr std::string_view prefix = contract::rank_prefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  return parse_rank(name.substr(prefix.size()));
}

std::optional<Group> group_of(std::string_view name) {
  constexpr std::string_view prefix = "processors";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const std::size_t underscore = name.find('_');
  const auto all_ranks = parse_rank(name.substr(0, underscore));
  if (!all_ranks || *all_ranks == 0) return std::nullopt;
  if (underscore == std::string_view::npos) return Group{*all_ranks, 0, *all_ranks - 1};
  const std::string_view range = name.substr(underscore + 1);
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_rank(range.substr(0, dash));
  const auto last = parse_rank(range.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= *all_ranks) return std::nullopt;
  return Group{*all_ranks, *first, *last};
}

std::string name_of_group(const Group& group) {
  const std::string all = "processors" + std::to_string(group.all_ranks);
  if (group.first == 0 && group.last == group.all_ranks - 1) return all;
  return all + "_" + std::to_string(group.first) + "-" + std::to_string(group.last);
}

std::optional<TimePath> time_path(std::string_view case_path) {
  const auto take = [&case_path] {
    const std::size_t slash = case_path.find('/');
    const std::string_view part = case_path.substr(0, slash);
    case_path = slash == std::string_view::npos ? std::string_view() : case_path.substr(slash + 1);
    return part;
  };
  TimePath found;
  std::string_view part = take();
  if (const auto rank = processor_of(part)) {
    found.rank = *rank;
    part = take();
  }
  if (!is_time_name(part)) return std::nullopt;
  found.time = part;
  found.rest = case_path;
  return found;
}

}  // namespace forebay::openfoam
