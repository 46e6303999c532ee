// Options by key, as text: forebay/options.h says what each is. One table (keys.cpp) gives the checks and the messages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/failure.h"
#include "forebay/options.h"

namespace forebay::api {

enum class TierKind { dram, pool, shared };
std::string_view words_for(TierKind kind);

struct TierOptions {
  TierKind kind = TierKind::dram;
  std::string path;
  std::uint64_t budget = 0;
};

// Why `key` cannot be set to `value`; and what it is a key of.
Done check_option(std::string_view key, std::string_view value);
std::string_view user_of(std::string_view key);

}  // namespace forebay::api

struct forebay_options {
  std::map<std::string, std::string, std::less<>> values;
  std::vector<forebay::api::TierOptions> tiers;

  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<bool> on(std::string_view key) const;
  forebay::api::Done add_tier(forebay::api::TierKind kind, const char* path, std::uint64_t bytes);
};
