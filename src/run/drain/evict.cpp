// Room in the pools: what is drained is replaced by links, and what was held goes to the case.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/placed.h"
#include "run/drain/state.h"

namespace forebay::drain {
namespace {

// How many files are looked for at once at least, where so many are needed.
constexpr std::size_t most_listed = 10'000;

std::uint64_t size_below(const std::string& local) {
  std::uint64_t bytes = 0;
  const auto entries = list_directory(local);
  if (!entries) return 0;
  for (const DirectoryEntry& entry : *entries) {
    const std::string path = join(local, entry.name);
    if (entry.type == DT_DIR) {
      bytes += size_below(path);
    } else if (const auto status = status_of(path)) {
      bytes += static_cast<std::uint64_t>(status->st_blocks) * 512;
    }
  }
  return bytes;
}

}  // namespace

// Where a file's content lies in `pool` that the case has too; empty: nowhere there.
std::string Eviction::evictable(const std::string& path, const Known& known, const std::string& pool) const {
  if (!known.drained || known.evicted || known.deleted || known.drained->size == 0) return {};
  std::string content = content_of(local_of(run_.roots, path), run_.request.placed);
  return is_below(content, pool) ? content : std::string();
}

std::uint64_t Drain::evict(std::uint64_t wanted, const std::string& pool) {
  State& state = *state_;
  state.work.eviction.let_go();
  std::uint64_t freed = state.work.eviction.evict_carried(wanted, pool, state.points.newest_complete());
  if (state.work.eviction.is_busy()) return freed;  // the next ones when these have gone
  if (freed >= wanted) return freed;
  state.points.make_room();
  state.work.submit_waiting();
  return freed;
}

std::uint64_t Eviction::evict_carried(std::uint64_t wanted, const std::string& pool,
                                      const std::optional<std::string>& newest) {
  std::uint64_t freed = evict_files(wanted, pool);
  const std::vector<CollatedTime> collated = run_.ledger.collated();
  for (const CollatedTime& each : collated)
    // OpenFOAM's last files of a time come a step late.
    if (freed < wanted && each.time != newest) freed += evict_group(each, pool);
  return freed;
}

std::uint64_t Eviction::evict_files(std::uint64_t wanted, const std::string& pool) {
  std::uint64_t freed = 0;  // or soon
  for (const Replaced& each : replaced_)
    if (is_below(each.content, pool)) freed += each.bytes;
  bool listed = false;
  while (freed < wanted && replaced_.size() < most_replaced && !nothing_to_evict_.contains(pool)) {
    if (candidates_.empty() || candidates_in_ != pool) {
      if (listed) break;
      listed = true;
      list_candidates(wanted, pool);
      continue;
    }
    const auto [path, content] = std::move(candidates_.front());
    candidates_.pop_front();
    if (replace(path, content)) freed += replaced_.back().bytes;
  }
  return freed;
}

void Eviction::list_candidates(std::uint64_t wanted, const std::string& pool) {
  candidates_.clear();
  candidates_in_ = pool;
  std::uint64_t in_view = 0;
  run_.ledger.each("", [&](const std::string& path, const Known& known) {
    std::string content = evictable(path, known, pool);
    if (content.empty()) return true;
    candidates_.emplace_back(path, std::move(content));
    in_view += known.drained->size;
    return candidates_.size() < most_listed || in_view < wanted;
  });
  if (candidates_.empty()) nothing_to_evict_.insert(pool);
}

bool Eviction::replace(const std::string& path, const std::string& content) {
  auto file = open_file(content, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (!file) return false;
  // A program that opens the file from now on, also before the exchange, breaks the lease and is seen by that.
  const Lease lease = take_lease(*file);
  if (lease == Lease::written || ::fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const LocalMark mark = mark_of(status);
  const auto known = run_.ledger.find(path);
  if (!known || known->evicted || mark != known->drained) return false;
  if (!work_.doubts.may_give_way(path, content, *known)) return false;
  const std::string local = local_of(run_.roots, path), aside = aside_of(path);
  ::unlink(aside.c_str());
  if (::symlink(join(run_.request.lower, path).c_str(), aside.c_str()) != 0) return false;
  // One exchange, so that the name never vanishes for the program.
  if (!exchange(path, aside)) return false;
  const auto moved = status_of(aside);
  const bool is_it = content == local ? moved && mark_of(*moved) == mark : read_link(aside).value_or("") == content;
  if (!is_it) {  // the program has just given the name to another file
    if (exchange(path, aside)) ::unlink(aside.c_str());
    return false;
  }
  run_.record(evicted_record(path));
  replaced_.push_back({path, aside, content == local ? aside : content, mark,
                       static_cast<std::uint64_t>(status.st_blocks) * 512, run_.clock.now(), std::move(*file),
                       lease == Lease::taken});
  return true;
}

void Eviction::let_go() {
  const Clock::time_point before = run_.clock.now() - longest_to_open;
  std::erase_if(replaced_, [&](const Replaced& each) {
    if (each.since > before) return false;
    struct stat status {};
    const bool is_wanted = (each.is_leased && ::fcntl(each.file.get(), F_GETLEASE) != F_RDLCK) ||
                           ::fstat(each.file.get(), &status) != 0 || mark_of(status) != each.mark;
    if (is_wanted) {
      give_back(each);
      return true;
    }
    // The program may have given the link to a placed file another name meanwhile.
    if (const auto link = status_of(each.aside); each.content != each.aside && link && link->st_nlink == 1)
      ::unlink(each.content.c_str());
    ::unlink(each.aside.c_str());
    return true;
  });
}

// Unless the program has removed the name: then the file has none in a direct run either.
void Eviction::give_back(const Replaced& file) {
  const std::string local = local_of(run_.roots, file.path);
  if (run_.is_link_to_case(file.path, local) && exchange(file.path, file.aside)) {
    const auto known = run_.ledger.find(file.path);
    if (!run_.is_link_to_case(file.path, file.aside)) {
      exchange(file.path, file.aside);
    } else if (known && known->on_case && known->drained) {  // it may be evicted again
      run_.record(drained_record(file.path, *known->on_case, *known->drained, known->checksum));
    }
  } else if (name_exists(local)) {
    run_.note(
        std::nullopt,
        fmt::format("{}: a program opened this file while it was evicted, and another file has its name now; what "
                    "was written to the first one is in no file",
                    file.path));
  }
  ::unlink(file.aside.c_str());
}

// A dead run had put a link in the file's place, and had not given up its memory yet: somebody may have written to it.
void Eviction::give_back_left() {
  std::vector<std::string> left;
  run_.ledger.each("", [&](const std::string& path, const Known& known) {
    if (!known.evicted || !known.drained) return true;
    const std::string aside = aside_of(path), content = content_of(aside, run_.request.placed);
    const auto status = status_of(content);
    if (status && S_ISREG(status->st_mode)) left.push_back(path);
    return true;
  });
  for (const std::string& path : left) {
    if (!run_.is_link_to_case(path, local_of(run_.roots, path)) || !exchange(path, aside_of(path))) continue;
    ::unlink(aside_of(path).c_str());
    const auto known = run_.ledger.find(path);
    if (known && known->on_case && known->drained)
      run_.record(drained_record(path, *known->on_case, *known->drained, known->checksum));
  }
}

std::string Eviction::aside_of(const std::string& path) const {
  return name_aside(run_.roots, path) + "-evicted";
}

bool Eviction::exchange(const std::string& path, const std::string& aside) {
  if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, local_of(run_.roots, path).c_str(), RENAME_EXCHANGE) != 0)
    return false;
  own_moves_.insert(path);
  return true;
}

bool Eviction::takes_own_move(const std::string& path) {
  const auto found = own_moves_.find(path);
  if (found == own_moves_.end()) return false;
  own_moves_.erase(found);
  return true;
}

// All ranks of it at once: when some are gone, the rest can no longer be compared with what was carried.
std::uint64_t Eviction::evict_group(const CollatedTime& group, const std::string& pool) {
  const std::string target = join(group.group, group.time);
  if (changed_groups_.contains(target)) return 0;
  std::vector<std::pair<std::string, std::string>> directories;  // path on the case, local path
  bool in_pool = false;
  for (int rank = group.first; rank <= group.last; ++rank) {
    const std::string path = run_.time_directory(rank, group.time);
    if (run_.ledger.evicted_unknown(path)) return 0;
    directories.emplace_back(path, local_of(run_.roots, path));
    in_pool = in_pool || is_below(directories.back().second, pool);
  }
  if (!in_pool) return 0;
  // A file that was written since the group was carried is nowhere else, or is still being written.
  const auto now = work_.groups.inspect(group, true);
  if (now && !now->as_carried) changed_groups_.insert(target);
  if (!now || !now->as_carried || !now->directories || !work_.doubts.may_give_way(group)) return 0;
  std::uint64_t freed = 0;
  for (const auto& [path, local] : directories) {
    run_.record(evicted_record(path));
    if (is_below(local, pool)) freed += size_below(local);
    if (auto removed = remove_tree(local); !removed) run_.note(std::nullopt, removed.error().text());
  }
  return freed;
}

std::uint64_t Drain::largest_step() const {
  return state_->points.largest_step();
}

bool Eviction::is_replacing(const std::string& directory) const {
  return std::ranges::any_of(replaced_, [&](const Replaced& each) { return is_below(each.content, directory); });
}

bool Drain::can_make_room(const std::string& pool) const {
  if (progress().units_left() > 0) return true;
  if (state_->run.request.settings.live && state_->work.waiting.has_more()) return true;
  const Eviction& eviction = state_->work.eviction;
  if (eviction.is_replacing(pool)) return true;
  if (eviction.has_nothing_in(pool)) return false;
  bool found = false;
  state_->run.ledger.each("", [&](const std::string& path, const Known& known) {
    const auto status = status_of(eviction.evictable(path, known, pool));
    found = status && S_ISREG(status->st_mode);
    return !found;
  });
  return found;
}

}  // namespace forebay::drain
