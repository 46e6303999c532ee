#include "run/contract/text.h"

#include "run/contract/contract.h"
#include "run/contract/kept_name.h"
#include "run/contract/time_name.h"

namespace forebay::contract {

bool is_time_name(std::string_view name) {
  return is_time_name(name.data(), name.size());
}

double value_of(std::string_view name) {
  return value_of(name.data(), name.size());
}

std::string name_of_rank(int rank) {
  return rank_prefix + std::to_string(rank);
}

bool has_times(int rank, const WrittenGroups& groups) {
  return rank < 0 || groups.empty() || groups.contains(rank);
}

std::string holder_of_times(int rank, const WrittenGroups& groups) {
  if (rank < 0) return {};
  const auto group = groups.find(rank);
  return group == groups.end() ? name_of_rank(rank) : group->second;
}

std::string name_of_kept(int rank, const WrittenGroups& groups) {
  return rank < 0 ? serial_name : holder_of_times(rank, groups);
}

std::string file_of_kept_name(std::string_view name) {
  std::string file;
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (name[i] != kept_separator || i + 1 == name.size()) {
      file += name[i];
    } else {
      file += name[++i] == kept_slash[1] ? '/' : kept_separator;
    }
  }
  return file;
}

std::string list_word(std::string_view path) {
  std::string word;
  for (const char c : path) {
    if (c == ':') {
      word += "%3A";
    } else if (c == '%') {
      word += "%25";
    } else {
      word += c;
    }
  }
  return word;
}

}  // namespace forebay::contract
