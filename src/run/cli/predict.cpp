// forebay predict: would it pay on that machine? The formulas are Python, run/predict/predict.py beside the benchmarks.
// It is given one JSON object: what was asked, the settings of a run, and what the case tells.
#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/shell.h"
#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/cli/python_programs.h"
#include "run/openfoam/case_times.h"
#include "run/openfoam/openfoam.h"
#include "run/settings/settings.h"

namespace forebay::cli {
namespace {

using nlohmann::json;

struct PredictOptions {
  std::optional<std::string> case_path;
  std::vector<std::string> machines, reports;
  GivenSettings given;
};

// In time steps from `start` on, where the case counts in them or in the time that it simulates.
void add_steps(json& facts, const openfoam::CaseFacts& of_case, const std::string& control, double start) {
  const auto number = [&](const char* key) -> std::optional<double> {
    const auto text = openfoam::dictionary_entry(control, key);
    char* end = nullptr;
    const double value = text ? std::strtod(text->c_str(), &end) : 0;
    return text && end == text->c_str() + text->size() ? std::optional(value) : std::nullopt;
  };
  const auto delta = number("deltaT"), end = number("endTime");
  if (!delta || !(*delta > 0)) return;
  if (of_case.write_interval)
    for (const char* simulated : {"runTime", "adjustableRunTime", "adjustable"})
      if (of_case.write_control == simulated) facts["every"] = *of_case.write_interval / *delta;
  if (end && *end > start) facts["steps"] = (*end - start) / *delta;
}

// Adds what a rank writes on average, from the newest time with the most files, behind the one that the run started
// from.
void add_output(json& facts, const std::string& case_path, const openfoam::CaseTimes& found) {
  std::string newest;
  std::size_t most = 0;
  for (const auto& [time, names] : found.times) {
    std::size_t count = 0;
    for (const auto& [rank, of_rank] : names) count += of_rank.size();
    if (time == found.start || count == 0) continue;
    if (count > most || (count == most && openfoam::time_less(newest, time))) newest = time;
    most = std::max(most, count);
  }
  if (most == 0) return;
  double bytes = 0, files = 0, directories = 0;
  for (const auto& holder : found.holders) {
    const std::string directory = join(join(case_path, holder.name), newest);
    const auto names = openfoam::names_of_time(directory);
    if (!names || names->empty()) continue;
    std::set<std::string> below{""};
    for (const std::string& name : *names) {
      struct stat status {};
      if (::stat(join(directory, name).c_str(), &status) == 0) bytes += static_cast<double>(status.st_size);
      for (std::size_t end = name.rfind('/'); end != std::string::npos && end != 0; end = name.rfind('/', end - 1))
        below.insert(name.substr(0, end));
    }
    files += static_cast<double>(names->size());
    directories += static_cast<double>(below.size());
  }
  if (!(bytes > 0)) return;
  const auto ranks = static_cast<double>(found.ranks.size());
  facts["bytes"] = bytes / ranks;
  facts["files"] = files / ranks;
  facts["dirs"] = directories / ranks;
  facts["sizes_of"] = "time " + newest;
}

// The note in the header of a mesh: `note "nPoints:... nCells:41 nFaces:..."`.
std::optional<double> cells_of(const std::string& mesh) {
  std::string head(4096, '\0');
  std::ifstream file(join(mesh, "polyMesh/owner"), std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const std::size_t at = head.find("nCells:");
  return at == std::string::npos ? std::nullopt : std::optional(std::strtod(head.c_str() + at + 7, nullptr));
}

Result<json> facts_of(const std::string& case_path) {
  const auto of_case = openfoam::inspect(case_path);
  if (!of_case) return forward(of_case);
  if (!of_case->is_case)
    return error(Code::bad_input, "no system/controlDict in", case_path,
                 "--case takes an OpenFOAM case; of others say --ranks, --files, --bytes, --every and --steps");
  json facts{{"case", printable(case_path)}};
  const auto control = read_file(join(case_path, "system/controlDict"));
  if (!control) return forward(control);
  const auto found = openfoam::times_of_case(case_path);
  if (!found) return forward(found);

  int ranks = std::max(of_case->ranks, of_case->group_ranks);
  if (const auto decompose = read_file(join(case_path, "system/decomposeParDict")); ranks == 0 && decompose)
    ranks = static_cast<int>(
        parse_integer(openfoam::dictionary_entry(*decompose, "numberOfSubdomains").value_or("")).value_or(0));
  if (ranks > 0) facts["ranks"] = ranks;
  facts["purge"] = of_case->purge_write.value_or(0);
  if (of_case->write_interval && (of_case->write_control == "timeStep" || of_case->write_control.empty()))
    facts["every"] = *of_case->write_interval;
  add_steps(facts, *of_case, *control, found->start ? std::strtod(found->start->c_str(), nullptr) : 0);
  add_output(facts, case_path, *found);
  if (const auto cells = cells_of(join(case_path, "constant"))) facts["cells"] = *cells;
  return facts;
}

// Sizes and times as numbers, so that only one program reads them.
json value_of(const CLI::Option& option) {
  const std::string text = option.results().empty() ? "" : option.results().back();
  if (option.get_type_name() == "BYTES") return parse_bytes(text).value_or(0);
  if (option.get_type_name() == "TIME")
    return std::chrono::duration<double>(parse_duration(text).value_or(std::chrono::nanoseconds(0))).count();
  if (option.get_type_name() == "N") return std::strtod(text.c_str(), nullptr);
  return text.empty() ? json(true) : json(text);
}

Status run(const PredictOptions& options, const CLI::App& command) {
  auto settings = settings::load();
  if (!settings) return forward(settings);
  if (auto applied = apply(options.given, *settings); !applied) return applied;

  json asked{{"machines", options.machines},
             {"reports", options.reports},
             {"settings",
              {{"threads", settings->drain.threads},
               {"bandwidth", settings->drain.bandwidth ? json(*settings->drain.bandwidth) : json()},
               {"budget", settings->pool.budget ? json(*settings->pool.budget) : json()},
               {"memory_share", settings->pool.memory_share},
               {"high_water", settings->pool.high_water},
               {"low_water", settings->pool.low_water},
               {"settle", std::chrono::duration<double>(settings->drain.settle).count()},
               {"safe_interval", std::chrono::duration<double>(settings->drain.safe_interval).count()},
               {"collated", settings->drain.layout == settings::Layout::collated}}}};
  std::string typed;
  for (const CLI::Option* option : command.get_options({})) {
    if (option->count() > 0) asked[option->get_lnames().front()] = value_of(*option);
    for (const std::string& word : option->results())
      typed += " --" + option->get_lnames().front() + (option->get_expected_max() == 0 ? "" : " " + shell_word(word));
  }
  asked["typed"] = typed;
  const std::string directory = options.case_path.value_or(".");
  if (options.case_path || name_exists(join(directory, "system/controlDict"))) {
    auto facts = facts_of(directory);
    if (!facts) {
      facts.error().code = Code::bad_input;
      return forward(facts);
    }
    asked["facts"] = *facts;
  }
  const auto programs = python_programs("the formulas", "run/predict/predict.py");
  if (!programs) return forward(programs);
  return start_python(join(*programs, "run/predict/predict.py"),
                      {asked.dump(-1, ' ', false, json::error_handler_t::replace)});
}

std::string is_bytes(const std::string& text) {
  return parse_bytes(text).value_or(0) > 0 ? "" : "takes a size like 7.8MB or 40MiB, not " + printable(text);
}
std::string is_time(const std::string& text) {
  const auto time = parse_duration(text);
  return time && time->count() > 0 ? "" : "takes a time like 1.47s, 600ms or 2min, not " + printable(text);
}

}  // namespace

void add_predict(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<PredictOptions>();
  CLI::App* command = app.add_subcommand("predict", "tell whether forebay would pay on a machine, before it is there");
  command
      ->add_option("--case", options->case_path,
                   "the OpenFOAM case that tells ranks, files, bytes, interval and purge (default: . where it is one)")
      ->type_name("DIR");
  add_list(*command, "--machine", options->machines, "NAME|FILE",
           "a preset, or a profile in TOML; of several the later values hold, but measured ones stay");
  add_list(*command, "--calibrate", options->reports, "FILE",
           "what `forebay run --json` wrote: its drain corrects the machine, and it tells what else is not given");
  const auto number = [&](const std::string& flag, const std::string& meaning, double least) {
    command->add_option(flag, meaning)->type_name("N")->check(CLI::Range(least, 1e12).description(""));
  };
  const auto checked = [&](const std::string& flag, const std::string& type, std::string (*check)(const std::string&),
                           const std::string& meaning) {
    command->add_option(flag, meaning)->type_name(type)->check(CLI::Validator(check, ""));
  };
  checked("--step", "TIME", is_time, "seconds that a step takes without output; a solver's log tells it");
  number("--ranks", "ranks of the program", 1);
  number("--nodes", "nodes that they run on (default: 1)", 1);
  number("--files", "files that a rank writes at each written step", 0);
  number("--dirs", "directories of these (default: 3)", 0);
  checked("--bytes", "BYTES", is_bytes, "what a rank writes at each written step");
  number("--every", "steps from one written step to the next (default: 1)", 1);
  number("--steps", "steps of the whole run (default: 100)", 1);
  number("--purge", "OpenFOAM's purgeWrite (default: 0, all is kept)", 0);
  number("--jobs", "runs like this one that use the shared file system at once (default: 1)", 1);
  add_setting(*command, options->given, "--layout", "drain.layout", "how results are arranged on the case");
  add_setting(*command, options->given, "--budget", "pool.budget",
              "what the pools of a node may hold (default: a share of the medium)");
  add_set(*command, options->given);
  command->add_option("--page", "write a page with a plot over the write interval")->type_name("FILE");
  command->add_flag("--json")->description("print one JSON object");
  command->add_flag("--presets")->description("list the machines that are known, and where their values come from");
  command->add_flag("--seeds")->description("compare the formulas with the measurements that they were fitted to");
  set_rare(*command, {"--calibrate", "--dirs", "--purge", "--jobs", "--layout", "--budget", "--set", "--seeds"});
  command->footer(footer(
      {"forebay predict --machine lumi-p --ranks 2560 --nodes 20 --files 9 --bytes 2.9MB --step 600ms --every 10",
       "forebay predict --case /shared/motorBike --machine nextgenio --ranks 960 --nodes 20 --files 8 --bytes 7.8MB "
       "--step 1.47s --page predicted.html",
       "forebay predict --presets", "forebay predict --seeds"},
      {"Closed formulas with an interval for every figure (docs/run/predict.md). Options win over what the case and "
       "the reports tell. The exit status says nothing about the verdict: 0 also where forebay does not pay, 2 where "
       "something that is needed is not given or cannot be read, 1 where a page cannot be written."}));
  command->callback([options, command, &exit_status] {
    const Status status = run(*options, *command);
    if (!status) exit_status = failed(status.error());
  });
}

}  // namespace forebay::cli
