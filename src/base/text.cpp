#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace forebay {
namespace {

// Length of the valid UTF-8 sequence at the start of `bytes`, or 0. Overlong forms and surrogates count as invalid.
std::size_t utf8_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto continued = [&](std::size_t n) {
    if (bytes.size() < n) return false;
    for (std::size_t i = 1; i < n; ++i)
      if ((at(i) & 0xC0) != 0x80) return false;
    return true;
  };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF && continued(2)) return 2;
  if (lead >= 0xE0 && lead <= 0xEF && continued(3)) {
    if (lead == 0xE0 && at(1) < 0xA0) return 0;
    if (lead == 0xED && at(1) > 0x9F) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4 && continued(4)) {
    if (lead == 0xF0 && at(1) < 0x90) return 0;
    if (lead == 0xF4 && at(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

struct Unit {
  std::string_view name;
  double factor;
};

// A number followed by one of the units; no unit means the first entry's.
template <std::size_t N>
std::optional<double> parse_quantity(std::string_view text, const std::array<Unit, N>& units) {
  double number = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || !(number >= 0)) return std::nullopt;
  std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  for (const Unit& unit : units)
    if (suffix == unit.name) return number * unit.factor;
  return std::nullopt;
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    std::size_t length = utf8_length(bytes);
    // C0 and C1 controls move cursors and change colours; they never reach a terminal.
    const bool control = byte < 0x20 || byte == 0x7F || (length == 2 && byte == 0xC2 && (bytes[1] & 0xE0) == 0x80);
    if (length == 0 || control) {
      length = std::max<std::size_t>(length, 1);
      for (std::size_t i = 0; i < length; ++i)
        out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
    } else {
      out += bytes.substr(0, length);
    }
    bytes.remove_prefix(length);
  }
  return out;
}

std::string escape(std::string_view bytes) {
  if (bytes.empty()) return "%";
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    if (c > ' ' && c <= '~' && c != '%') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

std::optional<std::string> unescape(std::string_view word) {
  if (word == "%") return std::string();
  if (word.empty()) return std::nullopt;
  std::string out;
  out.reserve(word.size());
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      out += word[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= word.size()) return std::nullopt;
    const auto [end, failure] = std::from_chars(word.data() + i + 1, word.data() + i + 3, value, 16);
    if (failure != std::errc() || end != word.data() + i + 3) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 7> units{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return value < 9.995   ? fmt::format("{:.2f} {}", value, units[unit])
         : value < 99.95 ? fmt::format("{:.1f} {}", value, units[unit])
                         : fmt::format("{:.0f} {}", value, units[unit]);
}

std::string human_duration(std::chrono::duration<double> duration) {
  const double seconds = duration.count();
  // A value that would be rounded to 1000 of a unit is 1 of the next.
  if (seconds < 0.9995e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.3g} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  static constexpr std::array<Unit, 18> units{{{"", 1},
                                               {"B", 1},
                                               {"k", 1e3},
                                               {"kB", 1e3},
                                               {"K", 1e3},
                                               {"M", 1e6},
                                               {"MB", 1e6},
                                               {"G", 1e9},
                                               {"GB", 1e9},
                                               {"T", 1e12},
                                               {"TB", 1e12},
                                               {"Ki", 1024.0},
                                               {"KiB", 1024.0},
                                               {"MiB", 1048576.0},
                                               {"Mi", 1048576.0},
                                               {"GiB", 1073741824.0},
                                               {"Gi", 1073741824.0},
                                               {"TiB", 1099511627776.0}}};
  const auto value = parse_quantity(text, units);
  if (!value || *value > 9e18) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  static constexpr std::array<Unit, 6> units{{{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}}};
  const auto value = parse_quantity(text, units);
  if (!value || *value > 9e9) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(*value * 1e9));
}

std::string plural(std::uint64_t count, std::string_view of_one) {
  if (count == 1) return fmt::format("1 {}", of_one);
  const std::string_view noun = of_one.substr(0, of_one.find(" of "));
  const std::string_view more = of_one.substr(noun.size());
  constexpr std::string_view vowels = "aeiou";
  const bool becomes_ies =
      noun.ends_with('y') && noun.size() > 1 && vowels.find(noun[noun.size() - 2]) == std::string_view::npos;
  if (becomes_ies) return fmt::format("{} {}ies{}", count, noun.substr(0, noun.size() - 1), more);
  const bool hisses = noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("ch") || noun.ends_with("sh");
  return fmt::format("{} {}{}{}", count, noun, hisses ? "es" : "s", more);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string closest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    // Levenshtein distance with one row.
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t changed = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace forebay
