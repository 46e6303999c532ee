#include "blocks/publish.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

namespace forebay::blocks {

Status publish(int file, const std::string& temporary, const std::string& path, const arrays::Description& description,
               const Checks& checks, const std::string& sidecar) {
  if (auto ok = arrays::write_checks(file, temporary, description, checks); !ok) return ok;
  if (::fsync(file) != 0) return errno_error("cannot sync", temporary);
  if (auto ok = replace_file(path + ".json", sidecar); !ok) return ok;
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return errno_error("cannot rename to", path);
  return sync_directory_of(path);
}

std::string sidecar_of(int ranks, std::string_view method) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const nlohmann::json json = {{"host", host},
                               {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))},
                               {"ranks", ranks},
                               {"method", method}};
  return json.dump(2) + "\n";
}

}  // namespace forebay::blocks
