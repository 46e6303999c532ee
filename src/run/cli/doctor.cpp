// forebay doctor: what was found on this node, what a run would use, and why.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "run/cli/commands.h"
#include "run/cli/doctor_report.h"
#include "run/cli/interface.h"

namespace forebay::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

int doctor(bool json) {
  DoctorReport report;
  auto machine = node::observe();
  if (!machine) return failed(machine.error());
  report.machine = std::move(*machine);
  for (const char* name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC"})
    if (!variable(name).empty()) report.topology_source = name;
  report.ways = node::observe_ways();
  report.host = observe_host("", variable("PATH"), ::geteuid(), real_clock());
  // A mistake in the configuration is a finding: the rest is told as the defaults would have it.
  if (auto loaded = settings::load()) {
    report.settings = std::move(*loaded);
  } else {
    report.problems.push_back(loaded.error());
  }
  choose(report);

  const bool bold = ::isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty();
  fmt::print("{}", json ? json_of(report) + "\n" : text_of(report, bold));
  return report.problems.empty() ? 0 : static_cast<int>(report.problems.front().code);
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_status) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "tell what this node offers, what a run would use, and why");
  command->add_flag("--json", *json, "print one JSON object");
  command->footer(footer({"forebay doctor", "forebay doctor --json"}));
  command->callback([json, &exit_status] { exit_status = doctor(*json); });
}

}  // namespace forebay::cli
