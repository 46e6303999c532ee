#include "carry/publish.h"

#include <unistd.h>

#include <cstdio>

namespace forebay::carry {

Status publish(int file, const std::string& temporary, const std::string& path, const arrays::Description& description,
               const Checks& checks, Sidecar& sidecar) {
  if (auto ok = arrays::write_checks(file, temporary, description, checks); !ok) return ok;
  if (::fsync(file) != 0) return errno_error("cannot sync", temporary);
  if (auto ok = sidecar.stand_beside(path); !ok) return ok;
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return errno_error("cannot rename to", path);
  return sync_directory_of(path);
}

}  // namespace forebay::carry
