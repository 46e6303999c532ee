// Names that a program leaves above its case. By the way `path` they lie in the directory above the tree.
#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/pulse.h"
#include "run/drain/state.h"
#include "run/drain/units.h"
#include "run/publish/publish.h"

namespace forebay::drain {
namespace {

Result<layouts::Unit> unit_of(const std::string& local, const DirectoryEntry& entry, const std::string& lower) {
  if (entry.type != DT_DIR) return layouts::verbatim_file(local, entry.name, std::nullopt);
  auto listed = read_time(-1, local, true, {}, lower);
  if (!listed) return forward(listed);
  auto unit = layouts::verbatim_time(listed->value_or(layouts::RankTime{-1, local, {}}), "");
  if (unit) unit->target = entry.name;
  return unit;
}

constexpr const char* noted_name = "beside";

bool shows_beside(const Run& run) {
  return !run.roots.empty() && parent_of(run.roots.front().local) == join(run.request.home, "tree");
}

}  // namespace

Status note_beside(const std::string& home, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += escape(name) + '\n';
  return replace_file(join(home, noted_name), text);
}

// Links of them that the program removed, or gave another name: what they lead to is as it was.
void End::note_removed_beside() {
  if (!shows_beside(run_)) return;
  const std::string above(parent_of(run_.roots.front().local)), shared_path = directory_of(run_.request.case_path);
  const MayHang call(shared_path);
  const std::string noted = read_file(join(run_.request.home, noted_name)).value_or("");
  std::vector<std::string> kept;
  for (const std::string_view word : split(noted, '\n')) {
    const auto name = unescape(word);
    if (name && !name_exists(join(above, *name)) && name_exists(join(shared_path, *name)))
      kept.push_back(join(shared_path, *name));
  }
  if (kept.empty()) return;
  run_.note(
      Code::conflict,
      fmt::format("by path nothing is removed or renamed above the case: the program removed or renamed {}, which "
                  "{} still there: remove or rename {} by hand (by namespace or redirect a program does it itself)",
                  listed(kept, names_told), kept.size() == 1 ? "is" : "are", kept.size() == 1 ? "it" : "them"));
}

// It takes no name that is there: then it lies beside it, and that is a conflict.
void End::bring_beside() {
  if (!shows_beside(run_)) return;
  const std::string& tree = run_.roots.front().local;
  const std::string above(parent_of(tree)), shared_path = directory_of(run_.request.case_path);
  const auto entries = list_directory(above);
  for (const DirectoryEntry& entry : entries ? *entries : std::vector<DirectoryEntry>()) {
    const std::string local = join(above, entry.name);
    const bool is_ours = local == tree || entry.name.starts_with(tree::beside_prefix) ||
                         (entry.type == DT_LNK && read_link(local).value_or("") == join(shared_path, entry.name));
    if (is_ours || (entry.type != DT_REG && entry.type != DT_DIR && entry.type != DT_LNK)) continue;
    const auto shared = open_shared(shared_path);
    const auto unit = unit_of(local, entry, run_.request.lower);
    PublishSettings settings = run_.request.settings.mover.publish;
    settings.local_group = local_group(run_.request.home);
    Attempts attempts;
    Status brought = !shared ? Status(forward(shared)) : !unit ? Status(forward(unit)) : Status();
    if (brought)
      if (auto published = publish(**shared, *unit, run_.request.run, settings, attempts); !published)
        brought = forward(published);
    if (brought || brought.error().code == Code::conflict) {
      if (auto removed = entry.type == DT_DIR ? remove_tree(local) : Status(); removed) ::unlink(local.c_str());
    }
    if (brought) continue;
    const bool conflict = brought.error().code == Code::conflict;
    run_.note(conflict ? Code::conflict : Code::undrained,
              fmt::format("what the program left above the case, {}{}: {}", printable(join(shared_path, entry.name)),
                          conflict ? "" : " is only local, in " + printable(local), brought.error().text()));
  }
}

}  // namespace forebay::drain
