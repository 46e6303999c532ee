// A Lustre file system as far as its command `lfs` goes.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "base/tests/scratch.h"

namespace forebay::blocks {

// A variable of the environment while a test runs.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_.empty()) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, old_.c_str(), 1);
    }
  }

 private:
  const char* name_;
  std::string old_;
};

// An `lfs` that writes down what it was asked, and exits as told.
class FakeLustre {
 public:
  explicit FakeLustre(int exit_status) : path_("PATH", scratch_.path() + ":" + std::getenv("PATH")) {
    const std::string lfs = join(scratch_.path(), "lfs");
    const auto written =
        replace_file(lfs, "#!/bin/sh\necho \"$@\" > " + asked_path() + "\nexit " + std::to_string(exit_status) + "\n");
    EXPECT_TRUE(written);
    EXPECT_EQ(::chmod(lfs.c_str(), 0700), 0);
  }
  std::string asked() const { return read_file(asked_path()).value_or("nothing"); }

 private:
  std::string asked_path() const { return join(scratch_.path(), "asked"); }
  Scratch scratch_;
  Variable path_;
};

}  // namespace forebay::blocks
