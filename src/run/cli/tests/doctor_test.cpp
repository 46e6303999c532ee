#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "run/cli/commands.h"
#include "run/cli/doctor_private.h"
#include "run/cli/doctor_report.h"
#include "run/node/tests/made_files.h"

namespace forebay::cli {
namespace {

constexpr std::uint64_t kGB = 1'000'000'000;

// A node's files, made by hand.
class FakeNode : public node::MadeFiles {
 protected:
  void program(const std::string& path, const std::string& script) {
    file(path, "#!/bin/sh\n" + script);
    ::chmod((root_ + path).c_str(), 0755);
  }
};

DoctorReport report_of_a_node_in_memory() {
  DoctorReport report;
  report.machine.node = "n1";
  report.machine.sockets = {{0, {0, 1, 2, 5}, 4, {0}}};
  report.machine.memory_total = 100 * kGB;
  report.machine.memory_available = 80 * kGB;
  node::Mount shm;
  shm.path = "/dev/shm";
  shm.type = "tmpfs";
  shm.medium = node::Medium::tmpfs;
  shm.total = shm.available = 50 * kGB;
  shm.writable = true;
  node::Mount lustre;
  lustre.path = "/lustre";
  lustre.type = "lustre";
  lustre.node_local = false;
  report.machine.mounts = {shm, lustre};
  report.machine.dax_devices = {{"/dev/dax0.0", 500 * kGB, 0, ""}, {"/dev/dax1.0", 0, std::nullopt, "it is busy"}};
  report.ways.namespace_trouble = "unshare failed: Operation not permitted";
  report.ways.redirect_library = "/opt/forebay/lib/libforebay_redirect.so";
  report.host.inotify_watches = 100000;
  choose(report);
  return report;
}

bool mentions(const std::vector<std::string>& lines, const std::string& words) {
  for (const std::string& line : lines)
    if (line.find(words) != std::string::npos) return true;
  return false;
}

TEST_F(FakeNode, devices_switches_and_limits_are_read) {
  file("/sys/block/pmem0/size", "1");
  file("/sys/block/sda/size", "1");
  file("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "always within_size [advise] never deny force");
  file("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  file("/proc/sys/fs/inotify/max_user_watches", "8192");
  const Host host = observe_host(root_, "", 0, real_clock());
  EXPECT_EQ(host.pmem, std::vector<std::string>{"pmem0"});
  EXPECT_EQ(host.huge_tmpfs, "advise");
  EXPECT_EQ(host.huge_anonymous, "never");
  EXPECT_EQ(host.inotify_watches, 8192u);
  EXPECT_EQ(host.inotify_queue, std::nullopt);
  EXPECT_GT(host.open_files, 0u);
  EXPECT_TRUE(host.launchers.empty());
}

TEST_F(FakeNode, logind_empties_dev_shm_unless_it_is_told_not_to) {
  EXPECT_FALSE(observe_host(root_, "", 4242, real_clock()).empties_at_logout) << "no systemd here";
  file("/run/systemd/system/x", "");
  EXPECT_TRUE(observe_host(root_, "", 4242, real_clock()).empties_at_logout) << "its default";
  EXPECT_FALSE(observe_host(root_, "", 999, real_clock()).empties_at_logout) << "a system user";
  file("/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=yes\nRemoveIPC=no");
  EXPECT_FALSE(observe_host(root_, "", 4242, real_clock()).empties_at_logout);
  file("/usr/lib/systemd/logind.conf.d/20-site.conf", "[Login]\nRemoveIPC=yes");
  EXPECT_TRUE(observe_host(root_, "", 4242, real_clock()).empties_at_logout);
  file("/etc/systemd/logind.conf.d/30-own.conf", "[Login]\nRemoveIPC=no");
  EXPECT_FALSE(observe_host(root_, "", 4242, real_clock()).empties_at_logout);
}

TEST_F(FakeNode, the_first_launcher_in_PATH_is_named_with_its_version) {
  program("/a/mpirun", "echo 'mpirun (Open MPI) 4.1.4'\necho more");
  program("/b/mpirun", "echo second");
  program("/b/srun", "echo 'slurm 22.05.8'");
  file("/a/mpiexec", "not executable");
  const Host host = observe_host(root_, root_ + "/none:" + root_ + "/a::" + root_ + "/b", 0, real_clock());
  ASSERT_EQ(host.launchers.size(), 2u);
  EXPECT_EQ(host.launchers[0].path, root_ + "/a/mpirun");
  EXPECT_EQ(host.launchers[0].version, "mpirun (Open MPI) 4.1.4");
  EXPECT_EQ(host.launchers[0].family, "Open MPI");
  EXPECT_EQ(host.launchers[1].name, "srun");
  EXPECT_EQ(host.launchers[1].family, "Slurm");
}

TEST_F(FakeNode, a_launcher_that_says_nothing_is_still_named) {
  program("/a/mpirun", "exit 3");
  const Host host = observe_host(root_, root_ + "/a", 0, real_clock());
  ASSERT_EQ(host.launchers.size(), 1u);
  EXPECT_EQ(host.launchers[0].version, "");
  EXPECT_EQ(host.launchers[0].family, "");
}

TEST(FamilyOf, knows_the_launchers_by_what_they_print) {
  EXPECT_EQ(family_of("mpiexec (OpenRTE) 4.1.4"), "Open MPI");
  EXPECT_EQ(family_of("HYDRA build details:"), "MPICH");
  EXPECT_EQ(family_of("Intel(R) MPI Library for Linux* OS, Version 2021.9"), "Intel MPI");
  EXPECT_EQ(family_of("something else"), "");
}

TEST(Doctor, tells_what_would_be_chosen_and_why) {
  const DoctorReport report = report_of_a_node_in_memory();
  const std::string text = text_of(report, {.all = true, .bold = false});
  for (const char* words : {"n1: 1 socket, 4 cores, 4 cpus", "cpus 0-2,5", "pool of socket 0:  /dev/shm", "20.0 GB",
                            "25 % of the 80.0 GB", "redirect", "Operation not permitted", "not this node's own",
                            "drain.safe_interval", "devdax: /dev/dax0.0, 500 GB, NUMA node 0: for trajectories only",
                            "devdax: /dev/dax1.0, size unknown, no NUMA node: not usable, it is busy"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " is missing in\n" << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text_of(report, {.all = false, .bold = true}).find("\x1b[1mchosen"), std::string::npos);
}

TEST(Doctor, gives_the_same_as_json) {
  const auto json = nlohmann::json::parse(json_of(report_of_a_node_in_memory()));
  EXPECT_EQ(json["pools"][0]["path"], "/dev/shm");
  EXPECT_EQ(json["pools"][0]["budget"], 20 * kGB);
  EXPECT_EQ(json["way"]["name"], "redirect");
  EXPECT_EQ(json["mounts"][1]["node_local"], false);
  EXPECT_EQ(json["devdax"][0]["numa_node"], 0);
  EXPECT_EQ(json["devdax"][0]["serves"], nlohmann::json({"trajectory"}));
  EXPECT_TRUE(json["devdax"][1]["serves"].empty());
  EXPECT_EQ(json["memory"]["cgroup_headroom"], nullptr);
  EXPECT_EQ(json["settings"]["drain"]["threads"], 4);
  EXPECT_TRUE(json["problems"].empty());
  EXPECT_FALSE(json["warnings"].empty());
}

TEST(Doctor, makes_problems_of_what_cannot_be_chosen) {
  DoctorReport report = report_of_a_node_in_memory();
  report.pools.clear();
  report.way.reset();
  report.settings.pool.paths = {"/lustre/me"};
  report.settings.run.via = settings::Via::namespaces;
  choose(report);
  ASSERT_EQ(report.problems.size(), 2u);
  const std::string text = text_of(report, {});
  EXPECT_NE(text.find("problem: pool path is on /lustre (lustre)"), std::string::npos) << text;
  EXPECT_NE(text.find("problem: namespaces do not work"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(json_of(report))["way"], nullptr);
}

CaseView view_on(const node::Mount& mount) {
  CaseView view;
  view.path = mount.path + "/motorBike";
  view.facts.is_case = true;
  view.facts.application = "simpleFoam";
  view.facts.ranks = 1;
  view.facts.write_interval = 1;
  view.facts.write_control = "timeStep";
  view.mount = mount;
  return view;
}

TEST(Doctor, begins_with_the_case_and_keeps_the_inventory_for_all) {
  DoctorReport report = report_of_a_node_in_memory();
  report.of_case = view_on(report.machine.mounts[1]);
  const std::string text = text_of(report, {});
  EXPECT_EQ(text.find("case\n"), 0U) << text;
  for (const char* words : {"OpenFOAM, simpleFoam, decomposed into 1 rank\n", "on /lustre (lustre), shared",
                            "writes every time step; keeps all times", "to gain:  yes", "pool of socket 0"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " is missing in\n" << text;
  for (const char* words : {"cpus 0-2,5", "drain.safe_interval", "inotify watches"})
    EXPECT_EQ(text.find(words), std::string::npos) << words << " is in\n" << text;
}

TEST(Doctor, sees_nothing_to_gain_where_the_case_is_on_the_node_itself) {
  const DoctorReport report = report_of_a_node_in_memory();
  EXPECT_EQ(gain_of(view_on(report.machine.mounts[0])).find("nothing: "), 0U);
  node::Mount disk;
  disk.path = "/scratch";
  disk.type = "ext4";
  EXPECT_EQ(gain_of(view_on(disk)).find("little: "), 0U);
  CaseView unknown = view_on(disk);
  unknown.mount.reset();
  EXPECT_EQ(gain_of(unknown), "unknown");
}

TEST(Doctor, a_file_for_others_has_no_names_of_people_hosts_and_places) {
  DoctorReport report = report_of_a_node_in_memory();
  report.machine.node = "n1.secret-site.example";
  report.machine.mounts[1].path = "/home/lists of me";
  report.machine.mounts[1].source = "server42:/vol";
  report.of_case = view_on(report.machine.mounts[1]);
  report.settings.stage.copy = {"wing of X17/*"};
  report.problems.push_back({Code::bad_input, "pool path does not exist:", "/scratch/anna/pool", 0, "ask anna on n1"});
  PrivateWords words = private_words(report);
  words.names.emplace_back("anna");
  const std::string text = anonymous_json(
      report, words,
      {"FOREBAY_POOL_PATHS=/scratch/anna", "SLURM_NTASKS=8", "SLURM_JOB_ACCOUNT=anna", "AWS_SECRET=key", "LANG=C"});
  for (const char* secret : {"anna", "secret-site", "n1", "lists of me", "server42", "X17", "/scratch", "key", "AWS"})
    EXPECT_EQ(text.find(secret), std::string::npos) << secret << " is in\n" << text;
  for (const char* told :
       {"\"FOREBAY_POOL_PATHS\": \"set\"", "\"SLURM_NTASKS\": \"8\"", "/dev/shm", "lustre", "\"kernel\""})
    EXPECT_NE(text.find(told), std::string::npos) << told << " is missing in\n" << text;
}

TEST(Doctor, takes_a_name_out_only_where_it_stands_by_itself) {
  PrivateWords words;
  words.names = {"al"};
  words.paths = {"/a/b"};
  EXPECT_EQ(without_private("all of al, at /a/b/c: /usr/bin/x and /x/y", words),
            "all of <name>, at <path>: /usr/bin/x and <path>");
}

TEST_F(FakeNode, a_file_for_others_replaces_nothing_and_follows_no_link) {
  const std::string path = root_ + "/report.json";
  ASSERT_TRUE(write_new_file(path, "text"));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(write_new_file(path, "more").error().errno_value, EEXIST);
  EXPECT_EQ(*read_file(path), "text");
  ASSERT_EQ(::symlink((root_ + "/elsewhere").c_str(), (root_ + "/link").c_str()), 0);
  EXPECT_FALSE(write_new_file(root_ + "/link", "more"));
  EXPECT_FALSE(name_exists(root_ + "/elsewhere"));
}

TEST(Doctor, warns_of_what_may_surprise) {
  DoctorReport report = report_of_a_node_in_memory();
  EXPECT_TRUE(mentions(warnings_of(report), "count against the job's memory"));
  EXPECT_FALSE(mentions(warnings_of(report), "logind"));
  EXPECT_FALSE(mentions(warnings_of(report), "inotify"));
  report.host.empties_at_logout = true;
  report.host.inotify_watches = 8192;
  report.host.pmem = {"pmem0"};
  report.topology_source = "HWLOC_SYNTHETIC";
  for (const char* words : {"logind", "8192 inotify watches", "pmem0 is there", "HWLOC_SYNTHETIC"})
    EXPECT_TRUE(mentions(warnings_of(report), words)) << words;
  for (const std::string huge : {"", "within_size", "always"}) {
    for (node::Mount& mount : report.machine.mounts)
      if (mount.path == "/dev/shm") mount.huge = huge;
    EXPECT_EQ(mentions(warnings_of(report), "huge=always"), huge == "always") << huge;
  }
  report.pools[0].medium = node::Medium::fsdax;
  EXPECT_FALSE(mentions(warnings_of(report), "logind")) << "only tmpfs is emptied";
}

TEST(Doctor, survives_names_that_are_not_text) {
  DoctorReport report = report_of_a_node_in_memory();
  report.machine.mounts[1].path = "/bad\x1b[2J\xff";
  EXPECT_NE(text_of(report, {.all = true, .bold = false}).find("/bad\\x1b[2J\\xff"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(json_of(report), nullptr, false).is_discarded());
}

// `forebay plan` as the command line runs it; gives the exit status and what was printed.
struct Printed {
  int status;
  std::string out, err;
};
Printed run_plan(std::vector<std::string> arguments) {
  CLI::App app;
  int status = 0;
  add_plan(app, status);
  arguments.insert(arguments.begin(), "plan");
  std::ranges::reverse(arguments);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  app.parse(arguments);
  std::fflush(stdout);
  return {status, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

class Plan : public FakeNode {
 protected:
  void SetUp() override {
    FakeNode::SetUp();
    ::setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:2 pu:1", 1);
    ::setenv("XDG_CONFIG_HOME", root_.c_str(), 1);
    std::filesystem::create_directories(root_ + "/pool0");
    std::filesystem::create_directories(root_ + "/pool1");
    ::setenv("FOREBAY_POOL_PATHS", (root_ + "/pool{socket}").c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"HWLOC_SYNTHETIC", "XDG_CONFIG_HOME", "FOREBAY_POOL_PATHS"}) ::unsetenv(name);
    FakeNode::TearDown();
  }
};

TEST_F(Plan, prints_ranks_nodes_sockets_and_pools) {
  const Printed printed = run_plan({"--ranks", "6", "--nodes", "n1:4,n2:4"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  const std::string pool = *real_path(root_) + "/pool";
  EXPECT_NE(printed.out.find("  0-1  n1         0  " + pool + "0\n"), std::string::npos) << printed.out;
  EXPECT_NE(printed.out.find("  2-3  n1         1  " + pool + "1\n"), std::string::npos) << printed.out;
  EXPECT_NE(printed.out.find("  4-5  n2         0  " + pool + "0\n"), std::string::npos) << printed.out;
}

TEST_F(Plan, follows_the_order_and_prints_json) {
  const Printed printed = run_plan({"--ranks", "4", "--order", "node", "--nodes", "n1,n2", "--json"});
  const auto json = nlohmann::json::parse(printed.out)["ranks"];
  ASSERT_EQ(json.size(), 4u);
  EXPECT_EQ(json[1]["node"], "n2");
  EXPECT_EQ(json[2]["node"], "n1");
}

TEST_F(Plan, of_this_node_needs_no_nodes) {
  const Printed printed = run_plan({"--ranks", "2", "--order", "socket", "--json"});
  const auto json = nlohmann::json::parse(printed.out)["ranks"];
  EXPECT_EQ(json[1]["socket"], 1);
}

TEST_F(Plan, of_what_does_not_fit_or_makes_no_sense_is_an_error) {
  EXPECT_EQ(run_plan({"--ranks", "9", "--nodes", "n1:4,n2:4"}).status, 2);
  EXPECT_NE(run_plan({"--ranks", "9", "--nodes", "n1:4,n2:4"}).err.find("9 ranks on 8 slots do not fit"),
            std::string::npos);
  for (const char* nodes : {"n1:", "n1:0", "n1:-1", ":4", "n1:4,,n2:4", "n1:x"})
    EXPECT_EQ(run_plan({"--ranks", "1", "--nodes", nodes}).status, 2) << nodes;
  CLI::App app;
  int status = 0;
  add_plan(app, status);
  EXPECT_THROW(app.parse("plan --ranks 1 --order sockt"), CLI::ParseError);
  EXPECT_THROW(app.parse("plan --ranks 0"), CLI::ParseError);
  EXPECT_THROW(app.parse("plan"), CLI::ParseError);
}

}  // namespace
}  // namespace forebay::cli
