// A whole directory as one unit: filled under a temporary name, then renamed.
#include <algorithm>
#include <cerrno>
#include <ranges>
#include <set>

#include "drain/publish_parts.h"

namespace forebay::drain::parts {
namespace {

class DirectoryPublication {
 public:
  DirectoryPublication(const Context& context, const layouts::Unit& unit)
      : context_(context), shared_(context.shared), unit_(unit), temporary_(context, unit.target) {}

  Result<Published> run() {
    if (auto made = make(); !made) return forward(made);
    if (auto filled = fill(); !filled) return forward(filled);
    if (auto settled = settle(); !settled) return forward(settled);
    published_.unsynced.emplace_back(parent_of(unit_.target));
    return std::move(published_);
  }

 private:
  Status make() {
    if (auto told = temporary_.announce(); !told) return told;
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
    temporary_.own(**status);
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
      auto written = write_output(context_, file, inside(file.path), [](const struct stat&) {});
      if (!written) return forward(written);
      auto identity = identity_in_place(file, *written);
      if (!identity) return forward(identity);
      published_.files.push_back({join(unit_.target, file.path), *identity, written->bytes, written->checksum});
      published_.bytes += written->bytes;
    }
    // Children before their parents, whose final mode may forbid to reach them.
    for (const layouts::OutputDirectory& directory : unit_.directories | std::views::reverse)
      if (!directory.path.empty())
        if (auto finished = shared_.finish_directory(inside(directory.path), directory.mode); !finished)
          return finished;
    return shared_.finish_directory(temporary_.path(), own_mode());
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

  Status settle() {
    auto renamed = shared_.rename_new(temporary_.path(), unit_.target);
    if (renamed) {
      temporary_.let_go();
      return {};
    }
    const int reason = renamed.error().errno_value;
    // rename(2) without flags says ENOTEMPTY where a directory is in the way, ENOTDIR for a file.
    if (reason != EEXIST && reason != ENOTEMPTY && reason != ENOTDIR) return renamed;
    const auto same = holds_content(unit_.target);
    if (!same) return forward(same);
    if (!*same)
      return tl::unexpected<Error>(keep_beside(context_, temporary_, unit_.target,
                                               [this](const std::string& path) { return holds_content(path); }));
    return adopt();
  }

  // True when `directory` has the unit's directories and files with their content, and nothing else.
  Result<bool> holds_content(const std::string& directory) {
    std::set<std::string> expected;
    for (const layouts::OutputDirectory& below : unit_.directories)
      if (!below.path.empty()) expected.insert(below.path);
    for (const layouts::OutputFile& file : unit_.files) expected.insert(file.path);
    std::size_t found = 0;
    std::vector<std::string> open{""};
    while (!open.empty()) {
      const std::string at = std::move(open.back());
      open.pop_back();
      const auto status = shared_.status(join(directory, at));
      if (!status) return forward(status);
      if (!*status || !S_ISDIR((*status)->st_mode)) return false;
      const auto entries = shared_.list(join(directory, at));
      if (!entries) return forward(entries);
      for (const DirectoryEntry& entry : *entries) {
        const std::string name = join(at, entry.name);
        if (!expected.contains(name)) return false;
        ++found;
        if (entry.type == DT_DIR) open.push_back(name);
      }
    }
    if (found != expected.size()) return false;
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

  // What is there already counts, with the identities that it has.
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
    return 0755;
  }

  const Context& context_;
  SharedFiles& shared_;
  const layouts::Unit& unit_;
  Temporary temporary_;
  Published published_;
};

}  // namespace

Result<Published> publish_directory(const Context& context, const layouts::Unit& unit) {
  return DirectoryPublication(context, unit).run();
}

}  // namespace forebay::drain::parts
