// Text for people and for journals.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

// Safe to print on a terminal: control characters and bytes that are not UTF-8 appear as \xNN. A path without such
// bytes is returned as it is.
std::string printable(std::string_view bytes);

// "a, b and 3 more": the first `most` of some texts, each as printable() makes it.
template <class Texts>
std::string listed(const Texts& texts, std::size_t most = std::string::npos) {
  std::string list;
  std::size_t listed = 0;
  for (const std::string& text : texts) {
    if (listed++ == most) return list + " and " + std::to_string(texts.size() - most) + " more";
    list += (list.empty() ? "" : ", ") + printable(text);
  }
  return list;
}

// Any byte string as one word without white space, and back: bytes outside '!'..'~', and '%', become %XX; the empty
// string becomes "%". Journals and plans use it so that every file name survives.
std::string escape(std::string_view bytes);
// nullopt where the word was not made by escape().
std::optional<std::string> unescape(std::string_view word);

// "7.5 GB", "12 kB", "0 B" (powers of 1000).
std::string human_bytes(std::uint64_t bytes);
// "1.47 s", "53 ms", "3 min 28 s".
std::string human_duration(std::chrono::duration<double> seconds);
// Accepts "512", "64k", "1.5G", "2GiB" (k, M, G, T: 1000; Ki, Mi, Gi, Ti: 1024); nullopt otherwise.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
// Accepts "90", "90s", "1.5min", "10m", "2h", "250ms"; nullopt otherwise.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

// "1 file", "2 files", "0 entries", "3 sets of files": how many, and of what.
std::string plural(std::uint64_t count, std::string_view of_one);

std::vector<std::string_view> split(std::string_view text, char separator);
// The whole text as a decimal number, or nullopt.
std::optional<std::int64_t> parse_integer(std::string_view text);

// The word of `known` closest to `word` by edit distance, for "did you mean"; empty when none is near.
std::string closest(std::string_view word, const std::vector<std::string>& known);

}  // namespace forebay
