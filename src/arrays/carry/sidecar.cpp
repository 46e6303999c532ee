#include "arrays/carry/sidecar.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

namespace forebay::carry {
namespace {

constexpr const char* kContent = "content_crc32";

// Readable by whom the mask lets, as the file beside which it will stand.
Result<Descriptor> make(const std::string& path) {
  return open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
}

nlohmann::json common_entries(int ranks, std::string_view method) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return {{"host", host},
          {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))},
          {"ranks", ranks},
          {"method", method}};
}

}  // namespace

std::string sidecar_of(int ranks, std::string_view method) {
  return common_entries(ranks, method).dump(2) + "\n";
}

std::string sidecar_of(int ranks, const slots::StagedRecord& record) {
  nlohmann::json json = common_entries(ranks, "staged");
  json["staged"] = {{"session", hex(record.session)}, {"sequence", record.sequence}};
  return json.dump(2) + "\n";
}

std::optional<std::uint64_t> sequence_in(const std::string& sidecar, const slots::StagedRecord& record) {
  try {
    const auto staged = nlohmann::json::parse(sidecar).at("staged");
    if (staged.at("session") != hex(record.session)) return {};
    return staged.at("sequence").get<std::uint64_t>();
  } catch (const nlohmann::json::exception&) {  // of a method that stages nothing, or no sidecar of ours
    return {};
  }
}

std::optional<Provenance> provenance_in(const std::string& sidecar) {
  try {
    const auto json = nlohmann::json::parse(sidecar);
    return Provenance{json.at("host"), json.at("date"), json.at("method"), json.at("ranks"), json.at(kContent)};
  } catch (const nlohmann::json::exception&) {  // not one of ours
    return {};
  }
}

Sidecar::Sidecar(const std::string& temporary, std::string text)
    : name_(temporary + ".json"), text_(std::move(text)), made_(std::async(std::launch::async, make, name_)) {}

Sidecar::~Sidecar() {
  if (!made_.valid()) return;
  made_.wait();
  ::unlink(name_.c_str());
}

Status Sidecar::write(std::uint32_t content) {
  const auto file = made_.get();
  if (!file) return forward(file);
  auto json = nlohmann::json::parse(text_);
  json[kContent] = content;
  return write_all(file->get(), json.dump(2) + "\n", name_);
}

Status Sidecar::stand_beside(const std::string& path, std::uint32_t content) {
  const std::string name = path + ".json";
  Status done = write(content);
  if (done && std::rename(name_.c_str(), name.c_str()) != 0) done = errno_error("cannot rename to", name);
  if (!done) ::unlink(name_.c_str());
  return done;
}

}  // namespace forebay::carry
