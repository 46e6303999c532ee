#include "run/cli/doctor_case.h"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::cli {

Where CaseView::where() const {
  if (!mount) return Where::unknown;
  if (mount->medium == node::Medium::tmpfs) return Where::memory;
  return mount->node_local ? Where::own_disk : Where::shared;
}

Result<CaseView> view_case(const std::string& path, const node::Machine& machine) {
  const auto real = real_path(path);
  if (!real) return error(Code::bad_input, "no such case:", path, "give the case's directory with --case");
  if (!leads_to_directory(*real))
    return error(Code::bad_input, "not a directory:", path, "give the case's directory with --case");
  auto facts = openfoam::inspect(*real);
  if (!facts) return forward(facts);
  CaseView view{*real, std::move(*facts), std::nullopt};
  if (const node::Mount* mount = node::mount_of(machine, *real)) view.mount = *mount;
  return view;
}

std::string kind_of(const CaseView& view) {
  const openfoam::CaseFacts& facts = view.facts;
  if (!facts.is_case) return "no OpenFOAM case (no system/controlDict); programs that write other files can run, too";
  std::string text = "OpenFOAM";
  if (!facts.application.empty()) text += ", " + printable(facts.application);
  const int ranks = std::max(facts.ranks, facts.group_ranks);
  if (ranks > 0) return text + ", decomposed into " + plural(static_cast<std::uint64_t>(ranks), "rank");
  if (facts.missing_rank) return text + fmt::format(", but processor{} is missing", *facts.missing_rank);
  return text + ", not decomposed yet";
}

std::string place_of(const CaseView& view) {
  if (!view.mount) return "on an unknown file system";
  const char* whose = "shared with other nodes";
  if (view.where() == Where::own_disk) whose = "this node's own";
  if (view.where() == Where::memory) whose = "memory of this node";
  return fmt::format("on {} ({}), {}", printable(view.mount->path), printable(view.mount->type), whose);
}

std::string output_of(const CaseView& view) {
  const openfoam::CaseFacts& facts = view.facts;
  if (!facts.is_case || !facts.write_interval) return {};
  const bool in_steps = facts.write_control == "timeStep" || facts.write_control.empty();
  std::string text = in_steps ? "writes every " : "writes at intervals of ";
  text += in_steps && *facts.write_interval == 1 ? "time step" : fmt::format("{:g}", *facts.write_interval);
  if (in_steps && *facts.write_interval != 1) text += " time steps";
  if (!in_steps) text += " (" + printable(facts.write_control) + ")";
  const int kept = facts.purge_write.value_or(0);
  return text + (kept > 0 ? "; keeps the newest " + plural(static_cast<std::uint64_t>(kept), "time")
                          : std::string("; keeps all times"));
}

std::string lacks_of(const CaseView& view) {
  return view.facts.is_case ? openfoam::lacking_environment() : std::string();
}

std::string gain_of(const CaseView& view) {
  switch (view.where()) {
    case Where::memory:
      return "nothing: the case lies in memory already";
    case Where::own_disk:
      return "little: the case lies on this node's own disk, where writing costs a step a few milliseconds";
    case Where::unknown:
      return "unknown";
    case Where::shared:
      break;
  }
  if (!view.facts.is_case) return "yes, where the program writes often; `forebay predict` tells how much";
  return "yes, where a step is not much longer than writing one; `forebay predict --step TIME` tells how much";
}

}  // namespace forebay::cli
