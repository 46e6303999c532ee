// What a checkpoint holds, whether it is whole, and how it differs from another one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "arrays/arrays.h"
#include "arrays/inspect.h"
#include "cli/commands.h"
#include "files/files.h"

namespace forebay::files {
namespace {

using cli::InspectOptions;

// Gathered first, then printed as text or JSON.
struct Inspected {
  arrays::Description description;
  std::vector<arrays::Damage> damages;
  std::vector<arrays::Difference> differences;
};

Result<Inspected> look(const InspectOptions& options) {
  Inspected inspected;
  auto description = arrays::describe(options.path);
  if (!description) return forward(description);
  inspected.description = std::move(*description);
  if (!options.no_verify) {
    auto damages = arrays::verify(options.path, inspected.description);
    if (!damages) return forward(damages);
    inspected.damages = std::move(*damages);
  }
  if (!options.other.empty()) {
    auto other = arrays::describe(options.other);
    if (!other) return forward(other);
    auto differences = arrays::compare(options.path, inspected.description, options.other, *other);
    if (!differences) return forward(differences);
    inspected.differences = std::move(*differences);
  }
  return inspected;
}

nlohmann::json json_of(const Inspected& inspected) {
  const arrays::Description& description = inspected.description;
  nlohmann::json json = {{"step", description.step},
                         {"time", description.time},
                         {"program", description.program},
                         {"mesh", description.mesh},
                         {"arrays", nlohmann::json::array()},
                         {"damaged", nlohmann::json::array()},
                         {"differences", nlohmann::json::array()}};
  for (const arrays::Array& each : description.arrays) {
    json["arrays"].push_back({{"location", each.location},
                              {"name", each.name},
                              {"type", name_of(each.type)},
                              {"components", each.components},
                              {"items", each.items},
                              {"offset", each.offset}});
  }
  for (const arrays::Damage& each : inspected.damages) {
    json["damaged"].push_back({{"location", each.location}, {"name", each.array}, {"bytes", each.first_bytes}});
  }
  for (const arrays::Difference& each : inspected.differences) {
    json["differences"].push_back({{"location", each.location},
                                   {"name", each.array},
                                   {"why_not", each.why_not},
                                   {"largest", each.largest},
                                   {"item", each.item},
                                   {"values", each.different_values}});
  }
  return json;
}

void print(const Inspected& inspected, const InspectOptions& options) {
  const arrays::Description& description = inspected.description;
  fmt::print("{}: step {}, time {}, by {}, mesh {}\n", printable(options.path), description.step, description.time,
             description.program.empty() ? "?" : printable(description.program),
             description.mesh.empty() ? "?" : printable(description.mesh));
  for (const arrays::Array& each : description.arrays) {
    fmt::print("  {}/{}: {} x {} {}, {}\n", each.location, each.name, each.items, each.components, name_of(each.type),
               human_bytes(each.bytes()));
  }
  for (const arrays::Damage& each : inspected.damages) {
    fmt::print("DAMAGED {}/{}: {} pieces, the first from byte {} on\n", each.location, each.array,
               each.first_bytes.size(), each.first_bytes.front());
  }
  if (!options.no_verify && inspected.damages.empty()) fmt::print("every byte fits its checksum\n");
  for (const arrays::Difference& each : inspected.differences) {
    if (!each.why_not.empty()) {
      fmt::print("{}/{}: {}\n", each.location, each.array, printable(each.why_not));
    } else if (each.different_values == 0) {
      fmt::print("{}/{}: equal\n", each.location, each.array);
    } else {
      fmt::print("{}/{}: {} values differ, at most by {:g} (item {})\n", each.location, each.array,
                 each.different_values, each.largest, each.item);
    }
  }
}

}  // namespace

int inspect(const InspectOptions& options) {
  const auto inspected = look(options);
  if (!inspected) return cli::failed(inspected.error());
  if (options.json) {
    fmt::print("{}\n", json_of(*inspected).dump(2));
  } else {
    print(*inspected, options);
  }
  if (!inspected->damages.empty()) return static_cast<int>(Code::lost);
  const auto differs = [](const arrays::Difference& each) {
    return !each.why_not.empty() || each.different_values > 0;
  };
  const bool any = std::any_of(inspected->differences.begin(), inspected->differences.end(), differs);
  return any ? static_cast<int>(Code::failed) : 0;
}

}  // namespace forebay::files
