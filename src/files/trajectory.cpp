// Trajectories that were kept: what there is, whether it is whole, and its end.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/say.h"
#include "files/files.h"
#include "run/cli/commands.h"
#include "store/kept/kept.h"
#include "store/trajectory/field.h"

namespace forebay::files {
namespace {

using kept::Part;
using nlohmann::json;

// A directory of a store, with what was found there.
struct Entry {
  Part part;
  std::optional<segment::DecodedHead> head;  // its own, or that of another tier
  std::optional<kept::Content> content;
};

// The outcome over several directories: among errors and losses, a loss decides.
class Outcome {
 public:
  void note(Code code) {
    if (!code_ || code == Code::lost) code_ = code;
  }
  void fail(const Error& error) {
    cli::failed(error);
    note(error.code);
  }
  int status() const { return code_ ? static_cast<int>(*code_) : 0; }

 private:
  std::optional<Code> code_;
};

// The heads of stores, by their identity, each with the newest epoch that one of its tiers has.
using Stores = std::map<std::uint64_t, segment::DecodedHead>;

// The head of another tier, for a part that has lost its own. Where stores of the same name lie in several directories,
// its segments tell of which of them it is; where they cannot, nobody can.
std::optional<segment::DecodedHead> head_for(const Part& part, const Stores& stores) {
  if (stores.size() == 1) return stores.begin()->second;
  for (const auto& each : stores) {
    const auto content = kept::list(part, each.second);
    if (content && content->segments > 0) return each.second;
  }
  return {};
}

// The trajectories that lie in the directories, each once.
Result<std::vector<Entry>> find(const std::vector<std::string>& directories) {
  std::vector<Entry> entries;
  std::set<std::pair<std::string, std::string>> known;
  for (const std::string& directory : directories) {
    auto parts = kept::find(directory);
    if (!parts) return forward(parts);
    for (Part& part : *parts) {
      if (!known.emplace(part.pool, part.name).second) continue;
      auto head = part.head ? std::optional(*part.head) : std::nullopt;
      entries.push_back({std::move(part), std::move(head), {}});
    }
  }
  // The heads of a store's tiers tell the same, but for the number of the tier; the newest epoch counts for all.
  std::map<std::string, Stores> named;
  for (const Entry& entry : entries) {
    if (!entry.head) continue;
    auto& known_head = named[entry.part.name].try_emplace(entry.head->head.store, *entry.head).first->second;
    known_head.epoch = std::max(known_head.epoch, entry.head->epoch);
  }
  for (Entry& entry : entries) {
    const Stores& stores = named[entry.part.name];
    if (entry.head) {
      entry.head->epoch = stores.at(entry.head->head.store).epoch;
    } else {
      entry.head = head_for(entry.part, stores);
    }
  }
  return entries;
}

// The tiers of the same store that were not found. A part that has lost its head may be any of them, so counts for
// none.
std::vector<std::uint32_t> missing_tiers(const std::vector<Entry>& entries, const Entry& of) {
  std::vector<std::uint32_t> missing;
  if (!of.head) return missing;
  constexpr std::uint32_t kMostNamed = 16;
  const auto is_tier = [&](const Entry& entry, std::uint32_t tier) {
    return entry.part.name == of.part.name && entry.part.head && entry.part.head->head.store == of.head->head.store &&
           entry.part.head->head.tier == tier;
  };
  for (std::uint32_t tier = 0; tier < std::min(of.head->head.tiers, kMostNamed); ++tier) {
    const bool found =
        std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return is_tier(entry, tier); });
    if (!found) missing.push_back(tier);
  }
  return missing;
}

std::string name_of_type(std::uint32_t type) {
  const auto info = trajectory::info_of(type);
  return info ? info->name : fmt::format("of an unknown type ({})", type);
}

// "3 to 7, 9".
std::string text_of(const std::vector<std::int64_t>& steps) {
  std::string text;
  constexpr int kMostRanges = 20;
  int ranges = 0;
  for (std::size_t i = 0; i < steps.size(); ++ranges) {
    if (ranges == kMostRanges) return text + fmt::format(" and {} more", steps.size() - i);
    std::size_t end = i;
    while (end + 1 < steps.size() && steps[end] < steps[end + 1] && steps[end + 1] - 1 == steps[end]) ++end;
    text += text.empty() ? "" : ", ";
    text += end == i ? fmt::format("{}", steps[i]) : fmt::format("{} to {}", steps[i], steps[end]);
    i = end + 1;
  }
  return text;
}

std::string text_of_place(const Entry& entry) {
  const segment::StoreHead& head = entry.head->head;
  std::string text = fmt::format("rank {} of {}, ", head.rank, head.ranks);
  text +=
      entry.part.head ? fmt::format("tier {} of {}", head.tier, head.tiers) : "one of " + plural(head.tiers, "tier");
  if (entry.part.user) text += fmt::format(", in use by process {}", *entry.part.user);
  return text;
}

std::string text_of_steps(const kept::Content& content) {
  if (content.steps.empty()) return "no steps";
  return fmt::format("{}, {} to {}", plural(content.steps.size(), "step"), content.steps.front(), content.steps.back());
}

void print_line(const Entry& entry) {
  fmt::print("{}  {}", printable(entry.part.path), human_bytes(entry.part.bytes));
  if (entry.content) fmt::print("  {}  {}", text_of_steps(*entry.content), text_of_place(entry));
  fmt::print("\n");
}

// `verified`: what is not told as lost was read.
void print(const Entry& entry, bool verified) {
  fmt::print("{}: trajectory {}, {}, {}\n", printable(entry.part.path), printable(entry.part.trajectory()),
             text_of_place(entry), human_bytes(entry.part.bytes));
  for (const segment::FieldEntry& field : entry.head->head.fields) {
    fmt::print("  {}: {} {}", printable(field.name),
               field.shape.size() > 1 ? fmt::format("{}", fmt::join(field.shape, " x ")) : std::to_string(field.count),
               name_of_type(field.type));
    if (field.accepted > 0) fmt::print(", accepted error {:g}", field.accepted);
    fmt::print("\n");
  }
  const kept::Content& content = *entry.content;
  fmt::print("  {}", text_of_steps(content));
  if (!content.steps.empty()) fmt::print(", times {:g} to {:g}", content.first_time, content.last_time);
  fmt::print("\n");
  if (!entry.part.head) fmt::print("  {}; another tier tells what lies here\n", entry.part.head.error().text());
  for (const kept::Loss& loss : content.losses)
    fmt::print("  LOST: {}{}{}\n", loss.what, loss.steps.empty() ? "" : ": steps ", text_of(loss.steps));
  if (!verified) return;
  if (content.unchecked > 0)
    fmt::print("  {} without a checksum: only headers were compared\n", plural(content.unchecked, "step"));
  if (content.losses.empty() && content.unchecked == 0) fmt::print("  every byte fits its checksum\n");
}

json json_of(const Entry& entry, const std::vector<std::uint32_t>& missing, bool verified) {
  json one = {{"path", entry.part.path},
              {"name", entry.part.trajectory()},
              {"bytes", entry.part.bytes},
              {"in_use_by", entry.part.user ? json(*entry.part.user) : json()},
              {"trouble", entry.part.head ? json() : json(entry.part.head.error().text())}};
  if (entry.head) {
    const segment::StoreHead& head = entry.head->head;
    one["store"] = hex(head.store);
    one["rank"] = head.rank;
    one["ranks"] = head.ranks;
    one["tier"] = entry.part.head ? json(head.tier) : json();
    one["tiers"] = head.tiers;
    one["not_looked_at"] = missing;
    one["segment_bytes"] = head.segment_bytes;
    one["fields"] = json::array();
    for (const segment::FieldEntry& field : head.fields)
      one["fields"].push_back({{"name", field.name},
                               {"type", name_of_type(field.type)},
                               {"count", field.count},
                               {"shape", field.shape},
                               {"accepted_error", field.accepted}});
  }
  if (!entry.content) return one;
  const kept::Content& content = *entry.content;
  const bool any = !content.steps.empty();
  one["segments"] = content.segments;
  one["steps"] = content.steps.size();
  one["first_step"] = any ? json(content.steps.front()) : json();
  one["last_step"] = any ? json(content.steps.back()) : json();
  one["first_time"] = any ? json(content.first_time) : json();
  one["last_time"] = any ? json(content.last_time) : json();
  one["lost"] = json::array();
  for (const kept::Loss& loss : content.losses) one["lost"].push_back({{"what", loss.what}, {"steps", loss.steps}});
  if (verified) one["unchecked_steps"] = content.unchecked;
  return one;
}

void print_json(const json& report) {
  fmt::print("{}\n", report.dump(1, ' ', false, json::error_handler_t::replace));
}

enum class How { line, whole };

// Whether one of the missing tiers is gone: as many pools were named as the store has tiers, and what was found there
// without a head of its own are too few to be all that is missing.
bool is_gone(const std::vector<Entry>& entries, const Entry& of, std::size_t missing,
             const std::set<std::string>& pools) {
  if (!of.head || pools.size() < of.head->head.tiers) return false;
  const auto headless = std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.part.name == of.part.name && !entry.part.head && entry.head &&
           entry.head->head.store == of.head->head.store;
  });
  return missing > static_cast<std::size_t>(headless);
}

// Lists or verifies. `pools`: that were named.
int show(std::vector<Entry>& entries, How how, bool verified, bool as_json, const std::set<std::string>& pools) {
  Outcome outcome;
  json all = json::array();
  for (Entry& entry : entries) {
    if (!entry.head) {
      outcome.fail(entry.part.head.error());
    } else if (auto content = verified ? kept::verify(entry.part, *entry.head) : kept::list(entry.part, *entry.head)) {
      entry.content = std::move(*content);
      if (!entry.content->losses.empty() || (verified && !entry.part.head)) outcome.note(Code::lost);
    } else {
      outcome.fail(content.error());
    }
    const std::vector<std::uint32_t> missing = missing_tiers(entries, entry);
    const bool gone = verified && is_gone(entries, entry, missing.size(), pools);
    if (gone) outcome.note(Code::lost);
    if (as_json) {
      all.push_back(json_of(entry, missing, verified));
    } else if (how == How::line) {
      print_line(entry);
    } else if (entry.content) {
      print(entry, verified);
      if (gone) {
        fmt::print("  LOST: tier {} of it, which lies in none of the directories\n", fmt::join(missing, ", "));
      } else if (!missing.empty()) {
        fmt::print("  tier {} of it was not looked at: name its directory, too\n", fmt::join(missing, ", "));
      }
    }
    entry.content.reset();  // of many ranks each has its steps
  }
  if (as_json) print_json({{"forebay_version", FOREBAY_VERSION}, {"trajectories", all}});
  return outcome.status();
}

// The directory of one rank stands for the pool in which it lies.
std::set<std::string> pools_of(const std::vector<std::string>& directories, const std::vector<Entry>& entries) {
  std::set<std::string> pools;
  for (const std::string& directory : directories) {
    const auto part =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.part.path == directory; });
    const auto real = real_path(directory);
    pools.insert(part != entries.end() ? part->part.pool : real ? *real : directory);
  }
  return pools;
}

Error nothing_in(const std::vector<std::string>& directories) {
  return {Code::bad_input, "no trajectory is kept in", listed(directories, 3), 0,
          "give the directory that a pool was given as"};
}

// One of several names may have been meant, or all: that is not guessed.
Status is_one_trajectory(const std::string& directory) {
  const auto parts = kept::find(directory);
  if (!parts) return forward(parts);
  std::set<std::string> names;
  for (const Part& part : *parts) names.insert(part.trajectory());
  if (names.size() <= 1) return {};
  return error(Code::bad_input, fmt::format("several trajectories ({}) are kept in", listed(names, 8)), directory,
               "name the directories of those that are to go");
}

int remove(const std::vector<Entry>& entries, const cli::TrajectoryOptions& options) {
  Outcome outcome;
  for (const std::string& directory : options.directories)
    if (const auto one = is_one_trajectory(directory); !one) outcome.fail(one.error());
  for (const Entry& entry : entries)
    if (const auto may = kept::removable(entry.part); !may) outcome.fail(may.error());
  if (outcome.status() != 0) {
    say(stderr, "forebay: nothing was removed\n");
    return outcome.status();
  }
  json removed = json::array();
  for (const Entry& entry : entries) {
    if (const auto gone = kept::remove(entry.part); !gone) {
      outcome.fail(gone.error());
      continue;
    }
    removed.push_back({{"path", entry.part.path}, {"bytes", entry.part.bytes}});
    if (options.json) continue;
    fmt::print("{}: removed, {}\n", printable(entry.part.path), human_bytes(entry.part.bytes));
    if (const auto missing = missing_tiers(entries, entry); !missing.empty())
      fmt::print("  tier {} of it lies in another directory\n", fmt::join(missing, ", "));
  }
  if (options.json) print_json({{"forebay_version", FOREBAY_VERSION}, {"removed", removed}});
  return outcome.status();
}

}  // namespace

int trajectory(const cli::TrajectoryOptions& options) {
  auto entries = find(options.directories);
  if (!entries) return cli::failed(entries.error());
  if (entries->empty() && options.action != "ls") return cli::failed(nothing_in(options.directories));
  if (options.action == "rm") return remove(*entries, options);
  if (entries->empty() && !options.json) fmt::print("{}\n", nothing_in(options.directories).text());
  const bool verify = options.action == "verify";
  return show(*entries, verify ? How::whole : How::line, verify, options.json, pools_of(options.directories, *entries));
}

std::optional<int> inspect_trajectory(const cli::InspectOptions& options) {
  // A store may also be named by one of its files.
  std::string directory = options.path;
  const std::string_view name = name_of(directory);
  if (!leads_to_directory(directory) && (name == "store" || name == "segments")) directory = directory_of(directory);
  if (!leads_to_directory(directory)) return std::nullopt;
  auto entries = find({directory});
  if (!entries) return cli::failed(entries.error());
  const bool by_file = directory != options.path;
  if (by_file && (entries->empty() || entries->front().part.path != directory)) return std::nullopt;
  if (entries->empty()) {
    return cli::failed({Code::bad_input, "neither a checkpoint nor a directory with trajectories:", directory, 0, {}});
  }
  if (!options.other.empty())
    return cli::failed({Code::bad_input, "trajectories are not compared:", options.path, 0, "inspect each by itself"});
  return show(*entries, How::whole, !options.no_verify, options.json, {});
}

}  // namespace forebay::files
