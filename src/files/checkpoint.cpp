// Tells the content of a checkpoint, whether it is whole, and how it differs from another one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "arrays/array_file/array_file.h"
#include "arrays/array_file/inspect.h"
#include "arrays/carry/sidecar.h"
#include "files/files.h"
#include "run/cli/commands.h"

namespace forebay::files {
namespace {

using cli::InspectOptions;

// Gathered first, then printed as text or JSON.
struct Inspected {
  array_file::Description description;
  std::vector<array_file::Damage> damages, damages_of_other;
  std::vector<array_file::HeadDifference> head_differences;
  std::vector<array_file::Difference> differences;
  std::optional<carry::Provenance> written;
  bool sidecar_of_another_file = false;
};

// Reads its sidecar, if that is of this file: a program that was killed may have left it before the file's name.
Status read_sidecar(const std::string& path, Inspected& inspected) {
  inspected.written = carry::provenance_in(read_file(path + ".json").value_or(""));
  if (!inspected.written) return {};
  const auto content = array_file::content_checksum(path, inspected.description);
  if (!content) return forward(content);
  inspected.sidecar_of_another_file = inspected.written->content != *content;
  if (inspected.sidecar_of_another_file) inspected.written.reset();
  return {};
}

Result<array_file::Description> describe(const std::string& path) {
  auto description = array_file::describe(path);
  if (!description) return description;
  if (auto ok = array_file::check_objects(path, *description); !ok) return forward(ok);
  return description;
}

Result<Inspected> examine(const InspectOptions& options) {
  Inspected inspected;
  auto description = describe(options.path);
  if (!description) return forward(description);
  inspected.description = std::move(*description);
  if (auto ok = read_sidecar(options.path, inspected); !ok) return forward(ok);
  using Damages = Result<std::vector<array_file::Damage>>;
  const auto verify = [&](const std::string& path, const array_file::Description& of_path) -> Damages {
    return options.no_verify ? Damages{} : array_file::verify(path, of_path);
  };
  auto damages = verify(options.path, inspected.description);
  if (!damages) return forward(damages);
  inspected.damages = std::move(*damages);
  if (options.other.empty()) return inspected;

  const auto other = describe(options.other);
  if (!other) return forward(other);
  damages = verify(options.other, *other);
  if (!damages) return forward(damages);
  inspected.damages_of_other = std::move(*damages);
  auto differences = array_file::compare(options.path, inspected.description, options.other, *other);
  if (!differences) return forward(differences);
  inspected.differences = std::move(*differences);
  inspected.head_differences = array_file::compare_heads(inspected.description, *other);
  return inspected;
}

nlohmann::json json_of(const std::vector<array_file::Damage>& damages) {
  auto json = nlohmann::json::array();
  for (const array_file::Damage& each : damages) {
    json.push_back({{"location", each.location}, {"name", each.array}, {"bytes", each.first_bytes}});
  }
  return json;
}

nlohmann::json json_of(const Inspected& inspected) {
  const array_file::Description& description = inspected.description;
  nlohmann::json json = {{"forebay_version", FOREBAY_VERSION},
                         {"step", description.step},
                         {"time", description.time},
                         {"program", description.program},
                         {"mesh", description.mesh},
                         {"written", nullptr},
                         {"sidecar_of_another_file", inspected.sidecar_of_another_file},
                         {"arrays", nlohmann::json::array()},
                         {"damaged", json_of(inspected.damages)},
                         {"damaged_in_other", json_of(inspected.damages_of_other)},
                         {"head_differences", nlohmann::json::array()},
                         {"differences", nlohmann::json::array()}};
  if (const auto& written = inspected.written) {
    json["written"] = {
        {"date", written->date}, {"host", written->host}, {"ranks", written->ranks}, {"method", written->method}};
  }
  for (const array_file::Array& each : description.arrays) {
    json["arrays"].push_back({{"location", each.location},
                              {"name", each.name},
                              {"type", name_of(each.type)},
                              {"components", each.components},
                              {"items", each.items},
                              {"offset", each.offset}});
  }
  for (const array_file::HeadDifference& each : inspected.head_differences) {
    json["head_differences"].push_back({{"what", each.what}, {"here", each.here}, {"there", each.there}});
  }
  for (const array_file::Difference& each : inspected.differences) {
    json["differences"].push_back({{"location", each.location},
                                   {"name", each.array},
                                   {"why_not", each.why_not},
                                   {"largest", each.largest},
                                   {"item", each.item},
                                   {"values", each.different_values}});
  }
  return json;
}

void print(const std::vector<array_file::Damage>& damages, const std::string& path) {
  for (const array_file::Damage& each : damages) {
    fmt::print("DAMAGED {}: {}/{}: {} pieces, the first from byte {} on\n", printable(path), each.location, each.array,
               each.first_bytes.size(), each.first_bytes.front());
  }
}

void print(const Inspected& inspected, const InspectOptions& options) {
  const array_file::Description& description = inspected.description;
  fmt::print("{}: step {}, time {}, by {}, mesh {}\n", printable(options.path), description.step, description.time,
             description.program.empty() ? "?" : printable(description.program),
             description.mesh.empty() ? "?" : printable(description.mesh));
  if (const auto& written = inspected.written) {
    fmt::print("  written {} on {} by {}, {}\n", printable(written->date), printable(written->host),
               plural(static_cast<std::uint64_t>(written->ranks), "rank"), printable(written->method));
  }
  if (inspected.sidecar_of_another_file) {
    fmt::print("  {}.json tells of another file, which was not finished\n", printable(options.path));
  }
  for (const array_file::Array& each : description.arrays) {
    fmt::print("  {}/{}: {} x {} {}, {}\n", each.location, each.name, each.items, each.components, name_of(each.type),
               human_bytes(each.bytes()));
  }
  print(inspected.damages, options.path);
  print(inspected.damages_of_other, options.other);
  const bool whole = inspected.damages.empty() && inspected.damages_of_other.empty();
  if (!options.no_verify && whole) fmt::print("every byte fits its checksum\n");
  for (const array_file::HeadDifference& each : inspected.head_differences) {
    fmt::print("{}: {} against {}\n", each.what, printable(each.here), printable(each.there));
  }
  for (const array_file::Difference& each : inspected.differences) {
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

int inspect_checkpoint(const InspectOptions& options) {
  const auto inspected = examine(options);
  if (!inspected) return cli::failed(inspected.error());
  if (options.json) {
    fmt::print("{}\n", json_of(*inspected).dump(2));
  } else {
    print(*inspected, options);
  }
  if (!inspected->damages.empty() || !inspected->damages_of_other.empty()) return static_cast<int>(Code::lost);
  const auto differs = [](const array_file::Difference& each) {
    return !each.why_not.empty() || each.different_values > 0;
  };
  const bool any = !inspected->head_differences.empty() ||
                   std::any_of(inspected->differences.begin(), inspected->differences.end(), differs);
  return any ? static_cast<int>(Code::failed) : 0;
}

}  // namespace forebay::files
