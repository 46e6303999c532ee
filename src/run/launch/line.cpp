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

// The n-th text names the options that n words follow, counted from 0.
Options options_of(std::initializer_list<std::string_view> names) {
  Options options;
  int words = 0;
  for (const std::string_view each : names) {
    for (const std::string_view name : split(each, ' ')) options.emplace(name, words);
    ++words;
  }
  return options;
}

// Open MPI 4 and 5 (mpirun(1)) and MPICH's Hydra (mpiexec -help); "--" and "-" forms are looked up alike.
const Options& mpirun_options() {
  static const Options options = options_of(
      {"genvall genvnone envall envnone oversubscribe nooversubscribe allow-run-as-root report-bindings pernode "
       "tag-output timestamp-output q quiet v verbose display-map display-allocation display-devel-map display-topo "
       "use-hwthread-cpus xml d debug-daemons bynode byslot bycore bind-to-core bind-to-none bind-to-socket "
       "prepend-rank l print-all-exitcodes novm report-state-on-timeout get-stack-traces do-not-launch "
       "enable-recovery disable-recovery continuous merge-stderr-to-stdout no-local nolocal",
       "n np c N H host hosts hostfile machinefile f x envlist genvlist ppn perhost map-by bind-to rank-by npernode "
       "npersocket wdir wd output-filename output display prefix rf rankfile cpu-set cpu-list report-pid "
       "launch-agent stdin tune am cpus-per-proc cpus-per-rank launcher rmk iface path outfile-pattern "
       "errfile-pattern usize max-restarts max-vm-size timeout personality runtime-options",
       "mca gmca omca pmixmca prtemca env genv"});
  return options;
}

// Slurm 22-24, srun(1). Only options with a separate argument need a number; "--name=value" carries its own.
const Options& srun_options() {
  static const Options options = options_of(
      {"l label u unbuffered K kill-on-bad-exit exclusive overlap s oversubscribe immediate I v verbose Q quiet "
       "propagate pty nice exact spread-job use-min-nodes no-kill k H hold contiguous",
       "n ntasks N nodes c cpus-per-task p partition t time J job-name A account w nodelist x exclude o output e "
       "error i input D chdir m distribution mpi cpu-bind cpu_bind mem-bind hint mem mem-per-cpu ntasks-per-node "
       "ntasks-per-socket ntasks-per-core export q qos gres gpus C constraint r relative jobid W wait threads T B "
       "extra-node-info cores-per-socket sockets-per-node threads-per-core reservation het-group network S core-spec "
       "task-prolog task-epilog prolog epilog acctg-freq profile signal tmp d dependency"});
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

// A program that starts the command behind its own options and so many further words, or behind assignments.
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
