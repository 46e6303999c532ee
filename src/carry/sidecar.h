// FILE.json beside a file of arrays: host, date, ranks and method, which are no business of the file.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>

#include "slots/slots.h"

namespace forebay::carry {

std::string sidecar_of(int ranks, std::string_view method);
// Of a staged checkpoint it also tells which one it is.
std::string sidecar_of(int ranks, const slots::StagedRecord& record);
// Which checkpoint of the record's program a sidecar belongs to; none where it is another program's.
std::optional<std::uint64_t> sequence_in(const std::string& sidecar, const slots::StagedRecord& record);

// Written in the background, under the name `temporary`.json: over a new name a busy shared directory may take as long
// as over a megabyte. One thread.
class Sidecar {
 public:
  Sidecar(const std::string& temporary, const std::string& text);
  // Removes it, unless it stands beside its file.
  ~Sidecar();
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;
  // Waits until it is written; replaces `path`.json. Once.
  Status stand_beside(const std::string& path);

 private:
  std::string name_;
  std::future<Status> written_;
};

}  // namespace forebay::carry
