// A file that the user names for a result: a new one, or one of the same kind that is replaced; never through a link.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/base.h"
#include "base/clock.h"

namespace forebay::cli {

// A kind of files: its name for people, and how a file of it is known by its content.
struct ResultKind {
  std::string_view name;
  std::function<bool(const std::string&)> is_one;
};

// An error (bad_input) where what is there may not be replaced, or nothing can be made. An empty file is nobody's, and
// a pipe or a terminal, also behind a link like /dev/stdout, is written to. `option`: what named the file.
Status check_result_file(const std::string& path, const ResultKind& kind, std::string_view option);

// Checks again. A file appears only when it is whole.
Status write_result_file(const std::string& path, const ResultKind& kind, std::string_view option,
                         const std::string& content);

// The same, but a file's server is waited for no longer: it may have gone since the file was checked. `is_file`: what
// is_file_to_be said then, when it still answered.
inline constexpr std::chrono::milliseconds result_goes_within{10'000};
bool is_file_to_be(const std::string& path);
Status write_result_file_in_time(const std::string& path, bool is_file, const ResultKind& kind, std::string_view option,
                                 const std::string& content, Clock& clock);

}  // namespace forebay::cli
