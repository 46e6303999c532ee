// forebay report: how steady was a run? A Python program reads and draws the reports: run/report/report.py beside the
// benchmarks.
#include <memory>
#include <string>
#include <vector>

#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/cli/python_programs.h"

namespace forebay::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> reports;
  std::string page;
};

Status run(const ReportOptions& options) {
  const auto programs = python_programs("what draws reports", "run/report/report.py");
  if (!programs) return forward(programs);
  std::vector<std::string> words{options.page};
  words.insert(words.end(), options.reports.begin(), options.reports.end());
  return start_python(join(*programs, "run/report/report.py"), words);
}

}  // namespace

void add_report(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "show how steady a run was, or compare runs");
  command
      ->add_option("report", options->reports, "what `forebay run --json FILE` wrote; of several runs, to compare them")
      ->required()
      ->type_name("FILE");
  command->add_option("--page", options->page, "write a page: written times, writes, drain, pool, and when it was held")
      ->type_name("FILE");
  command->footer(
      footer({"forebay report report.json", "forebay report report.json --page report.html",
              "forebay report before.json after.json --page compared.html"},
             {"What lies between two written times is told as the agent sees it, of one program, by its name "
              "(docs/run/report.md). The exit status is 2 where a file is no report of a run, 1 where the page cannot "
              "be written."}));
  command->callback([options, &exit_status] {
    const Status status = run(*options);
    if (!status) exit_status = failed(status.error());
  });
}

}  // namespace forebay::cli
