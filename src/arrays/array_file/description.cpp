#include "arrays/array_file/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "arrays/array_file/grid.h"
#include "arrays/array_file/pieces.h"

namespace forebay::array_file {
namespace {

struct Named {
  Type type;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array kTypes = {Named{Type::uint8, "uint8", 1},     Named{Type::int32, "int32", 4},
                               Named{Type::int64, "int64", 8},     Named{Type::uint64, "uint64", 8},
                               Named{Type::float32, "float32", 4}, Named{Type::float64, "float64", 8}};

const Named& named(Type type) {
  return *std::find_if(kTypes.begin(), kTypes.end(), [&](const Named& each) { return each.type == type; });
}

Status check_name(std::string_view what, const std::string& name) {
  // A slash would make a path of it, a dot or nothing the group itself.
  if (!name.empty() && name != "." && name.size() <= 255 && name.find('/') == std::string::npos &&
      name.find('\0') == std::string::npos && printable(name) == name) {
    return {};
  }
  return error(Code::bad_input, fmt::format("not usable as the name of {}: '{}'", what, printable(name)), {},
               "1 to 255 printable bytes without '/'");
}

constexpr const char* kGrid = "grid";

nlohmann::json json_of(const Description& description, bool offsets) {
  nlohmann::json json = {{"step", description.step},
                         {"time", std::bit_cast<std::uint64_t>(description.time)},
                         {"program", description.program},
                         {"mesh", description.mesh},
                         {"locations", nlohmann::json::array()},
                         {"arrays", nlohmann::json::array()}};
  if (description.form == Form::grid) json["form"] = kGrid;
  for (const Location& each : description.locations) json["locations"].push_back({each.name, each.items});
  for (const Array& each : description.arrays) {
    json["arrays"].push_back({each.name, each.location, name_of(each.type), each.components, each.items});
    if (!offsets) continue;
    json["arrays"].back().push_back(each.offset);
    json["arrays"].back().push_back(each.checks_offset);
  }
  return json;
}

Result<Description> description_of(const nlohmann::json& json) {
  Description description;
  description.step = json.at("step");
  description.time = std::bit_cast<double>(json.at("time").get<std::uint64_t>());
  description.program = json.at("program");
  description.mesh = json.at("mesh");
  if (json.value("form", "") == kGrid) description.form = Form::grid;
  for (const auto& each : json.at("locations")) description.locations.push_back({each.at(0), each.at(1)});
  for (const auto& each : json.at("arrays")) {
    auto type = type_named(each.at(2).get<std::string>());
    if (!type) return forward(type);
    description.arrays.push_back({each.at(0), each.at(1), *type, each.at(3), each.at(4), each.at(5), each.at(6)});
  }
  return description;
}

}  // namespace

std::size_t bytes_of(Type type) {
  return named(type).bytes;
}

std::string_view name_of(Type type) {
  return named(type).name;
}

Result<Type> type_named(std::string_view name) {
  for (const Named& each : kTypes) {
    if (each.name == name) return each.type;
  }
  return error(Code::bad_input, fmt::format("unknown type '{}'", printable(name)));
}

const Location* Description::location(std::string_view name) const {
  const auto found = std::find_if(locations.begin(), locations.end(), [&](auto& each) { return each.name == name; });
  return found == locations.end() ? nullptr : &*found;
}

const Array* Description::array(std::string_view location, std::string_view name) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](auto& each) { return each.location == location && each.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

Status complete(Description& description) {
  for (const std::string& text : {description.program, description.mesh}) {
    if (printable(text) != text) {
      return error(Code::bad_input, "not printable as the name of a program or a mesh: '" + printable(text) + "'");
    }
  }
  if (description.form == Form::grid) {
    if (auto ok = check_grid(description); !ok) return ok;
  }
  std::set<std::string> locations;
  for (const Location& each : description.locations) {
    if (auto ok = check_name("a location", each.name); !ok) return ok;
    if (!locations.insert(each.name).second) return error(Code::bad_input, "two locations are named " + each.name);
  }
  std::set<std::pair<std::string, std::string>> arrays;
  for (Array& each : description.arrays) {
    if (auto ok = check_name("an array", each.name); !ok) return ok;
    const Location* location = description.location(each.location);
    if (location == nullptr) {
      return error(Code::bad_input, fmt::format("array {} is on '{}', which is no location", each.name, each.location));
    }
    if (each.components == 0) return error(Code::bad_input, fmt::format("array {} has no components", each.name));
    if (!arrays.insert({each.location, each.name}).second) {
      return error(Code::bad_input, fmt::format("two arrays on {} are named {}", each.location, each.name));
    }
    each.items = location->items;
  }
  std::sort(description.locations.begin(), description.locations.end(),
            [](const Location& a, const Location& b) { return a.name < b.name; });
  std::sort(description.arrays.begin(), description.arrays.end(),
            [](const Array& a, const Array& b) { return std::tie(a.location, a.name) < std::tie(b.location, b.name); });
  return {};
}

Status same_mesh(const Description& file, const Description& run, const std::string& path) {
  constexpr std::string_view kAdvice = "restart from a checkpoint of the same mesh";
  for (const Location& here : run.locations) {
    const Location* there = file.location(here.name);
    if (there != nullptr && there->items == here.items) continue;
    const std::string has = there == nullptr ? "no" : std::to_string(there->items);
    return error(Code::bad_input,
                 fmt::format("of another mesh, with {} {} where this run has {}:", has, here.name, here.items), path,
                 kAdvice);
  }
  if (file.mesh != run.mesh) {
    return error(Code::bad_input, fmt::format("of another mesh, '{}' where this run has '{}':", file.mesh, run.mesh),
                 path, kAdvice);
  }
  return {};
}

std::string encode(const Description& description) {
  return json_of(description, true).dump();
}

Result<Description> decode(std::string_view text) {
  try {
    return description_of(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception&) {  // no JSON, or something is missing, or of another kind
    return error(Code::lost, "a description of arrays is damaged");
  }
}

std::uint32_t checksum_of(const Description& description) {
  const std::string text = json_of(description, false).dump();
  return crc32(std::as_bytes(std::span(text)));
}

}  // namespace forebay::array_file
