// Proves: programs in Python run in the first interpreter that can run them, of that which is named and those of PATH.
#include "base/python.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace forebay {
namespace {

class PythonTest : public testing::Test {
 protected:
  PythonTest() {
    std::string name = testing::TempDir() + "python-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    ::unsetenv("FOREBAY_PYTHON");
  }
  ~PythonTest() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("FOREBAY_PYTHON");
    std::filesystem::remove_all(directory_);
  }

  // An interpreter that has these modules.
  std::string python(const std::string& name, const std::string& modules) {
    const std::string above = directory_ + "/" + name, file = above + "/python3";
    std::filesystem::create_directory(above);
    std::ofstream(file) << "#!/bin/sh\nfor module in " << modules
                        << "; do case \"$2\" in *\"'$module'\"*) exit 0 ;; esac; done; exit 1\n";
    ::chmod(file.c_str(), 0755);
    return file;
  }
  void set_path(const std::string& names) {
    std::string all;
    for (const char name : names) all += (all.empty() ? "" : ":") + directory_ + "/" + name;
    ::setenv("PATH", (all + ":").c_str(), 1);
  }

  std::string directory_;
  const std::string path_ = std::getenv("PATH");
};

TEST_F(PythonTest, IsTheFirstOfPathThatIsNewEnoughAndSaysWhich) {
  const std::string old = python("a", "numpy"), young = python("b", "tomllib"), younger = python("c", "tomllib");
  set_path("abc");
  testing::internal::CaptureStderr();
  EXPECT_EQ(find_python().value_or("none"), young);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(young + ", since " + old + " has no module tomllib"), std::string::npos) << said;
  set_path("cba");
  testing::internal::CaptureStderr();
  EXPECT_EQ(find_python().value_or("none"), younger);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(PythonTest, IsTheOneThatTheVariableNames) {
  const std::string named = python("a", "tomllib"), other = python("b", "tomllib");
  set_path("b");
  ::setenv("FOREBAY_PYTHON", named.c_str(), 1);
  EXPECT_EQ(find_python().value_or("none"), named);
  // It has gone now, as when its virtual environment was removed.
  std::filesystem::remove(named);
  EXPECT_EQ(find_python().value_or("none"), other);
}

TEST_F(PythonTest, HasTheFirstModuleThatAnyHas) {
  const std::string some = python("a", "numpy"), all = python("b", "numpy meshio");
  set_path("ab");
  EXPECT_EQ(find_python({"meshio", "numpy"}).value_or("none"), all);
  set_path("a");
  EXPECT_EQ(find_python({"meshio", "numpy"}).value_or("none"), some);
}

TEST_F(PythonTest, IsMissedByNameAndWithAdvice) {
  const std::string old = python("a", "numpy");
  set_path("a");
  const auto found = find_python();
  ASSERT_FALSE(found);
  for (const std::string& words : {old, std::string("3.11"), std::string("FOREBAY_PYTHON")})
    EXPECT_NE(found.error().text().find(words), std::string::npos) << found.error().text();
  set_path("");
  ASSERT_FALSE(find_python());
  EXPECT_NE(find_python({"numpy"}).error().text().find("install python3-numpy"), std::string::npos);
}

}  // namespace
}  // namespace forebay
