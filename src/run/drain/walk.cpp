#include "run/drain/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "run/contract/contract.h"
#include "run/drain/placed.h"
#include "run/openfoam/openfoam.h"
#include "run/publish/publish.h"

namespace forebay::drain {
namespace {

// True if the program changed the mode. A bit which directories of the case hand down and the pool lacks is no change.
bool other_mode(const Known& known, mode_t mode) {
  return ((mode ^ known.mode) & 01777) != 0 || ((mode & ~known.mode) & (S_ISUID | S_ISGID)) != 0;
}

// The copy of an input gave way to another file, and names of one file are among them: also one of the same content is
// to be carried, as the hard link or the file of its own that it is.
bool is_linked_anew(const Known& known, const struct stat& status) {
  if (!known.copy || known.copy->inode == 0 || known.copy->inode == status.st_ino) return false;
  return status.st_nlink > 1 || (known.on_case && known.on_case->links > 1);
}

bool is_later(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

}  // namespace

OutputWalk::OutputWalk(const std::vector<Root>& roots, const std::vector<std::string>& placed, const Ledger& ledger,
                       const std::string& lower, const std::string& case_path, InDoubt in_doubt)
    : roots_(roots),
      placed_(placed),
      ledger_(ledger),
      lower_(lower),
      case_path_(case_path),
      in_doubt_(std::move(in_doubt)),
      local_group_(roots.empty() ? std::nullopt : local_group(roots.front().pool)) {
  if (!roots.empty())
    if (const auto sentinel = status_of(join(roots.front().pool, sentinel_name))) pool_made_ = sentinel->st_mtim;
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) open_.push_back({root->local, root->prefix, true});
}

std::vector<Output> OutputWalk::next(std::size_t at_most) {
  found_.clear();
  while (found_.size() < at_most) {
    if (next_entry_ == entries_.size()) {
      if (open_.empty()) break;
      begin_directory();
      continue;
    }
    const std::string& name = entries_[next_entry_++].name;
    if (!is_copy_up(name, lower_)) one(join(now_.local, name), join(now_.path, name));
    // The directories in it come next, the first one first.
    if (next_entry_ == entries_.size())
      std::reverse(open_.begin() + static_cast<std::ptrdiff_t>(open_before_), open_.end());
  }
  return std::move(found_);
}

void OutputWalk::begin_directory() {
  now_ = std::move(open_.back());
  open_.pop_back();
  open_before_ = open_.size();
  next_entry_ = 0;
  entries_.clear();
  if (now_.is_root) check_root();
  auto entries = list_directory(now_.local);
  if (entries) {
    entries_ = std::move(*entries);
  } else if (entries.error().errno_value != ENOENT && entries.error().errno_value != ENOTDIR) {
    missed_.push_back({now_.path, entries.error()});
  }
}

// The case's own directory, or that of a rank: it is there, but the program may have changed its mode or owner.
void OutputWalk::check_root() {
  const auto known = ledger_.find(now_.path);
  struct stat status {};
  if (!known || !known->directory || known->deleted || ::lstat(now_.local.c_str(), &status) != 0) return;
  const auto owner = given_to(owner_of(status), local_group_);
  if (S_ISDIR(status.st_mode) && (other_mode(*known, status.st_mode & 07777) || (owner && known->owner != owner)))
    found_.push_back({now_.path, now_.local, Output::Kind::directory, {}, {}});
}

void OutputWalk::one(const std::string& local, const std::string& path) {
  struct stat status {};
  if (::lstat(local.c_str(), &status) != 0) {
    if (errno == EACCES) {  // one that may be listed, but not be entered: nothing in it can be looked at
      missed_.push_back({now_.path, errno_error("cannot enter", now_.local).value()});
      next_entry_ = entries_.size();
    } else if (errno != ENOENT) {
      missed_.push_back({path, errno_error("cannot stat", local).value()});
    }
    return;
  }
  if (S_ISDIR(status.st_mode)) return one_directory(local, path, status);
  if (S_ISLNK(status.st_mode)) return one_link(local, path);
  if (S_ISREG(status.st_mode)) one_file(local, path, status);
  // Sockets, pipes and devices live only as long as the run.
}

void OutputWalk::one_directory(const std::string& local, const std::string& path, const struct stat& status) {
  if (const auto time = openfoam::time_path(path); time && time->rest.empty() && time->rank >= 0)
    if (ledger_.collated_of(time->rank, time->time)) return count_below(local);
  const auto known = ledger_.find(path);
  const auto owner = given_to(owner_of(status), local_group_);
  if (!known || !known->directory || known->deleted || other_mode(*known, status.st_mode & 07777) ||
      (owner && known->owner != owner))
    found_.push_back({path, local, Output::Kind::directory, {}, {}});
  open_.push_back({local, path, false});
}

void OutputWalk::one_link(const std::string& local, const std::string& path) {
  auto target = read_link(local);
  if (!target) {
    const int reason = target.error().errno_value;
    if (reason != ENOENT && reason != EINVAL) missed_.push_back({path, target.error()});  // else it is no link any more
    return;
  }
  for (const Root& root : roots_)
    if (*target == root.local) return;  // a rank's directory in its own pool: a root of its own
  if (const std::string content = content_of(local, placed_); content != local) {
    if (const auto status = status_of(content)) one_file(content, path, *status);
    return;
  }
  if (is_placed(*target, placed_) && !name_exists(join(pool_of_placed(*target), sentinel_name)))
    return missed_.push_back({path, error(Code::lost, "its pool is not there:", *target).value(), true});
  if (tree::is_staged_link(*target, lower_)) {
    const std::string origin = target->substr(lower_.size() + 1);
    if (origin == path) {
      const auto known = ledger_.find(path);
      if (known && known->evicted && known->drained) written_ += {1, known->drained->size};
      return;
    }
    renamed_.push_back({origin, path});
    return renamed_input(join(case_path_, origin), path);
  }
  const auto known = ledger_.find(path);
  if (known && !known->directory && known->link_target == *target && !known->deleted) return;
  found_.push_back({path, local, Output::Kind::link, {}, *target});
}

void OutputWalk::renamed_input(const std::string& origin, const std::string& path) {
  if (const auto status = status_of(origin)) return one_file(origin, path, *status);
  missed_.push_back({path, errno_error("cannot stat the input that was renamed to it:", origin).value()});
}

void OutputWalk::one_file(const std::string& local, const std::string& path, const struct stat& status) {
  const LocalMark mark = mark_of(status);
  const auto known = ledger_.find(path);
  // A copy has the owner of its original, too, if this user may give it.
  const bool is_copy = known && !known->drained;
  const bool is_known = known && is_as_known(*known, mark) && !(is_copy && is_linked_anew(*known, status)) &&
                        (!is_copy || !given_to(mark.owner, local_group_) || known->owner == mark.owner);
  if (!(is_copy && is_known)) {
    if (!is_below(local, case_path_)) written_ += {1, mark.size};  // a renamed input was not
    if (was_read(local, status)) read_back_ += {1, mark.size};
  }
  if (!is_known || (in_doubt_ && in_doubt_(path, local, status, *known)))
    found_.push_back({path, local, Output::Kind::file, mark, {}, is_known});
}

void OutputWalk::count_below(const std::string& local) {
  const auto entries = list_directory(local);
  if (!entries) return missed_.push_back({now_.path, entries.error()});
  for (const DirectoryEntry& entry : *entries) {
    const std::string below = join(local, entry.name);
    if (entry.type == DT_DIR) {
      count_below(below);
    } else if (const auto status = status_of(below); status && S_ISREG(status->st_mode)) {
      written_ += {1, static_cast<std::uint64_t>(status->st_size)};
    }
  }
}

// Since it was written: a time that was given to it (`cp -p`, `tar x`) tells nothing of that.
bool OutputWalk::was_read(const std::string& local, const struct stat& status) const {
  if (!is_later(status.st_atim, status.st_mtim) || is_later(pool_made_, status.st_mtim) || is_below(local, case_path_))
    return false;
  struct statx made {};
  return ::statx(AT_FDCWD, local.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &made) == 0 &&
         (made.stx_mask & STATX_BTIME) != 0 &&
         !is_later({made.stx_btime.tv_sec, made.stx_btime.tv_nsec}, status.st_mtim);
}

std::optional<gid_t> local_group(const std::string& pool) {
  struct stat status {};
  if (::lstat(join(pool, sentinel_name).c_str(), &status) != 0) return std::nullopt;
  return status.st_gid;
}

bool is_copy_up(std::string_view name, std::string_view lower) {
  constexpr std::string_view prefix = contract::temporary_prefix;
  if (!name.starts_with(prefix)) return false;
  return name.substr(prefix.size()).starts_with(hex(contract::hash_of(lower.data(), lower.size())) + "-");
}

Result<std::vector<Output>> outputs(const std::vector<Root>& roots, const std::vector<std::string>& placed,
                                    const Ledger& ledger, const std::string& lower, const std::string& case_path) {
  const auto has_checksum = [](const std::string&, const std::string&, const struct stat&, const Known& known) {
    return known.checksum != 0;
  };
  OutputWalk walk(roots, placed, ledger, lower, case_path, has_checksum);
  auto found = walk.next(SIZE_MAX);
  std::erase_if(found, [&](const Output& output) {
    if (!output.is_in_doubt) return false;
    const auto unit = layouts::verbatim_file(output.local, output.path, std::nullopt);
    const auto sum = unit ? checksum_of(unit->files.front()) : Result<std::uint64_t>(forward(unit));
    return sum && *sum == ledger.find(output.path)->checksum;
  });
  if (const auto missed = walk.take_missed(); !missed.empty()) return tl::unexpected<Error>(missed.front().reason);
  return found;
}

const Root* root_of(const std::vector<Root>& roots, const std::string& path) {
  const Root* best = nullptr;
  for (const Root& root : roots) {
    const bool covers = root.prefix.empty() || is_below(path, root.prefix);
    if (covers && (best == nullptr || root.prefix.size() > best->prefix.size())) best = &root;
  }
  return best;
}

std::string local_of(const std::vector<Root>& roots, const std::string& path) {
  const Root* best = root_of(roots, path);
  if (best == nullptr) return {};
  if (best->prefix.empty()) return join(best->local, path);
  return path.size() == best->prefix.size() ? best->local : join(best->local, path.substr(best->prefix.size() + 1));
}

std::string name_aside(const std::vector<Root>& roots, const std::string& path) {
  const Root* root = root_of(roots, path);
  return root == nullptr ? std::string() : join(parent_of(root->local), ".fb-" + hex(checksum(path)));
}

}  // namespace forebay::drain
