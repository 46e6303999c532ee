#include "carry/publish.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace forebay::carry {
namespace {

// What stood beside the file that stays. Where it cannot be given back, the one that is there tells by its checksum
// that it is of another file.
void give_back(const Result<std::string>& before, const std::string& sidecar, const std::string& temporary) {
  if (before) {
    (void)replace_file_through(temporary, sidecar, *before, 0666);
  } else if (before.error().errno_value == ENOENT) {
    ::unlink(sidecar.c_str());
  }
}

}  // namespace

Status publish(int file, const std::string& temporary, const std::string& path, const arrays::Description& description,
               const Checks& checks, Sidecar& sidecar) {
  const auto content = arrays::write_checks(file, temporary, description, checks);
  if (!content) return forward(content);
  if (::fsync(file) != 0) return errno_error("cannot sync", temporary);
  const std::string beside = path + ".json";
  const auto before = read_file(beside);
  // First, so that a file that has its name is told from the ones before (what_stands).
  if (auto ok = sidecar.stand_beside(path, *content); !ok) return ok;
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return sync_directory_of(path);
  const Status failed = errno_error("cannot rename to", path);
  give_back(before, beside, temporary + ".json");
  return failed;
}

}  // namespace forebay::carry
