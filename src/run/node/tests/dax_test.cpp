#include "run/node/observe.h"

#include <sys/stat.h>

#include "run/node/tests/made_files.h"

namespace forebay::node {
namespace {

class DaxDevices : public MadeFiles {
 protected:
  // As the kernel lays it out: the device below its region, an entry on the bus, a link to its driver.
  void device(const std::string& name, const std::string& region, const std::string& bytes, const std::string& driver) {
    const std::string directory = "devices/ndbus0/" + region + "/dax/" + name;
    file(directory + "/size", bytes);
    std::filesystem::create_directories(root_ + "/bus/dax/devices");
    std::filesystem::create_directories(root_ + "/bus/dax/drivers/" + driver);
    std::filesystem::create_symlink("../../../" + directory, root_ + "/bus/dax/devices/" + name);
    std::filesystem::create_symlink(root_ + "/bus/dax/drivers/" + driver, root_ + "/" + directory + "/driver");
  }
  std::vector<DaxDevice> found() const { return dax_devices(root_, root_ + "/dev"); }
};

TEST_F(DaxDevices, are_found_with_their_size_and_numa_node) {
  device("dax1.0", "region1", "540952297472", "device_dax");
  device("dax0.0", "region0", "126833655808", "device_dax");
  file("devices/ndbus0/region0/numa_node", "0");
  file("devices/ndbus0/region1/numa_node", "-1");
  for (const char* name : {"dev/dax0.0", "dev/dax1.0"}) file(name, "");
  const auto devices = found();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].path, root_ + "/dev/dax0.0");
  EXPECT_EQ(devices[0].bytes, 126833655808u);
  EXPECT_EQ(devices[0].numa_node, 0);
  EXPECT_EQ(devices[0].why_not, "");
  EXPECT_EQ(devices[1].bytes, 540952297472u);
  EXPECT_FALSE(devices[1].numa_node) << "-1 means none";
}

TEST_F(DaxDevices, say_why_they_cannot_be_used) {
  device("dax0.0", "region0", "1", "kmem");
  device("dax1.0", "region1", "1", "device_dax");
  device("dax2.0", "region2", "1", "device_dax");
  file("dev/dax0.0", "");
  file("dev/dax2.0", "");
  ::chmod((root_ + "/dev/dax2.0").c_str(), 0444);
  const auto devices = found();
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].why_not, "the kernel uses it as memory");
  EXPECT_NE(devices[1].why_not.find("no such file"), std::string::npos) << devices[1].why_not;
  if (::geteuid() != 0) {
    EXPECT_EQ(devices[2].why_not, "this user cannot read and write it");
  }
}

TEST_F(DaxDevices, are_found_in_dev_where_the_kernel_has_no_bus_of_them) {
  file("dev/dax0.0", "");
  file("dev/null", "");
  const auto devices = found();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].path, root_ + "/dev/dax0.0");
  EXPECT_EQ(devices[0].bytes, 0u);
  EXPECT_FALSE(devices[0].numa_node);
}

TEST_F(DaxDevices, are_none_on_most_machines) {
  EXPECT_TRUE(found().empty());
}

}  // namespace
}  // namespace forebay::node
