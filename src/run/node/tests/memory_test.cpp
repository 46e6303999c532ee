#include "run/node/observe.h"

#include "run/node/tests/made_files.h"

namespace forebay::node {
namespace {

class Cgroups : public MadeFiles {
 protected:
  void version2(const std::string& group, const std::string& limit, const std::string& usage) {
    file(group + "/memory.max", limit);
    file(group + "/memory.current", usage);
  }
  MountLine mount(const std::string& type, const std::string& options, const std::string& mounted = "/") const {
    MountLine line;
    line.type = type;
    line.super_options = options;
    line.path = root_;
    line.root = mounted;
    return line;
  }
};

TEST_F(Cgroups, the_tightest_of_all_levels_counts) {
  version2("/job", "1000", "400");
  version2("/job/step", "max", "300");
  version2("/job/step/task", "900", "100");
  const std::vector<MountLine> mounts{mount("cgroup2", "rw")};
  EXPECT_EQ(cgroup_headroom("0::/job/step/task\n", mounts), 600u);
  EXPECT_EQ(cgroup_headroom("0::/job\n", mounts), 600u);
  EXPECT_EQ(cgroup_headroom("0::/\n", mounts), std::nullopt);
}

TEST_F(Cgroups, cached_pages_of_files_count_as_room) {
  version2("/job", "1000", "900");
  file("/job/memory.stat", "anon 100\ninactive_file 300\nactive_file 50");
  EXPECT_EQ(cgroup_headroom("0::/job\n", {mount("cgroup2", "rw")}), 400u);
}

TEST_F(Cgroups, a_group_above_its_limit_has_no_room) {
  version2("/job", "1000", "1100");
  EXPECT_EQ(cgroup_headroom("0::/job\n", {mount("cgroup2", "rw")}), 0u);
}

TEST_F(Cgroups, version_1_is_read_where_it_has_the_memory_controller) {
  file("/slurm/job_1/memory.limit_in_bytes", "5000");
  file("/slurm/job_1/memory.usage_in_bytes", "1000");
  file("/slurm/memory.limit_in_bytes", "9223372036854771712");
  file("/slurm/memory.usage_in_bytes", "1000");
  const std::string groups = "3:cpuset:/elsewhere\n4:cpu,memory:/slurm/job_1\n0::/\n";
  EXPECT_EQ(cgroup_headroom(groups, {mount("cgroup", "rw,cpu,memory")}), 4000u);
  EXPECT_EQ(cgroup_headroom(groups, {mount("cgroup", "rw,cpuset")}), std::nullopt);
}

TEST_F(Cgroups, a_container_sees_its_own_group_as_the_root) {
  version2("", "1000", "250");
  EXPECT_EQ(cgroup_headroom("0::/docker/abc\n", {mount("cgroup2", "rw", "/docker/abc")}), 750u);
  EXPECT_EQ(cgroup_headroom("0::/docker/abc/missing\n", {mount("cgroup2", "rw", "/docker/abc")}), 750u);
}

TEST_F(Cgroups, group_names_with_colons_are_whole) {
  version2("/a:b", "1000", "10");
  EXPECT_EQ(cgroup_headroom("0::/a:b\n", {mount("cgroup2", "rw")}), 990u);
}

TEST(Meminfo, is_in_bytes) {
  const char* text = "MemTotal:       24683900 kB\nMemAvailable:   100 kB\nHugePages_Total:       0\n";
  EXPECT_EQ(memory_line(text, "MemTotal"), 24683900u * std::uint64_t{1024});
  EXPECT_EQ(memory_line(text, "MemAvailable"), 102400u);
  EXPECT_EQ(memory_line(text, "Mem"), std::nullopt);
}

}  // namespace
}  // namespace forebay::node
