// FILE.json beside a file of arrays: host, date, ranks and method, which are no business of the file.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>

#include "arrays/slots/slots.h"

namespace forebay::carry {

std::string sidecar_of(int ranks, std::string_view method);
// The sidecar of a staged checkpoint also tells which one it is.
std::string sidecar_of(int ranks, const slots::StagedRecord& record);
// Which checkpoint of the record's program a sidecar belongs to; none where it is another program's.
std::optional<std::uint64_t> sequence_in(const std::string& sidecar, const slots::StagedRecord& record);

// The content of a sidecar.
struct Provenance {
  std::string host, date, method;
  int ranks = 0;
  std::uint32_t content = 0;  // array_file::content_checksum of the file that it tells of
};
std::optional<Provenance> provenance_in(const std::string& sidecar);

// Its name `temporary`.json is made in the background: over a new name a busy shared directory may take as long as over
// a megabyte. One thread.
class Sidecar {
 public:
  Sidecar(const std::string& temporary, std::string text);
  // Removes it, unless it stands beside its file.
  ~Sidecar();
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;
  // Replaces `path`.json, with the checksum of the content that its file has. Once.
  Status stand_beside(const std::string& path, std::uint32_t content);

 private:
  Status write(std::uint32_t content);

  std::string name_, text_;
  std::future<Result<Descriptor>> made_;
};

}  // namespace forebay::carry
