// What a program leaves above its case: by the way `path` that is the directory above the tree.
#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

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

}  // namespace

// It takes no name that is there: then it lies beside it, and that is a conflict.
void End::bring_beside() {
  if (run.roots.empty()) return;
  const std::string& tree = run.roots.front().local;
  const std::string above(parent_of(tree)), shared_path = directory_of(run.request.case_path);
  const auto entries = above == join(run.request.home, "tree") ? list_directory(above) : std::vector<DirectoryEntry>();
  for (const DirectoryEntry& entry : entries ? *entries : std::vector<DirectoryEntry>()) {
    const std::string local = join(above, entry.name);
    const bool is_ours = local == tree || entry.name.starts_with(".fb-") ||
                         (entry.type == DT_LNK && read_link(local).value_or("") == join(shared_path, entry.name));
    if (is_ours || (entry.type != DT_REG && entry.type != DT_DIR && entry.type != DT_LNK)) continue;
    const auto shared = open_shared(shared_path);
    const auto unit = unit_of(local, entry, run.request.lower);
    PublishSettings settings = run.request.settings.mover.publish;
    settings.local_group = local_group(run.request.home);
    Attempts attempts;
    Status brought = !shared ? Status(forward(shared)) : !unit ? Status(forward(unit)) : Status();
    if (brought)
      if (auto published = publish(**shared, *unit, run.request.run, settings, attempts); !published)
        brought = forward(published);
    if (brought || brought.error().code == Code::conflict) {
      if (auto removed = entry.type == DT_DIR ? remove_tree(local) : Status(); removed) ::unlink(local.c_str());
    }
    if (brought) continue;
    const bool conflict = brought.error().code == Code::conflict;
    run.note(conflict ? Code::conflict : Code::undrained,
             fmt::format("what the program left above the case, {}{}: {}", printable(join(shared_path, entry.name)),
                         conflict ? "" : " is only local, in " + printable(local), brought.error().text()));
  }
}

}  // namespace forebay::drain
