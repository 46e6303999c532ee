// Doctor's findings and forebay's choices, as a value that prints as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "run/cli/doctor_case.h"
#include "run/cli/doctor_host.h"
#include "run/node/node.h"
#include "run/node/ways.h"
#include "run/settings/settings.h"

namespace forebay::cli {

struct DoctorReport {
  node::Machine machine;
  std::string topology_source;  // "HWLOC_SYNTHETIC" or "HWLOC_XMLFILE" where hwloc was told what to see; else ""
  node::WayFacts ways;
  Host host;
  settings::Settings settings;
  std::optional<CaseView> of_case;
  std::vector<node::Pool> pools;       // empty: see problems
  std::optional<node::WayChoice> way;  // nullopt: see problems
  std::vector<Error> problems;         // what stops a run here
};

// Chooses pools and the way in for what was found; what cannot be chosen becomes a problem.
void choose(DoctorReport& report);
// Warnings about what works but may surprise, one line each.
std::vector<std::string> warnings_of(const DoctorReport& report);
// The case and what would be chosen; with `all` also what was found on the node, and every setting. `bold`: headings
// stand out by terminal codes.
struct Look {
  bool all = false, bold = false;
};
std::string text_of(const DoctorReport& report, Look look);
std::string json_of(const DoctorReport& report);

}  // namespace forebay::cli
