#include "run/launch/pool_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/pulse.h"
#include "run/advice/commands.h"
#include "run/contract/contract.h"
#include "run/contract/text.h"
#include "run/launch/watched.h"
#include "run/openfoam/openfoam.h"

namespace forebay::launch {
// Members whose JSON is their value. Code below puts in and takes out the others.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PoolRun, node, agent_pid, durable, case_device, case_inode, one_mount,
                                                umask)
namespace {

using nlohmann::json;

constexpr const char* lock_name = "agent.lock";

// The run directories on another mount than the home's.
Result<std::vector<std::string>> on_other_mounts(const PoolRun& run) {
  std::vector<std::string> others;
  struct stat home {
  }, other{};
  if (::stat(run.home().c_str(), &home) != 0) return errno_error("cannot stat", run.home());
  for (const std::string& directory : run.directories) {
    if (::stat(directory.c_str(), &other) != 0) return errno_error("cannot stat", directory);
    if (other.st_dev != home.st_dev) others.push_back(directory);
  }
  return others;
}

// Ranks of a case in one piece share its directories; redirect gives the files of each to its socket's pool. On one
// mount there is nothing to choose, and the files of a checkpoint must lie where they can be hard-linked aside.
Status make_placed(PoolRun& run, const std::vector<std::string>& others) {
  if (!run.plan.launched || run.plan.decomposed || !run.plan.redirect) return {};
  if (!run.plan.settings.drain.checkpoints.empty()) return {};
  for (const std::string& directory : others) {
    run.placed.push_back(join(directory, contract::placed_name));
    if (auto made = make_private_directory(run.placed.back()); !made) return made;
  }
  return {};
}

// The case's own links to directories that stand for ranks' directories: the only links of it that outputs go through.
Result<std::vector<drain::LinkedDirectory>> linked_directories(const Plan& plan) {
  std::vector<drain::LinkedDirectory> linked;
  if (!plan.launched || !plan.decomposed) return linked;
  const auto entries = list_directory(plan.case_path);
  if (!entries) return forward(entries);
  for (const DirectoryEntry& entry : *entries) {
    const auto rank = openfoam::processor_of(entry.name);
    if (entry.type != DT_LNK || !rank || *rank >= plan.ranks) continue;
    auto real = real_path(join(plan.case_path, entry.name));
    struct stat status {};
    if (!real || ::stat(real->c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    linked.push_back({entry.name, std::move(*real), status.st_ino});
  }
  return linked;
}

drain::DrainSettings drain_settings(const PoolRun& run) {
  const Plan& plan = run.plan;
  const auto& from = plan.settings.drain;
  drain::DrainSettings settings;
  settings.collated = plan.collates();
  settings.live = from.when == settings::DrainWhen::live;
  settings.hold_times = plan.hold_times;
  if (!plan.start_time.empty()) settings.start_time = plan.start_time;
  settings.start_groups = plan.groups.start;
  settings.written_groups = plan.groups.written;
  settings.redirected = plan.redirect;
  settings.all_ranks = plan.decomposed ? plan.ranks : 1;
  settings.checkpoints = from.checkpoints;
  settings.safe_interval = from.safe_interval;
  settings.settle = from.settle;
  const bool waits = !settings.live && from.refresh == settings::Settings::Drain().refresh;
  settings.refresh = waits ? from.safe_interval : from.refresh;
  settings.patience = from.patience;
  settings.mover.threads = from.threads;
  settings.mover.bytes_per_second = from.bandwidth;
  settings.mover.publish.umask = run.umask;
  settings.mover.publish.verify =
      from.verify == settings::Verify::read_back ? drain::Verify::read_back : drain::Verify::written;
  return settings;
}

}  // namespace

std::string PoolRun::tree() const {
  return join(join(home(), "tree"), tree_name);
}

std::vector<drain::Root> PoolRun::roots() const {
  if (ranks.empty() && !name_exists(tree())) return {};
  std::vector<drain::Root> roots{{tree(), "", home()}};
  const auto entries = one_mount ? Result<std::vector<DirectoryEntry>>() : list_directory(tree());
  if (!entries) return roots;
  for (const DirectoryEntry& entry : *entries) {
    const auto link = entry.type == DT_LNK ? read_link(join(tree(), entry.name)) : Result<std::string>();
    for (const auto& [rank, directory] : ranks) {
      const std::string local = join(directory, contract::name_of_rank(rank));
      if (rank >= 0 && link && *link == local) roots.push_back({local, entry.name, directory});
    }
  }
  return roots;
}

std::vector<int> PoolRun::rank_numbers() const {
  std::vector<int> numbers;
  for (const auto& [rank, directory] : ranks) numbers.push_back(rank);
  return numbers;
}

Result<PoolRun> make_pool_run(const Plan& plan, const std::vector<node::Pool>& pools, mode_t umask) {
  PoolRun run;
  run.plan = plan;
  run.umask = umask;
  run.node = host_name();
  run.agent_pid = ::getpid();
  run.tree_name = name_of(plan.case_path);
  struct stat status {};
  if (::stat(plan.case_path.c_str(), &status) != 0) return errno_error("cannot stat", plan.case_path);
  run.case_device = status.st_dev;
  run.case_inode = status.st_ino;
  run.durable = pools.front().medium != node::Medium::tmpfs;
  for (std::size_t socket = 0; socket < pools.size(); ++socket) {
    const std::string user = user_directory_in(pools[socket].path);
    const std::string directory = fmt::format("{}/{}/s{}", user, plan.run, socket);
    for (const std::string& each : {user, std::string(parent_of(directory)), directory})
      if (auto made = make_private_directory(each); !made) return forward(made);
    if (::stat(directory.c_str(), &status) != 0) return errno_error("cannot stat", directory);
    run.devices[directory] = status.st_dev;
    run.directories.push_back(directory);
  }
  // The caller must not take what another agent works in for what it made.
  if (has_agent(run))
    return error(Code::busy, "an agent works on run " + plan.run + " at", run.home(), "`forebay status` shows it");
  const auto others = on_other_mounts(run);
  if (!others) return forward(others);
  run.one_mount = others->empty();
  if (auto made = make_placed(run, *others); !made) return forward(made);
  auto linked = linked_directories(plan);
  if (!linked) return forward(linked);
  run.linked = std::move(*linked);
  if (auto saved = save(run); !saved) return forward(saved);
  return run;
}

Status save(const PoolRun& run) {
  json record = run;
  record["plan"] = json::parse(to_json(run.plan));
  json &devices = record["devices"] = json::object(), &directories = record["directories"] = json::array(),
       &ranks = record["ranks"] = json::object(), &placed = record["placed"] = json::array(),
       &linked = record["linked"] = json::array();
  for (const drain::LinkedDirectory& each : run.linked)
    linked.push_back({{"name", each.name}, {"path", escape(each.path)}, {"inode", each.inode}});
  for (const std::string& directory : run.placed) placed.push_back(escape(directory));
  for (const std::string& directory : run.directories) directories.push_back(escape(directory));
  for (const auto& [directory, device] : run.devices) devices[escape(directory)] = device;
  for (const auto& [rank, directory] : run.ranks) ranks[std::to_string(rank)] = escape(directory);
  for (const std::string& directory : run.directories)
    if (auto written = replace_file(join(directory, drain::sentinel_name), record.dump(1)); !written) return written;
  return {};
}

Result<PoolRun> load_pool_run(const std::string& home) {
  const std::string path = join(home, drain::sentinel_name);
  auto text = read_file(path);
  if (!text) return forward(text);
  try {
    const json record = json::parse(*text);
    auto plan = plan_from_json(record.at("plan").dump());
    if (!plan) {
      plan.error().path = path;
      return forward(plan);
    }
    PoolRun run = record;
    run.plan = *plan;
    run.tree_name = name_of(plan->case_path);
    for (const json& each : record.value("linked", json::array()))
      run.linked.push_back(
          {each.at("name"), unescape(each.at("path").get<std::string>()).value_or(std::string()), each.at("inode")});
    for (const json& directory : record.at("directories"))
      run.directories.push_back(unescape(directory.get<std::string>()).value_or(std::string()));
    for (const auto& [rank, directory] : record.at("ranks").items())
      run.ranks[static_cast<int>(parse_integer(rank).value_or(-1))] =
          unescape(directory.get<std::string>()).value_or(std::string());
    const json devices = record.value("devices", json::object());
    for (const auto& [directory, device] : devices.items())
      run.devices[unescape(directory).value_or(std::string())] = device;
    for (const json& directory : record.value("placed", json::array()))
      run.placed.push_back(unescape(directory.get<std::string>()).value_or(std::string()));
    if (run.directories.empty() || run.home() != home) return error(Code::bad_input, "not the home of a run:", home);
    return run;
  } catch (const json::exception&) {
    return error(Code::lost, "damaged:", path);
  }
}

namespace {
// A run that is just about to begin, or has just ended.
bool holds_nothing(const std::string& home) {
  const auto entries = list_directory(home);
  if (!entries) return entries.error().errno_value == ENOENT;
  return std::ranges::all_of(*entries, [](const DirectoryEntry& entry) { return entry.name == lock_name; });
}

// The description of a run goes from its pool only after the journal and the tree.
UnreadableRun unreadable_run(const std::string& home, Error failure) {
  std::string tree = join(home, "tree");
  auto inside = list_directory(tree);
  // The case, and beside it perhaps what was made ready for it.
  if (inside)
    std::erase_if(*inside, [](const DirectoryEntry& each) { return each.name.starts_with(tree::beside_prefix); });
  if (failure.errno_value != ENOENT || !name_exists(join(home, "journal")) || !inside || inside->empty())
    return {home, std::move(failure)};
  if (inside->size() == 1) tree = join(tree, inside->front().name);
  return {home,
          error(Code::lost, "what describes a run was removed from its pool:", failure.path,
                "its files lie in " + printable(tree))
              .value(),
          tree};
}
}  // namespace

std::vector<PoolRun> find_pool_runs(const std::vector<std::string>& pool_paths,
                                    std::vector<UnreadableRun>& unreadable) {
  std::vector<PoolRun> found;
  std::vector<std::string> seen;
  for (const std::string& pool : pool_paths) {
    if (std::ranges::find(seen, pool) != seen.end()) continue;
    seen.push_back(pool);
    for (const std::string& own : user_directories_in(pool)) {
      const auto runs = list_directory(own);
      if (!runs) continue;
      for (const DirectoryEntry& entry : *runs) {
        const std::string home = fmt::format("{}/{}/s0", own, entry.name);
        if (entry.type != DT_DIR || !is_own_directory(home)) continue;
        if (auto run = load_pool_run(home)) {
          found.push_back(std::move(*run));
        } else if (!holds_nothing(home)) {
          unreadable.push_back(unreadable_run(home, run.error()));
        }
      }
    }
  }
  return found;
}

Result<Descriptor> lock(const PoolRun& run) {
  const std::string path = join(run.home(), lock_name);
  auto file = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (!file && file.error().errno_value != ENOENT) return file;
  if (file && ::flock(file->get(), LOCK_EX | LOCK_NB) != 0)
    return error(Code::busy, "an agent works on run " + run.plan.run + " at", run.home(), "`forebay status` shows it");
  // The process that empties the pool removes the lock while it holds it.
  struct stat opened {
  }, named{};
  if (!file || ::fstat(file->get(), &opened) != 0 || ::lstat(path.c_str(), &named) != 0 ||
      opened.st_ino != named.st_ino)
    return error(Code::busy, "the pool of run " + run.plan.run + " has just been emptied:", run.home());
  if (::ftruncate(file->get(), 0) != 0) return errno_error("cannot write", path);
  return file;
}

Result<Descriptor> open_lock(const PoolRun& run) {
  return open_file(join(run.home(), lock_name), O_RDONLY | O_NOFOLLOW);
}

bool is_locked(const Descriptor& lock) {
  if (::flock(lock.get(), LOCK_SH | LOCK_NB) != 0) return true;
  ::flock(lock.get(), LOCK_UN);
  return false;
}

bool has_agent(const PoolRun& run) {
  const auto file = open_lock(run);
  return file && is_locked(*file);
}

bool is_case_of(const PoolRun& run, const std::string& path) {
  const MayHang call(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  if (run.case_inode == 0) return path == run.plan.case_path;  // not noted
  if (status.st_ino != run.case_inode) return false;
  if (status.st_dev == run.case_device) return true;
  const auto plan = read_plan(path);
  return plan && plan->run == run.plan.run;
}

Status expect_case(const PoolRun& run) {
  const std::string& path = run.plan.case_path;
  const MayHang call(path);
  if (is_case_of(run, path)) return {};
  struct stat status {};
  auto gone = ::stat(path.c_str(), &status) != 0
                  ? errno_error("run " + run.plan.run + " left data for a case that cannot be opened:", path).value()
                  : Error{Code::undrained,
                          "run " + run.plan.run +
                              " left data for a case whose name another directory has now, which is "
                              "left alone:",
                          path, 0, ""};
  gone.code = Code::undrained;
  gone.advice =
      "when the case is back, or by --case under its new name, `forebay drain --resume` brings home what it "
      "can; " +
      advice::clean(path) + " tells what there is, and how to throw it away";
  const std::string above(parent_of(path));
  if (const auto beside = list_directory(above))
    for (const DirectoryEntry& entry : *beside)
      if (entry.type == DT_DIR && is_case_of(run, join(above, entry.name)))
        gone.advice = "it is " + printable(join(above, entry.name)) +
                      " now: " + advice::resume(join(above, entry.name)) + " brings it home";
  return tl::unexpected<Error>(std::move(gone));
}

bool remove_emptied(const std::string& home) {
  if (!holds_nothing(home)) return false;
  ::unlink(join(home, lock_name).c_str());
  const bool gone = ::rmdir(home.c_str()) == 0 || errno == ENOENT;
  ::rmdir(std::string(parent_of(home)).c_str());
  return gone;
}

Status remove_temporaries(const Plan& plan) {
  const auto linked = linked_directories(plan);
  if (!linked) return forward(linked);
  const auto shared = drain::open_shared(plan.case_path, drain::Resolve::by_kernel, std::nullopt, *linked);
  if (!shared) return forward(shared);
  std::vector<std::string> directories{""};
  for (const drain::LinkedDirectory& each : *linked) directories.push_back(each.name);
  for (const std::string& directory : directories)
    if (const auto removed = drain::remove_temporaries(**shared, plan.run, directory); !removed)
      return forward(removed);
  return {};
}

Status remove(const PoolRun& run) {
  // The files that describe the run go last: a pool that a crash leaves half-removed is still found and recognised. The
  // lock goes behind them, so that nobody else works on the rest.
  constexpr std::array<const char*, 3> last{status_name, drain::sentinel_name, lock_name};
  for (auto directory = run.directories.rbegin(); directory != run.directories.rend(); ++directory) {
    const auto entries = list_directory(*directory);
    if (entries)
      for (const DirectoryEntry& entry : *entries)
        if (std::ranges::find(last, entry.name) == last.end())
          if (auto removed = remove_tree(join(*directory, entry.name)); !removed) return removed;
    for (const char* name : last) ::unlink(join(*directory, name).c_str());
    if (auto removed = remove_tree(*directory); !removed) return removed;
    ::rmdir(std::string(parent_of(*directory)).c_str());
  }
  return {};
}

drain::DrainRequest drain_request(const PoolRun& run) {
  return {run.plan.case_path,
          run.plan.run,
          run.home(),
          run.lower(),
          run.durable,
          drain_settings(run),
          run.placed,
          run.linked,
          run.devices,
          run.plan.settings.pool.budget.value_or(UINT64_MAX),
          {run.plan.logs.begin(), run.plan.logs.end()},
          watched_by(run)};
}

}  // namespace forebay::launch
