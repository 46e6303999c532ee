// Checkpoint directories: what events mean for them, and how their versions come to the case, each as a whole.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "run/drain/state.h"
#include "run/drain/units.h"

namespace forebay::drain {
namespace {

// A file of the case as a part of the version that takes the place of its directory: the same file, under its second
// name. The program has not touched this file, or the file gave up its room in the pool.
Result<layouts::OutputFile> as_on_case(const std::string& case_path, const std::string& path, const std::string& file,
                                       const Known& known) {
  auto unit = layouts::verbatim_file(join(case_path, path), path, std::nullopt);
  if (!unit) return forward(unit);
  layouts::OutputFile made = std::move(unit->files.front());
  made.path = file;
  if (made.link_target.empty()) made.hard_link = layouts::HardLink{path, false, *known.on_case};
  return made;
}

// An input under another name (Code_Saturne links its mesh there): as a second name of the case's own file.
Result<layouts::OutputFile> as_input(const std::string& case_path, const std::string& origin, const std::string& path,
                                     const std::string& file, Prepared& prepared) {
  struct stat status {};
  const std::string source = join(case_path, origin);
  if (::lstat(source.c_str(), &status) != 0) return errno_error("cannot stat", source);
  auto unit = layouts::verbatim_file(source, path, std::nullopt);
  if (!unit) return forward(unit);
  layouts::OutputFile made = std::move(unit->files.front());
  made.path = file;
  made.hard_link = layouts::HardLink{origin, false, identity_of(status)};
  prepared.marks[path] = mark_of(status);
  return made;
}

// Puts files of the case in the place of links that lead to them. These are files that the program has not touched,
// files that gave up their room, and inputs under another name. The text of such a link leads below `lower`.
Status take_from_case(layouts::Unit& unit, const std::string& case_path, const std::string& lower,
                      const std::map<std::string, Known>& untouched, Prepared& prepared) {
  std::vector<layouts::OutputFile> files;
  for (layouts::OutputFile& file : unit.files) {
    if (!tree::is_staged_link(file.link_target, lower)) {
      files.push_back(std::move(file));
      continue;
    }
    const std::string origin = file.link_target.substr(lower.size() + 1), name = join(unit.target, file.path);
    const auto known = untouched.find(file.path);
    prepared.links.erase(name);
    if (origin == name && known == untouched.end()) continue;
    auto made = origin == name ? as_on_case(case_path, name, file.path, known->second)
                               : as_input(case_path, origin, name, file.path, prepared);
    if (!made && origin == name && made.error().errno_value == ENOENT) continue;  // the user removed it
    if (!made) return forward(made);
    if (origin == name) prepared.marks[name] = known->second.drained.value_or(LocalMark{});
    files.push_back(std::move(*made));
  }
  unit.files = std::move(files);
  return {};
}

// Whether a kept version still is what two looks have found.
bool is_as_kept(const layouts::Unit& unit, const Marks& expected, const std::string& directory,
                const std::string& lower) {
  if (unit.files.size() != expected.size()) return false;
  return std::ranges::all_of(expected, [&](const auto& each) {
    const std::string kept = join(directory, each.first);
    const auto status = status_of(kept);
    if (!status || is_open_for_writing(kept)) return false;
    return mark_of(*status) == each.second || tree::is_staged_link(read_link(kept).value_or(""), lower);
  });
}

// The directories have the modes that they have in the tree, wherever the files were kept.
void take_modes(layouts::Unit& unit, const std::string& local, mode_t umask) {
  for (layouts::OutputDirectory& directory : unit.directories) {
    const auto status = status_of(join(local, directory.path));
    directory.mode = status ? status->st_mode & 0777 : 0777 & ~umask;
  }
}

}  // namespace

Status Checkpoints::open() {
  for (const std::string& path : run_.request.settings.checkpoints) {
    CheckpointVersions before = run_.ledger.checkpoint(path);
    const std::string aside = fmt::format("{}/checkpoints/{}", run_.request.home, all_.size());
    std::optional<Marks> marks;
    if (before.whole) marks = marks_in(path, version_directory(aside, *before.whole));
    // The program wrote to what was kept of it.
    if (before.whole != before.home && (!marks || checksum_of(*marks) != before.marks)) before.whole = before.home;
    if (auto made = make_private_directory(aside); !made) return made;
    Checkpoint& made = all_.emplace_back(path, aside, before, run_.clock.now());
    if (marks && made.to_carry()) made.set_marks(std::move(*marks));
  }
  return {};
}

Checkpoint* Checkpoints::containing(std::string_view path) {
  for (Checkpoint& each : all_)
    if (path != each.path() && is_below(path, each.path())) return &each;
  return nullptr;
}

void Checkpoints::handle(const Event& event) {
  if (event.gone()) return (void)work_.acts.removed_by_program(event.path);
  const std::string local = local_of(run_.roots, event.path);
  const auto status = status_of(local);
  if (!status || event.directory) return;
  if (S_ISLNK(status->st_mode)) {
    const auto target = read_link(local);
    if (target && *target != join(run_.request.lower, event.path) && tree::is_staged_link(*target, run_.request.lower))
      work_.acts.note_renamed_input(target->substr(run_.request.lower.size() + 1), event.path);
  } else if (event.kind == Event::Kind::closed) {
    run_.figures.closed(static_cast<std::uint64_t>(status->st_size));
  }
}

// nullopt: not all can be looked at.
std::optional<Marks> Checkpoints::marks_in(const std::string& path, const std::string& local) const {
  const auto listed = read_time(-1, local, false, {}, run_.request.lower);
  if (!listed || !*listed) return std::nullopt;
  Marks marks;
  for (const std::string& file : (*listed)->files) {
    const std::string here = join(local, file), name = join(path, file);
    const auto status = status_of(here);
    if (!status) return std::nullopt;
    const LocalMark mark = mark_of(*status);
    const auto known = run_.ledger.find(name);
    const bool is_on_case = known && (run_.is_link_to_case(name, here) || is_as_known(*known, mark));
    marks.emplace(file, is_on_case ? known->drained.value_or(LocalMark{}) : mark);
  }
  return marks;
}

void Checkpoints::look(Checkpoint& checkpoint) {
  if (run_.witnesses.pool_is_full) distrust();
  const std::string local = local_of(run_.roots, checkpoint.path());
  auto found = marks_in(checkpoint.path(), local);
  const bool is_new = found && !(checkpoint.whole() && *found == checkpoint.marks());
  if (is_new &&
      std::ranges::any_of(*found, [&](const auto& each) { return is_open_for_writing(join(local, each.first)); }))
    found.reset();
  checkpoint.looked(std::move(found), local);
}

void Checkpoints::advance() {
  const auto now = run_.clock.now();
  const auto& settings = run_.request.settings;
  for (Checkpoint& each : all_) {
    if (each.is_to_be_looked_at(now, settings.settle / 2)) look(each);
    if (settings.live || now - each.last_home() >= settings.safe_interval) carry(each);
  }
}

void Checkpoints::carry_all() {
  for (Checkpoint& each : all_) carry(each);
}

bool Checkpoints::take_doubts() {
  bool any = false;
  for (Checkpoint& each : all_) any = each.takes_doubt() || any;
  return any;
}

void Checkpoints::vouch() {
  for (Checkpoint& each : all_) {
    if (!each.is_found()) continue;
    const auto kept = each.keep(local_of(run_.roots, each.path()));
    if (!kept) {
      run_.note(std::nullopt, "a checkpoint cannot be kept aside: " + kept.error().text());
    } else if (marks_in(each.path(), each.directory(each.next())) == each.last_look()) {
      const int version = each.becomes_whole();
      run_.record(whole_checkpoint_record(each.path(), version, checksum_of(each.marks())));
    }
  }
}

void Checkpoints::distrust() {
  for (Checkpoint& each : all_) {
    const std::string local = local_of(run_.roots, each.path());
    if (const auto there = marks_in(each.path(), local)) each.distrust(*there, local);
  }
}

void Checkpoints::carry(Checkpoint& checkpoint) {
  if (const auto version = checkpoint.to_carry()) submit(checkpoint, version);
}

void Checkpoints::submit(Checkpoint& checkpoint, std::optional<int> version) {
  const std::string path = checkpoint.path();
  if (work_.in_flight.contains(path) || work_.not_carried.given_up.contains(path)) return;
  if (version) checkpoint.take(*version);
  const std::string local = local_of(run_.roots, path), directory = version ? checkpoint.directory(*version) : local;
  std::map<std::string, Identity> replaces;
  std::map<std::string, Known> untouched;
  run_.ledger.each(path, [&](const std::string& each, const Known& known) {
    if (each == path || !known.on_case) return true;
    const std::string file = each.substr(path.size() + 1);
    replaces.emplace(file, *known.on_case);
    if (!known.directory && run_.is_link_to_case(each, join(directory, file))) untouched.emplace(file, known);
    return true;
  });
  const auto on_case = run_.ledger.find(path);
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::checkpoint, path, 0, 0, version ? std::to_string(*version) : std::string(), false, prepared};
  work_.submit(
      std::move(job),
      [path, directory, local, lower = run_.request.lower, case_path = run_.request.case_path, untouched, prepared,
       expected = version ? std::optional(checkpoint.marks()) : std::nullopt,
       must_be_closed = !version && run_.phase != Phase::running, umask = run_.request.settings.mover.publish.umask,
       replaces = on_case && on_case->directory ? std::optional(replaces)
                                                : std::nullopt]() -> Result<std::optional<layouts::Unit>> {
        auto listed = read_time(-1, directory, must_be_closed, {}, lower);
        prepared->postponed = is_still_open(listed);
        if (prepared->postponed) return std::nullopt;
        if (!listed) return forward(listed);
        if (!*listed) return std::nullopt;
        auto unit = layouts::verbatim_time(**listed, "");
        if (!unit) return forward(unit);
        unit->target = path;
        unit->replaces_directory = replaces;
        take_modes(*unit, local, umask);
        prepared->differs = expected && !is_as_kept(*unit, *expected, directory, lower);
        if (prepared->differs) return std::nullopt;
        for (layouts::OutputFile& file : unit->files) file.must_keep_time = true;
        mark_sources(*unit, directory, {}, *prepared);
        if (auto taken = take_from_case(*unit, case_path, lower, untouched, *prepared); !taken) return forward(taken);
        return std::optional(std::move(*unit));
      });
}

// Records what the version has replaced on the case. No event will tell of names that the program had removed before
// the version was carried, so their removal is noted here.
void Checkpoints::carried(const Job& job, const Published& published) {
  std::set<std::string> there;
  for (const PublishedFile& file : published.files) there.insert(file.path);
  std::vector<std::string> replaced, removed;
  run_.ledger.each(job.key, [&](const std::string& path, const Known& known) {
    const bool is_in_unit = known.directory ? job.prepared->directories.contains(path) : there.contains(path);
    if (path != job.key && known.on_case && !is_in_unit) {
      replaced.push_back(path);
    } else if (!known.deleted && !name_exists(local_of(run_.roots, path))) {
      removed.push_back(path);
    }
    return true;
  });
  for (const std::string& path : replaced) run_.record(removed_record(path));
  for (const std::string& path : removed) work_.acts.removed_by_program(path);
}

void Checkpoints::landed(const Job& job, bool home, bool changed) {
  if (job.time.empty()) return;
  const int version = static_cast<int>(parse_integer(job.time).value_or(0));
  if (home) run_.record(carried_checkpoint_record(job.key, version));
  for (Checkpoint& each : all_) {
    if (each.path() != job.key) continue;
    each.landed(home, run_.clock.now());
    if (changed && each.whole() == version) each.spoiled();
  }
}

// The program did not end well: what it was writing is no checkpoint, so the case gets the last whole one.
void Checkpoints::submit_last() {
  for (Checkpoint& each : all_) carry(each);
}

// A checkpoint that the program was writing when it ended badly stays behind where there is a whole version, here or on
// the case.
bool Checkpoints::stays_behind(const Checkpoint& checkpoint) const {
  if (work_.not_carried.given_up.contains(checkpoint.path())) return true;
  if (run_.ended_cleanly) return false;
  bool whole = checkpoint.whole().has_value();
  run_.ledger.each(checkpoint.path(), [&](const std::string&, const Known& known) {
    whole = whole || (!known.directory && known.on_case);
    return !whole;
  });
  return whole;
}

}  // namespace forebay::drain
