#include "run/launch/drop.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "run/drain/drain.h"

namespace forebay::launch {
namespace {

// By descriptors, part by part: a path that is too long for the system can be named too, and no link is followed.
Result<Descriptor> open_parent(const std::string& root, std::string_view rest) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
  auto at = open_file(root, flags);
  if (!at) return at;
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    auto next = open_file_at(at->get(), std::string(rest.substr(0, slash)), flags);
    if (!next) return next;
    at = std::move(next);
    rest.remove_prefix(slash + 1);
  }
  return at;
}

}  // namespace

Status drop(const PoolRun& run, const std::string& path) {
  const std::vector<drain::Root> roots = run.roots();
  const drain::Root* root = nullptr;
  for (const drain::Root& each : roots) {
    if (each.prefix == path)
      return error(Code::bad_input, "a rank's whole directory cannot be dropped:", path, "name what is in it");
    const bool covers = each.prefix.empty() || is_below(path, each.prefix);
    if (covers && (root == nullptr || each.prefix.size() > root->prefix.size())) root = &each;
  }
  const bool was_known = drain::drop_uncarried(run.home(), roots, run.placed, path);
  const auto none = [&](int reason) -> Status {
    if (was_known && reason == ENOENT) return {};  // it is missing
    Error missing{Code::bad_input, "run " + run.plan.run + " has nothing of this name here:", path, reason, {}};
    if (reason == EACCES) missing.advice = "a directory on the way cannot be entered: drop that, or make it readable";
    return tl::unexpected<Error>(std::move(missing));
  };
  if (root == nullptr) return none(ENOENT);
  const std::string rest = root->prefix.empty() ? path : path.substr(root->prefix.size() + 1);
  const auto parent = open_parent(root->local, rest);
  if (!parent) return none(parent.error().errno_value);
  const std::string name(name_of(rest));
  struct stat status {};
  if (::fstatat(parent->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return none(errno);
  return remove_tree_at(parent->get(), name, path);
}

}  // namespace forebay::launch
