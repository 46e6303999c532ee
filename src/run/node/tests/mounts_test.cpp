#include "run/node/mounts.h"

#include "run/node/tests/made_files.h"

namespace forebay::node {
namespace {

std::vector<std::string> paths_of(const std::vector<MountLine>& lines) {
  std::vector<std::string> paths;
  for (const MountLine& line : lines) paths.push_back(line.path);
  return paths;
}

class BlockDevices : public MadeFiles {
 protected:
  // A device directory, and its entry by number.
  void device(const std::string& number, const std::string& path) {
    std::filesystem::create_directories(root_ + "/dev/block");
    std::filesystem::create_directories(root_ + "/" + path);
    std::filesystem::create_symlink("../../" + path, root_ + "/dev/block/" + number);
  }
};

TEST(Mountinfo, gives_paths_with_spaces_newlines_and_backslashes) {
  const auto lines = parse_mountinfo(
      "36 35 98:0 /mnt1 /mnt\\040with\\011odd\\012na\\134me rw,noatime master:1 shared:2 - ext3 /dev/my\\040disk "
      "rw,errors=continue\n");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].path, "/mnt with\todd\nna\\me");
  EXPECT_EQ(lines[0].source, "/dev/my disk");
  EXPECT_EQ(lines[0].id, 36);
  EXPECT_EQ(lines[0].parent, 35);
  EXPECT_EQ(lines[0].device, "98:0");
  EXPECT_EQ(lines[0].root, "/mnt1");
  EXPECT_EQ(lines[0].options, "rw,noatime");
  EXPECT_EQ(lines[0].type, "ext3");
  EXPECT_EQ(lines[0].super_options, "rw,errors=continue");
}

TEST(Mountinfo, without_optional_fields_or_super_options_is_read_too) {
  const auto lines = parse_mountinfo("1 0 0:2 / / rw - rootfs rootfs\n2 1 0:3 / /a rw - tmpfs none rw\n");
  ASSERT_EQ(paths_of(lines), (std::vector<std::string>{"/", "/a"}));
  EXPECT_EQ(lines[0].super_options, "");
}

TEST(Mountinfo, leaves_out_lines_that_make_no_sense) {
  EXPECT_TRUE(parse_mountinfo("").empty());
  EXPECT_TRUE(parse_mountinfo("nonsense\n1 2 - - -\n- - - - - -\nx 1 0:3 / /a rw - tmpfs none rw\n").empty());
  EXPECT_TRUE(parse_mountinfo("1 0 0:3 / /a rw - tmpfs\n").empty());
}

TEST(Visible, hides_what_lies_under_another_mount) {
  const auto lines = parse_mountinfo(
      "1 0 254:0 / / rw - ext4 /dev/vda rw\n"
      "2 1 0:3 / /mnt/a rw - tmpfs first rw\n"
      "3 2 0:4 / /mnt/a/inner rw - tmpfs inner rw\n"
      "4 2 0:5 / /mnt/a rw - tmpfs second rw\n"  // stacked on the first
      "5 4 0:6 / /mnt/a/new rw - tmpfs new rw\n"
      "6 1 0:7 / /x/deep rw - tmpfs deep rw\n"
      "7 6 0:8 / /x/deep/er rw - tmpfs deeper rw\n"
      "8 1 0:9 / /x rw - tmpfs above rw\n");  // over the parent directory of an older mount
  std::vector<std::string> sources;
  for (const MountLine& line : visible(lines)) sources.push_back(line.source);
  EXPECT_EQ(sources, (std::vector<std::string>{"/dev/vda", "second", "new", "above"}));
}

TEST(Visible, survives_a_list_whose_parents_run_in_a_circle) {
  const auto lines =
      parse_mountinfo("1 2 0:1 / /a rw - tmpfs a rw\n2 1 0:2 / /b rw - tmpfs b rw\n3 3 0:3 / / rw - ext4 c rw\n");
  EXPECT_EQ(visible(lines).size(), 3u);
}

TEST_F(BlockDevices, tells_dax_and_the_numa_node_of_an_nvdimm_from_its_region) {
  const std::string pmem = "devices/ndbus0/region1/namespace1.0/block/pmem1";
  device("259:1", pmem);
  file(pmem + "/queue/dax", "1");
  file(pmem + "/queue/rotational", "0");
  file("devices/ndbus0/region1/numa_node", "1");
  file("devices/ndbus0/numa_node", "7");
  const Device found = device_of(root_, "259:1");
  EXPECT_TRUE(found.dax);
  EXPECT_FALSE(found.nvme);
  EXPECT_EQ(found.numa_node, 1);
}

TEST_F(BlockDevices, follows_a_partition_to_its_disk) {
  const std::string disk = "devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1";
  device("259:3", disk + "/nvme0n1p2");
  file(disk + "/nvme0n1p2/partition", "2");
  file(disk + "/queue/dax", "0");
  file(disk + "/queue/rotational", "0");
  file("devices/pci0000:80/0000:80:01.0/numa_node", "1");
  const Device found = device_of(root_, "259:3");
  EXPECT_FALSE(found.dax);
  EXPECT_TRUE(found.nvme);
  EXPECT_EQ(found.numa_node, 1);
}

TEST_F(BlockDevices, takes_minus_one_for_no_numa_node) {
  const std::string disk = "devices/pci0/virtio0/block/vda";
  device("254:0", disk);
  file("devices/pci0/numa_node", "-1");
  EXPECT_FALSE(device_of(root_, "254:0").numa_node);
}

TEST_F(BlockDevices, calls_a_volume_nvme_only_if_all_its_disks_are) {
  const std::string one = "devices/pci1/nvme/nvme0/nvme0n1", two = "devices/pci2/nvme/nvme1/nvme1n1",
                    slow = "devices/pci3/ata1/block/sda", volume = "devices/virtual/block/dm-0";
  for (const std::string& disk : {one, two}) file(disk + "/queue/rotational", "0");
  file(slow + "/queue/rotational", "1");
  file(two + "/nvme1n1p1/partition", "1");
  file("devices/pci1/numa_node", "0");
  file("devices/pci2/numa_node", "1");
  device("253:0", volume);
  const auto slave = [&](const std::string& name, const std::string& target) {
    std::filesystem::create_directories(root_ + "/" + volume + "/slaves");
    std::filesystem::create_symlink(root_ + "/" + target, root_ + "/" + volume + "/slaves/" + name);
  };
  slave("nvme0n1", one);
  EXPECT_TRUE(device_of(root_, "253:0").nvme);
  EXPECT_EQ(device_of(root_, "253:0").numa_node, 0);
  slave("nvme1n1p1", two + "/nvme1n1p1");
  EXPECT_TRUE(device_of(root_, "253:0").nvme);
  EXPECT_FALSE(device_of(root_, "253:0").numa_node) << "striped over two sockets";
  slave("sda", slow);
  EXPECT_FALSE(device_of(root_, "253:0").nvme);
}

TEST_F(BlockDevices, knows_nothing_of_a_device_that_is_not_there) {
  const Device found = device_of(root_, "0:99");
  EXPECT_FALSE(found.dax || found.nvme || found.numa_node);
  EXPECT_FALSE(device_of(root_ + "/missing", "0:99").dax);
}

TEST_F(BlockDevices, makes_fsdax_mounts_of_dax_devices_mounted_with_dax_only) {
  device("259:0", "devices/ndbus0/region0/pmem0");
  file("devices/ndbus0/region0/pmem0/queue/dax", "1");
  device("8:0", "devices/pci0/sda");
  file("devices/pci0/sda/queue/dax", "0");
  const auto lines = parse_mountinfo(
      "1 0 8:0 / / rw - ext4 /dev/sda rw\n"
      "2 1 259:0 / /mnt/always rw - ext4 /dev/pmem0 rw,dax=always\n"
      "3 1 259:0 / /mnt/old rw - xfs /dev/pmem0 rw,attr2,dax\n"
      "4 1 259:0 / /mnt/inode rw - ext4 /dev/pmem0 rw,dax=inode\n"
      "5 1 259:0 / /mnt/never rw - ext4 /dev/pmem0 rw\n"
      "6 1 8:0 / /mnt/sda rw - ext4 /dev/sda rw,dax=always\n");
  const auto mounts = storage_mounts(lines, root_, [](const std::string&) { return Space{2, 1, true}; });
  ASSERT_EQ(mounts.size(), 6u);
  for (const Mount& mount : mounts) {
    const bool expected = mount.path == "/mnt/always" || mount.path == "/mnt/old";
    EXPECT_EQ(mount.dax, expected) << mount.path;
    EXPECT_EQ(mount.medium, expected ? Medium::fsdax : Medium::file) << mount.path;
  }
}

TEST_F(BlockDevices, never_measures_network_file_systems) {
  const auto lines = parse_mountinfo(
      "1 0 0:1 / / rw - overlay overlay rw\n"
      "2 1 0:2 / /n1 rw - nfs4 server:/ rw\n"
      "3 1 0:3 / /n2 rw - lustre 10.0.0.1@o2ib:/fs rw\n"
      "4 1 0:4 / /n3 rw - fuse.glusterfs server:vol rw\n"
      "5 1 0:5 / /n4 rw - fuse.sshfs server: rw\n"
      "6 1 0:6 / /n5 rw - gpfs gpfs0 rw\n"
      "7 1 8:1 / /n6 rw - gfs2 /dev/sdb1 rw\n"
      "8 1 0:7 / /n7 rw - somethingnew x rw\n"
      "9 1 0:8 / /proc rw - proc proc rw\n"
      "10 1 0:9 / /dev/shm rw - tmpfs tmpfs rw,size=1g,huge=within_size\n"
      "11 1 0:10 / /ro ro,noexec - tmpfs tmpfs rw\n"
      "12 1 0:11 / /ro2 rw - ext4 /dev/x ro\n");
  std::vector<std::string> measured;
  const auto mounts = storage_mounts(lines, root_, [&](const std::string& path) {
    measured.push_back(path);
    return Space{2, 1, true};
  });
  EXPECT_EQ(measured, (std::vector<std::string>{"/", "/dev/shm", "/ro", "/ro2"}));
  ASSERT_EQ(mounts.size(), 11u) << "all but /proc";
  for (const Mount& mount : mounts) EXPECT_EQ(mount.node_local, !mount.path.starts_with("/n")) << mount.path;
  EXPECT_EQ(mounts[8].medium, Medium::tmpfs);
  EXPECT_EQ(mounts[8].huge, "within_size");
  EXPECT_TRUE(mounts[8].writable);
  EXPECT_TRUE(mounts[8].executable);
  EXPECT_FALSE(mounts[9].writable);
  EXPECT_FALSE(mounts[9].executable);
  EXPECT_FALSE(mounts[10].writable);
}

TEST(MeasureMount, tells_the_size_of_a_directory_and_whether_it_can_be_written) {
  const Space space = measure_mount(::testing::TempDir());
  EXPECT_TRUE(space.writable);
  EXPECT_GT(space.total, 0u);
  EXPECT_LE(space.available, space.total);
  EXPECT_FALSE(measure_mount("/no/such").writable);
  EXPECT_FALSE(measure_mount("/proc/self/mountinfo").writable) << "a file, as containers mount them";
}

}  // namespace
}  // namespace forebay::node
