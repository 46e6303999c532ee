// What a test wants /sys to say.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/base.h"

namespace forebay::place {

// A tree like /sys.
class Sysfs : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "sysfs-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    sys_ = pattern;
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(sys_)); }

  void file(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(sys_ + "/" + path).parent_path());
    std::ofstream(sys_ + "/" + path) << content << "\n";
  }

  std::string sys_;
};

}  // namespace forebay::place
