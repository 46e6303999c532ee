// Deciding: from what the user typed to a plan. Looks at the case and the machine, touches neither.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>

#include "base/shell.h"
#include "run/contract/text.h"
#include "run/launch/logs.h"
#include "run/launch/notices.h"
#include "run/launch/pool_share.h"
#include "run/launch/run.h"
#include "run/launch/several_nodes.h"
#include "run/launch/watched.h"
#include "run/node/node.h"
#include "run/node/ways.h"
#include "run/openfoam/case_times.h"
#include "run/openfoam/openfoam.h"
#include "run/tree/links.h"

namespace forebay::launch {
namespace {

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  // PWD keeps the links that the user came through; the program may print or use that path.
  const char* logical = std::getenv("PWD");
  struct stat typed {
  }, real{};
  if (logical != nullptr && *logical == '/' && ::stat(logical, &typed) == 0 && ::stat(".", &real) == 0 &&
      typed.st_ino == real.st_ino && typed.st_dev == real.st_dev)
    return path == "." ? std::string(logical) : join(logical, path);
  std::unique_ptr<char, void (*)(void*)> current(::getcwd(nullptr, 0), std::free);
  return current ? join(current.get(), path) : path;
}

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

bool in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return is_program(program);
  const char* path = std::getenv("PATH");
  for (const std::string_view directory : split(path == nullptr ? "/usr/bin:/bin" : path, ':'))
    if (is_program(join(directory.empty() ? "." : directory, program))) return true;
  return false;
}

// `openfoam::tolerates_links`, and the solver that the case itself names reads its inputs once and rewrites none.
bool links_do(const std::vector<std::string>& programs, const openfoam::CaseFacts& facts) {
  return std::ranges::all_of(programs, [&](const std::string& program) {
    return std::string(forebay::name_of(program)) == facts.application &&
           openfoam::tolerates_links(forebay::name_of(program));
  });
}

// A program of OpenFOAM, by its name; or another that is told what those are told, on a case that has been decomposed.
bool runs_on_ranks(const openfoam::CaseFacts& facts, const LaunchLine& line) {
  const bool decomposed = facts.ranks > 0 || facts.group_ranks > 0 || facts.missing_rank;
  if (facts.is_case && decomposed && std::ranges::find(line.words, "-parallel") != line.words.end()) return true;
  return std::ranges::all_of(
      line.programs, [](const std::string& program) { return openfoam::tolerates_links(forebay::name_of(program)); });
}

Status check_ranks(const openfoam::CaseFacts& facts, const LaunchLine& line, const std::string& case_path, Plan& plan) {
  const int decomposed = facts.ranks > 0 ? facts.ranks : facts.group_ranks;
  plan.decomposed = plan.openfoam && plan.launched && decomposed > 0;
  if (!plan.openfoam || !plan.launched || line.ranks.value_or(2) == 1) {
    plan.decomposed = plan.decomposed && line.ranks.value_or(2) > 1;
    return {};
  }
  const bool makes_them = std::ranges::all_of(line.programs, openfoam::makes_rank_directories);
  if (makes_them && (decomposed == 0 || (line.ranks && *line.ranks != decomposed))) {
    plan.decomposed = false;  // ranks share what they make
    return {};
  }
  if (decomposed == 0) {
    const std::string missing =
        facts.missing_rank ? fmt::format("processor{} is missing", *facts.missing_rank) : "the case is not decomposed";
    return error(Code::bad_input, missing + ":", case_path, "run decomposePar (under `forebay run` too) first");
  }
  plan.ranks = decomposed;
  if (line.ranks && *line.ranks != decomposed)
    return error(Code::bad_input,
                 fmt::format("{}, but the case is decomposed into {}:",
                             plural(static_cast<std::uint64_t>(*line.ranks), "rank"), decomposed),
                 case_path, "decompose it anew, or start as many ranks as it has");
  return {};
}

// The case may have a link for one of them, whose files lie elsewhere: then none counts.
contract::WrittenGroups written_groups(const LaunchLine& line, const Plan& plan) {
  contract::WrittenGroups groups = openfoam::written_groups(line.words, plan.case_path, plan.ranks);
  const auto is_link = [&](const auto& group) { return read_link(join(plan.case_path, group.second)).has_value(); };
  if (std::ranges::any_of(groups, is_link)) groups.clear();
  return groups;
}

// Code_Saturne's solver removes the files of its old checkpoint before it writes the new ones, and its ranks write
// these and its post-processing together.
void take_code_saturne(const LaunchLine& line, Plan& plan) {
  const auto is_solver = [](const std::string& program) { return forebay::name_of(program) == "cs_solver"; };
  if (std::ranges::none_of(line.programs, is_solver)) return;
  auto& checkpoints = plan.settings.drain.checkpoints;
  if (std::ranges::find(checkpoints, "checkpoint") == checkpoints.end()) checkpoints.emplace_back("checkpoint");
  plan.written_together = {"checkpoint", "postprocessing"};
}

// "results/" is what a shell completes.
void strip_slashes(std::vector<std::string>& directories) {
  for (std::string& directory : directories)
    while (directory.ends_with('/')) directory.pop_back();
}

// Refused before anything is made: in a smaller pool the program would stand still from the start.
Status check_budget(const std::optional<std::uint64_t>& budget, int ranks) {
  const std::uint64_t least = least_budget(ranks);
  if (!budget || *budget >= least) return {};
  return error(Code::bad_input,
               fmt::format("a pool.budget of {} is less than forebay itself needs in a pool", human_bytes(*budget)), "",
               fmt::format("give at least {} ({}); some four written times should fit into it", human_bytes(least),
                           plural(least, "byte")));
}

// A link of the case that a namespace cannot follow: one for a rank's directory that leads out of the case by a
// relative text, or, where pools lie on several mounts, one that leads out of such a directory. Empty where there is
// none.
std::string link_against_namespace(const Plan& plan, const std::vector<node::Pool>& pools) {
  if (!plan.decomposed || !plan.launched) return {};
  struct stat first {
  }, other{};
  const bool one_mount = std::ranges::all_of(pools, [&](const node::Pool& pool) {
    return ::stat(pools.front().path.c_str(), &first) == 0 && ::stat(pool.path.c_str(), &other) == 0 &&
           first.st_dev == other.st_dev;
  });
  const std::function<std::string(const std::string&, const std::string&)> search =
      [&](const std::string& top, const std::string& below) -> std::string {
    const std::string directory = join(top, below);
    const auto entries = list_directory(directory);
    for (const DirectoryEntry& entry : entries ? *entries : std::vector<DirectoryEntry>()) {
      const auto target = entry.type == DT_LNK ? read_link(join(directory, entry.name)) : Result<std::string>("/");
      if (target && tree::leads_out(below, *target)) return join(directory, entry.name);
      if (entry.type != DT_DIR) continue;
      if (std::string found = search(top, join(below, entry.name)); !found.empty()) return found;
    }
    return {};
  };
  for (int rank = 0; rank < plan.ranks; ++rank) {
    const std::string directory = join(plan.case_path, contract::name_of_rank(rank));
    const auto target = read_link(directory);
    if (target && tree::leads_out("", *target)) return directory;
    if (one_mount) continue;
    if (std::string found = search(directory, ""); !found.empty()) return found;
  }
  return {};
}

// True for a command that starts a program in a file system of its own. The case is bound in there, the pools hardly
// ever are.
bool starts_container(const std::string& program) {
  constexpr std::array names{"apptainer", "singularity", "podman", "docker",  "nerdctl", "ch-run",
                             "enroot",    "shifter",     "sarus",  "udocker", "bwrap",   "systemd-nspawn"};
  return std::ranges::find(names, forebay::name_of(program)) != names.end();
}

std::string names_of(const std::vector<node::Pool>& pools) {
  std::set<std::string> names;
  for (const node::Pool& pool : pools) names.insert(shell_word(pool.path));
  return fmt::format("{}", fmt::join(names, " "));
}

Status choose_way(const RunRequest& request, bool links_tolerated, const std::vector<node::Pool>& pools,
                  Prepared& prepared) {
  const node::WayFacts facts = node::observe_ways();
  const auto forced = settings::forced_way(request.settings.run.via);
  auto choice = node::choose_way(facts, forced);
  if (!choice) return forward(choice);
  if (!forced && choice->way == node::Way::namespaces)
    if (const std::string link = link_against_namespace(prepared.plan, pools); !link.empty()) {
      choice->way = facts.redirect_library.empty() ? node::Way::path : node::Way::redirect;
      prepared.notices.push_back(fmt::format("by {}: a namespace cannot follow the relative link {}",
                                             node::name_of(choice->way), printable(link)));
    }
  Plan& plan = prepared.plan;
  plan.way = choice->way;
  plan.library = facts.redirect_library;
  // Beside a namespace the library notes failed writes (run/drain/failed_writes.h), hides staged links, and turns the
  // purge of a time into a rename (run/redirect/times.h). Ranks that have directories of their own reach them without
  // walking through the shared file system. The way "path" changes the program's paths, so a library that knows the
  // case by its own path would not see them.
  plan.redirect = plan.way != node::Way::path && !plan.library.empty();
  const bool contained = std::ranges::any_of(prepared.line.programs, starts_container);
  if (contained && plan.way != node::Way::redirect) plan.redirect = false;
  plan.copy_inputs = (!links_tolerated || contained) && !plan.redirect;
  if (contained && plan.way == node::Way::namespaces)
    prepared.notices.push_back(fmt::format(
        "the program starts in a container: inputs are copied, so that it needs nothing but the case there{}",
        pools.size() > 1 ? "; for directories of ranks bind the pools into it, too: " + names_of(pools) : ""));
  else if (contained)
    prepared.notices.push_back(
        fmt::format("the program starts in a container: bind the case and the pool into it, or it does not see {}",
                    names_of(pools)));
  else if (plan.copy_inputs)
    prepared.notices.push_back("inputs are copied, not linked: this program is not known to tolerate links");
  return {};
}

// The case, which this user must be able to write.
Status find_case(const std::string& case_path, Plan& plan) {
  plan.typed_path = absolute(case_path);
  while (plan.typed_path.size() > 1 && plan.typed_path.back() == '/') plan.typed_path.pop_back();
  auto real = real_path(plan.typed_path);
  if (!real) return error(Code::bad_input, "no such case:", plan.typed_path, "give the case's directory with --case");
  plan.case_path = *real;
  if (!leads_to_directory(plan.case_path))
    return error(Code::bad_input, "not a directory:", plan.case_path, "give the case's directory with --case");
  if (::access(plan.case_path.c_str(), R_OK | W_OK | X_OK) != 0) {
    auto refused = errno_error("cannot write to the case", plan.case_path, "results could not be brought home");
    refused.value().code = Code::bad_input;
    return refused;
  }
  return {};
}

}  // namespace

Result<Prepared> prepare(const RunRequest& request, Clock& clock) {
  Prepared prepared;
  Plan& plan = prepared.plan;
  plan.settings = request.settings;
  if (auto found = find_case(request.case_path, plan); !found) return forward(found);
  auto line = insert_exec(request.command, {request.forebay, "exec", "--case", plan.case_path, "--"});
  if (!line) return forward(line);
  prepared.line = std::move(*line);
  if (!in_path(request.command.front()))
    return error(Code::bad_input, "no such program:", request.command.front(), "check its name and PATH");
  take_code_saturne(prepared.line, plan);
  strip_slashes(plan.settings.stage.direct);
  strip_slashes(plan.settings.stage.watch);
  strip_slashes(plan.settings.drain.checkpoints);
  plan.launched = prepared.line.launched();
  plan.ranks = prepared.line.ranks.value_or(0);
  auto facts = openfoam::inspect(plan.case_path);
  if (!facts) return forward(facts);
  plan.openfoam = facts->is_case;
  const bool tolerated = facts->is_case && links_do(prepared.line.programs, *facts);
  plan.hold_times = facts->purge_write.value_or(0) > 0;
  plan.groups.start = facts->groups;
  if (facts->write_control == "timeStep" && facts->write_interval.value_or(0) >= 1)
    prepared.steps_per_time = facts->write_interval;
  prepared.application = facts->application;
  if (runs_on_ranks(*facts, prepared.line)) {
    if (auto checked = check_ranks(*facts, prepared.line, plan.case_path, plan); !checked) return forward(checked);
    if (plan.expected_ranks() > 0) plan.groups.written = written_groups(prepared.line, plan);
  } else if (plan.openfoam && facts->ranks > 0 && plan.launched && prepared.line.ranks == facts->ranks) {
    plan.decomposed = true;  // a program that looks for the ranks' directories by itself
    plan.ranks = facts->ranks;
  }
  if (plan.openfoam) plan.start_time = openfoam::start_time(plan.case_path, plan.decomposed).value_or("");
  if (const int nodes = nodes_in(prepared.line.launcher).value_or(1); nodes > 1 && needs_one_node(plan))
    return too_many_nodes(plural(static_cast<std::uint64_t>(nodes), "node") + " in the launch line", plan);
  prepared.notices = notices_of(prepared.line, *facts, plan, absolute("."));
  if (auto checked = check_direct_directories(plan); !checked) return forward(checked);
  if (auto checked = check_watched_directories(plan); !checked) return forward(checked);
  if (auto enough = check_budget(plan.settings.pool.budget, plan.ranks); !enough) return forward(enough);
  auto machine = node::observe();
  if (!machine) return forward(machine);
  const auto pools = node::choose_pools(*machine, plan.settings.pool);
  if (!pools) return forward(pools);
  if (auto way = choose_way(request, tolerated, *pools, prepared); !way) return forward(way);
  const auto noexec = std::ranges::find(*pools, false, &node::Pool::executable);
  if (noexec != pools->end())
    prepared.notices.push_back(
        fmt::format("the pool {} is mounted noexec: programs, scripts and libraries that the run compiles or copies "
                    "cannot be used there (\"Permission denied\"); --pool names another directory",
                    printable(noexec->path)));
  plan.run = new_run_name(clock);
  prepared.pool = pools->front().path;
  plan.meeting = new_meeting();
  plan.submit_host = host_name();
  plan.submit_pid = ::getpid();
  const std::set<std::uint64_t> logs = logs_of(plan.submit_pid, plan.case_path);
  plan.logs.assign(logs.begin(), logs.end());
  return prepared;
}

}  // namespace forebay::launch
