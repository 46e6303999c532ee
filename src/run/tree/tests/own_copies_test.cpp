// Which inputs are copies whatever the way in: programs, and what could not be copied up later.
#include "run/tree/own_copies.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace forebay::tree {
namespace {

using Names = std::set<std::string>;

class OwnCopies : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-copies-XXXXXX";
    case_ = mkdtemp(pattern);
  }
  void TearDown() override {
    ::chmod((case_ + "/closed").c_str(), 0755);
    std::filesystem::remove_all(case_);
  }

  void put(const std::string& path, const std::string& content, mode_t mode) const {
    std::filesystem::create_directories(std::filesystem::path(case_ + "/" + path).parent_path());
    std::ofstream(case_ + "/" + path, std::ios::binary) << content;
    ::chmod((case_ + "/" + path).c_str(), mode);
  }
  Names copies(void (*decide)(const StageRequest&, Inputs&)) const {
    const StageRequest request{case_, "", case_ + ".tree", case_ + ".lower", {}, {}, 1};
    auto inputs = list_inputs(request);
    EXPECT_TRUE(inputs);
    decide(request, *inputs);
    Names names;
    std::uint64_t bytes = 0;
    for (const Entry& entry : inputs->entries)
      if (entry.kind == Kind::copy && names.insert(entry.path).second) bytes += entry.identity.size;
    EXPECT_EQ(inputs->copy_files, names.size());
    EXPECT_EQ(inputs->copy_bytes, bytes);
    return names;
  }

  std::string case_;
};

TEST_F(OwnCopies, ProgramsAndScriptsAreCopiedAndLibrariesAreNot) {
  const std::string elf = "\177ELF and more";
  put("bin/program", elf, 0755);
  put("bin/mine", elf, 0700);
  put("bin/script", "#!/bin/sh\n", 0755);
  put("bin/not-to-be-run", elf, 0644);
  put("bin/text", "text", 0755);
  put("bin/empty", "", 0755);
  put("lib/libword.so", elf, 0755);
  put("lib/libword.so.1", elf, 0755);
  EXPECT_EQ(copies(copy_programs), (Names{"bin/program", "bin/mine", "bin/script"}));
}

TEST_F(OwnCopies, WhatItsWriterMayNotReplaceIsCopied) {
  put("closed/written", "text", 0644);
  put("closed/read", "text", 0444);
  put("usual/written", "text", 0644);
  put("usual/by-all", "text", 0666);
  put("shared/by-all", "text", 0666);
  put("sticky/by-all", "text", 0666);
  ::chmod((case_ + "/closed").c_str(), 0555);
  ::chmod((case_ + "/usual").c_str(), 0755);
  ::chmod((case_ + "/shared").c_str(), 0777);
  ::chmod((case_ + "/sticky").c_str(), 01777);
  const Names expected = ::geteuid() == 0 ? Names{"usual/by-all", "sticky/by-all"} : Names{"closed/written"};
  EXPECT_EQ(copies(copy_what_cannot_be_replaced), expected);
}

}  // namespace
}  // namespace forebay::tree
