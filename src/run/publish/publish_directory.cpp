// A whole directory as one unit: filled under a temporary name, then renamed.
#include <algorithm>
#include <cerrno>
#include <map>
#include <ranges>
#include <set>

#include "run/publish/publish_parts.h"

namespace forebay::drain::parts {
namespace {

class DirectoryPublication {
 public:
  DirectoryPublication(const Context& context, const layouts::Unit& unit)
      : context_(context),
        shared_(context.shared),
        unit_(unit),
        temporary_(context, unit.target),
        old_(context, unit.target) {}

  Result<Published> run() {
    if (auto made = make(); !made) return forward(made);
    if (auto filled = fill(); !filled) return forward(filled);
    if (auto turn = await_turn(context_, unit_); !turn) return forward(turn);
    if (auto noted = note_placing(); !noted) return forward(noted);
    if (auto named = give_name(); !named) return forward(named);
    published_.unsynced.emplace_back(parent_of(unit_.target));
    return std::move(published_);
  }

 private:
  Status note_placing() const {
    if (!context_.settings.placing) return {};
    std::vector<std::pair<std::string, Identity>> files;
    for (const PublishedFile& file : published_.files) files.emplace_back(file.path, file.identity);
    return context_.settings.placing(files);
  }

  Status make() {
    if (auto announced = temporary_.announce(); !announced) return announced;
    // Nobody else looks into it before it is whole.
    auto made = shared_.make_directory(temporary_.path(), S_IRWXU);
    if (!made && made.error().errno_value == ENOENT) {
      if (auto parents = make_parents(context_, unit_.target, published_.unsynced); !parents) return parents;
      made = shared_.make_directory(temporary_.path(), S_IRWXU);
    }
    if (!made && made.error().errno_value == EEXIST) temporary_.withdraw();
    if (!made) return made;
    const auto status = shared_.status(temporary_.path());
    if (!status) return forward(status);
    if (!*status) return error(Code::failed, "vanished from the case:", temporary_.path());
    made_ = **status;
    temporary_.own(made_);
    return {};
  }

  Status fill() {
    for (const layouts::OutputDirectory& directory : unit_.directories)
      if (!directory.path.empty())
        if (auto made = shared_.make_directory(inside(directory.path), S_IRWXU); !made) return made;
    for (const layouts::OutputFile& file : unit_.files) {
      if (file.path.empty()) return error(Code::bad_input, "a file without a name in", unit_.target);
      if (file.hard_link) {
        const auto linked = fill_hard_link(file);
        if (!linked) return forward(linked);
        if (*linked) continue;
        ++published_.separated;
      }
      const auto replaced = file_in_place(file.path);
      if (!replaced) return forward(replaced);
      auto written = write_output(
          context_, file, inside(file.path), [](const struct stat&) {}, *replaced);
      if (!written) return forward(written);
      auto identity = identity_in_place(file, *written);
      if (!identity) return forward(identity);
      published_.files.push_back({join(unit_.target, file.path), *identity, written->bytes, written->checksum});
      published_.bytes += written->bytes;
      if (written->without_set_id) published_.without_set_id.push_back(join(unit_.target, file.path));
    }
    // Children before their parents, whose final mode may forbid to reach them. (clang 14 knows no views of libstdc++.)
    for (auto directory = unit_.directories.rbegin(); directory != unit_.directories.rend(); ++directory)
      if (!directory->path.empty())
        if (auto finished = shared_.finish_directory(inside(directory->path), directory->mode | handed_down(),
                                                     newest_below(directory->path),
                                                     given_to(directory->owner, context_.settings.local_group));
            !finished)
          return finished;
    return shared_.finish_directory(temporary_.path(), own_mode() | handed_down(), newest_below(""), own_owner());
  }

  // The status of what the case has under this name, where the unit replaces it.
  Result<std::optional<struct stat>> file_in_place(const std::string& path) {
    if (!unit_.replaces_directory || !unit_.replaces_directory->contains(path)) return std::nullopt;
    return shared_.status(join(unit_.target, path));
  }

  // False: it has to be written.
  Result<bool> fill_hard_link(const layouts::OutputFile& file) {
    const layouts::HardLink& link = *file.hard_link;
    const auto expected = link.inside ? std::nullopt : std::optional(link.identity);
    auto written = write_hard_link(context_, link.inside ? inside(link.path) : link.path, expected, inside(file.path),
                                   [](const struct stat&) {});
    if (!written) return forward(written);
    if (!*written) return false;
    const Identity identity = known_identity((*written)->made);
    published_.files.push_back({join(unit_.target, file.path), identity, 0, 0, link.inside ? "" : link.path});
    if (!link.inside) return true;
    const std::string first = join(unit_.target, link.path);
    for (PublishedFile& each : published_.files) {
      if (each.path != first) continue;
      each.identity = identity;
      published_.files.back().bytes = each.bytes;
      published_.files.back().checksum = each.checksum;
    }
    return true;
  }

  // The rename of the directory above changes nothing of a file, so what it is now it stays. (A link's time was set
  // after it was seen.)
  Result<Identity> identity_in_place(const layouts::OutputFile& file, const Written& written) {
    if (written.file) return identity_of(written.made);
    const auto status = shared_.status(inside(file.path));
    if (!status) return forward(status);
    if (!*status) return error(Code::failed, "vanished from the case:", inside(file.path));
    return identity_of(**status);
  }

  void remember() {
    std::map<std::string, Identity>& placed = context_.attempts.placed.emplace_back();
    for (const PublishedFile& file : published_.files)
      placed.emplace(file.path.substr(unit_.target.size() + 1), file.identity);
  }

  Status give_name() {
    auto renamed = shared_.rename_new(temporary_.path(), unit_.target);
    if (renamed) {
      temporary_.let_go();
      return {};
    }
    const int reason = renamed.error().errno_value;
    // rename(2) without flags says ENOTEMPTY where a directory is in the way, ENOTDIR for a file.
    if (reason != EEXIST && reason != ENOTEMPTY && reason != ENOTDIR) {
      remember();  // it may be done
      return renamed;
    }
    const auto known = holds_what_is_known(unit_.target);
    if (!known) return forward(known);
    return *known ? replace() : taken();
  }

  // The target is there and is not what may be replaced.
  Status taken() {
    const auto same = holds_content(unit_.target);
    if (!same) return forward(same);
    if (*same) return adopt();
    const auto ours = is_from_before(unit_.target);
    if (!ours) return forward(ours);
    if (*ours) return replace();
    return tl::unexpected<Error>(keep_beside(context_, temporary_, unit_.target,
                                             [this](const std::string& path) { return holds_content(path); }));
  }

  // In one step, so that the case has the files of one state at any time.
  Status replace() {
    if (auto lent = temporary_.lend(unit_.target); !lent) return lent;
    auto exchanged = shared_.exchange(temporary_.path(), unit_.target);
    if (exchanged || exchanged_after_all()) return check_exchanged();
    temporary_.take_back();
    if (lacks_exchange(exchanged.error())) return replace_by_renames();
    return exchanged;
  }

  // A server may do what it was asked and lose the answer.
  bool exchanged_after_all() {
    const auto there = shared_.status(unit_.target);
    return there && *there && (*there)->st_ino == made_.st_ino;
  }

  Status check_exchanged() {
    auto known = holds_what_is_known(temporary_.path());
    if (known && !*known) known = is_from_before(temporary_.path());
    if (!known) return forward(known);
    if (*known) return discard(temporary_);
    // The user changed something between the check and the exchange: hers goes back under the name.
    if (auto back = shared_.exchange(temporary_.path(), unit_.target); !back) return back;
    temporary_.take_back();
    return taken();
  }

  // The directory under this name now was replaced: the end of the publication removes it, or a later cleanup.
  Status discard(Temporary& temporary) {
    const auto old = shared_.status(temporary.path());
    if (!old) return forward(old);
    if (!*old) return {};
    if (auto synced = sync_directories(shared_, {std::string(parent_of(unit_.target))}); !synced) return synced;
    temporary.own(**old);
    temporary.take_back();
    return {};
  }

  // No exchange on this file system: for an instant nothing has the name, and both states are whole under temporary
  // names.
  Status replace_by_renames() {
    for (Temporary* each : {&temporary_, &old_})
      if (auto lent = each->lend(unit_.target); !lent) return lent;
    if (auto moved = shared_.rename_new(unit_.target, old_.path()); !moved) {
      temporary_.take_back();
      return moved;
    }
    if (auto renamed = shared_.rename_new(temporary_.path(), unit_.target); !renamed) {
      (void)shared_.rename_new(old_.path(), unit_.target);
      temporary_.take_back();
      return renamed;
    }
    return discard(old_);
  }

  // The paths of everything in `directory`, and whether they are directories; nullopt where it is none.
  Result<std::optional<std::map<std::string, bool>>> entries_of(const std::string& directory) {
    std::map<std::string, bool> found;
    std::vector<std::string> open{""};
    while (!open.empty()) {
      const std::string at = std::move(open.back());
      open.pop_back();
      const auto status = shared_.status(join(directory, at));
      if (!status) return forward(status);
      if (!*status || !S_ISDIR((*status)->st_mode)) return std::nullopt;
      const auto entries = shared_.list(join(directory, at));
      if (!entries) return forward(entries);
      for (const DirectoryEntry& entry : *entries) {
        const std::string name = join(at, entry.name);
        found.emplace(name, entry.type == DT_DIR);
        if (entry.type == DT_DIR) open.push_back(name);
      }
    }
    return found;
  }

  bool has_directory(const std::string& path) const {
    return std::ranges::any_of(unit_.directories,
                               [&](const layouts::OutputDirectory& each) { return each.path == path; });
  }

  // True when `directory` has no files but those that may be replaced, as they were.
  Result<bool> holds_what_is_known(const std::string& directory) {
    if (!unit_.replaces_directory) return false;
    const auto entries = entries_of(directory);
    if (!entries) return forward(entries);
    if (!*entries) return false;
    return are_known(directory, **entries, *unit_.replaces_directory);
  }

  // True when `directory` is what an earlier attempt has placed, and nobody changed or added a file since. Without
  // files it could be anybody's.
  Result<bool> is_from_before(const std::string& directory) {
    if (context_.attempts.placed.empty()) return false;
    const auto entries = entries_of(directory);
    if (!entries) return forward(entries);
    const auto is_directory = [](const auto& entry) { return entry.second; };
    if (!*entries || std::ranges::all_of(**entries, is_directory)) return false;
    for (const auto& placed : context_.attempts.placed) {
      const auto known = are_known(directory, **entries, placed);
      if (!known || *known) return known;
    }
    return false;
  }

  Result<bool> are_known(const std::string& directory, const std::map<std::string, bool>& entries,
                         const std::map<std::string, Identity>& files) {
    for (const auto& [path, is_directory] : entries) {
      const auto known = files.find(path);
      if (is_directory && (has_directory(path) || known != files.end())) continue;
      if (is_directory || known == files.end()) return false;
      const auto now = shared_.status(join(directory, path));
      if (!now) return forward(now);
      if (*now && !same_but_ctime(identity_of(**now), known->second)) return false;
    }
    return true;
  }

  // True when `directory` has the unit's directories and files with their content, and nothing else.
  Result<bool> holds_content(const std::string& directory) {
    std::set<std::string> expected;
    for (const layouts::OutputDirectory& below : unit_.directories)
      if (!below.path.empty()) expected.insert(below.path);
    for (const layouts::OutputFile& file : unit_.files) expected.insert(file.path);
    const auto entries = entries_of(directory);
    if (!entries) return forward(entries);
    if (!*entries || !std::ranges::equal(**entries, expected, {}, &std::pair<const std::string, bool>::first))
      return false;
    for (std::size_t i = 0; i < unit_.files.size(); ++i) {
      if (!published_.files[i].linked_to.empty()) {
        const auto status = shared_.status(join(directory, unit_.files[i].path));
        if (!status) return forward(status);
        if (!*status || (*status)->st_ino != published_.files[i].identity.inode) return false;
        continue;
      }
      auto same = same_content(shared_, join(directory, unit_.files[i].path), unit_.files[i], published_.files[i].bytes,
                               published_.files[i].checksum);
      if (!same || !*same) return same;
    }
    return true;
  }

  // Adopts files that are there already: they count, with the identities that they have.
  Status adopt() {
    for (PublishedFile& file : published_.files) {
      const auto status = shared_.status(file.path);
      if (!status) return forward(status);
      if (!*status) return error(Code::failed, "vanished from the case:", file.path);
      file.identity = known_identity(**status);
    }
    return {};
  }

  std::string inside(const std::string& path) const { return temporary_.path() + "/" + path; }

  mode_t own_mode() const {
    for (const layouts::OutputDirectory& directory : unit_.directories)
      if (directory.path.empty()) return directory.mode;
    return (0777 & ~context_.settings.umask) | S_IRWXU;
  }

  // The bit that directories of the case hand down to those in them; here, above the local one, may be none that does.
  mode_t handed_down() const { return made_.st_mode & S_ISGID; }

  std::optional<Owner> own_owner() const {
    for (const layouts::OutputDirectory& directory : unit_.directories)
      if (directory.path.empty()) return given_to(directory.owner, context_.settings.local_group);
    return std::nullopt;
  }

  // A directory gets the time of the newest file below it: so times are told by their age as after a direct run,
  // whichever was carried first. (The local directory's own would not do: what is kept aside has none.)
  std::optional<std::int64_t> newest_below(const std::string& directory) const {
    std::optional<std::int64_t> newest;
    for (const layouts::OutputFile& file : unit_.files)
      if (directory.empty() || is_below(file.path, directory))
        newest = std::max(newest.value_or(file.mtime_ns), file.mtime_ns);
    return newest;
  }

  const Context& context_;
  SharedFiles& shared_;
  const layouts::Unit& unit_;
  Temporary temporary_, old_;
  struct stat made_ {};
  Published published_;
};

}  // namespace

Result<Published> publish_directory(const Context& context, const layouts::Unit& unit) {
  return DirectoryPublication(context, unit).run();
}

}  // namespace forebay::drain::parts
