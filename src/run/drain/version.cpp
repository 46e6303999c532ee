#include "run/drain/version.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "run/drain/drain.h"

namespace forebay::drain {
namespace {

constexpr std::size_t looked_at = 4096;
constexpr std::size_t most_held = std::size_t{1} << 20;

// Unnoticed: who reads a file for the program's user counts (OutputWalk::read_back).
std::optional<std::string> beginning_of(const std::string& local, std::size_t most) {
  const auto file = open_unlinked(local, O_RDONLY | O_NONBLOCK | O_NOATIME);
  if (!file) return std::nullopt;
  auto content = read_part(file->get(), 0, most, local);
  return content ? std::optional(std::move(*content)) : std::nullopt;
}

}  // namespace

std::uint64_t Version::bytes() const {
  return unit && !unit->files.front().pieces.empty() ? unit->files.front().pieces.front().literal.size() : 0;
}

bool is_text(const std::string& local) {
  const auto first = beginning_of(local, looked_at);
  return first && first->find('\0') == std::string::npos;
}

std::optional<Version> version_of(const std::string& local, const std::string& path) {
  const auto before = status_of(local);
  if (!before || (!S_ISLNK(before->st_mode) && (!S_ISREG(before->st_mode) || before->st_nlink > 1 || !is_text(local))))
    return std::nullopt;
  Version version{mark_of(*before)};
  const bool is_empty = before->st_size == 0;
  if (S_ISREG(before->st_mode) && (is_empty || static_cast<std::size_t>(before->st_size) > most_held)) return version;
  auto unit = layouts::verbatim_file(local, path, std::nullopt);
  if (!unit || unit->files.size() != 1) return std::nullopt;
  if (S_ISREG(before->st_mode)) {
    auto content = beginning_of(local, static_cast<std::size_t>(before->st_size));
    const auto after = status_of(local);
    if (!content || !after || !(mark_of(*after) == version.mark) || !is_sealed(local)) return version;
    unit->files.front().pieces = {{std::move(*content), "", 0, 0}};
  }
  version.unit = std::move(*unit);
  return version;
}

}  // namespace forebay::drain
