#include "run/cli/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace forebay::cli {
namespace {

using node::Machine;
using node::Medium;
using node::Mount;
using node::Pool;
using node::Socket;

// {0, 1, 2, 5} -> "0-2,5".
std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0, end = 0; first < numbers.size(); first = end) {
    for (end = first + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    if (!text.empty()) text += ',';
    text += end - first == 1 ? std::to_string(numbers[first]) : fmt::format("{}-{}", numbers[first], numbers[end - 1]);
  }
  return text.empty() ? "none" : text;
}

std::string words(const std::vector<std::string>& list) {
  return list.empty() ? "none" : printable(fmt::format("{}", fmt::join(list, ", ")));
}

std::string number_words(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "unknown";
}

// Columns as wide as their widest cell; the last one is free.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

// "/dev/dax0.0, 500 GB, NUMA node 0: for trajectories only, no files".
std::string devices_text(const Machine& machine) {
  std::string text;
  for (const node::DaxDevice& device : machine.dax_devices) {
    const std::string size = device.bytes == 0 ? "size unknown" : human_bytes(device.bytes);
    const std::string node = device.numa_node ? fmt::format("NUMA node {}", *device.numa_node) : "no NUMA node";
    text += fmt::format("  devdax: {}, {}, {}: {}\n", printable(device.path), size, node,
                        device.why_not.empty() ? "for trajectories only, no files" : "not usable, " + device.why_not);
  }
  return text;
}

std::string mounts_table(const Machine& machine) {
  std::vector<std::vector<std::string>> rows{
      {"path", "type", "medium", "DAX", "huge", "NUMA", "free", "of", "not by itself because"}};
  for (const Mount& mount : machine.mounts)
    rows.push_back({printable(mount.path), mount.type, mount.node_local ? name_of(mount.medium) : "-",
                    mount.dax ? "yes" : "no", mount.huge.empty() ? "-" : mount.huge,
                    mount.numa_node ? std::to_string(*mount.numa_node) : "-",
                    mount.node_local ? human_bytes(mount.available) : "-",
                    mount.node_local ? human_bytes(mount.total) : "-", why_not(mount)});
  return table(rows, "  ");
}

std::string node_section(const DoctorReport& report) {
  const Machine& machine = report.machine;
  std::size_t cores = 0, cpus = 0;
  for (const Socket& socket : machine.sockets) {
    cores += static_cast<std::size_t>(socket.cores);
    cpus += socket.cpus.size();
  }
  std::string text = fmt::format("  {}: {}, {}, {}{}\n", printable(machine.node),
                                 plural(machine.sockets.size(), "socket"), plural(cores, "core"), plural(cpus, "cpu"),
                                 report.topology_source.empty() ? "" : " (as " + report.topology_source + " says)");
  for (const Socket& socket : machine.sockets)
    text += fmt::format("  socket {}: cpus {}; NUMA nodes {}\n", socket.index, ranges(socket.cpus),
                        ranges(socket.numa_nodes));
  text += fmt::format("  memory: {} available of {}; control group: {}\n", human_bytes(machine.memory_available),
                      human_bytes(machine.memory_total),
                      machine.cgroup_headroom ? human_bytes(*machine.cgroup_headroom) + " left" : "no limit");
  text += fmt::format("  persistent memory: block devices {}; devdax {}\n", words(report.host.pmem),
                      machine.dax_devices.empty() ? "none" : "as below");
  text += devices_text(machine);
  text += fmt::format("  huge pages: tmpfs {}, anonymous {}\n",
                      report.host.huge_tmpfs.empty() ? "unknown" : report.host.huge_tmpfs,
                      report.host.huge_anonymous.empty() ? "unknown" : report.host.huge_anonymous);
  text += fmt::format("  limits: open files {} (at most {}); inotify watches {}, queued events {}\n",
                      report.host.open_files, report.host.open_files_most, number_words(report.host.inotify_watches),
                      number_words(report.host.inotify_queue));
  return text;
}

std::string ways_section(const DoctorReport& report) {
  const node::WayFacts& ways = report.ways;
  std::string text =
      fmt::format("  namespaces: {}\n", ways.user_namespaces    ? "user namespaces work"
                                        : ways.mount_namespaces ? "work for this privileged user"
                                                                : "do not work (" + ways.namespace_trouble + ")");
  text += fmt::format("  redirect: {}\n", ways.redirect_library.empty()
                                              ? "libforebay_redirect.so not found beside this program"
                                              : printable(ways.redirect_library));
  for (const Launcher& launcher : report.host.launchers)
    text += fmt::format("  {}: {}{}\n", launcher.name, printable(launcher.path),
                        launcher.version.empty() ? "" : ", " + printable(launcher.version));
  if (report.host.launchers.empty()) text += "  mpirun, mpiexec, srun: none in PATH\n";
  return text;
}

std::string choice_section(const DoctorReport& report) {
  std::string text;
  std::vector<std::vector<std::string>> rows;
  for (const Pool& pool : report.pools)
    rows.push_back(
        {fmt::format("pool of socket {}:", pool.socket), printable(pool.path), human_bytes(pool.budget), pool.why});
  if (report.way) rows.push_back({"way in:", name_of(report.way->way), "", report.way->why});
  text += table(rows, "  ");
  for (const Error& problem : report.problems) text += "  problem: " + problem.text() + "\n";
  return text;
}

std::string case_section(const CaseView& view) {
  std::vector<std::vector<std::string>> rows{
      {"what:", kind_of(view)}, {"where:", printable(view.path)}, {"", place_of(view)}};
  if (const std::string output = output_of(view); !output.empty()) rows.push_back({"output:", output});
  rows.push_back({"to gain:", gain_of(view)});
  if (const std::string lacks = lacks_of(view); !lacks.empty()) rows.push_back({"first:", lacks});
  return table(rows, "  ");
}

nlohmann::ordered_json case_json(const CaseView& view) {
  nlohmann::ordered_json out{{"path", view.path}, {"openfoam", view.facts.is_case}};
  out["ranks"] = std::max(view.facts.ranks, view.facts.group_ranks);
  out["is"] = kind_of(view);
  out["lies"] = place_of(view);
  out["type"] = view.mount ? nlohmann::ordered_json(view.mount->type) : nullptr;
  out["shared"] = view.where() == Where::shared;
  out["output"] = output_of(view);
  out["gain"] = gain_of(view);
  out["lacks"] = lacks_of(view);
  return out;
}

std::string settings_section(const settings::Settings& settings) {
  std::vector<std::vector<std::string>> rows;
  for (const settings::Key& key : settings::keys()) {
    const std::string value = value_text(settings, key.name);
    rows.push_back({key.name, printable(value), value == key.default_text ? "" : "default: " + key.default_text});
  }
  return table(rows, "  ");
}

nlohmann::ordered_json machine_json(const Machine& machine) {
  nlohmann::ordered_json out;
  out["node"] = machine.node;
  for (const Socket& socket : machine.sockets)
    out["sockets"].push_back(
        {{"index", socket.index}, {"cpus", socket.cpus}, {"cores", socket.cores}, {"numa_nodes", socket.numa_nodes}});
  out["memory"] = {{"total", machine.memory_total}, {"available", machine.memory_available}};
  out["memory"]["cgroup_headroom"] =
      machine.cgroup_headroom ? nlohmann::ordered_json(*machine.cgroup_headroom) : nullptr;
  out["mounts"] = nlohmann::ordered_json::array();
  for (const Mount& mount : machine.mounts) {
    nlohmann::ordered_json row{
        {"path", mount.path}, {"type", mount.type}, {"source", mount.source}, {"medium", name_of(mount.medium)}};
    row["dax"] = mount.dax;
    row["nvme"] = mount.nvme;
    row["huge"] = mount.huge;
    row["numa_node"] = mount.numa_node ? nlohmann::ordered_json(*mount.numa_node) : nullptr;
    row["node_local"] = mount.node_local;
    row["writable"] = mount.writable;
    row["executable"] = mount.executable;
    row["total"] = mount.total;
    row["available"] = mount.available;
    row["why_not"] = why_not(mount);
    out["mounts"].push_back(std::move(row));
  }
  out["devdax"] = nlohmann::ordered_json::array();
  for (const node::DaxDevice& device : machine.dax_devices) {
    nlohmann::ordered_json row{{"path", device.path}, {"bytes", device.bytes}};
    row["numa_node"] = device.numa_node ? nlohmann::ordered_json(*device.numa_node) : nullptr;
    row["serves"] = device.why_not.empty() ? nlohmann::ordered_json{"trajectory"} : nlohmann::ordered_json::array();
    row["why_not"] = device.why_not;
    out["devdax"].push_back(std::move(row));
  }
  return out;
}

nlohmann::ordered_json host_json(const Host& host) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json out;
  out["pmem"] = host.pmem;
  out["huge_pages"] = {{"tmpfs", host.huge_tmpfs}, {"anonymous", host.huge_anonymous}};
  out["limits"] = {{"open_files", host.open_files}, {"open_files_most", host.open_files_most}};
  out["limits"]["inotify_watches"] = number(host.inotify_watches);
  out["limits"]["inotify_queued_events"] = number(host.inotify_queue);
  out["empties_at_logout"] = host.empties_at_logout;
  out["launchers"] = nlohmann::ordered_json::array();
  for (const Launcher& launcher : host.launchers)
    out["launchers"].push_back(
        {{"name", launcher.name}, {"path", launcher.path}, {"version", launcher.version}, {"family", launcher.family}});
  return out;
}

}  // namespace

void choose(DoctorReport& report) {
  auto pools = choose_pools(report.machine, report.settings.pool);
  if (pools) {
    report.pools = std::move(*pools);
  } else {
    report.problems.push_back(pools.error());
  }
  auto way = choose_way(report.ways, forced_way(report.settings.run.via));
  if (way) {
    report.way = std::move(*way);
  } else {
    report.problems.push_back(way.error());
  }
}

std::vector<std::string> warnings_of(const DoctorReport& report) {
  std::vector<std::string> warnings;
  const auto has = [&](auto wanted) { return std::ranges::any_of(report.pools, wanted); };
  const bool in_tmpfs = has([](const Pool& pool) { return pool.medium == Medium::tmpfs; });
  if (!report.topology_source.empty())
    warnings.push_back("sockets are what " + report.topology_source + " says, not what this node has");
  if (in_tmpfs)
    warnings.push_back("pools in tmpfs count against the job's memory, and a restart of the node empties them");
  if (has([&](const Pool& pool) {
        const Mount* mount = mount_of(report.machine, pool.path);
        return mount != nullptr && mount->huge == "always";
      }))
    warnings.push_back(
        "a pool lies in a tmpfs mounted with huge=always: a file may take 2 MB for each part of it that is written, "
        "which makes writing slow; huge=within_size is faster than no huge pages");
  if (has([](const Pool& pool) { return !pool.executable; }))
    warnings.push_back(
        "a pool lies on a mount that is noexec: programs, scripts and libraries that a run compiles or copies there "
        "cannot "
        "be used; --pool names another directory");
  if (in_tmpfs && report.host.empties_at_logout)
    warnings.push_back(
        "logind empties /dev/shm of your files when your last session here ends (RemoveIPC); stay logged in "
        "until the drain is over, or ask for `loginctl enable-linger`");
  if (has([](const Pool& pool) { return pool.path.starts_with("/run/user/"); }))
    warnings.push_back("/run/user is removed when your last session here ends");
  if (has([&](const Pool& pool) {
        return pool.medium == Medium::file && std::ranges::none_of(report.machine.mounts, [&](const Mount& mount) {
                 return mount.nvme && is_below(pool.path, mount.path) && mount.path != "/";
               });
      }))
    warnings.push_back("a pool lies on an ordinary disk: little is gained over a quiet shared file system");
  const bool has_dax = std::ranges::any_of(report.machine.mounts, [](const Mount& mount) { return mount.dax; });
  if (!report.host.pmem.empty() && !has_dax)
    warnings.push_back(
        fmt::format("{} is there, but no file system is mounted from it with dax", words(report.host.pmem)));
  // A watch per directory: with fewer than this a large decomposed case has too many.
  if (report.host.inotify_watches && *report.host.inotify_watches < 65536)
    warnings.push_back(fmt::format(
        "only {} inotify watches per user (fs.inotify.max_user_watches), one for each directory: a run on a "
        "case with more is refused, and a program that makes more has its deletions not carried",
        *report.host.inotify_watches));
  return warnings;
}

std::string text_of(const DoctorReport& report, Look look) {
  const auto heading = [&](std::string_view words_of_it) {
    return look.bold ? fmt::format("\x1b[1m{}\x1b[0m\n", words_of_it) : fmt::format("{}\n", words_of_it);
  };
  std::string text;
  if (report.of_case) text += heading("case") + case_section(*report.of_case);
  text += heading("chosen") + choice_section(report);
  const auto warnings = warnings_of(report);
  if (!warnings.empty()) text += heading("note");
  for (const std::string& warning : warnings) text += "  " + warning + "\n";
  if (!look.all)
    return text +
           "`forebay doctor --all` tells what was found on this node, and every setting; `--report` writes a file "
           "for who helps\n";
  text += heading("node") + node_section(report);
  text += heading("mounts") + mounts_table(report.machine);
  text += heading("ways and launchers") + ways_section(report);
  return text + heading("settings") + settings_section(report.settings);
}

std::string json_of(const DoctorReport& report) {
  nlohmann::ordered_json out{{"forebay_version", FOREBAY_VERSION}};
  out["case"] = report.of_case ? case_json(*report.of_case) : nullptr;
  out.update(machine_json(report.machine));
  out["topology_source"] = report.topology_source;
  out["host"] = host_json(report.host);
  out["ways"] = {{"user_namespaces", report.ways.user_namespaces},
                 {"mount_namespaces", report.ways.mount_namespaces},
                 {"namespace_trouble", report.ways.namespace_trouble},
                 {"redirect_library", report.ways.redirect_library}};
  out["settings"] = nlohmann::ordered_json::parse(to_json(report.settings));
  out["pools"] = nlohmann::ordered_json::array();
  for (const Pool& pool : report.pools)
    out["pools"].push_back({{"socket", pool.socket},
                            {"path", pool.path},
                            {"medium", name_of(pool.medium)},
                            {"budget", pool.budget},
                            {"why", pool.why}});
  out["way"] = nullptr;
  if (report.way) out["way"] = {{"name", name_of(report.way->way)}, {"why", report.way->why}};
  out["problems"] = nlohmann::ordered_json::array();
  for (const Error& problem : report.problems) out["problems"].push_back(problem.text());
  out["warnings"] = warnings_of(report);
  // Paths may be any bytes; JSON may not.
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace forebay::cli
