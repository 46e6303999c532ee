// The C interface of forebay/options.h.
#include "api/options.h"

#include <new>

#include "api/report.h"
#include "base/base.h"

using forebay::api::check_option;
using forebay::api::Done;
using forebay::api::fail;
using forebay::api::missing;
using forebay::api::run;
using forebay::api::TierKind;

namespace forebay::api {

std::string_view words_for(TierKind kind) {
  switch (kind) {
    case TierKind::dram:
      return "dram";
    case TierKind::pool:
      return "pool";
    case TierKind::shared:
      return "shared directory";
  }
  return "";
}

}  // namespace forebay::api

std::optional<std::string> forebay_options::text(std::string_view key) const {
  const auto found = values.find(key);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> forebay_options::integer(std::string_view key) const {
  const auto found = text(key);
  return found ? forebay::parse_integer(*found) : std::nullopt;
}

std::optional<bool> forebay_options::on(std::string_view key) const {
  const auto found = text(key);
  return found ? std::optional(*found == "on") : std::nullopt;
}

Done forebay_options::add_tier(TierKind kind, const char* path, std::uint64_t bytes) {
  if (kind != TierKind::dram && (path == nullptr || *path == '\0')) {
    return fail(FOREBAY_E_INVALID, "a {} needs a directory", words_for(kind));
  }
  if (bytes == 0) return fail(FOREBAY_E_INVALID, "the budget of a tier ({}) is 0 bytes", words_for(kind));
  if (!tiers.empty() && tiers.back().kind == TierKind::shared) {
    return fail(FOREBAY_E_INVALID, "the shared directory is the last tier; add it last");
  }
  tiers.push_back({kind, kind == TierKind::dram ? "" : path, bytes});
  return {};
}

extern "C" {

forebay_options* forebay_options_create(void) {
  return new (std::nothrow) forebay_options;
}

void forebay_options_free(forebay_options* options) {
  delete options;
}

int forebay_options_set(forebay_options* options, const char* key, const char* value) {
  if (options == nullptr) return missing("options");
  if (key == nullptr) return missing("key of the option");
  return run([&]() -> Done {
    if (value == nullptr && !forebay::api::user_of(key).empty()) {
      options->values.erase(key);
      return {};
    }
    const std::string wanted = value == nullptr ? "" : value;
    if (auto ok = check_option(key, wanted); !ok) return ok;
    options->values.insert_or_assign(key, wanted);
    return {};
  });
}

int forebay_options_set_integer(forebay_options* options, const char* key, int64_t value) {
  if (options == nullptr) return missing("options");
  if (key == nullptr) return missing("key of the option");
  return run([&]() -> Done {
    const std::string digits = std::to_string(value);
    if (auto ok = check_option(key, digits); !ok) return ok;
    options->values.insert_or_assign(key, digits);
    return {};
  });
}

const char* forebay_options_get(const forebay_options* options, const char* key) {
  if (options == nullptr || key == nullptr) return nullptr;
  const auto found = options->values.find(std::string_view(key));
  return found == options->values.end() ? nullptr : found->second.c_str();
}

int forebay_options_check(const forebay_options* options, const char* user) {
  if (user == nullptr) return missing("user of the options");
  if (options == nullptr) return FOREBAY_OK;
  return run([&]() -> Done {
    for (const auto& value : options->values) {
      const std::string_view of = forebay::api::user_of(value.first);
      if (of != user) return fail(FOREBAY_E_INVALID, "the option {} is one of {}, not of {}", value.first, of, user);
    }
    if (!options->tiers.empty() && std::string_view(user) != "trajectory") {
      return fail(FOREBAY_E_INVALID, "tiers are of trajectory, not of {}", user);
    }
    return {};
  });
}

int forebay_options_add_dram(forebay_options* options, uint64_t bytes) {
  if (options == nullptr) return missing("options");
  return run([&] { return options->add_tier(TierKind::dram, nullptr, bytes); });
}

int forebay_options_add_pool(forebay_options* options, const char* directory, uint64_t bytes) {
  if (options == nullptr) return missing("options");
  return run([&] { return options->add_tier(TierKind::pool, directory, bytes); });
}

int forebay_options_add_shared(forebay_options* options, const char* directory, uint64_t bytes) {
  if (options == nullptr) return missing("options");
  return run([&] { return options->add_tier(TierKind::shared, directory, bytes); });
}

}  // extern "C"
