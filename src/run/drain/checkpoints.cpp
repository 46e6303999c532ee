// Checkpoint directories: what events mean for them, and how their versions come to the case, each as a whole.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "run/drain/state.h"
#include "run/drain/units.h"

namespace forebay::drain {
namespace {

// A file of the case that the program has not touched, or that gave up its room in the pool, as a part of the version
// that takes the place of the directory it lies in: the same file, under its second name.
Result<layouts::OutputFile> as_on_case(const std::string& case_path, const std::string& path, const std::string& file,
                                       const Known& known) {
  auto unit = layouts::verbatim_file(join(case_path, path), path, std::nullopt);
  if (!unit) return forward(unit);
  layouts::OutputFile made = std::move(unit->files.front());
  made.path = file;
  if (made.link_target.empty()) made.hard_link = layouts::HardLink{path, false, *known.on_case};
  return made;
}

// An input under another name (Code_Saturne links its mesh there): as a second name of the case's own file. What its
// link says lies below `lower`.
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

// The directories have the modes that they have in the tree, wherever the files were kept.
void take_modes(layouts::Unit& unit, const std::string& local) {
  for (layouts::OutputDirectory& directory : unit.directories)
    if (const auto status = status_of(join(local, directory.path))) directory.mode = status->st_mode & 0777;
}

}  // namespace

Status Checkpoints::open() {
  for (const std::string& path : run.request.settings.checkpoints) {
    const std::string aside = fmt::format("{}/checkpoints/{}", run.request.home, all.size());
    const CheckpointVersions before = run.ledger.checkpoint(path);
    if (auto opened = all.emplace_back(path, run.clock.now()).open(aside, before.whole, before.home); !opened)
      return opened;
  }
  return {};
}

Checkpoint* Checkpoints::containing(std::string_view path) {
  for (Checkpoint& each : all)
    if (path != each.path() && is_below(path, each.path())) return &each;
  return nullptr;
}

void Checkpoints::handle(Checkpoint& checkpoint, const Event& event) {
  const std::string file = event.path.substr(checkpoint.path().size() + 1), local = local_of(run.roots, event.path);
  if (event.gone()) {
    // Of what is in a directory that goes away, nothing is told.
    if (event.directory && event.kind == Event::Kind::moved_out) checkpoint.lose_track();
    checkpoint.removed(file);
    return (void)work.acts.removed_by_program(event.path);
  }
  if (event.directory) {
    if (event.kind == Event::Kind::moved_in) checkpoint.lose_track();
    return;
  }
  struct stat status {};
  const bool there = ::lstat(local.c_str(), &status) == 0, link = there && S_ISLNK(status.st_mode);
  if (link) {
    const auto target = read_link(local);
    if (target && *target == join(run.request.lower, event.path)) return;  // evicted
    if (target && tree::is_staged_link(*target, run.request.lower))
      work.acts.note_renamed_input(target->substr(run.request.lower.size() + 1), event.path);
  }
  const bool has_new_name = event.kind == Event::Kind::created || event.kind == Event::Kind::moved_in;
  if (has_new_name) checkpoint.made(file);
  // Its closing will be told; but for a link, or another name of a file, nothing is closed.
  if (event.kind == Event::Kind::created && !link && status.st_nlink <= 1) return;
  if (event.kind == Event::Kind::closed) run.numbers.closed(static_cast<std::uint64_t>(status.st_size));
  if (auto kept = checkpoint.closed(file, local, run.clock.now()); !kept)
    run.note(std::nullopt, "a checkpoint cannot be kept aside: " + kept.error().text());
  if (seen.room.pool_is_full) checkpoint.distrust();
}

void Checkpoints::advance() {
  const auto now = run.clock.now();
  const auto& settings = run.request.settings;
  for (Checkpoint& each : all) {
    if (const auto whole = each.newly_whole(now, std::max(settings.settle, settings.vouch_after)))
      run.record(whole_checkpoint_record(each.path(), *whole));
    if (settings.live || now - each.last_home() >= settings.safe_interval) carry(each);
  }
}

void Checkpoints::carry(Checkpoint& checkpoint) {
  if (const auto version = checkpoint.to_carry()) submit(checkpoint, version);
}

// A version that was kept, or (nullopt) the directory as it is now, in the place of what the case has.
void Checkpoints::submit(Checkpoint& checkpoint, std::optional<int> version) {
  const std::string path = checkpoint.path();
  if (work.in_flight.contains(path) || work.not_carried.given_up.contains(path)) return;
  const auto directory = version ? checkpoint.take(*version) : Result<std::string>(local_of(run.roots, path));
  if (!directory)
    return run.note(Code::undrained, "the kept checkpoint cannot be drained: " + directory.error().text());
  std::map<std::string, Identity> replaces;
  std::vector<std::pair<std::string, Known>> untouched;
  run.ledger.each(path, [&](const std::string& each, const Known& known) {
    if (known.directory || !known.on_case) return true;
    const std::string file = each.substr(path.size() + 1);
    replaces.emplace(file, *known.on_case);
    if (run.is_link_to_case(each, local_of(run.roots, each))) untouched.emplace_back(file, known);
    return true;
  });
  const auto on_case = run.ledger.find(path);
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::checkpoint, path, 0, 0, version ? std::to_string(*version) : std::string(), false, prepared};
  work.submit(
      std::move(job),
      [path, directory = *directory, local = local_of(run.roots, path), lower = run.request.lower,
       case_path = run.request.case_path, untouched, prepared, must_be_closed = !version && end.phase != Phase::running,
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
        take_modes(*unit, local);
        std::erase_if(unit->files,
                      [&](const auto& file) { return file.link_target == join(lower, join(path, file.path)); });
        mark_sources(*unit, directory, {}, *prepared);
        for (layouts::OutputFile& file : unit->files) {
          if (!tree::is_staged_link(file.link_target, lower)) continue;
          const std::string origin = file.link_target.substr(lower.size() + 1), name = join(path, file.path);
          auto input = as_input(case_path, origin, name, file.path, *prepared);
          if (!input) return forward(input);
          prepared->links.erase(name);
          file = std::move(*input);
        }
        for (const auto& [file, known] : untouched) {
          const bool newer =
              std::ranges::any_of(unit->files, [&, name = &file](const auto& each) { return each.path == *name; });
          if (newer) continue;
          auto kept = as_on_case(case_path, join(path, file), file, known);
          if (!kept && kept.error().errno_value == ENOENT) continue;  // the user removed it
          if (!kept) return forward(kept);
          unit->files.push_back(std::move(*kept));
          prepared->marks[join(path, file)] = known.drained.value_or(LocalMark{});
        }
        return std::optional(std::move(*unit));
      });
}

void Checkpoints::carried(const Job& job, const Published& published) {
  std::set<std::string> there;
  for (const PublishedFile& file : published.files) there.insert(file.path);
  std::vector<std::string> gone;
  run.ledger.each(job.key, [&](const std::string& path, const Known& known) {
    if (!known.directory && known.on_case && !there.contains(path)) gone.push_back(path);
    return true;
  });
  for (const std::string& path : gone) run.record(removed_record(path));
}

void Checkpoints::landed(const Job& job, bool home) {
  if (job.time.empty()) return;
  if (home) run.record(carried_checkpoint_record(job.key, static_cast<int>(parse_integer(job.time).value_or(0))));
  for (Checkpoint& each : all)
    if (each.path() == job.key) each.landed(home, run.clock.now());
}

// The program did not end well: what it was writing is no checkpoint, so the case gets the last whole one.
void Checkpoints::submit_last() {
  for (Checkpoint& each : all) carry(each);
}

// What the program was writing when it ended badly stays behind where there is a whole version, here or on the case.
bool Checkpoints::stays_behind(const Checkpoint& checkpoint) const {
  if (work.not_carried.given_up.contains(checkpoint.path())) return true;
  if (end.ended_cleanly) return false;
  bool whole = checkpoint.whole().has_value();
  run.ledger.each(checkpoint.path(), [&](const std::string&, const Known& known) {
    whole = whole || (!known.directory && known.on_case);
    return !whole;
  });
  return whole;
}

}  // namespace forebay::drain
