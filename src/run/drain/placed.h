// Placed files: of ranks that share directories, redirect makes each rank's new files in the pool of its own socket, in
// one flat directory under names of their own, and links them from the tree (docs/run/redirect.md). Such a link is the
// file itself. Only a link to a regular file right in one of the run's own such directories is one; every other link is
// never looked through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay::drain {

// `placed`: the directories, DrainRequest::placed.
bool is_placed(std::string_view target, const std::vector<std::string>& placed);
// The run's directory in the pool that it lies in.
std::string pool_of_placed(std::string_view target);
// Where the content of `local` is: what it stands for, or itself.
std::string content_of(const std::string& local, const std::vector<std::string>& placed);

}  // namespace forebay::drain
