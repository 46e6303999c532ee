// forebay bench NAME: runs a benchmark, <directory>/<product>/NAME.py, with this very command as what is measured.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/cli/python_programs.h"

namespace forebay::cli {
namespace {

constexpr std::string_view suffix = ".py";

struct BenchOptions {
  std::string name;
  bool quick = false, json = false;
};

// Beside the programs lie modules that they share, which may not be executed.
Result<std::string> find_program(const std::string& directory, const std::string& name) {
  std::vector<std::string> names;
  for (const std::string_view product : {"run", "store", "arrays", "meshes"}) {
    const auto entries = list_directory(join(directory, product));
    if (!entries && entries.error().errno_value == ENOENT) continue;  // not a part of this installation
    if (!entries) return forward(entries);
    for (const DirectoryEntry& entry : *entries) {
      const std::string path = join(join(directory, product), entry.name);
      if (!entry.name.ends_with(suffix) || ::access(path.c_str(), X_OK) != 0) continue;
      names.push_back(entry.name.substr(0, entry.name.size() - suffix.size()));
      if (names.back() == name) return path;
    }
  }
  return error(Code::bad_input, fmt::format("no benchmark is called \"{}\"", printable(name)), {},
               fmt::format("there are: {}", fmt::join(names, ", ")));
}

// Returns only when the program cannot be started.
Status run(const BenchOptions& options, const std::vector<std::string>& more) {
  const auto command = real_path("/proc/self/exe");
  if (!command) return forward(command);
  const auto directory = python_programs("the benchmarks", "measure/command.py");
  if (!directory) return forward(directory);
  const auto program = find_program(*directory, options.name);
  if (!program) return forward(program);

  std::vector<std::string> words{"--forebay", *command};
  if (options.quick) words.emplace_back("--quick");
  if (options.json) words.emplace_back("--json");
  words.insert(words.end(), more.begin(), more.end());
  return start_python(*program, words);
}

}  // namespace

void add_bench(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "measure what forebay promises, on this machine");
  command->add_option("name", options->name, "which benchmark")->required()->type_name("io|openfoam|trajectory|arrays");
  command->add_flag("--quick", options->quick, "a small selection, within a minute");
  command->add_flag("--json", options->json, "print one JSON object");
  command->allow_extras();
  command->footer(footer(
      {"forebay bench openfoam --quick", "forebay bench openfoam --json --sizes 30k --ranks 2,4",
       "forebay bench trajectory --only steady,reopen", "forebay bench arrays --pictures cavity",
       "forebay bench io /dev/shm --shared /shared -o my.toml --page my.html"},
      {"Further options go to the benchmark. io: DIR..., --shared DIR, --writers 1,4,24, --transfer "
       "256,4k,1M, --block SIZE, -o FILE.toml, --page FILE.html. openfoam: --repetitions N, --sizes 30k,62k, --ranks "
       "2,4, --mbit N, --create-ms N. trajectory: --only PARTS, --pool DIRECTORY, --disk DIRECTORY, "
       "--mbit N, --create-ms N. arrays: --only PARTS, --memory DIRECTORY, --disk DIRECTORY, "
       "--pictures DIRECTORY, --mbit N, --create-ms N."}));
  command->callback([options, command, &exit_status] {
    const Status status = run(*options, command->remaining());
    if (!status) exit_status = failed(status.error());
  });
}

}  // namespace forebay::cli
