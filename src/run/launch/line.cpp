#include "run/launch/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "base/shell.h"

namespace forebay::launch {
namespace {

using Options = std::map<std::string_view, int>;  // option -> number of words that follow it

// Open MPI 4 and 5 (mpirun(1)) and MPICH's Hydra (mpiexec -help); "--" and "-" forms are looked up alike.
const Options& mpirun_options() {
  static const Options options{{"n", 1},
                               {"np", 1},
                               {"c", 1},
                               {"N", 1},
                               {"H", 1},
                               {"host", 1},
                               {"hosts", 1},
                               {"hostfile", 1},
                               {"machinefile", 1},
                               {"f", 1},
                               {"mca", 2},
                               {"gmca", 2},
                               {"omca", 2},
                               {"pmixmca", 2},
                               {"prtemca", 2},
                               {"x", 1},
                               {"env", 2},
                               {"genv", 2},
                               {"envlist", 1},
                               {"genvlist", 1},
                               {"genvall", 0},
                               {"genvnone", 0},
                               {"envall", 0},
                               {"envnone", 0},
                               {"ppn", 1},
                               {"perhost", 1},
                               {"map-by", 1},
                               {"bind-to", 1},
                               {"rank-by", 1},
                               {"oversubscribe", 0},
                               {"nooversubscribe", 0},
                               {"allow-run-as-root", 0},
                               {"report-bindings", 0},
                               {"npernode", 1},
                               {"npersocket", 1},
                               {"pernode", 0},
                               {"wdir", 1},
                               {"wd", 1},
                               {"tag-output", 0},
                               {"timestamp-output", 0},
                               {"output-filename", 1},
                               {"output", 1},
                               {"q", 0},
                               {"quiet", 0},
                               {"v", 0},
                               {"verbose", 0},
                               {"display-map", 0},
                               {"display-allocation", 0},
                               {"display", 1},
                               {"display-devel-map", 0},
                               {"display-topo", 0},
                               {"use-hwthread-cpus", 0},
                               {"prefix", 1},
                               {"rf", 1},
                               {"rankfile", 1},
                               {"cpu-set", 1},
                               {"cpu-list", 1},
                               {"report-pid", 1},
                               {"xml", 0},
                               {"launch-agent", 1},
                               {"stdin", 1},
                               {"tune", 1},
                               {"am", 1},
                               {"d", 0},
                               {"debug-daemons", 0},
                               {"bynode", 0},
                               {"byslot", 0},
                               {"bycore", 0},
                               {"bind-to-core", 0},
                               {"bind-to-none", 0},
                               {"bind-to-socket", 0},
                               {"cpus-per-proc", 1},
                               {"cpus-per-rank", 1},
                               {"launcher", 1},
                               {"rmk", 1},
                               {"iface", 1},
                               {"prepend-rank", 0},
                               {"l", 0},
                               {"path", 1},
                               {"outfile-pattern", 1},
                               {"errfile-pattern", 1},
                               {"print-all-exitcodes", 0},
                               {"usize", 1},
                               {"max-restarts", 1},
                               {"max-vm-size", 1},
                               {"novm", 0},
                               {"timeout", 1},
                               {"report-state-on-timeout", 0},
                               {"get-stack-traces", 0},
                               {"do-not-launch", 0},
                               {"enable-recovery", 0},
                               {"disable-recovery", 0},
                               {"continuous", 0},
                               {"merge-stderr-to-stdout", 0},
                               {"personality", 1},
                               {"runtime-options", 1},
                               {"no-local", 0},
                               {"nolocal", 0}};
  return options;
}

// Slurm 22-24, srun(1). Only options with a separate argument need a number; "--name=value" carries its own.
const Options& srun_options() {
  static const Options options{{"n", 1},
                               {"ntasks", 1},
                               {"N", 1},
                               {"nodes", 1},
                               {"c", 1},
                               {"cpus-per-task", 1},
                               {"p", 1},
                               {"partition", 1},
                               {"t", 1},
                               {"time", 1},
                               {"J", 1},
                               {"job-name", 1},
                               {"A", 1},
                               {"account", 1},
                               {"w", 1},
                               {"nodelist", 1},
                               {"x", 1},
                               {"exclude", 1},
                               {"o", 1},
                               {"output", 1},
                               {"e", 1},
                               {"error", 1},
                               {"i", 1},
                               {"input", 1},
                               {"D", 1},
                               {"chdir", 1},
                               {"l", 0},
                               {"label", 0},
                               {"u", 0},
                               {"unbuffered", 0},
                               {"K", 0},
                               {"kill-on-bad-exit", 0},
                               {"exclusive", 0},
                               {"m", 1},
                               {"distribution", 1},
                               {"mpi", 1},
                               {"cpu-bind", 1},
                               {"cpu_bind", 1},
                               {"mem-bind", 1},
                               {"hint", 1},
                               {"mem", 1},
                               {"mem-per-cpu", 1},
                               {"ntasks-per-node", 1},
                               {"ntasks-per-socket", 1},
                               {"ntasks-per-core", 1},
                               {"export", 1},
                               {"overlap", 0},
                               {"q", 1},
                               {"qos", 1},
                               {"gres", 1},
                               {"gpus", 1},
                               {"C", 1},
                               {"constraint", 1},
                               {"r", 1},
                               {"relative", 1},
                               {"s", 0},
                               {"oversubscribe", 0},
                               {"jobid", 1},
                               {"immediate", 0},
                               {"I", 0},
                               {"v", 0},
                               {"verbose", 0},
                               {"Q", 0},
                               {"quiet", 0},
                               {"W", 1},
                               {"wait", 1},
                               {"threads", 1},
                               {"T", 1},
                               {"B", 1},
                               {"extra-node-info", 1},
                               {"cores-per-socket", 1},
                               {"sockets-per-node", 1},
                               {"threads-per-core", 1},
                               {"reservation", 1},
                               {"propagate", 0},
                               {"pty", 0},
                               {"het-group", 1},
                               {"network", 1},
                               {"nice", 0},
                               {"S", 1},
                               {"core-spec", 1},
                               {"task-prolog", 1},
                               {"task-epilog", 1},
                               {"prolog", 1},
                               {"epilog", 1},
                               {"exact", 0},
                               {"spread-job", 0},
                               {"use-min-nodes", 0},
                               {"acctg-freq", 1},
                               {"profile", 1},
                               {"signal", 1},
                               {"tmp", 1},
                               {"no-kill", 0},
                               {"k", 0},
                               {"H", 0},
                               {"hold", 0},
                               {"d", 1},
                               {"dependency", 1},
                               {"contiguous", 0}};
  return options;
}

struct Launcher {
  const Options* options = nullptr;
  bool attached_values = false;  // "-n4"
  bool parts = false;            // ":" separates programs
};

std::optional<Launcher> launcher_of(const std::string& word) {
  const std::string_view name = name_of(word);
  for (const std::string_view mpi : {"mpirun", "mpiexec", "orterun", "prterun", "mpirun.openmpi", "mpiexec.openmpi",
                                     "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra"})
    if (name == mpi) return Launcher{&mpirun_options(), false, true};
  static const Options none;  // hosts and variables stand before the program as plain words
  if (name == "mpirun_rsh") return Launcher{&none, false, false};
  if (name == "srun") return Launcher{&srun_options(), true, false};
  return std::nullopt;
}

// "mpirun_mpt", "mpiexec-intel", and no script about one.
bool is_variant_of_mpi(std::string_view name) {
  return (name.starts_with("mpirun") || name.starts_with("mpiexec")) && !name.ends_with(".sh") &&
         !name.ends_with(".py");
}

// Launchers whose options are not known here. (`./flux` is not meant.)
bool is_unknown_launcher(const std::string& word) {
  const std::string_view name = name_of(word);
  if (word.starts_with('.') || launcher_of(word)) return false;
  for (const std::string_view other :
       {"aprun", "ccc_mprun", "charmrun", "flux", "ibrun", "jsrun", "lrun", "poe", "prun", "runjob", "yhrun"})
    if (name == other) return true;
  return is_variant_of_mpi(name);
}

// ":" separates programs.
bool has_parts(const std::string& word) {
  const auto launcher = launcher_of(word);
  return launcher ? launcher->parts : is_variant_of_mpi(name_of(word));
}

// What starts the command behind its own options and so many further words, or behind assignments.
struct Starter {
  std::set<std::string_view> with_value = {};  // of its options
  int words = 0;
  bool assignments = false;
};

const Starter* starter_of(const std::string& word) {
  static const std::map<std::string_view, Starter> starters{
      {"env", {.with_value = {"u", "unset", "C", "chdir"}, .assignments = true}},
      {"ionice", {.with_value = {"c", "class", "n", "classdata"}}},
      {"nice", {.with_value = {"n", "adjustment"}}},
      {"nohup", {}},
      {"numactl",
       {.with_value = {"i", "interleave", "w", "weighted-interleave", "m", "membind", "N", "cpunodebind", "c",
                       "cpubind", "C", "physcpubind", "p", "preferred", "P", "preferred-many"}}},
      {"setsid", {}},
      {"stdbuf", {.with_value = {"i", "input", "o", "output", "e", "error"}}},
      {"taskset", {.words = 1}},
      {"time", {.with_value = {"f", "format", "o", "output"}}},
      {"timeout", {.with_value = {"s", "signal", "k", "kill-after"}, .words = 1}}};
  const auto found = starters.find(name_of(word));
  return found == starters.end() ? nullptr : &found->second;
}

// "-n" or "--name" without its dashes.
std::string_view without_dashes(const std::string& word) {
  return std::string_view(word).substr(word.starts_with("--") ? 2 : 1);
}

// Where the launcher, or the program, stands behind `env A=1`, `time` and the like.
std::size_t behind_starters(const std::vector<std::string>& command) {
  std::size_t at = 0;
  while (at < command.size()) {
    const Starter* starter = starter_of(command[at]);
    if (starter == nullptr) break;
    for (++at; at < command.size() && command[at].starts_with('-'); ++at) {
      std::string_view option = without_dashes(command[at]);
      if (!command[at].starts_with("--") && !option.empty()) option = option.substr(option.size() - 1);  // "-aC"
      if (starter->with_value.contains(option)) ++at;
    }
    at += static_cast<std::size_t>(starter->words);
    while (starter->assignments && at < command.size() && command[at].find('=') != std::string::npos) ++at;
  }
  return std::min(at, command.size());
}

// A guess: the first word from `at` on that is no option and no number.
std::size_t likely_program(const std::vector<std::string>& command, std::size_t at) {
  const auto is_none = [](const std::string& word) {
    return word.starts_with('-') || word.starts_with('+') || parse_integer(word);
  };
  while (at < command.size() && is_none(command[at])) ++at;
  return at;
}

// `what` is not known of the line of the launcher at `launcher`, whose program stands at `at` or later.
tl::unexpected<Error> uncertain(const std::vector<std::string>& command, std::size_t launcher, std::size_t at,
                                const std::string& what) {
  std::size_t program = likely_program(command, at);
  std::string advice = "write `forebay exec --` before your program yourself";
  if (program < command.size()) {
    advice += "; if that is " + printable(command[program]) + ": ";
    std::vector<std::string> words;
    for (std::size_t i = 0; i < command.size(); ++i) {
      if (i == program) words.insert(words.end(), {"forebay", "exec", "--"});
      words.push_back(command[i]);
      if (command[i] == ":" && has_parts(command[launcher])) program = likely_program(command, i + 1);
    }
    advice += quoted(words);
  }
  if (!launcher_of(command[launcher])) {
    std::vector<std::string> words = command;
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(launcher), {"forebay", "exec", "--"});
    advice += fmt::format("; where {} itself is your program: {}", printable(command[launcher]), quoted(words));
  }
  return error(Code::bad_input, "cannot tell where the program begins: " + what + " is not known", {}, advice);
}

bool is_exec(const std::vector<std::string>& words, std::size_t at) {
  return at + 1 < words.size() && name_of(words[at]) == "forebay" && words[at + 1] == "exec";
}

class Parser {
 public:
  // The launcher stands at `at`.
  Parser(const std::vector<std::string>& command, const std::vector<std::string>& exec, std::size_t at,
         const Launcher& launcher)
      : command_(command), exec_(exec), at_(at), launcher_(launcher) {}

  Result<LaunchLine> run() {
    line_.words.assign(command_.begin(), command_.begin() + static_cast<std::ptrdiff_t>(at_));
    std::size_t at = at_;
    take_word(at++);
    for (;;) {
      auto program = options(at);
      if (!program) return forward(program);
      at = insert(*program);
      if (at >= command_.size()) break;
      line_.words.push_back(command_[at++]);  // ":"
    }
    line_.ranks = ranks_known_ ? std::optional(ranks_) : std::nullopt;
    return std::move(line_);
  }

 private:
  // One of the launcher's.
  void take_word(std::size_t at) {
    line_.words.push_back(command_[at]);
    line_.launcher.push_back(command_[at]);
  }

  // Copies the options that begin at `at`; returns where the program begins.
  Result<std::size_t> options(std::size_t at) {
    bool counted = false;
    while (at < command_.size()) {
      const std::string& word = command_[at];
      if (word.size() < 2 || word.front() != '-') break;
      if (word == "--") {
        take_word(at++);
        break;
      }
      const auto follow = words_behind(word);
      if (!follow)
        return uncertain(command_, at_, at + 1,
                         fmt::format("the option {} of {}", printable(word), printable(name_of(command_[at_]))));
      if (const auto number = count_of(at)) {
        ranks_ += *number;
        counted = true;
      }
      for (int i = 0; i <= *follow && at < command_.size(); ++i) take_word(at++);
    }
    if (at >= command_.size() || command_[at] == ":")
      return error(Code::bad_input, "no program in the launch line", quoted(command_));
    ranks_known_ = ranks_known_ && counted;
    return at;
  }

  std::optional<int> words_behind(const std::string& word) const {
    const std::string_view name = without_dashes(word);
    if (name.find('=') != std::string_view::npos && word.starts_with("--")) return 0;
    const auto found = launcher_.options->find(name);
    if (found != launcher_.options->end()) return found->second;
    if (launcher_.attached_values && !word.starts_with("--") && launcher_.options->contains(name.substr(0, 1)))
      return 0;
    return std::nullopt;
  }

  // The number behind -n, -np, --ntasks=4, -n4.
  std::optional<int> count_of(std::size_t at) const {
    const std::string& word = command_[at];
    std::string_view value;
    for (const std::string_view name : {"-n", "-np", "--n", "--np", "-c", "--ntasks"}) {
      if (name == "-c" && launcher_.attached_values) continue;  // srun: cpus per task
      if (word == name && at + 1 < command_.size()) value = command_[at + 1];
      if (word.starts_with(std::string(name) + "=")) value = std::string_view(word).substr(name.size() + 1);
    }
    if (value.empty() && launcher_.attached_values && word.size() > 2 && word.starts_with("-n"))
      value = std::string_view(word).substr(2);
    const auto number = parse_integer(value);
    if (!number || *number <= 0) return std::nullopt;
    return static_cast<int>(*number);
  }

  std::size_t insert(std::size_t at) {
    const std::size_t end =
        launcher_.parts
            ? static_cast<std::size_t>(
                  std::find(command_.begin() + static_cast<std::ptrdiff_t>(at), command_.end(), ":") - command_.begin())
            : command_.size();
    line_.words.insert(line_.words.end(), exec_.begin(), exec_.end());
    line_.programs.push_back(command_[at]);
    for (; at < end; ++at) line_.words.push_back(command_[at]);
    return end;
  }

  const std::vector<std::string>& command_;
  const std::vector<std::string>& exec_;
  const std::size_t at_;
  const Launcher launcher_;
  LaunchLine line_;
  int ranks_ = 0;
  bool ranks_known_ = true;
};

// A line with `forebay exec ... --` before its programs already: what stands before it is the launcher's, whether that
// is known or not. Where the launcher takes several parts, each has its own.
Result<LaunchLine> written_by_hand(const std::vector<std::string>& command, const std::vector<std::string>& exec) {
  LaunchLine line;
  auto at = command.begin();
  const auto launcher = at + static_cast<std::ptrdiff_t>(std::min(behind_starters(command), command.size() - 1));
  const bool parts = has_parts(*launcher);
  for (;;) {
    const auto end = parts ? std::find(at, command.end(), ":") : command.end();
    auto begins = at;
    while (begins != end && !is_exec(command, static_cast<std::size_t>(begins - command.begin()))) ++begins;
    const auto dashes = std::find(begins, end, "--");
    if (end - dashes < 2)
      return error(Code::bad_input,
                   parts ? "each part of the line needs `forebay exec`, `--` and a program behind it:"
                         : "`forebay exec` needs `--` and a program behind it in",
                   quoted(command));
    line.words.insert(line.words.end(), at, begins);
    line.launcher.insert(line.launcher.end(), std::clamp(launcher, at, begins), begins);
    line.words.insert(line.words.end(), exec.begin(), exec.end());
    line.programs.push_back(*(dashes + 1));
    line.words.insert(line.words.end(), dashes + 1, end);
    if (end == command.end()) break;
    line.words.emplace_back(":");
    at = end + 1;
  }
  if (!line.launched()) line.ranks = 1;
  return line;
}

}  // namespace

Result<LaunchLine> insert_exec(const std::vector<std::string>& command, const std::vector<std::string>& exec) {
  if (command.empty()) return error(Code::bad_input, "no program to run", {}, "write it behind `--`");
  for (std::size_t at = 0; at < command.size(); ++at)
    if (is_exec(command, at)) return written_by_hand(command, exec);
  if (const std::size_t at = behind_starters(command); at < command.size()) {
    if (const auto launcher = launcher_of(command[at])) return Parser(command, exec, at, *launcher).run();
    if (is_unknown_launcher(command[at])) {
      const std::size_t options = name_of(command[at]) == "flux" ? at + 2 : at + 1;  // `flux run`
      return uncertain(command, at, options, "the launcher " + printable(command[at]));
    }
  }
  LaunchLine line;
  line.words = exec;
  line.words.insert(line.words.end(), command.begin(), command.end());
  line.programs.push_back(command.front());
  line.ranks = 1;
  return line;
}

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

}  // namespace forebay::launch
