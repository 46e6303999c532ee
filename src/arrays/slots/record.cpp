#include "arrays/slots/record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace forebay::slots {
// Members whose JSON is their value. The other members are put in and taken out by hand.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StagedRecord, id, session, sequence, committed, boot, node, nodes, sidecar,
                                   description, sums)
namespace {

constexpr int kVersion = 3;

StagedRecord record_of(const nlohmann::json& json) {
  StagedRecord record = json;
  if (record.node < 0 || record.node >= record.nodes) throw std::out_of_range("node");
  record.path = unescape(json.at("path").get<std::string>()).value();
  record.read_back = json.value("read_back", false);
  for (const auto& each : json.at("layout"))
    record.layout.push_back({each.at(0), unescape(each.at(1).get<std::string>()).value()});
  for (const auto& each : json.at("extents"))
    record.extents.push_back({each.at(0), each.at(1), each.at(2), each.at(3)});
  return record;
}

}  // namespace

std::string StagedRecord::temporary() const {
  return join(parent_of(path), ".fb-" + hex(id));
}

std::string StagedRecord::part(int of_node) const {
  return fmt::format("{}-{}", temporary(), of_node);
}

void clear_away(const StagedRecord& record) {
  const auto clear_part = [&](int node) {
    ::unlink(record.part(node).c_str());
    ::unlink(record.unfinished_part(node).c_str());
  };
  if (record.node != 0) return clear_part(record.node);
  for (int node = 0; node < record.nodes; ++node) clear_part(node);
  ::unlink((record.temporary() + ".json").c_str());
  ::unlink(record.temporary().c_str());
}

std::string encode(const StagedRecord& record) {
  nlohmann::json json = record;
  json["version"] = kVersion;
  json["path"] = escape(record.path);
  json["read_back"] = record.read_back;
  json["layout"] = nlohmann::json::array();
  json["extents"] = nlohmann::json::array();
  for (const Stretch& each : record.layout) json["layout"].push_back({each.offset, escape(each.bytes)});
  for (const Extent& each : record.extents) {
    json["extents"].push_back({each.array, each.first, each.bytes, each.image});
  }
  const std::string text = json.dump();
  return hex(checksum(text)) + " " + text + "\n";
}

Result<StagedRecord> decode_record(const std::string& text, const std::string& path) {
  const auto damaged = [&] { return error(Code::lost, "a damaged record of a checkpoint in", path); };
  constexpr std::size_t kCheck = 17;  // 16 digits and a blank
  if (text.size() <= kCheck || text.back() != '\n') return damaged();
  const std::string_view body = std::string_view(text).substr(kCheck, text.size() - kCheck - 1);
  if (text.substr(0, kCheck) != hex(checksum(body)) + " ") return damaged();
  try {
    const auto json = nlohmann::json::parse(body);
    if (json.at("version") != kVersion) return error(Code::conflict, "a checkpoint staged by another version in", path);
    return record_of(json);
  } catch (const std::exception&) {  // something is missing, or of another kind
    return damaged();
  }
}

}  // namespace forebay::slots
