// The order in which files outside times get their names on the case: that in which the program closed them. Then a
// name that points to others (a symbolic link, a .pvd, an index that a script writes behind its data) is never there
// before them, and none of these programs need be known.
#include "run/drain/order.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "run/drain/state.h"
#include "run/drain/version.h"

namespace forebay::drain {
namespace {

constexpr int most_links = 40;  // as the kernel follows

// The target of a link of the program, as a path of the case; where a directory above is a link, by that, too: each
// counts.
std::optional<std::string> target_of(const std::vector<Root>& roots, const std::string& case_path,
                                     const std::string& path, int& links) {
  const auto link = read_link(local_of(roots, path));
  if (!link) return std::nullopt;
  auto target = target_in_case(path, *link, case_path);
  for (++links; target && links <= most_links; ++links) {
    std::string above;  // the first link among the directories above
    for (std::string at(parent_of(*target)); !at.empty(); at = parent_of(at))
      if (root_of(roots, at)->prefix != at && read_link(local_of(roots, at))) above = at;
    if (above.empty()) return target;
    const auto leads = target_in_case(above, *read_link(local_of(roots, above)), case_path);
    if (!leads) return std::nullopt;
    target = join(*leads, target->substr(above.size() + 1));
  }
  return std::nullopt;
}

}  // namespace

bool names_others(const std::string& path) {
  static constexpr std::array<std::string_view, 13> endings{".pvd",  ".series", ".xmf",  ".xdmf", ".vtm",
                                                            ".pvtu", ".pvtp",   ".pvtr", ".pvts", ".pvti",
                                                            ".case", ".visit",  ".json"};
  return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

std::optional<std::string> target_in_case(const std::string& path, const std::string& target,
                                          const std::string& case_path) {
  auto leads = std::filesystem::path(target).lexically_normal();
  if (leads.is_absolute()) {
    if (!is_below(leads.string(), case_path)) return std::nullopt;
    leads = leads.lexically_relative(case_path);
  } else {
    leads = std::filesystem::path(parent_of(path)) / leads;
  }
  std::string inside = leads.lexically_normal().string();
  while (inside.ends_with('/')) inside.pop_back();
  if (inside == ".." || inside.starts_with("../")) return std::nullopt;
  return inside == "." ? std::string() : inside;
}

int links_from(const std::vector<Root>& roots, const std::string& case_path, std::string path) {
  int links = 0;
  while (links < most_links) {
    const auto target = target_of(roots, case_path, path, links);
    if (!target || target->empty()) break;
    path = *target;
  }
  return std::min(links, most_links);
}

// A link may be made before its target, or lead to a time. A file that is held open for the whole run is there when it
// grows, or at the end. Nobody waits for what was never there, or is out of the case.
bool OtherFiles::waits_for_target(const std::string& path) const {
  int links = 0;
  const auto target = target_of(run_.roots, run_.request.case_path, path, links);
  if (!target || target->empty() || !name_exists(local_of(run_.roots, *target))) return false;
  const auto known = run_.ledger.find(*target);
  return !known || known->deleted || !(known->on_case || known->directory);
}

void OtherFiles::drop(std::map<std::string, Waits>::iterator waits) {
  work_.mover->leave({Line::files, waits->second.turn});
  pending_.erase(waits);
}

void OtherFiles::is_on_case(const std::string& path) {
  if (const auto waits = pending_.find(path); waits != pending_.end()) waits->second.is_absent = false;
}

bool OtherFiles::is_turn_of(const std::string& path, std::uint64_t turn) const {
  const auto waits = pending_.find(path);
  return waits != pending_.end() && waits->second.turn == turn;
}

bool OtherFiles::may_name_others(const std::string& path) const {
  const auto source = work_.source_of(path);
  return source && (read_link(*source) || is_text(*source));
}

// Files that are quiet go, but for those that were closed after a file that the case lacks and that is not quiet yet.
// The mover keeps the order of those that go. A file whose older version the case has, or that is on its way, holds
// nobody back here: its name is there, or will be in its turn.
void OtherFiles::submit_quiet(Clock::duration settle) {
  const auto now = run_.clock.now();
  std::uint64_t first_absent = UINT64_MAX, held = 0;
  for (const auto& [ticket, job] : work_.jobs) {
    held += job.version_bytes;
    if (job.kind != Job::Kind::growth) continue;
    const auto waits = pending_.find(job.key);
    if (waits != pending_.end() && waits->second.is_absent) first_absent = std::min(first_absent, waits->second.turn);
  }
  times_.submit_quiet(settle);
  std::vector<std::pair<std::uint64_t, std::string>> quiet;
  for (const auto& [path, waits] : pending_) {
    if (work_.in_flight.contains(path) || times_.directory_of(path, false)) continue;
    if (now - waits.since >= settle || now - waits.first >= most_settles * settle)
      quiet.emplace_back(waits.turn, path);
    else if (waits.is_absent)
      first_absent = std::min(first_absent, waits.turn);
  }
  std::ranges::sort(quiet);
  for (const auto& [turn, path] : quiet) {
    if (turn > first_absent || work_.jobs.size() >= Work::most_jobs || held > most_held) return;
    if (waits_for_target(path)) continue;  // it holds nobody back: that may last until the end
    const auto source = work_.source_of(path);
    auto version = source ? version_of(*source, path) : std::nullopt;
    if (version && changes(path)) {  // its turn is another one
      if (pending_.at(path).is_absent) return;
      continue;
    }
    if (version) held += version->bytes();
    const auto waits = pending_.extract(path);
    counted_.erase(waits.mapped().file);
    work_.submit_file(path, true, nullptr, turn, version ? std::make_shared<Version>(std::move(*version)) : nullptr);
    if (!work_.in_flight.contains(path)) work_.mover->leave({Line::files, turn});
  }
}

// By an event that was not handled yet.
bool OtherFiles::changes(const std::string& path) {
  return run_.witnesses.watcher && run_.witnesses.watcher->waits_for(path, run_.now(), Watcher::Change::any);
}

bool OtherFiles::is_next(const std::string& path) {
  const auto found = pending_.find(path);
  if (changes(path)) return false;
  if (found == pending_.end()) return true;
  const std::uint64_t turn = found->second.turn;
  const auto holds = [&](const auto& each) { return each.second.is_absent && each.second.turn < turn; };
  if (std::ranges::any_of(pending_, holds)) return false;
  return std::ranges::none_of(work_.jobs, [&](const auto& each) {
    const Job& job = each.second;
    return job.place.line == Line::files && job.place.turn < turn && !run_.ledger.find(job.key);
  });
}

void OtherFiles::order_found(std::vector<Event>& events, std::size_t first) const {
  std::vector<std::size_t> places;
  std::vector<std::pair<FinalOrder::Rank, Event>> files;
  for (std::size_t at = first; at < events.size(); ++at) {
    const Event& event = events[at];
    if (event.kind != Event::Kind::found || event.directory) continue;
    const auto status = status_of(local_of(run_.roots, event.path));
    if (!status) continue;
    const LocalMark mark = mark_of(*status);
    places.push_back(at);
    files.emplace_back(FinalOrder::Rank{event.link || names_others(event.path) ? 1 : 0, 0, mark.ctime_ns, mark.inode},
                       event);
  }
  std::ranges::stable_sort(files, {}, [](const auto& each) { return each.first; });
  for (std::size_t i = 0; i < places.size(); ++i) events[places[i]] = std::move(files[i].second);
}

std::string FinalOrder::next_time() {
  std::string time = std::move(times_.front());
  times_.pop_front();
  return time;
}

void FinalOrder::forget_found() {
  files_.clear();
  other_times_.clear();
}

// The turns that events told are exact. Otherwise the time at which the kernel noted the last change or rename tells.
// Files of one tick of that clock go by their inodes, which most file systems count upwards. Files of kinds that name
// others come last. Behind them come links, and links to links.
void FinalOrder::add(const Output& output, int links) {
  const auto turn = turns_.find(output.path);
  Rank rank{0, 0, output.mark.ctime_ns, output.mark.inode};
  if (turn != turns_.end())
    rank = {1, turn->second, 0, 0};
  else if (names_others(output.path))
    rank.kind = 2;
  if (links > 0) rank.kind = 2 + links;
  files_.emplace_back(rank, output.path);
  is_sorted_ = false;
}

std::optional<std::string> FinalOrder::next() {
  if (files_.empty()) return std::nullopt;
  if (!std::exchange(is_sorted_, true)) std::ranges::sort(files_, std::greater());
  std::string path = std::move(files_.back().second);
  files_.pop_back();
  return path;
}

}  // namespace forebay::drain
