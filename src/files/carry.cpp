// Carries home the checkpoints that programs which are gone left in a pool.
#include "carry/carry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "cli/commands.h"
#include "files/files.h"

namespace forebay::files {
namespace {

// Whether the file is at home. Of a program of several nodes each carries its part, and that of rank 0 gives the file
// its name; the others keep theirs until then.
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
  auto done = carry::carry_image(record, directory.image(slot), directory.layout(slot), no_waiting);
  if (done) return record.node == 0 || carry::what_stands(record) == carry::Standing::same_or_later;
  if (done.error().code == Code::undrained)
    done.error().advice = "run `forebay drain --resume` there, and then here once more";
  if (done.error().code == Code::failed) done.error().code = Code::undrained;
  return forward(done);
}

int carry_all(slots::SlotDirectory directory) {
  if (auto held = directory.lock(); !held) {
    if (held.error().code == Code::busy) held.error().code = Code::undrained;
    return cli::failed(held.error());
  }
  int exit_status = 0;
  std::set<std::string> left;  // an older file of the same name must not come last
  for (const auto& [slot, record] : directory.committed()) {
    if (!record) {
      exit_status = std::max(exit_status, cli::failed(record.error()));
      continue;
    }
    if (left.contains(record->path)) continue;
    const auto at_home = bring_home(directory, slot, *record);
    if (at_home && *at_home) {
      directory.give_up(slot);
      fmt::print("checkpoint {}: brought home\n", printable(record->path));
      continue;
    }
    left.insert(record->path);
    if (at_home) {
      fmt::print(
          "checkpoint {}: the part of node {} of {} is brought home; run `forebay drain --resume` where rank 0 "
          "was, and then here once more\n",
          printable(record->path), record->node, record->nodes);
    }
    exit_status = std::max(exit_status, at_home ? static_cast<int>(Code::undrained) : cli::failed(at_home.error()));
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
