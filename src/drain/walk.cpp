#include "drain/walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "openfoam/openfoam.h"

namespace forebay::drain {
namespace {

class Walk {
 public:
  Walk(const std::vector<Root>& roots, const Ledger& ledger, const std::string& lower, const std::string& case_path)
      : roots_(roots), ledger_(ledger), lower_(lower), case_path_(case_path) {}

  Status directory(const std::string& local, const std::string& path) {
    auto entries = list_directory(local);
    if (!entries) {
      if (entries.error().errno_value == ENOENT) return {};
      return forward(entries);
    }
    for (const DirectoryEntry& entry : *entries) {
      if (is_temporary(entry.name)) continue;
      if (auto done = one(join(local, entry.name), join(path, entry.name)); !done) return done;
    }
    return {};
  }

  std::vector<Output> found;

 private:
  Status one(const std::string& local, const std::string& path) {
    struct stat status {};
    if (::lstat(local.c_str(), &status) != 0) {
      if (errno == ENOENT) return {};
      return errno_error("cannot stat", local);
    }
    if (S_ISDIR(status.st_mode)) return one_directory(local, path, status.st_mode & 07777);
    if (S_ISLNK(status.st_mode)) return one_link(local, path);
    if (S_ISREG(status.st_mode)) one_file(local, path, status);
    return {};  // sockets, pipes and devices live only as long as the run
  }

  // A mode that the program changed. That the pool lacks a bit which directories of the case hand down is no change.
  static bool other_mode(const Known& known, mode_t mode) {
    return ((mode ^ known.mode) & 01777) != 0 || ((mode & ~known.mode) & (S_ISUID | S_ISGID)) != 0;
  }

  Status one_directory(const std::string& local, const std::string& path, mode_t mode) {
    if (const auto time = openfoam::time_path(path); time && time->rest.empty() && time->rank >= 0)
      if (ledger_.collated_of(time->rank, time->time)) return {};
    const Known* known = ledger_.find(path);
    if (known == nullptr || !known->directory || known->deleted || other_mode(*known, mode))
      found.push_back({path, local, Output::Kind::directory, {}, {}});
    return directory(local, path);
  }

  Status one_link(const std::string& local, const std::string& path) {
    auto target = read_link(local);
    if (!target) return forward(target);
    const Known* known = ledger_.find(path);
    for (const Root& root : roots_) {
      if (*target == root.local) return {};  // a rank's directory in its own pool: a root of its own
      if (is_below(*target, root.pool) && !has_parent_step(*target) && !is_below(*target, lower_))
        return placed_file(*target, path);
    }
    if (tree::is_staged_link(*target, lower_)) {
      const std::string origin = target->substr(lower_.size() + 1);
      if (origin == path) return {};
      return renamed_input(join(case_path_, origin), path);
    }
    if (known != nullptr && !known->directory && known->link_target == *target && !known->deleted) return {};
    found.push_back({path, local, Output::Kind::link, {}, *target});
    return {};
  }

  // Made in the pool of its own socket and linked from the tree.
  Status placed_file(const std::string& local, const std::string& path) {
    struct stat status {};
    if (::lstat(local.c_str(), &status) != 0) return errno_error("cannot stat", local);
    if (S_ISREG(status.st_mode)) one_file(local, path, status);
    return {};
  }

  Status renamed_input(const std::string& origin, const std::string& path) {
    struct stat status {};
    if (::lstat(origin.c_str(), &status) != 0)
      return errno_error("cannot stat the input that was renamed to " + printable(path) + ":", origin);
    one_file(origin, path, status);
    return {};
  }

  void one_file(const std::string& local, const std::string& path, const struct stat& status) {
    const LocalMark mark = mark_of(status);
    const Known* known = ledger_.find(path);
    if (known != nullptr && known->drained == mark) return;
    // A copy that was never written has the size, time and mode of its original.
    if (known != nullptr && known->staged == tree::Kind::copy && !known->drained && known->on_case &&
        known->on_case->size == mark.size && known->on_case->mtime_ns == mark.mtime_ns && known->mode == mark.mode)
      return;
    found.push_back({path, local, Output::Kind::file, mark, {}});
  }

  const std::vector<Root>& roots_;
  const Ledger& ledger_;
  const std::string& lower_;
  const std::string& case_path_;
};

}  // namespace

Result<std::vector<Output>> outputs(const std::vector<Root>& roots, const Ledger& ledger, const std::string& lower,
                                    const std::string& case_path) {
  Walk walk(roots, ledger, lower, case_path);
  for (const Root& root : roots)
    if (auto done = walk.directory(root.local, root.prefix); !done) return forward(done);
  return std::move(walk.found);
}

std::string local_of(const std::vector<Root>& roots, const std::string& path) {
  const Root* best = nullptr;
  for (const Root& root : roots) {
    const bool covers = root.prefix.empty() || is_below(path, root.prefix);
    if (covers && (best == nullptr || root.prefix.size() > best->prefix.size())) best = &root;
  }
  if (best == nullptr) return {};
  if (best->prefix.empty()) return join(best->local, path);
  return path.size() == best->prefix.size() ? best->local : join(best->local, path.substr(best->prefix.size() + 1));
}

}  // namespace forebay::drain
