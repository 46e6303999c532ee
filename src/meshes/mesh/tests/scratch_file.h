// A file that goes with the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/base.h"

namespace forebay::mesh::test {

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& ending = "") {
    path_ = ::testing::TempDir() + "forebay-mesh-XXXXXX" + ending;
    const int fd = ::mkstemps(path_.data(), static_cast<int>(ending.size()));
    EXPECT_GE(fd, 0) << path_;
    ::close(fd);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { ::unlink(path_.c_str()); }

  const std::string& path() const { return path_; }
  void write(const std::string& content) const { EXPECT_TRUE(replace_file(path_, content)); }

 private:
  std::string path_;
};

}  // namespace forebay::mesh::test
