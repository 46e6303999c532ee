#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

using Groups = std::map<int, std::string>;
constexpr const char* variables[] = {"FOAM_FILEHANDLER", "FOAM_IORANKS", "WM_PROJECT_DIR"};

class WrittenGroupsTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-openfoam-XXXXXX";
    directory_ = mkdtemp(pattern);
    for (const char* name : variables) ::unsetenv(name);
    make_control("case/system", "application icoFoam;");
  }
  void TearDown() override {
    for (const char* name : variables) ::unsetenv(name);
    std::filesystem::remove_all(directory_);
  }
  void make_control(const std::string& in, std::string_view text) {
    std::filesystem::create_directories(join(directory_, in));
    ASSERT_TRUE(replace_file(join(join(directory_, in), "controlDict"), text));
  }
  Groups groups(const std::vector<std::string>& words, int ranks = 4) const {
    return written_groups(words, join(directory_, "case"), ranks);
  }
  std::string directory_;
  const std::vector<std::string> plain_ = {"mpirun", "-n", "4", "icoFoam", "-parallel"};
};

TEST_F(WrittenGroupsTest, EachRankWritesToItsOwnDirectoryWhereNothingAsksForGroups) {
  EXPECT_EQ(groups(plain_), Groups());
  EXPECT_EQ(groups({"icoFoam", "-parallel", "-fileHandler", "masterUncollated"}), Groups());
  EXPECT_EQ(groups({"icoFoam", "-fileHandler"}), Groups());
}

TEST_F(WrittenGroupsTest, TheCommandTheEnvironmentAndTheInstallationAskForThem) {
  const Groups one{{0, "processors4"}};
  EXPECT_EQ(groups({"icoFoam", "-parallel", "-fileHandler", "collated"}), one);
  ::setenv("FOAM_FILEHANDLER", "collated", 1);
  EXPECT_EQ(groups(plain_), one);
  EXPECT_EQ(groups({"icoFoam", "-fileHandler", "uncollated"}), Groups()) << "the command says otherwise";
  ::unsetenv("FOAM_FILEHANDLER");
  make_control("of/etc", "OptimisationSwitches { fileModificationSkew 10; fileHandler collated; }");
  ::setenv("WM_PROJECT_DIR", join(directory_, "of").c_str(), 1);
  EXPECT_EQ(groups(plain_), one);
}

TEST_F(WrittenGroupsTest, TheCaseHasTheLastWord) {
  make_control("case/system",
               "// OptimisationSwitches { fileHandler uncollated; }\nfunctions { a { fileHandler uncollated; } }\n"
               "OptimisationSwitches\n{\n    \"commsType\" nonBlocking;\n    fileHandler  collated; // here\n}\n"
               "endTime 1;");
  EXPECT_EQ(groups({"icoFoam", "-fileHandler", "uncollated"}, 2), (Groups{{0, "processors2"}}));
  make_control("case/system", "#include \"more\"\nOptimisationSwitches { fileHandler collated; }");
  EXPECT_EQ(groups(plain_, 2), (Groups{{0, "processors2"}}));
  make_control("case/system", "#if 0\nOptimisationSwitches { fileHandler collated; }\n#endif\n");
  EXPECT_EQ(groups(plain_, 2), Groups()) << "nobody knows";
  make_control("case/system", "OptimisationSwitches { fileHandler uncollated; }");
  EXPECT_EQ(groups({"icoFoam", "-fileHandler", "collated"}, 2), Groups());
}

TEST_F(WrittenGroupsTest, TheFirstRanksOfGroupsComeFromTheEnvironment) {
  const std::vector<std::string> words{"icoFoam", "-parallel", "-fileHandler", "collated"};
  ::setenv("FOAM_IORANKS", "(0 2)", 1);
  EXPECT_EQ(groups(words), (Groups{{0, "processors4_0-1"}, {2, "processors4_2-3"}}));
  ::setenv("FOAM_IORANKS", "(3 1)", 1);
  EXPECT_EQ(groups(words), (Groups{{0, "processors4_0-0"}, {1, "processors4_1-2"}, {3, "processors4_3-3"}}));
  ::setenv("FOAM_IORANKS", "3(0 1 3)", 1);
  EXPECT_EQ(groups(words), (Groups{{0, "processors4_0-0"}, {1, "processors4_1-2"}, {3, "processors4_3-3"}}));
  ::setenv("FOAM_IORANKS", "(0)", 1);
  EXPECT_EQ(groups(words), (Groups{{0, "processors4"}}));
  ::setenv("FOAM_IORANKS", "(0 9)", 1);
  EXPECT_EQ(groups(words), (Groups{{0, "processors4"}})) << "there is no such rank";
}

}  // namespace
}  // namespace forebay::openfoam
