#include "carry/sidecar.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

namespace forebay::carry {
namespace {

Status write_new(const std::string& path, const std::string& text) {
  // Readable by whom the mask lets, as the file beside which it will stand.
  auto file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
  if (!file) return forward(file);
  return write_all(file->get(), text, path);
}

nlohmann::json told(int ranks, std::string_view method) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return {{"host", host},
          {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))},
          {"ranks", ranks},
          {"method", method}};
}

}  // namespace

std::string sidecar_of(int ranks, std::string_view method) {
  return told(ranks, method).dump(2) + "\n";
}

std::string sidecar_of(int ranks, const slots::StagedRecord& record) {
  nlohmann::json json = told(ranks, "staged");
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

Sidecar::Sidecar(const std::string& temporary, const std::string& text)
    : name_(temporary + ".json"), written_(std::async(std::launch::async, write_new, name_, text)) {}

Sidecar::~Sidecar() {
  if (!written_.valid()) return;
  written_.wait();
  ::unlink(name_.c_str());
}

Status Sidecar::stand_beside(const std::string& path) {
  written_.wait();
  const std::string name = path + ".json";
  Status done = written_.get();
  if (done && std::rename(name_.c_str(), name.c_str()) != 0) done = errno_error("cannot rename to", name);
  if (!done) ::unlink(name_.c_str());
  return done;
}

}  // namespace forebay::carry
