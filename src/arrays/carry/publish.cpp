#include "arrays/carry/publish.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "arrays/array_file/inspect.h"

namespace forebay::carry {
namespace {

// Restores the sidecar of the file that stays. Where it cannot be given back, the one that is there tells by its
// checksum that it is of another file.
void give_back(const Result<std::string>& before, const std::string& sidecar, const std::string& temporary) {
  if (before) {
    (void)replace_file_through(temporary, sidecar, *before, 0666);
  } else if (before.error().errno_value == ENOENT) {
    ::unlink(sidecar.c_str());
  }
}

Status check(int file, const std::string& temporary, const array_file::Description& description, Verify verify) {
  if (verify == Verify::written) return {};
  const bool all = verify == Verify::read_back;
  // From the disk or its server, as far as the system can be told to forget what it has of the file.
  if (all) ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  auto damages =
      array_file::verify(temporary, description, all ? array_file::Where::everywhere : array_file::Where::at_holes);
  if (!damages) {
    damages.error().code = Code::failed;  // what was to be written is whole, and may be written once more
    return forward(damages);
  }
  if (damages->empty()) return {};
  const array_file::Damage& first = damages->front();
  return error(Code::failed,
               fmt::format("array {}/{} reads back different from what was written:", first.location, first.array),
               temporary, "is the disk full?");
}

}  // namespace

Status publish(int file, const std::string& temporary, const std::string& path,
               const array_file::Description& description, const Checks& checks, Sidecar& sidecar, Verify verify) {
  const auto content = array_file::write_checks(file, temporary, description, checks);
  if (!content) return forward(content);
  if (::fsync(file) != 0) return errno_error("cannot sync", temporary);
  if (auto ok = check(file, temporary, description, verify); !ok) return ok;
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
