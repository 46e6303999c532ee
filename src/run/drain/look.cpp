#include "run/drain/look.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "run/contract/kept_name.h"
#include "run/contract/text.h"
#include "run/core/restartable.h"
#include "run/drain/placed.h"
#include "run/drain/walk.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {
namespace {

// A rank that goes on while it is looked at makes the look worth less, but not wrong.
constexpr int most_tries = 3;
// A look reads at least so many of the newest lines, which may have no file yet.
constexpr std::uint64_t always_read = 64;
// Times when a pool was full. The oldest become one.
constexpr std::size_t most_windows = 16;

std::optional<KeptEntry> kept_entry(const std::string& name) {
  const std::size_t end = std::min(name.find(contract::kept_separator), name.size());
  std::array<std::uint64_t, contract::kept_numbers> numbers{};
  std::size_t at = std::min(name.find(contract::kept_number), end);
  const std::string time = name.substr(0, at);
  for (std::uint64_t& number : numbers) {
    if (at >= end) return std::nullopt;
    const std::size_t next = std::min(name.find(contract::kept_number, at + 1), end);
    const auto value = parse_integer(std::string_view(name).substr(at + 1, next - at - 1));
    if (!value || *value < 0) return std::nullopt;
    number = static_cast<std::uint64_t>(*value);
    at = next;
  }
  const auto [sequence, state, mesh, flags, begun_at] = numbers;
  KeptEntry entry;
  entry.line.id = {time, sequence};
  entry.line.begun_at = static_cast<core::Ticks>(begun_at);
  entry.line.state = state;
  if (mesh != 0) entry.line.mesh = core::LineId{{}, mesh};
  entry.line.cut = (flags & contract::line_is_cut) != 0;
  entry.line.begun_before = (flags & contract::line_was_begun_before) != 0;
  if (end < name.size()) entry.file = contract::file_of_kept_name(name.substr(end));
  return entry;
}

// False: nobody can tell whether it is there.
bool add_file(const std::string& name, const std::string& path, TimeFiles& files) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return errno == ENOENT;
  files.try_emplace(name, TimeFile{path, mark_of(status), S_ISLNK(status.st_mode)});
  return true;
}

// Files and links below a directory, by their names in it. A name that was found before stays. False: there may be
// more.
bool list_files(const std::string& directory, const std::string& below, const std::string& lower, TimeFiles& files) {
  const auto entries = list_directory(directory);
  if (!entries) return entries.error().errno_value == ENOENT;
  bool all = true;
  for (const DirectoryEntry& entry : *entries) {
    const std::string name = join(below, entry.name), path = join(directory, entry.name);
    if (entry.type == DT_DIR)
      all = list_files(path, name, lower, files) && all;
    else if ((entry.type == DT_REG || entry.type == DT_LNK) && !is_copy_up(entry.name, lower))
      all = add_file(name, path, files) && all;
  }
  return all;
}

Look::Version version_of(const LocalMark& mark) {
  return {mark.inode, mark.size, mark.mtime_ns, mark.ctime_ns};
}

std::map<std::string, std::uint64_t> newest_of(const std::vector<core::Line>& lines) {
  std::map<std::string, std::uint64_t> newest;
  for (const core::Line& line : lines) {
    std::uint64_t& known = newest[line.id.time];
    known = std::max(known, line.id.sequence);
  }
  return newest;
}

}  // namespace

std::string name_of_line(const core::LineId& line) {
  return fmt::format("{}.{}", line.time, line.sequence);
}

std::vector<KeptEntry> entries_kept(const std::string& kept) {
  std::vector<KeptEntry> found;
  const auto entries = list_directory(kept);
  for (const DirectoryEntry& each : entries ? *entries : std::vector<DirectoryEntry>()) {
    auto entry = kept_entry(each.name);
    if (!entry || entry->file.empty() != (each.type == DT_DIR)) continue;
    entry->path = join(kept, each.name);
    entry->is_directory = each.type == DT_DIR;
    found.push_back(std::move(*entry));
  }
  return found;
}

std::string kept_directory(int rank, const std::string& pool_directory, const contract::WrittenGroups& groups) {
  return join(kept_in(pool_directory), contract::name_of_kept(rank, groups));
}

std::string kept_in(const std::string& pool_directory) {
  return pool_directory + "/keep";
}

std::string held_in(const std::string& pool_directory) {
  return pool_directory + "/held";
}

bool are_home(const Ledger& ledger, const std::string& directory, const TimeFiles& files) {
  return std::ranges::all_of(files, [&](const auto& each) {
    const auto& [name, file] = each;
    const auto known = ledger.find(join(directory, name));
    if (!known) return false;
    return file.is_link ? known->evicted || !known->link_target.empty()
                        : known->on_case && is_as_known(*known, file.mark);
  });
}

core::Page Look::page_of(int rank) {
  core::Page page = run_.witnesses.page_of(rank);
  if (page.begun != 0) {
    page.collated = !run_.request.settings.written_groups.empty();
    page.dead = run_.phase != Phase::running;
    return page;
  }
  // A time that a thread still writes has files that are too young (distrust_changed).
  const Unwritten& stands = unwritten_[rank];
  return {.begun = stands.begun, .states = stands.states, .ended = page.ended || stands.ended};
}

// The lines that had files at the last look and all that were begun since, by sequence.
std::vector<core::Line> Look::lines_of(int rank) {
  const std::uint64_t newest = run_.witnesses.page_of(rank).begun;
  if (newest == 0) return unwritten_[rank].lines;
  std::map<std::uint64_t, core::Line> lines;
  for (const auto& [id, line] : lines_[rank])
    lines[id.sequence] = run_.witnesses.pages->line(rank, id.sequence).value_or(line);
  const std::uint64_t last = looked_at_[rank], kept = contract::RankPage::most_lines;
  std::uint64_t first = last > always_read ? last - always_read : 1;
  if (newest > kept) first = std::max(first, newest - kept + 1);
  for (std::uint64_t sequence = first; sequence <= newest; ++sequence)
    if (auto line = run_.witnesses.pages->line(rank, sequence)) lines[sequence] = std::move(*line);
  std::vector<core::Line> all;
  for (auto& [sequence, line] : lines) {
    if (const auto mesh = line.mesh ? lines.find(line.mesh->sequence) : lines.end(); mesh != lines.end())
      line.mesh = mesh->second.id;
    all.push_back(line);
  }
  return all;
}

// In the order in which they were made, where the file system tells, else in that of their values.
void Look::find_unwritten(int rank) {
  if (run_.witnesses.tell_of(rank)) return;
  Unwritten& stands = unwritten_[rank];
  struct Directory {
    std::string time;
    std::uint64_t inode;
    std::int64_t made;
  };
  std::vector<Directory> made;
  std::map<std::string, std::uint64_t> inodes;
  const std::string holder = local_of(run_.roots, std::string(parent_of(run_.time_directory(rank, "0"))));
  for (const std::string& time : run_.times_here(rank)) {
    if (!run_.is_new_time(rank, time)) continue;
    struct statx status {};
    if (::statx(AT_FDCWD, join(holder, time).c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &status) != 0)
      continue;
    inodes[time] = status.stx_ino;
    const auto known = stands.inodes.find(time);
    if (known != stands.inodes.end() && known->second == status.stx_ino) continue;
    const bool tells = (status.stx_mask & STATX_BTIME) != 0;
    made.push_back(
        {time, status.stx_ino, tells ? status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec : 0});
  }
  std::ranges::sort(made, [](const Directory& a, const Directory& b) {
    return a.made != b.made ? a.made < b.made : openfoam::time_less(a.time, b.time);
  });
  for (const Directory& each : made) {
    core::Line line;
    std::vector<std::uint64_t>& numbers = numbers_[each.time];
    if (const std::size_t times_made = ++stands.times_made[each.time]; numbers.size() < times_made)
      numbers.resize(times_made, ++last_number_);
    line.id = {each.time, numbers[stands.times_made[each.time] - 1]};
    stands.begun = std::max(stands.begun, line.id.sequence);
    stands.made[line.id.sequence] = each.made;
    line.begun_before =
        std::ranges::any_of(stands.lines, [&](const core::Line& older) { return older.id.time == each.time; });
    stands.lines.push_back(std::move(line));
  }
  stands.inodes = std::move(inodes);
  std::erase_if(stands.lines, [&](const core::Line& line) { return !stands.inodes.contains(line.id.time); });
  for (core::Line& line : stands.lines) {
    const std::string directory = join(holder, line.id.time);
    if (line.state == 0 && name_exists(join(directory, core::state_file))) {
      line.state = line.id.sequence;
      stands.states = std::max(stands.states, line.state);
    }
    if (name_exists(join(directory, "polyMesh"))) line.mesh = line.id;
  }
  std::optional<core::LineId> mesh;
  for (core::Line& line : stands.lines) {
    if (!line.mesh) line.mesh = mesh;
    mesh = line.mesh;
  }
}

// A rank without the library may begin a time again in the directory that is there, and nobody tells. Then files of
// that time are younger than the directory of a later one.
void Look::distrust_changed(int rank, RankTimesFound& found) const {
  const auto stands = unwritten_.find(rank);
  if (stands == unwritten_.end()) return;
  for (auto& of : found.look.lines) {
    const std::uint64_t sequence = of.after.id.sequence;
    const auto later = stands->second.made.upper_bound(sequence);
    if (!stands->second.made.contains(sequence) || later == stands->second.made.end()) continue;
    const auto files = found.files.find(of.after.id);
    if (files == found.files.end()) continue;
    of.after.cut = of.before.cut = of.after.cut || std::ranges::any_of(files->second, [&](const auto& each) {
                                     return each.second.mark.mtime_ns > later->second && later->second != 0;
                                   });
  }
}

core::FileFacts Look::facts_of(int rank, const std::string& name, const TimeFile& file, bool left,
                               const std::map<Version, Known>& before, std::map<Version, Known>& now) const {
  if (file.is_link && !is_placed(read_link(file.path).value_or(""), run_.request.placed))
    return {.open = false, .torn = false, .modified = file.mark.mtime_ns};
  const std::string content = content_of(file.path, run_.request.placed);
  const Version version = version_of(file.mark);
  const auto same = before.find(version);
  Known known = same == before.end() ? Known{} : same->second;
  if (left && !known.was_read) {
    known.ending = openfoam::ending_of(content);
    known.was_read = name_exists(content);  // else it was purged meanwhile: the next look reads it
  }
  const bool open = !known.closed && is_open_for_writing(content);
  known.closed = left && !open && known.was_read;
  now[version] = known;
  return {.open = open,
          .torn = habits_.is_cut(core::plain_name(name), known.ending) || may_be_cut(rank, file),
          .modified = file.mark.mtime_ns};
}

void Look::note_ended(int rank) {
  if (run_.witnesses.pages) run_.witnesses.pages->note_ended(rank);
  unwritten_[rank].ended = true;
}

void Look::pool_is_full(bool now, std::int64_t date) {
  const bool was_full = !full_.empty() && full_.back().second == INT64_MAX;
  if (now && !was_full) full_.emplace_back(had_room_at_, INT64_MAX);
  if (!now && was_full) full_.back().second = date;
  if (!now) had_room_at_ = date;
  if (full_.size() > most_windows) {
    full_[1].first = full_[0].first;
    full_.erase(full_.begin());
  }
}

bool Look::may_be_cut(int rank, const TimeFile& file) const {
  if (run_.witnesses.tell_of(rank)) return false;
  return !file.is_link && std::ranges::any_of(full_, [&](const auto& each) {
    return each.first <= file.mark.mtime_ns && file.mark.mtime_ns <= each.second;
  });
}

void Look::distrust_unwritten() {
  for (auto& [rank, stands] : unwritten_)
    for (core::Line& line : stands.lines) line.cut = true;
}

bool Look::has_left(int rank, const std::string& time) {
  const auto line = newest_line(rank, time);
  return line && core::is_left(page_of(rank), line->id.sequence);
}

// The newest line of this time on the rank. Lines on the page come first.
std::optional<core::Line> Look::newest_line(int rank, const std::string& time) {
  const std::uint64_t newest = run_.witnesses.page_of(rank).begun;
  for (std::uint64_t at = newest; at > 0 && newest - at < contract::RankPage::most_lines; --at)
    if (auto line = run_.witnesses.pages->line(rank, at); line && line->id.time == time) return line;
  std::optional<core::Line> found;
  const auto is_newer = [&](const core::Line& line) {
    return line.id.time == time && (!found || found->id.sequence < line.id.sequence);
  };
  for (const core::Line& line : unwritten_[rank].lines)
    if (newest == 0 && is_newer(line)) found = line;
  for (const auto& [id, line] : lines_[rank])
    if (is_newer(line)) found = line;
  return found;
}

bool Look::is_cut(int rank, const std::string& time) {
  const std::vector<core::Line> lines = lines_of(rank);
  if (std::ranges::any_of(lines, [&](const core::Line& line) { return line.id.time == time && line.cut; })) return true;
  TimeFiles files;
  if (!full_.empty())
    (void)list_files(local_of(run_.roots, run_.time_directory(rank, time)), "", run_.request.lower, files);
  return std::ranges::any_of(files, [&](const auto& each) { return may_be_cut(rank, each.second); });
}

RankTimesFound Look::at(int rank, std::uint64_t first) {
  RankTimesFound found = look_once(rank, first);
  for (int tries = 1; tries < most_tries && core::must_look_again(found.look); ++tries) found = look_once(rank, first);
  found.left_before = left_[rank];
  for (const auto& of : found.look.lines) {
    const core::LineId& id = of.before.id;
    if (id.sequence <= found.left_before || !core::is_left(found.look.before, id.sequence)) continue;
    left_[rank] = std::max(left_[rank], id.sequence);
    found.unseen += !found.files.contains(id) && !found.passed_over.contains(id) &&
                    !name_exists(local_of(run_.roots, run_.time_directory(rank, id.time)));
  }
  std::erase_if(found.look.lines, [&](const auto& of) { return !found.files.contains(of.before.id); });
  looked_at_[rank] = found.look.before.begun;
  lines_[rank] = found.passed_over;
  for (const auto& of : found.look.lines) lines_[rank][of.after.id] = of.after;
  judge_files(rank, found);
  std::erase_if(told_, [&](const auto& each) { return each.first == rank && !lines_[rank].contains(each.second); });
  return found;
}

RankTimesFound Look::look_once(int rank, std::uint64_t first) {
  RankTimesFound found;
  find_unwritten(rank);
  found.look.before = page_of(rank);
  const std::vector<core::Line> before = lines_of(rank);
  const auto was_newest = newest_of(before);
  std::set<core::LineId> meshes;
  for (const core::Line& line : before)
    if (line.mesh && line.id.sequence >= first) meshes.insert(*line.mesh);
  for (const core::Line& line : before) {
    if (!run_.is_new_time(rank, line.id.time)) continue;
    const bool is_newest = was_newest.at(line.id.time) == line.id.sequence;
    const bool is_looked_at = line.id.sequence >= first || line.id.sequence > left_[rank] || meshes.contains(line.id);
    TimeFiles files;
    if (is_newest && (!is_looked_at || !list_files(local_of(run_.roots, run_.time_directory(rank, line.id.time)), "",
                                                   run_.request.lower, files)))
      found.passed_over[line.id] = line;
    else if (!files.empty())
      found.files[line.id] = std::move(files);
    found.look.lines.push_back({.before = line, .after = line, .was_newest = is_newest, .files = {}});
  }
  find_kept(rank, was_newest, found);
  found.look.after = page_of(rank);
  const std::vector<core::Line> after = lines_of(rank);
  const auto is_newest = newest_of(after);
  for (auto& of : found.look.lines) {
    const auto line = std::ranges::find_if(after, [&](const core::Line& each) { return each.id == of.before.id; });
    if (line != after.end()) of.after = *line;
    const auto newest = is_newest.find(of.before.id.time);
    of.is_newest = newest == is_newest.end() || newest->second == of.before.id.sequence;
  }
  distrust_changed(rank, found);
  return found;
}

// A kept entry's name tells of its line where the page no longer does. A line that was begun after the page was read is
// left to the next look.
void Look::find_kept(int rank, const std::map<std::string, std::uint64_t>& was_newest, RankTimesFound& found) {
  std::map<core::LineId, std::vector<KeptEntry>> purged;
  for (KeptEntry& entry : entries_kept(kept_[rank]))
    if (entry.line.id.sequence <= found.look.before.begun) purged[entry.line.id].push_back(std::move(entry));
  for (const auto& [line_id, entries] : purged) {
    const core::LineId& id = line_id;
    auto of = std::ranges::find_if(found.look.lines, [&](const auto& each) { return each.before.id == id; });
    if (of == found.look.lines.end()) {
      core::Line line = entries.front().line;
      for (const KeptEntry& each : entries) line.cut = line.cut || each.line.cut;
      const bool is_newest = !was_newest.contains(id.time);
      found.look.lines.push_back({.before = line, .after = line, .was_newest = is_newest, .files = {}});
      of = std::prev(found.look.lines.end());
    }
    of->kept = true;
    TimeFiles& files = found.files[id];
    std::erase_if(files, [](const auto& each) { return !name_exists(each.second.path); });  // purged since
    bool all = true;
    for (const KeptEntry& entry : entries)
      all = (entry.is_directory ? list_files(entry.path, "", run_.request.lower, files)
                                : add_file(entry.file, entry.path, files)) &&
            all;
    if (all) continue;
    found.files.erase(id);
    found.passed_over[id] = of->before;
  }
  std::ranges::sort(found.look.lines, {}, [](const auto& of) { return of.before.id.sequence; });
  for (auto& of : found.look.lines)
    for (core::Line* const line : {&of.before, &of.after}) {
      if (!line->mesh || !line->mesh->time.empty()) continue;
      const auto mesh = std::ranges::find_if(
          found.look.lines, [&](const auto& each) { return each.before.id.sequence == line->mesh->sequence; });
      if (mesh != found.look.lines.end()) line->mesh = mesh->before.id;
    }
}

// The files of a time that the rank has left tell how others of their names end.
void Look::judge_files(int rank, RankTimesFound& found) {
  const std::map<Version, Known> before = std::exchange(known_[rank], {});
  std::map<Version, Known>& now = known_[rank];
  for (auto& of : found.look.lines) {
    const TimeFiles& files = found.files.at(of.before.id);
    const bool left = core::is_left(found.look.before, of.before.id.sequence);
    const auto judge = [&] {
      for (const auto& [name, file] : files)
        of.files[core::plain_name(name)] = facts_of(rank, name, file, left, before, now);
    };
    judge();
    if (!left || !told_.insert({rank, of.before.id}).second) continue;
    openfoam::Endings endings;
    for (const auto& [name, file] : files)
      if (const auto known = now.find(version_of(file.mark)); known != now.end())
        endings[core::plain_name(name)] = known->second.ending;
    if (habits_.add(of.before.id.time, endings)) judge();
  }
}

}  // namespace forebay::drain
