// A directory of the test's own, removed at its end.
#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/base.h"

namespace forebay {

class Scratch {
 public:
  explicit Scratch(const std::string& where = "/dev/shm") : path_(where + "/forebay-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "cannot make a directory in " << where;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { (void)remove_tree(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A tmpfs of the test's own on such a directory, for tests of full and read-only media; needs the right to mount.
class SmallTmpfs {
 public:
  SmallTmpfs(unsigned long flags, const char* options)
      : mounted_(::mount("tmpfs", scratch_.path().c_str(), "tmpfs", flags, options) == 0) {}
  SmallTmpfs(const SmallTmpfs&) = delete;
  SmallTmpfs& operator=(const SmallTmpfs&) = delete;
  ~SmallTmpfs() {
    if (mounted_) ::umount2(scratch_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::string& path() const { return scratch_.path(); }

 private:
  Scratch scratch_{"/tmp"};
  bool mounted_;
};

}  // namespace forebay
