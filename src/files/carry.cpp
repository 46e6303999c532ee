// Carries home the checkpoints that programs which are gone left in a pool.
#include "carry/carry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "files/files.h"

namespace forebay::files {
namespace {

using Committed = slots::SlotDirectory::Committed;

// Whether the file of a record, or a newer one in its place, has its name.
bool has_arrived(const slots::StagedRecord& record, const std::vector<Committed>& committed) {
  return std::any_of(committed.begin(), committed.end(), [&](const Committed& each) {
    return each.record && each.record->path == record.path && each.record->sequence >= record.sequence &&
           carry::stands(*each.record);
  });
}

// Whether the file is at home. Of a program of several nodes each carries its part, and that of rank 0 gives the file
// its name; the others keep theirs until then.
Result<bool> bring_home(const slots::SlotDirectory& directory, int slot, const slots::StagedRecord& record) {
  const std::atomic<bool> no_waiting = true;
  auto done = carry::carry_image(record, directory.image(slot), directory.layout(slot), no_waiting);
  if (!done && done.error().code == Code::undrained)
    done.error().advice = "run `forebay drain --resume` there, and then here once more";
  if (!done) return forward(done);
  return record.node == 0;
}

int carry_all(slots::SlotDirectory directory) {
  if (auto held = directory.lock(); !held) return cli::failed(held.error());
  int exit_status = 0;
  const auto committed = directory.committed();
  for (const auto& [slot, record] : committed) {
    if (!record) {
      exit_status = cli::failed(record.error());
      break;
    }
    const bool carried = record->node != 0 && has_arrived(*record, committed);
    const auto at_home = carried ? true : bring_home(directory, slot, *record);
    if (!at_home) {
      (void)cli::failed(at_home.error());
      exit_status = static_cast<int>(Code::undrained);
      break;  // of two files of one name the newer must come last
    }
    if (!*at_home) {
      fmt::print(
          "checkpoint {}: the part of node {} of {} is brought home; run `forebay drain --resume` where rank 0 "
          "was, and then here once more\n",
          printable(record->path), record->node, record->nodes);
      exit_status = static_cast<int>(Code::undrained);
      continue;
    }
    directory.forget(slot);
    fmt::print("checkpoint {}: brought home\n", printable(record->path));
  }
  directory.remove_carried();
  return exit_status;
}

}  // namespace

int carry(const std::vector<std::string>& directories) {
  int exit_status = 0;
  for (const std::string& each : directories)
    exit_status = std::max(exit_status, carry_all(slots::SlotDirectory(each)));
  return exit_status;
}

}  // namespace forebay::files
