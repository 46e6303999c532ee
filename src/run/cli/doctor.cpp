// forebay doctor: what the case is, what a run would use, and why; with --all what was found on this node; with
// --measure also how fast that is.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "run/cli/commands.h"
#include "run/cli/doctor_private.h"
#include "run/cli/doctor_report.h"
#include "run/cli/interface.h"
#include "run/cli/python_programs.h"

namespace forebay::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// `forebay bench io --quick` of every pool, and of the case that one stands in. It returns only when the program cannot
// be started.
Status measure(const std::vector<node::Pool>& pools, const std::optional<CaseView>& of_case) {
  const auto command = real_path("/proc/self/exe");
  if (!command) return forward(command);
  const auto programs = python_programs("the benchmarks", "run/io.py");
  if (!programs) return forward(programs);
  std::set<std::string> directories;
  for (const node::Pool& pool : pools) directories.insert(pool.path);
  std::vector<std::string> words{"--forebay", *command, "--quick"};
  words.insert(words.end(), directories.begin(), directories.end());
  if (of_case && of_case->facts.is_case) words.insert(words.end(), {"--shared", of_case->path});
  std::fflush(stdout);
  return start_python(join(*programs, "run/io.py"), words);
}

constexpr const char* report_name = "forebay-report.json";

struct DoctorOptions {
  std::string case_path = ".", report;
  bool all = false, json = false, measures = false;
};

Result<DoctorReport> examine(const DoctorOptions& options) {
  DoctorReport report;
  auto machine = node::observe();
  if (!machine) return forward(machine);
  report.machine = std::move(*machine);
  for (const char* name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC"})
    if (!variable(name).empty()) report.topology_source = name;
  report.ways = node::observe_ways();
  report.host = observe_host("", variable("PATH"), ::geteuid(), real_clock());
  auto of_case = view_case(options.case_path, report.machine);
  if (!of_case) return forward(of_case);
  report.of_case = std::move(*of_case);
  // A mistake in the configuration is a finding: the rest is told as the defaults would have it.
  if (auto loaded = settings::load()) {
    report.settings = std::move(*loaded);
  } else {
    report.problems.push_back(loaded.error());
  }
  choose(report);
  return report;
}

int write_report(const DoctorReport& report, const std::string& path) {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const Status written = write_new_file(path, anonymous_json(report, private_words(report), environment));
  if (!written) return failed(written.error());
  fmt::print("{}: written, without names of people, hosts and places; read it before you give it away\n",
             printable(path));
  return 0;
}

int doctor(const DoctorOptions& options) {
  const auto report = examine(options);
  if (!report) return failed(report.error());
  if (!options.report.empty()) return write_report(*report, options.report);
  const bool bold = ::isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty();
  fmt::print("{}", options.json ? json_of(*report) + "\n" : text_of(*report, {options.all, bold}));
  if (report->problems.empty()) return options.measures ? failed(measure(report->pools, report->of_case).error()) : 0;
  if (options.measures) fmt::print(stderr, "forebay: nothing is measured; solve the problems above first\n");
  return static_cast<int>(report->problems.front().code);
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      app.add_subcommand("doctor", "tell whether there is anything to gain here, what a run would use, and why");
  command->add_option("--case", options->case_path, "the case's directory")->type_name("DIR")->capture_default_str();
  command->add_flag("--all", options->all, "also what was found on this node, and every setting");
  CLI::Option* as_json = command->add_flag("--json", options->json, "print one JSON object, with all");
  CLI::Option* as_file =
      command
          ->add_option(
              "--report", options->report,
              std::string("write what a maintainer needs into this new file, without names of people, hosts and "
                          "places (default: ") +
                  report_name + ")")
          ->type_name("FILE")
          ->expected(0, 1)
          ->excludes(as_json);
  command
      ->add_flag("--measure", options->measures,
                 "then measure every pool, and the case, for half a minute each, as `forebay bench io --quick` does")
      ->excludes(as_json);
  command->footer(footer({"forebay doctor", "forebay doctor --case /shared/motorBike --all", "forebay doctor --json"}));
  command->callback([options, as_file, &exit_status] {
    if (as_file->count() > 0 && options->report.empty()) options->report = report_name;
    exit_status = doctor(*options);
  });
}

}  // namespace forebay::cli
