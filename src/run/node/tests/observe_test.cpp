#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "run/node/node.h"

namespace forebay::node {
namespace {

class Synthetic : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:1 pu:1", 1);
    ::setenv("HWLOC_THISSYSTEM", "1", 1);
  }
  void TearDown() override {
    for (const char* name : {"HWLOC_SYNTHETIC", "HWLOC_THISSYSTEM", "HWLOC_XMLFILE"}) ::unsetenv(name);
  }
};

Machine two_sockets_alternating() {
  Machine machine;
  machine.sockets = {{0, {0, 2, 4, 6}, 4, {0}}, {1, {1, 3, 5, 7}, 4, {1}}};
  return machine;
}

TEST_F(Synthetic, two_sockets_are_seen_with_their_cpus_and_numa_nodes) {
  const auto machine = observe();
  ASSERT_TRUE(machine) << machine.error().text();
  ASSERT_EQ(machine->sockets.size(), 2u);
  for (int s = 0; s < 2; ++s) {
    const Socket& socket = machine->sockets[static_cast<std::size_t>(s)];
    EXPECT_EQ(socket.index, s);
    EXPECT_EQ(socket.cpus, std::vector<int>{s});
    EXPECT_EQ(socket.numa_nodes, std::vector<int>{s});
    EXPECT_EQ(socket.cores, 1);
  }
}

TEST_F(Synthetic, a_machine_without_packages_is_one_socket) {
  ::setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:2", 1);
  const auto machine = observe();
  ASSERT_TRUE(machine) << machine.error().text();
  ASSERT_EQ(machine->sockets.size(), 1u);
  EXPECT_EQ(machine->sockets[0].cpus.size(), 8u);
  EXPECT_EQ(machine->sockets[0].cores, 4);
  EXPECT_EQ(machine->sockets[0].numa_nodes, (std::vector<int>{0, 1}));
}

TEST_F(Synthetic, an_xml_file_of_another_machine_is_honoured) {
  ::unsetenv("HWLOC_SYNTHETIC");
  std::string path = ::testing::TempDir() + "topology-XXXXXX";
  const Descriptor file(::mkstemp(path.data()));
  std::ofstream(path) << R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="1024"/>
    <object type="Package" os_index="3" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="5">
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="6"/>
    </object>
    <object type="Package" os_index="5" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="3">
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
    </object>
  </object>
</topology>
)";
  ::setenv("HWLOC_XMLFILE", path.c_str(), 1);
  const auto machine = observe();
  ASSERT_TRUE(machine) << machine.error().text();
  ASSERT_EQ(machine->sockets.size(), 2u);
  EXPECT_EQ(machine->sockets[0].index, 0);
  EXPECT_EQ(machine->sockets[1].index, 1);
  EXPECT_EQ(machine->sockets[1].cpus, std::vector<int>{1});
  EXPECT_EQ(machine->sockets[0].numa_nodes, std::vector<int>{0});
  ::unlink(path.c_str());
}

TEST_F(Synthetic, a_binding_does_not_hide_the_other_socket) {
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  if (!CPU_ISSET(1, &before)) GTEST_SKIP() << "cpu 1 is not ours to bind to";
  CPU_ZERO(&one);
  CPU_SET(1, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const auto machine = observe();
  const Whereabouts here = whereabouts();
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->sockets.size(), 2u);
  EXPECT_EQ(here.allowed, std::vector<int>{1});
  EXPECT_EQ(here.cpu, 1);
  EXPECT_EQ(socket_of(*machine, here), 1);
}

TEST(Observe, this_node_has_a_name_memory_and_a_root) {
  const auto machine = observe();
  ASSERT_TRUE(machine) << machine.error().text();
  EXPECT_FALSE(machine->node.empty());
  EXPECT_GT(machine->memory_available, 0u);
  EXPECT_LE(machine->memory_available, machine->memory_total);
  EXPECT_GE(machine->sockets.size(), 1u);
  EXPECT_TRUE(std::ranges::any_of(machine->mounts, [](const Mount& m) { return m.path == "/"; }));
  EXPECT_FALSE(machine->temporary.empty());
}

TEST(SocketOf, is_the_socket_that_holds_most_cpus) {
  const Machine machine = two_sockets_alternating();
  EXPECT_EQ(socket_of(machine, std::vector<int>{1, 3}), 1);
  EXPECT_EQ(socket_of(machine, std::vector<int>{0, 2, 3}), 0);
  EXPECT_EQ(socket_of(machine, std::vector<int>{0, 1}), -1);
  EXPECT_EQ(socket_of(machine, std::vector<int>{}), -1);
  EXPECT_EQ(socket_of(machine, std::vector<int>{99}), -1);
}

TEST(SocketOf, follows_the_binding_and_else_the_cpu_that_runs) {
  const Machine machine = two_sockets_alternating();
  EXPECT_EQ(socket_of(machine, Whereabouts{{1, 3}, 0}), 1);
  EXPECT_EQ(socket_of(machine, Whereabouts{{0, 1, 2, 3, 5}, 2}), 0);
  EXPECT_EQ(socket_of(machine, Whereabouts{{}, 7}), 1);
  EXPECT_EQ(socket_of(machine, Whereabouts{{}, -1}), -1);
}

TEST(Whereabouts, are_known_in_microseconds) {
  auto best = std::chrono::nanoseconds::max();
  for (int i = 0; i < 200; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Whereabouts here = whereabouts();
    best = std::min(best, std::chrono::nanoseconds(std::chrono::steady_clock::now() - start));
    ASSERT_FALSE(here.allowed.empty());
    ASSERT_GE(here.cpu, 0);
  }
  EXPECT_LT(best, std::chrono::microseconds(100));
}

}  // namespace
}  // namespace forebay::node
