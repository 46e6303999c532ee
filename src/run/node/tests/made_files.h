// The /sys, /proc or whole node that a test wants: a tree of small files of its own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/base.h"

namespace forebay::node {

class MadeFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "made-files-XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(root_)); }

  void file(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << content << "\n";
  }

  std::string root_;
};

}  // namespace forebay::node
