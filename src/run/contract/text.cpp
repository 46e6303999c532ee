#include "run/contract/text.h"

#include "run/contract/contract.h"
#include "run/contract/flat_name.h"
#include "run/contract/time_name.h"

namespace forebay::contract {

bool is_time_name(std::string_view name) {
  return is_time_name(name.data(), name.size());
}

double value_of(std::string_view name) {
  return value_of(name.data(), name.size());
}

std::string flat_name(std::string_view time, std::string_view file) {
  std::string name;
  name.reserve(time.size() + file.size() + 8);
  const auto put = [&name](const char* bytes, std::size_t count) { name.append(bytes, count); };
  put_flat(time.data(), time.size(), put);
  put_flat("/", 1, put);
  put_flat(file.data(), file.size(), put);
  return name;
}

std::optional<std::pair<std::string, std::string>> parts_of_flat(std::string_view name) {
  std::string path;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view escape = name.substr(i, 3);
    if (escape == "%2F" || escape == "%25") {
      path += escape == "%2F" ? '/' : '%';
      i += 2;
    } else {
      path += name[i];
    }
  }
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return std::nullopt;
  return std::pair(path.substr(0, slash), path.substr(slash + 1));
}

std::string name_of_rank(int rank) {
  return rank_prefix + std::to_string(rank);
}

std::string name_of_kept(int rank) {
  return rank < 0 ? serial_name : name_of_rank(rank);
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
