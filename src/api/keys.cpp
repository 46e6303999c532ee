// The keys that options may have.
#include <algorithm>
#include <limits>

#include "api/options.h"
#include "base/base.h"

namespace forebay::api {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLargestInt = std::numeric_limits<int>::max();
constexpr std::int64_t kMostEncoders = 1024;

// A value is one of the words if there are some, else a number if it has a largest value, else a text.
struct Key {
  std::string_view name;
  std::string_view user;
  std::vector<std::string> words{};
  std::int64_t least = 0;
  std::int64_t most = 0;
};

const std::vector<Key>& keys() {
  static const std::vector<std::string> kOnOff = {"on", "off"};
  static const std::vector<Key> kKeys = {
      {"name", "trajectory"},
      {"rank", "trajectory", {}, 0, kLargestInt},
      {"ranks", "trajectory", {}, 1, kLargestInt},
      {"keep", "trajectory", kOnOff},
      {"mode", "trajectory", {"any", "create", "must-exist", "read-only", "partial"}},
      {"survives", "trajectory", {"power-cut", "process"}},
      {"checksum", "trajectory", kOnOff},
      {"compare", "trajectory", {"every-read", "first-read"}},
      {"encoders", "trajectory", {}, 0, kMostEncoders},
      {"debug", "trajectory", kOnOff},
      {"segment-bytes", "trajectory", {}, 1, kLargest},
      {"most-per-node", "team", {}, 1, kLargestInt},
      {"least-bytes", "plan", {}, 1, kLargest},
      {"rank-step", "plan", {}, 1, kLargestInt},
      {"most-blocks", "plan", {}, 1, kLargestInt},
      {"shared", "plan", kOnOff},
      {"method",
       "checkpoints",
       {"serial", "stdio", "mpi-independent", "mpi-noncollective", "mpi-collective", "staged"}},
      {"hints", "checkpoints"},
      {"pool", "checkpoints"},
      {"verify", "checkpoints", {"written", "read-back"}},
  };
  return kKeys;
}

const Key* find(std::string_view name) {
  const auto found = std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.name == name; });
  return found == keys().end() ? nullptr : &*found;
}

bool names_a_store(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !text.empty() && text.size() <= 200 && text.front() != '.' && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

std::string_view user_of(std::string_view key) {
  const Key* const found = find(key);
  return found == nullptr ? "" : found->user;
}

Done check_option(std::string_view name, std::string_view value) {
  const Key* const key = find(name);
  if (key == nullptr) {
    std::vector<std::string> names;
    for (const Key& each : keys()) names.emplace_back(each.name);
    const std::string near = closest(name, names);
    return fail(FOREBAY_E_INVALID, "there is no option \"{}\"; {}", printable(name),
                near.empty() ? "there are " + listed(names) : "did you mean \"" + near + "\"?");
  }
  if (!key->words.empty()) {
    if (std::find(key->words.begin(), key->words.end(), value) != key->words.end()) return {};
    // Where two words say the opposite, none is guessed.
    const std::string near = key->words.size() > 2 ? closest(value, key->words) : "";
    return fail(FOREBAY_E_INVALID, "the option {} cannot be \"{}\"; {}", name, printable(value),
                near.empty() ? "there are " + listed(key->words) : "did you mean \"" + near + "\"?");
  }
  if (key->most > 0) {
    const auto number = parse_integer(value);
    if (number && *number >= key->least && *number <= key->most) return {};
    return fail(FOREBAY_E_INVALID, "the option {} cannot be \"{}\": a whole number of {} to {}", name, printable(value),
                key->least, key->most);
  }
  if (name == "name" && !names_a_store(value)) {
    return fail(FOREBAY_E_INVALID,
                "\"{}\" cannot name a trajectory: at most 200 letters, digits, '.', '_' and '-', and no '.' first",
                printable(value));
  }
  if (name == "pool" && value.empty()) {
    return fail(FOREBAY_E_INVALID, "the option pool is empty: it names a directory of the node");
  }
  return {};
}

}  // namespace forebay::api
