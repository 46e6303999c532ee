// Files that this user may not read, or cannot reach since their paths are too long: they are named, and all else is
// carried.
#include <fmt/format.h>

#include "run/advice/commands.h"
#include "run/drain/state.h"
#include "run/publish/publish.h"

namespace forebay::drain {
namespace {

constexpr std::size_t most_shown = 1000;

// The name that a message says to drop: where the path is too long to be shown, a directory above.
std::string to_drop(const std::string& path) {
  if (path.size() <= most_shown) return path;
  const std::size_t slash = path.rfind('/', most_shown);
  return path.substr(0, slash == std::string::npos ? most_shown : slash);
}

}  // namespace

void Unreadable::note(const std::string& path, const Error& error, std::optional<Code> code) {
  constexpr std::size_t most_named = 20;
  const auto [found, is_new] = messages_.try_emplace(path);
  if (is_new && messages_.size() <= most_named) {
    const std::string name = to_drop(path), case_now = run_.case_now();
    Error reason = error;
    if (reason.path.size() > most_shown) reason.path = name + "/...";
    reason.advice = fmt::format("all else is carried; when you have made it readable there, {} brings it home",
                                advice::resume(case_now));
    if (!name.empty()) reason.advice += fmt::format("; {} throws it away", advice::drop(case_now, name));
    found->second = reason.text();
  } else if (is_new) {
    found->second = fmt::format("more than {} cannot be read: they stay in the pool", plural(most_named, "name"));
  }
  run_.note(code, found->second);
}

// Something of it cannot be read by this user. All else is carried: a time rank by rank, and then file by file, at the
// end. True where the ranks of a group are to be carried by themselves.
bool Unreadable::set_aside(const Job& job, const Error& error) {
  if (job.kind != Job::Kind::rank_time && job.kind != Job::Kind::group_time) {
    if (run_.phase != Phase::running) note(job.key, error, std::nullopt);  // else it may be for a while only
    return false;
  }
  if (job.from_held) run_.note(Code::undrained, error.text());  // no walk finds it
  work_.not_carried.failures.erase(job.key);
  if (job.kind == Job::Kind::rank_time) in_pieces_.insert({job.rank, job.time});
  if (job.kind == Job::Kind::group_time) work_.groups.note_not_collatable(job.time);
  return job.kind == Job::Kind::group_time;
}

}  // namespace forebay::drain
