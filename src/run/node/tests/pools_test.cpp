#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "run/node/node.h"

namespace forebay::node {
namespace {

constexpr std::uint64_t kGB = 1'000'000'000;

Mount mount(const std::string& path, const std::string& type, std::uint64_t available, Medium medium = Medium::file) {
  Mount made;
  made.path = path;
  made.type = type;
  made.medium = medium;
  made.dax = medium == Medium::fsdax;
  made.total = 2 * available;
  made.available = available;
  made.writable = true;
  return made;
}
Mount pmem(const std::string& path, std::optional<int> numa_node, std::uint64_t available = 700 * kGB) {
  Mount made = mount(path, "ext4", available, Medium::fsdax);
  made.numa_node = numa_node;
  return made;
}
Mount nvme(const std::string& path, std::optional<int> numa_node = std::nullopt) {
  Mount made = mount(path, "xfs", 900 * kGB);
  made.nvme = true;
  made.numa_node = numa_node;
  return made;
}
Mount lustre(const std::string& path) {
  Mount made = mount(path, "lustre", 0);
  made.node_local = false;
  made.writable = false;
  return made;
}

// Two sockets of 24 cores, cpus numbered alternately as many servers do, a root disk, /dev/shm and 180 GB of memory.
Machine two_sockets() {
  Machine machine;
  machine.node = "n1";
  for (int s = 0; s < 2; ++s) {
    Socket socket{s, {}, 24, {s}};
    for (int cpu = s; cpu < 48; cpu += 2) socket.cpus.push_back(cpu);
    machine.sockets.push_back(socket);
  }
  machine.memory_total = 200 * kGB;
  machine.memory_available = 180 * kGB;
  machine.mounts = {mount("/", "ext4", 50 * kGB), mount("/dev/shm", "tmpfs", 100 * kGB, Medium::tmpfs),
                    lustre("/lustre/home")};
  machine.temporary = {"/tmp"};
  return machine;
}

// A file system in which only these directories exist; the tests name what they need.
FindDirectory only(std::map<std::string, Directory> known) {
  return [known = std::move(known)](const std::string& path) {
    const auto found = known.find(path);
    return found == known.end() ? Directory{} : found->second;
  };
}
const FindDirectory kNothing = only({});
Directory directory(const std::string& path, std::uint64_t available = 10 * kGB) {
  return {path, true, true, available};
}

std::vector<Pool> chosen(const Machine& machine, const PoolSettings& settings = {},
                         const FindDirectory& find = kNothing) {
  const auto pools = choose_pools(machine, settings, find);
  EXPECT_TRUE(pools) << pools.error().text();
  return pools.value_or(std::vector<Pool>{});
}
std::string refusal(const Machine& machine, const PoolSettings& settings, const FindDirectory& find) {
  const auto pools = choose_pools(machine, settings, find);
  if (pools) return "no error";
  EXPECT_EQ(pools.error().code, Code::bad_input);
  EXPECT_FALSE(pools.error().advice.empty());
  return pools.error().text();
}
std::vector<std::string> paths(const std::vector<Pool>& pools) {
  std::vector<std::string> out;
  for (const Pool& pool : pools) out.push_back(pool.path);
  return out;
}
using Paths = std::vector<std::string>;

TEST(FoundPools, each_socket_gets_the_fsdax_mount_of_its_own_numa_node_whatever_its_number) {
  Machine machine = two_sockets();
  machine.mounts.push_back(pmem("/mnt/pmem0", 1));
  machine.mounts.push_back(pmem("/mnt/pmem1", 0));
  machine.mounts.push_back(nvme("/scratch"));
  const auto pools = chosen(machine);
  EXPECT_EQ(paths(pools), (Paths{"/mnt/pmem1", "/mnt/pmem0"}));
  EXPECT_EQ(pools[0].socket, 0);
  EXPECT_EQ(pools[1].socket, 1);
  EXPECT_EQ(pools[1].medium, Medium::fsdax);
  EXPECT_EQ(pools[1].budget, 700 * kGB);
  EXPECT_EQ(pools[1].why, "fsdax mount of NUMA node 1");
}

TEST(FoundPools, without_numa_information_fsdax_mounts_are_taken_in_turn) {
  Machine machine = two_sockets();
  machine.mounts.push_back(pmem("/mnt/pmem1", std::nullopt));
  machine.mounts.push_back(pmem("/mnt/pmem0", std::nullopt));
  EXPECT_EQ(paths(chosen(machine)), (Paths{"/mnt/pmem0", "/mnt/pmem1"}));
}

TEST(FoundPools, one_fsdax_mount_serves_both_sockets_and_its_space_is_split) {
  Machine machine = two_sockets();
  machine.mounts.push_back(pmem("/mnt/pmem0", 0));
  const auto pools = chosen(machine);
  EXPECT_EQ(paths(pools), (Paths{"/mnt/pmem0", "/mnt/pmem0"}));
  EXPECT_EQ(pools[0].budget + pools[1].budget, 700 * kGB);
  EXPECT_EQ(pools[1].socket, 1);
  EXPECT_NE(pools[1].why.find("none of its own"), std::string::npos) << pools[1].why;
}

TEST(FoundPools, a_mount_that_is_noexec_serves_only_where_no_other_does) {
  Machine machine = two_sockets();
  machine.mounts.push_back(nvme("/scratch0"));
  machine.mounts.push_back(nvme("/scratch1"));
  machine.mounts[machine.mounts.size() - 2].executable = false;
  auto pools = chosen(machine);
  for (const Pool& pool : pools) EXPECT_EQ(pool.path, "/scratch1");
  EXPECT_TRUE(pools[0].executable);
  machine.mounts.back().executable = false;
  pools = chosen(machine);
  EXPECT_EQ(pools[0].path, "/scratch0") << "rather than none";
  EXPECT_EQ(pools[1].path, "/scratch1");
  EXPECT_FALSE(pools[0].executable);
  EXPECT_NE(pools[0].why.find("noexec"), std::string::npos) << pools[0].why;
}

TEST(FoundPools, the_roomiest_of_a_sockets_fsdax_mounts_is_taken) {
  Machine machine = two_sockets();
  machine.mounts.push_back(pmem("/mnt/a", 0, 10 * kGB));
  machine.mounts.push_back(pmem("/mnt/b", 0, 90 * kGB));
  machine.mounts.push_back(pmem("/mnt/c", 1, 10 * kGB));
  EXPECT_EQ(paths(chosen(machine)), (Paths{"/mnt/b", "/mnt/c"}));
}

TEST(FoundPools, read_only_and_full_mounts_are_passed_over) {
  Machine machine = two_sockets();
  machine.mounts.push_back(pmem("/mnt/pmem0", 0));
  machine.mounts.push_back(pmem("/mnt/pmem1", 1));
  machine.mounts[3].writable = false;
  EXPECT_EQ(paths(chosen(machine)), (Paths{"/mnt/pmem1", "/mnt/pmem1"}));
  machine.mounts[4].available = 4096;
  EXPECT_EQ(paths(chosen(machine)), (Paths{"/dev/shm", "/dev/shm"}));
}

TEST(FoundPools, nvme_comes_before_tmpfs_but_not_where_the_system_lives) {
  Machine machine = two_sockets();
  for (const char* system : {"/", "/boot/efi", "/home", "/var/lib/docker", "/usr"})
    machine.mounts.push_back(nvme(system));
  EXPECT_EQ(paths(chosen(machine)), (Paths{"/dev/shm", "/dev/shm"}));
  machine.mounts.push_back(nvme("/scratch"));
  EXPECT_EQ(paths(chosen(machine)), (Paths{"/scratch", "/scratch"}));
  machine.mounts.push_back(nvme("/local", 1));
  EXPECT_EQ(paths(chosen(machine)), (Paths{"/scratch", "/local"}));
}

TEST(FoundPools, ordinary_disks_and_network_file_systems_are_not_taken) {
  Machine machine = two_sockets();
  machine.mounts.push_back(mount("/data", "ext4", 900 * kGB));
  Mount remote = pmem("/remote", 0);
  remote.node_local = false;
  machine.mounts.push_back(remote);
  EXPECT_EQ(paths(chosen(machine)), (Paths{"/dev/shm", "/dev/shm"}));
}

TEST(TmpfsBudget, is_the_share_of_available_memory_over_all_pools_together) {
  const auto pools = chosen(two_sockets());
  EXPECT_EQ(pools[0].budget, 45 * kGB / 2);
  EXPECT_EQ(pools[1].budget, 45 * kGB / 2);
  EXPECT_EQ(pools[0].medium, Medium::tmpfs);
}

TEST(TmpfsBudget, is_a_share_of_what_a_tight_control_group_leaves) {
  Machine machine = two_sockets();
  machine.cgroup_headroom = 8 * kGB;
  const auto pools = chosen(machine);
  EXPECT_EQ(pools[0].budget, 1 * kGB);
  EXPECT_NE(pools[0].why.find("control group"), std::string::npos) << pools[0].why;
  machine.cgroup_headroom = 500 * kGB;
  EXPECT_EQ(chosen(machine)[0].budget, 45 * kGB / 2);
}

TEST(TmpfsBudget, never_exceeds_what_is_free_on_the_mount) {
  Machine machine = two_sockets();
  machine.mounts[1].available = 2 * kGB;
  EXPECT_EQ(chosen(machine)[0].budget, 1 * kGB);
}

TEST(TmpfsBudget, two_tmpfs_mounts_share_the_memory) {
  Machine machine = two_sockets();
  machine.mounts.push_back(mount("/mnt/t0", "tmpfs", 100 * kGB, Medium::tmpfs));
  machine.mounts.push_back(mount("/mnt/t1", "tmpfs", 5 * kGB, Medium::tmpfs));
  PoolSettings settings;
  settings.paths = {"/mnt/t{socket}"};
  const auto pools =
      chosen(machine, settings,
             only({{"/mnt/t0", directory("/mnt/t0", 100 * kGB)}, {"/mnt/t1", directory("/mnt/t1", 5 * kGB)}}));
  EXPECT_EQ(pools[0].budget, 45 * kGB / 2);
  EXPECT_EQ(pools[1].budget, 5 * kGB);
}

TEST(Budget, given_by_the_user_is_per_pool_and_capped_by_what_is_there) {
  Machine machine = two_sockets();
  PoolSettings settings;
  settings.budget = 60 * kGB;
  auto pools = chosen(machine, settings);
  EXPECT_EQ(pools[0].budget, 50 * kGB) << "half of the 100 GB free on /dev/shm";
  EXPECT_NE(pools[0].why.find("only"), std::string::npos) << pools[0].why;
  settings.budget = 3 * kGB;
  pools = chosen(machine, settings);
  EXPECT_EQ(pools[0].budget, 3 * kGB);
  EXPECT_EQ(pools[0].why.find("only"), std::string::npos) << pools[0].why;
  machine.cgroup_headroom = 4 * kGB;
  EXPECT_EQ(chosen(machine, settings)[0].budget, 2 * kGB);
}

TEST(LastResort, is_a_temporary_directory_where_dev_shm_is_too_small) {
  Machine machine = two_sockets();
  machine.mounts[1].available = 64 << 20;  // what container engines give
  machine.temporary = {"/lustre/home/me/tmp", "/tmp"};
  const auto find =
      only({{"/lustre/home/me/tmp", directory("/lustre/home/me/tmp")}, {"/tmp", directory("/tmp", 50 * kGB)}});
  const auto pools = chosen(machine, {}, find);
  EXPECT_EQ(paths(pools), (Paths{"/tmp", "/tmp"}));
  EXPECT_EQ(pools[0].medium, Medium::file);
  EXPECT_EQ(pools[0].budget + pools[1].budget, 25 * kGB);
}

TEST(LastResort, is_taken_when_the_control_group_leaves_no_memory) {
  Machine machine = two_sockets();
  machine.cgroup_headroom = 100'000'000;
  EXPECT_EQ(paths(chosen(machine, {}, only({{"/tmp", directory("/tmp")}}))), (Paths{"/tmp", "/tmp"}));
}

TEST(LastResort, missing_too_is_an_error_that_says_what_to_do) {
  Machine machine = two_sockets();
  machine.mounts[1].writable = false;
  const std::string text = refusal(machine, {}, kNothing);
  EXPECT_NE(text.find("no place for a pool"), std::string::npos) << text;
  EXPECT_NE(text.find("pool.paths"), std::string::npos) << text;
  EXPECT_NE(refusal(machine, {}, only({{"/tmp", directory("/tmp", 1000)}})), "no error");
}

TEST(NamedPools, are_taken_in_the_order_of_sockets) {
  PoolSettings settings;
  settings.paths = {"/b", "/a"};
  const auto pools = chosen(two_sockets(), settings, only({{"/a", directory("/a")}, {"/b", directory("/b")}}));
  EXPECT_EQ(paths(pools), (Paths{"/b", "/a"}));
  EXPECT_EQ(pools[1].socket, 1);
  EXPECT_EQ(pools[0].budget, 5 * kGB) << "both lie on the root disk and share its 10 GB";
}

TEST(NamedPools, one_path_serves_all_sockets_and_the_placeholder_is_replaced) {
  PoolSettings settings;
  settings.paths = {"/pool{socket}/{socket}"};
  const auto find = only({{"/pool0/0", directory("/pool0/0")}, {"/pool1/1", directory("/pool1/1")}});
  EXPECT_EQ(paths(chosen(two_sockets(), settings, find)), (Paths{"/pool0/0", "/pool1/1"}));
  settings.paths = {"/one"};
  EXPECT_EQ(paths(chosen(two_sockets(), settings, only({{"/one", directory("/one")}}))), (Paths{"/one", "/one"}));
}

TEST(NamedPools, of_another_number_than_sockets_are_refused) {
  PoolSettings settings;
  settings.paths = {"/a", "/b", "/c"};
  const std::string text = refusal(two_sockets(), settings, kNothing);
  EXPECT_NE(text.find("names 3 directories, but n1 has 2 sockets"), std::string::npos) << text;
}

TEST(NamedPools, on_a_network_file_system_are_refused_without_touching_it) {
  PoolSettings settings;
  settings.paths = {"/lustre/home/me/pool"};
  const auto must_not_ask = [](const std::string& path) {
    ADD_FAILURE() << "asked for " << path;
    return Directory{};
  };
  const std::string text = refusal(two_sockets(), settings, must_not_ask);
  EXPECT_NE(text.find("/lustre/home (lustre)"), std::string::npos) << text;
}

TEST(NamedPools, that_lead_to_a_network_file_system_through_a_link_are_refused) {
  PoolSettings settings;
  settings.paths = {"/scratch"};
  const std::string text = refusal(two_sockets(), settings, only({{"/scratch", directory("/lustre/home/scratch")}}));
  EXPECT_NE(text.find("leads to /lustre/home (lustre)"), std::string::npos) << text;
}

TEST(NamedPools, on_a_file_system_that_keeps_no_files_are_refused_and_nobody_is_told_to_remove_it) {
  Machine machine = two_sockets();
  machine.without_storage = {"/proc", "/sys", "/mnt"};
  machine.mounts.push_back(mount("/mnt/disk", "ext4", 50 * kGB));
  PoolSettings settings;
  const auto said = [&](const std::string& path) {
    settings.paths = {path};
    return refusal(machine, settings, only({{path, directory(path)}}));
  };
  for (const char* path : {"/proc", "/sys/fs"}) {
    EXPECT_NE(said(path).find("keeps no files: " + std::string(path)), std::string::npos) << said(path);
    EXPECT_EQ(said(path).find("remove"), std::string::npos) << said(path);
  }
  for (const char* path : {"/mnt/disk", "/process"}) {  // mounted below one; another name
    settings.paths = {path};
    EXPECT_EQ(chosen(machine, settings, only({{path, directory(path)}})).size(), 2U) << path;
  }
}

TEST(NamedPools, that_are_devices_are_refused_since_they_hold_no_files) {
  Machine machine = two_sockets();
  machine.dax_devices = {{"/dev/dax0.0", kGB, 0, ""}};
  PoolSettings settings;
  settings.paths = {"/dev/dax0.0"};
  const std::string text = refusal(machine, settings, only({{"/dev/dax0.0", {"/dev/dax0.0", false, true, 0}}}));
  EXPECT_NE(text.find("trajectories only"), std::string::npos) << text;
}

TEST(NamedPools, that_cannot_be_used_are_refused_with_the_reason) {
  std::string root = ::testing::TempDir() + "pools-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  std::ofstream(root + "/file") << "x";
  PoolSettings settings;
  const auto said = [&](const std::string& path) {
    settings.paths = {path};
    return refusal(two_sockets(), settings, find_directory);
  };
  EXPECT_NE(said("relative/path").find("not absolute"), std::string::npos);
  EXPECT_NE(said(root + "/missing").find("does not exist"), std::string::npos);
  EXPECT_NE(said(root + "/file").find("not a directory"), std::string::npos);
  settings.paths = {root};
  EXPECT_TRUE(choose_pools(two_sockets(), settings));
  EXPECT_TRUE(remove_tree(root));
  settings.paths = {"/x"};
  EXPECT_NE(refusal(two_sockets(), settings, only({{"/x", {"/x", true, false, kGB}}})).find("not writable"),
            std::string::npos);
}

TEST(Pools, refuse_a_share_that_is_none) {
  PoolSettings settings;
  for (const double share : {0.0, -0.1, 1.1}) {
    settings.memory_share = share;
    EXPECT_FALSE(choose_pools(two_sockets(), settings, kNothing)) << share;
  }
}

TEST(Pools, of_a_machine_without_sockets_are_an_error_not_a_crash) {
  Machine machine;
  EXPECT_FALSE(choose_pools(machine, {}, kNothing));
}

}  // namespace
}  // namespace forebay::node
