// Which loader a program names.
#include "run/node/loader.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace forebay::node {
namespace {

class LoaderTest : public testing::Test {
 protected:
  LoaderTest() { std::filesystem::create_directory(directory_); }
  ~LoaderTest() override { std::filesystem::remove_all(directory_); }
  std::string made(const std::string& name, const std::string& bytes) const {
    std::ofstream(directory_ + "/" + name, std::ios::binary) << bytes;
    return directory_ + "/" + name;
  }
  // No more of an ELF program than names a loader.
  static std::string program_of(const std::string& loader) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    Elf64_Phdr parts[2]{};
    parts[0].p_type = PT_LOAD;
    parts[1].p_type = PT_INTERP;
    parts[1].p_offset = sizeof header + sizeof parts;
    parts[1].p_filesz = loader.size() + 1;
    std::string bytes(sizeof header + sizeof parts, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, parts, sizeof parts);
    return bytes + loader + '\0';
  }
  const std::string directory_ = testing::TempDir() + "forebay-loader-" + std::to_string(::getpid());
};

TEST_F(LoaderTest, IsNamedByTheProgramOrByTheInterpreterOfAScript) {
  const std::string musl = made("program", program_of("/lib/ld-musl-x86_64.so.1"));
  EXPECT_EQ(loader_of(musl), "/lib/ld-musl-x86_64.so.1");
  EXPECT_EQ(loader_of(made("script", "#! " + musl + " -e\necho\n")), "/lib/ld-musl-x86_64.so.1");
  const auto own = loader_of("/proc/self/exe");
  ASSERT_TRUE(own);
  EXPECT_FALSE(is_of_musl(*own));
  EXPECT_TRUE(is_of_musl("/lib/ld-musl-aarch64.so.1"));
  EXPECT_FALSE(is_of_musl("/opt/ld-musl-x/ld-linux-x86-64.so.2"));
}

TEST_F(LoaderTest, IsNoneOfWhatNamesNone) {
  EXPECT_EQ(loader_of(directory_ + "/nothing"), std::nullopt);
  EXPECT_EQ(loader_of(directory_), std::nullopt);
  EXPECT_EQ(loader_of(made("text", "text")), std::nullopt);
  EXPECT_EQ(loader_of(made("cut", program_of("/lib/ld").substr(0, 100))), std::nullopt);
  EXPECT_EQ(loader_of(made("empty", "")), std::nullopt);
  EXPECT_EQ(loader_of(made("round", "#!" + directory_ + "/round\n")), std::nullopt);
  EXPECT_EQ(loader_of(made("short", "#!")), std::nullopt);
}

}  // namespace
}  // namespace forebay::node
