// What doctor found and what forebay would choose, as a value that prints as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "cli/doctor_host.h"
#include "place/place.h"
#include "place/ways.h"
#include "settings/settings.h"

namespace forebay::cli {

struct DoctorReport {
  place::Machine machine;
  std::string topology_source;  // "HWLOC_SYNTHETIC" or "HWLOC_XMLFILE" where hwloc was told what to see; else ""
  place::WayFacts ways;
  Host host;
  settings::Settings settings;
  std::vector<place::Pool> pools;       // empty: see problems
  std::optional<place::WayChoice> way;  // nullopt: see problems
  std::vector<Error> problems;          // what stops a run here
};

// Chooses pools and the way in for what was found; what cannot be chosen becomes a problem.
void choose(DoctorReport& report);
// What works but may surprise, one line each.
std::vector<std::string> warnings_of(const DoctorReport& report);
// `bold`: headings stand out by terminal codes.
std::string text_of(const DoctorReport& report, bool bold);
std::string json_of(const DoctorReport& report);

}  // namespace forebay::cli
