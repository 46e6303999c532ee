#include "run/drain/held_states.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "run/contract/text.h"
#include "run/drain/walk.h"

namespace forebay::drain {

// All files are linked first; then it is seen that they still are what the look judged.
bool HeldStates::take(const core::StateId& state, const core::Parts& parts,
                      const std::map<int, RankTimesFound>& found) {
  if (const auto known = held_.find(state.time); known != held_.end() && is_used(known->second)) return false;
  release(state.time);
  Held& into = held_[state.time];
  into.state = state;
  const auto take_of = [&](int rank, const core::LineId& line) {
    const RankTimesFound& of_rank = found.at(rank);
    const core::RankLook::OfLine* of = of_rank.look.find(line);
    return of != nullptr && take_line(rank, *of, of_rank.files.at(line), into);
  };
  const auto take_part = [&](int rank, const core::Time& part) {
    const bool has_mesh = part.mesh && *part.mesh != part.line && found.at(rank).look.find(*part.mesh) != nullptr;
    return (!has_mesh || take_of(rank, *part.mesh)) && take_of(rank, part.line);
  };
  if (std::ranges::all_of(parts, [&](const auto& each) { return take_part(each.first, *each.second); })) return true;
  release(state.time);
  return false;
}

bool HeldStates::take_line(int rank, const core::RankLook::OfLine& of, const TimeFiles& files, Held& into) {
  const core::LineId& line = of.after.id;
  if (looks_.kept(rank).empty()) return false;
  const std::string pool(parent_of(parent_of(looks_.kept(rank))));
  const std::string directory =
      join(join(held_in(pool), contract::name_of_kept(rank, run_.request.settings.written_groups)), name_of_line(line));
  const Part& part = into.parts[rank].emplace_back(Part{line, directory, files});
  if (is_held_elsewhere(part.directory, into)) return true;                // a mesh that several states have
  if (auto removed = remove_tree(part.directory); !removed) return false;  // what an agent that was killed had taken
  if (!make_private_directory(std::string(parent_of(part.directory)))) return false;
  return std::ranges::all_of(files, [&](const auto& file) { return take_file(part, rank, file.first, file.second); }) &&
         is_as_judged(rank, of);
}

bool HeldStates::take_file(const Part& part, int rank, const std::string& name, const TimeFile& file) const {
  const std::string path = join(part.directory, name);
  const mode_t umask = run_.request.settings.mover.publish.umask;
  // The parent keeps all below it private. These modes are those that the case will get.
  for (std::size_t slash = part.directory.size(); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (::mkdir(path.substr(0, slash).c_str(), (0777 & ~umask) | S_IRWXU) != 0 && errno != EEXIST) return false;
  if (::link(file.path.c_str(), path.c_str()) != 0) {
    // The program may have purged it since: then it lies there.
    if (errno != ENOENT) return false;
    const auto purged = paths_kept(rank, part.line, name);
    if (std::ranges::none_of(purged, [&](const auto& each) { return ::link(each.c_str(), path.c_str()) == 0; }))
      return false;
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return false;
  const LocalMark mark = mark_of(status);
  return mark.inode == file.mark.inode && mark.size == file.mark.size && mark.mtime_ns == file.mark.mtime_ns &&
         (file.is_link || !is_open_for_writing(path));
}

// No write to the line has failed since, nor was its time begun again where it stands.
bool HeldStates::is_as_judged(int rank, const core::RankLook::OfLine& of) const {
  const core::LineId& line = of.after.id;
  const core::Page page = run_.witnesses.page_of(rank);
  if (page.begun == 0) return true;
  if (const auto now = run_.witnesses.pages->line(rank, line.sequence); now && now->cut) return false;
  for (std::uint64_t later = line.sequence + 1; !of.kept && later <= page.begun; ++later)
    if (const auto each = run_.witnesses.pages->line(rank, later); each && each->id.time == line.time) return false;
  return true;
}

// A file of a line lies at these paths once the program has purged it.
std::vector<std::string> HeldStates::paths_kept(int rank, const core::LineId& line, const std::string& name) const {
  std::vector<std::string> paths;
  for (const KeptEntry& each : entries_kept(looks_.kept(rank)))
    if (each.line.id == line && (each.is_directory || each.file == name))
      paths.push_back(each.is_directory ? join(each.path, name) : each.path);
  return paths;
}

void HeldStates::release(const std::string& time) {
  const auto held = held_.find(time);
  if (held == held_.end()) return;
  for (const auto& [rank, parts] : held->second.parts)
    for (const Part& part : parts) {
      if (is_held_elsewhere(part.directory, held->second)) continue;
      if (auto removed = remove_tree(part.directory); !removed) run_.note(std::nullopt, removed.error().text());
    }
  held_.erase(held);
}

void HeldStates::release_unused() {
  std::vector<std::string> unused;
  for (const auto& [time, each] : held_)
    if (!is_used(each)) unused.push_back(time);
  for (const std::string& time : unused) release(time);
}

bool HeldStates::is_used(const Held& each) const {
  return std::ranges::any_of(each.parts, [&](const auto& of) {
    return std::ranges::any_of(of.second, [&](const Part& part) { return is_used(part.line.time); });
  });
}

bool HeldStates::is_held_elsewhere(const std::string& directory, const Held& than) const {
  return std::ranges::any_of(held_, [&](const auto& each) {
    return &each.second != &than && std::ranges::any_of(each.second.parts, [&](const auto& of) {
      return std::ranges::any_of(of.second, [&](const Part& part) { return part.directory == directory; });
    });
  });
}

void HeldStates::use(const std::string& time, bool begin) {
  if (begin) {
    ++uses_[time];
  } else if (--uses_[time] <= 0) {
    uses_.erase(time);
  }
}

std::set<core::StateId> HeldStates::states() const {
  std::set<core::StateId> states;
  for (const auto& [time, each] : held_) states.insert(each.state);
  return states;
}

const HeldStates::Held* HeldStates::of_state(const std::string& time) const {
  const auto held = held_.find(time);
  return held == held_.end() ? nullptr : &held->second;
}

const HeldStates::Held* HeldStates::of(const std::string& time) const {
  for (const auto& [state, each] : held_)
    for (const auto& [rank, parts] : each.parts)
      for (const Part& part : parts)
        if (part.line.time == time) return &each;
  return nullptr;
}

const HeldStates::Part* HeldStates::part_of(int rank, const std::string& time) const {
  const Held* held = of(time);
  if (held == nullptr || !held->parts.contains(rank)) return nullptr;
  const std::vector<Part>& parts = held->parts.at(rank);
  const auto part = std::ranges::find_if(parts, [&](const Part& each) { return each.line.time == time; });
  return part == parts.end() ? nullptr : &*part;
}

bool HeldStates::is_home(int rank, const std::string& time) const {
  const Part* part = part_of(rank, time);
  return part != nullptr && !part->files.empty() && are_home(run_.ledger, run_.time_directory(rank, time), part->files);
}

OwnNames HeldStates::own_names(int rank, const std::string& time, const std::string& directory) const {
  OwnNames own;
  const Part* part = part_of(rank, time);
  if (part == nullptr) return own;
  const std::string tree = local_of(run_.roots, run_.time_directory(rank, time));
  for (const auto& [name, file] : part->files) {
    for (const std::string& other : {part->directory, tree})
      if (other != directory) own[name].push_back(join(other, name));
    std::ranges::copy(paths_kept(rank, part->line, name), std::back_inserter(own[name]));
  }
  return own;
}

}  // namespace forebay::drain
