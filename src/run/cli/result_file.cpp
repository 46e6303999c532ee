#include "run/cli/result_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/question.h"

namespace forebay::cli {
namespace {

tl::unexpected<Error> refused(std::string_view what, const std::string& path, std::string_view option) {
  return error(Code::bad_input, fmt::format("{} {}", option, what), path,
               fmt::format("remove it, or give another {}", option));
}

// The status of what a link leads to.
std::optional<struct stat> status_behind(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

// `place`: the file itself, or the directory in which it is made.
Status check_writable(const std::string& place, const std::string& path) {
  if (::access(place.c_str(), W_OK) == 0) return {};
  auto failed = errno_error("cannot write", path);
  failed.value().code = Code::bad_input;
  return failed;
}

}  // namespace

Status check_result_file(const std::string& path, const ResultKind& kind, std::string_view option) {
  const auto named = status_of(path);
  if (!named) return check_writable(directory_of(path), path);
  const auto status = status_behind(path);
  if (status && S_ISDIR(status->st_mode))
    return error(Code::bad_input, fmt::format("{} takes a file, not a directory:", option), path);
  if (status && !S_ISREG(status->st_mode)) return check_writable(path, path);
  if (S_ISLNK(named->st_mode)) return refused("names a link to a file:", path, option);
  if (status->st_size != 0) {
    const auto content = read_file(path);
    if (!content || !kind.is_one(*content))
      return refused(fmt::format("names a file that is no {}:", kind.name), path, option);
  }
  return check_writable(directory_of(path), path);
}

Status write_result_file(const std::string& path, const ResultKind& kind, std::string_view option,
                         const std::string& content) {
  if (auto checked = check_result_file(path, kind, option); !checked) return checked;
  const auto status = status_behind(path);
  if (!status || S_ISREG(status->st_mode)) return replace_file(path, content, 0644);
  auto file = open_file(path, O_WRONLY);
  if (!file) return forward(file);
  return write_all(file->get(), content, path);
}

bool is_file_to_be(const std::string& path) {
  const auto status = status_behind(path);
  return !status || S_ISREG(status->st_mode);
}

Status write_result_file_in_time(const std::string& path, bool is_file, const ResultKind& kind, std::string_view option,
                                 const std::string& content, Clock& clock) {
  // A pipe may be one that only this process has open (/dev/fd/3).
  if (!is_file) return write_result_file(path, kind, option, content);
  const auto trouble = ask(
      [&] {
        const Status written = write_result_file(path, kind, option, content);
        return written ? std::string()
                       : fmt::format("{} {}", static_cast<int>(written.error().code), written.error().text());
      },
      result_goes_within, clock);
  if (!trouble)
    return error(Code::failed, fmt::format("{} cannot be written, since this does not answer:", option), path);
  if (trouble->empty()) return {};
  return error(static_cast<Code>(trouble->front() - '0'), trouble->substr(2));
}

}  // namespace forebay::cli
