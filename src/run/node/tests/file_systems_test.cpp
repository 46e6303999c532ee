#include "run/node/file_systems.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace forebay::node {
namespace {

std::string text(const std::optional<Spot>& spot) {
  return spot ? spot->device + " " + spot->path : "nowhere";
}

TEST(Spots, are_places_on_file_systems_wherever_these_are_mounted) {
  const auto mounts =
      visible(parse_mountinfo("1 0 8:1 / / rw - ext4 a rw\n"
                              "2 1 0:26 / /dev/shm rw - tmpfs b rw\n"
                              "3 1 0:26 /run/tree /home/case rw - tmpfs b rw\n"
                              "4 3 0:40 / /home/case/dead rw - nfs c rw\n"));
  EXPECT_EQ(text(spot_of("/", mounts)), "8:1 /");
  EXPECT_EQ(text(spot_of("/etc", mounts)), "8:1 /etc");
  EXPECT_EQ(text(spot_of("/dev/shm", mounts)), "0:26 /");
  EXPECT_EQ(text(spot_of("/dev/shm/run/tree/0", mounts)), "0:26 /run/tree/0");
  EXPECT_EQ(text(spot_of("/home/case", mounts)), "0:26 /run/tree");
  EXPECT_EQ(text(spot_of("/home/case/0/U (deleted)", mounts)), "0:26 /run/tree/0/U (deleted)");
  EXPECT_EQ(text(spot_of("/home/cases", mounts)), "8:1 /home/cases");
  EXPECT_EQ(text(spot_of("/home/case/dead/x", mounts)), "0:40 /x") << "not the tree's, though it lies in it";
  EXPECT_EQ(text(spot_of("(unreachable)/x", mounts)), "nowhere");
}

TEST(Spots, lie_below_others_of_their_file_system_only) {
  EXPECT_TRUE(lies_below({"0:26", "/run/tree/0"}, {"0:26", "/run/tree"}));
  EXPECT_FALSE(lies_below({"0:27", "/run/tree/0"}, {"0:26", "/run/tree"}));
  EXPECT_FALSE(lies_below({"0:26", "/run/trees"}, {"0:26", "/run/tree"}));
}

TEST(FileSystems, tell_where_a_process_works_and_what_its_files_lie_on) {
  FileSystems systems;
  const std::string here = real_path(".").value_or("");
  EXPECT_EQ(text(systems.working_directory(::getpid())), text(systems.spot_of(here)));
  const Descriptor file(::open(".", O_PATH | O_CLOEXEC));
  EXPECT_EQ(systems.device_of_open(::getpid(), file.get()), systems.spot_of(here)->device);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Descriptor in(ends[0]), out(ends[1]);
  EXPECT_EQ(systems.device_of_open(::getpid(), in.get()), "") << "a pipe";
  EXPECT_EQ(systems.device_of_open(::getpid(), 12345), "") << "none is open";
}

TEST(Mounts, behind_another_nodes_file_system_may_not_answer) {
  const auto lines = parse_mountinfo(
      "1 0 0:20 / / rw - nfs root rw\n"
      "2 1 0:21 / /home rw - nfs4 server rw\n"
      "3 2 0:22 / /home/u/local rw - xfs /dev/nvme0n1 rw\n"
      "4 1 0:23 / /tmp rw - tmpfs tmpfs rw\n"
      "5 1 0:24 / /net rw - autofs map rw\n"
      "6 5 0:25 / /net/scratch rw - ext4 /dev/sda rw\n");
  EXPECT_TRUE(lies_behind_others("/home/u/local", lines));
  EXPECT_TRUE(lies_behind_others("/net/scratch", lines));
  EXPECT_FALSE(lies_behind_others("/tmp", lines)) << "a node without a disk has its root elsewhere";
  EXPECT_FALSE(lies_behind_others("/home", lines)) << "at it, not behind it";
}

}  // namespace
}  // namespace forebay::node
