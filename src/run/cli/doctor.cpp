// forebay doctor: what was found on this node, what a run would use, and why; with --measure also how fast that is.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "run/cli/commands.h"
#include "run/cli/doctor_report.h"
#include "run/cli/interface.h"
#include "run/cli/python_programs.h"

namespace forebay::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// `forebay bench io --quick` of every pool, and of the case that one stands in. Returns only when it cannot be started.
Status measure(const std::vector<node::Pool>& pools) {
  const auto command = real_path("/proc/self/exe");
  if (!command) return forward(command);
  const auto programs = python_programs("the benchmarks", "run/io.py");
  if (!programs) return forward(programs);
  std::set<std::string> directories;
  for (const node::Pool& pool : pools) directories.insert(pool.path);
  std::vector<std::string> words{"--forebay", *command, "--quick"};
  words.insert(words.end(), directories.begin(), directories.end());
  if (name_exists("system/controlDict")) words.insert(words.end(), {"--shared", "."});
  std::fflush(stdout);
  return start_python(join(*programs, "run/io.py"), words);
}

int doctor(bool json, bool measures) {
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
  if (report.problems.empty()) return measures ? failed(measure(report.pools).error()) : 0;
  if (measures) fmt::print(stderr, "forebay: nothing is measured; solve the problems above first\n");
  return static_cast<int>(report.problems.front().code);
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_status) {
  const auto json = std::make_shared<bool>(false), measures = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "tell what this node offers, what a run would use, and why");
  CLI::Option* as_json = command->add_flag("--json", *json, "print one JSON object");
  command
      ->add_flag("--measure", *measures,
                 "then measure every pool, and the case that one stands in, for half a minute each, as "
                 "`forebay bench io --quick` does")
      ->excludes(as_json);
  command->footer(footer({"forebay doctor", "forebay doctor --json"}));
  command->callback([json, measures, &exit_status] { exit_status = doctor(*json, *measures); });
}

}  // namespace forebay::cli
