#include "run/drain/checkpoint.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "run/drain/drain.h"

namespace forebay::drain {
namespace {

// Keep knows files by rank and time: the versions of a checkpoint are the times of an undecomposed case.
constexpr int no_rank = -1;

std::string name(int version) {
  return std::to_string(version);
}

}  // namespace

Status Checkpoint::open(const std::string& aside, std::optional<int> whole, std::optional<int> home) {
  whole_ = whole;
  home_ = home;
  current_.number = whole.value_or(0) + 1;
  return keep_.add_rank(no_rank, aside);
}

void Checkpoint::made(const std::string& file) {
  if (current_.written.contains(file) || is_whole(current_)) begin();
  forget(file);
  current_.open.insert(file);
}

// With several ranks on a file, each closing is told; the last one counts (is_sealed).
Status Checkpoint::closed(const std::string& file, const std::string& local, Time now) {
  if (is_whole(current_)) begin();
  current_.open.erase(file);
  last_event_ = now;
  const auto kept = keep_.add(no_rank, name(current_.number), file, local);
  if (!kept) {
    current_.suspect.insert(file);
    return forward(kept);
  }
  if (!*kept) return {};  // removed since: that will be told
  current_.inherited.erase(file);
  current_.written.insert(file);
  current_.unsure[file] = 0;
  current_.vouched = false;
  if (!doubtful_since_) doubtful_since_ = now;
  return {};
}

// While another file is open, what goes is a file of the writing itself (Open MPI tries locks on one), else it is the
// end of the version.
void Checkpoint::removed(const std::string& file) {
  if (current_.open.empty() && (current_.written.contains(file) || is_whole(current_))) begin();
  forget(file);
}

// What was linked before the events were read, and was not told of in them, bears its name still.
void Checkpoint::all_handled() {
  for (Version* version : {&current_, waiting_ ? &*waiting_ : nullptr}) {
    if (version == nullptr) continue;
    for (auto at = version->unsure.begin(); at != version->unsure.end();)
      at = ++at->second > 1 ? version->unsure.erase(at) : std::next(at);
  }
}

bool Checkpoint::is_unsure() const {
  return !current_.unsure.empty() || (waiting_ && !waiting_->unsure.empty());
}

void Checkpoint::distrust() {
  current_.suspect.insert(current_.open.begin(), current_.open.end());
  for (const auto& [file, batches] : current_.unsure) current_.suspect.insert(file);
}

void Checkpoint::lose_track() {
  lost_track_ = true;
  waiting_.reset();
}

void Checkpoint::let_go(const std::string& file) {
  keep_.remove(no_rank, name(current_.number), file);
  current_.inherited.erase(file);
  current_.written.erase(file);
}

// The name stands for another file from now on, or for none.
void Checkpoint::forget(const std::string& file) {
  if (waiting_ && waiting_->unsure.contains(file)) waiting_.reset();
  keep_.remove(no_rank, name(current_.number), file);
  for (auto* files : {&current_.open, &current_.written, &current_.inherited, &current_.suspect}) files->erase(file);
  current_.unsure.erase(file);
}

// The program goes on to the next version. The one that it leaves stays where it may be whole.
void Checkpoint::begin() {
  Version next;
  next.number = current_.number + 1;
  for (const auto* files : {&current_.written, &current_.inherited})
    for (const std::string& file : *files) {
      const auto kept = keep_.add(no_rank, name(next.number), file, keep_.path(no_rank, name(current_.number), file));
      (kept && *kept ? next.inherited : next.suspect).insert(file);
    }
  next.open = current_.open;
  next.unsure = current_.unsure;
  next.suspect.insert(current_.suspect.begin(), current_.suspect.end());
  if (!is_whole(current_) && is_finished(current_)) waiting_ = std::move(current_);
  current_ = std::move(next);
  release();
}

bool Checkpoint::is_finished(const Version& version) const {
  return !lost_track_ && version.open.empty() && version.suspect.empty() && !version.written.empty();
}

bool Checkpoint::has_all_that_change(const Version& version) const {
  return !changing_.empty() && std::ranges::includes(version.written, changing_);
}

bool Checkpoint::is_sealed(const Version& version) const {
  return std::ranges::all_of(version.written, [&](const std::string& file) {
    struct stat status {};
    const std::string kept = keep_.path(no_rank, name(version.number), file);
    return ::lstat(kept.c_str(), &status) == 0 && (!S_ISREG(status.st_mode) || drain::is_sealed(kept));
  });
}

bool Checkpoint::takes_doubt(Time now, std::chrono::milliseconds after) {
  const bool waits =
      (waiting_ && !waiting_->vouched) || (!is_whole(current_) && is_finished(current_) && !current_.vouched);
  if (!waits || !doubtful_since_ || now - *doubtful_since_ < after) return false;
  doubtful_since_ = now;
  return true;
}

void Checkpoint::vouch() {
  if (waiting_) waiting_->vouched = true;
  current_.vouched = true;
}

std::optional<int> Checkpoint::newly_whole(Time now, std::chrono::milliseconds quiet) {
  const auto before = whole_;
  if (waiting_ && waiting_->vouched && waiting_->unsure.empty()) {
    if (is_sealed(*waiting_)) becomes_whole(*waiting_);
    waiting_.reset();
  }
  if (!is_whole(current_) && is_finished(current_) && current_.vouched && current_.unsure.empty() &&
      (has_all_that_change(current_) || now - last_event_ >= quiet) && is_sealed(current_))
    becomes_whole(current_);
  if (whole_ == before) return std::nullopt;
  release();
  return whole_;
}

void Checkpoint::becomes_whole(const Version& version) {
  if (whole_) changing_.insert(version.written.begin(), version.written.end());
  whole_ = version.number;
}

Result<std::string> Checkpoint::take(int version) {
  taken_ = version;
  return keep_.as_directory(no_rank, name(version));
}

std::set<std::string> Checkpoint::files(int version) const {
  return keep_.files(no_rank, name(version));
}

void Checkpoint::landed(bool home, Time now) {
  if (home) {
    home_ = taken_;
    last_home_ = now;
  }
  taken_.reset();
  release();
}

// Versions that nobody will ask for any more. One that cannot be removed costs room until the end of the run.
void Checkpoint::release() {
  std::set<std::string> wanted{name(current_.number)};
  if (waiting_) wanted.insert(name(waiting_->number));
  for (const auto& version : {to_carry(), taken_})
    if (version) wanted.insert(name(*version));
  for (const std::string& version : keep_.times())
    if (!wanted.contains(version)) (void)keep_.drop(version);
}

}  // namespace forebay::drain
