// The walk: what of a local tree the case does not hold yet.
#pragma once

#include <string>
#include <vector>

#include "drain/drain.h"
#include "drain/ledger.h"

namespace forebay::drain {

struct Output {
  enum class Kind { file, link, directory };
  std::string path;   // relative to the case
  std::string local;  // where its content is
  Kind kind = Kind::file;
  LocalMark mark;      // files
  std::string target;  // links
};

// Every entry of `roots` that is neither as it was staged nor as it was drained, parents before children. Collated
// times count as drained. A staged link under another name (the program renamed an input) is an output whose content is
// the case's own file.
Result<std::vector<Output>> outputs(const std::vector<Root>& roots, const Ledger& ledger, const std::string& lower,
                                    const std::string& case_path);

// The local path of a path of the case.
std::string local_of(const std::vector<Root>& roots, const std::string& path);

// Temporary names of staging and eviction begin with the first, those of the redirection library's copy-up with the
// second; they are never outputs.
inline constexpr std::string_view temporary_prefix = ".fb-", copy_up_prefix = ".forebay-up-";
inline bool is_temporary(std::string_view name) {
  return name.starts_with(temporary_prefix) || name.starts_with(copy_up_prefix);
}

}  // namespace forebay::drain
