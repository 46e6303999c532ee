// Carries home the checkpoints that programs which are gone left in a pool.
#include "arrays/carry/carry.h"
#include "arrays/carry/series.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <set>

#include "files/files.h"
#include "run/cli/commands.h"
#include "run/drain/drain.h"

namespace forebay::files {
namespace {

// Whether the file is at home. Each node of a program carries its part, and that of rank 0 gives the file its name; the
// others keep theirs until then.
Result<bool> bring_home(const slots::SlotDirectory& directory, int slot, const slots::StagedRecord& record) {
  switch (carry::what_stands(record)) {
    case carry::Standing::same_or_later:
      return true;
    case carry::Standing::foreign:
      return error(Code::conflict, "somebody has written a newer file since it was staged:", record.path,
                   "move that away and try again, or give the staged one up: forebay clean --throw-away --throw-away");
    case carry::Standing::older:
      break;
  }
  const std::atomic<bool> no_waiting = true;
  auto done = carry::carry_image(record, directory.image(slot), no_waiting);
  if (done) return record.node == 0 || carry::what_stands(record) == carry::Standing::same_or_later;
  if (done.error().code == Code::undrained)
    done.error().advice = "run `forebay drain --resume` there, and then here once more";
  if (done.error().code == Code::failed) done.error().code = Code::undrained;
  return forward(done);
}

std::optional<Code> carry_all(slots::SlotDirectory directory) {
  std::optional<Code> trouble;
  const auto note = [&trouble](const Error& failed) {
    cli::failed(failed);
    trouble = drain::graver(trouble, failed.code);
  };
  if (auto held = directory.lock(); !held) {
    if (held.error().code == Code::busy) held.error().code = Code::undrained;
    note(held.error());
    return trouble;
  }
  std::set<std::string> left;  // an older file of the same name must not come last
  for (const auto& [slot, record] : directory.committed()) {
    if (!record) {
      note(record.error());
      continue;
    }
    if (left.contains(record->path)) continue;
    const auto at_home = bring_home(directory, slot, *record);
    if (at_home && *at_home) {
      if (const auto listed = carry::list_in_series(record->path); !listed) note(listed.error());
      directory.give_up(slot);
      fmt::print("checkpoint {}: brought home\n", printable(record->path));
      continue;
    }
    if (at_home) {
      fmt::print(
          "checkpoint {}: the part of node {} of {} is brought home; run `forebay drain --resume` where rank 0 "
          "was, and then here once more\n",
          printable(record->path), record->node, record->nodes);
      trouble = drain::graver(trouble, Code::undrained);
    } else {
      note(at_home.error());
    }
    const bool never_comes = !at_home && at_home.error().code == Code::lost;
    if (!never_comes) left.insert(record->path);
  }
  directory.remove_carried();
  return trouble;
}

}  // namespace

int carry(const std::vector<std::string>& directories) {
  std::optional<Code> trouble;
  for (const std::string& each : directories)
    if (const auto troubled = carry_all(slots::SlotDirectory(each))) trouble = drain::graver(trouble, *troubled);
  return trouble ? static_cast<int>(*trouble) : 0;
}

}  // namespace forebay::files
