#include "run/launch/several_nodes.h"

#include <gtest/gtest.h>

#include "run/launch/tests/marked_case.h"

namespace forebay::launch {
namespace {

std::optional<int> nodes(const std::string& line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
  return nodes_in(words);
}

TEST(SeveralNodesTest, HostListsTellTheNumberOfNodes) {
  EXPECT_EQ(nodes("mpirun --host n1:2,n2:2 -n 4 prog"), 2);
  EXPECT_EQ(nodes("mpirun -H n1,n1,n1 prog"), 1);
  EXPECT_EQ(nodes("mpiexec -hosts=n1 -n 4 prog"), std::nullopt) << "no launcher writes it so";
  EXPECT_EQ(nodes("mpiexec --host=n1,n2,n3 prog"), 3);
}

TEST(SeveralNodesTest, SlurmsNodeCountIsRead) {
  EXPECT_EQ(nodes("srun -N 2 -n 4 prog"), 2);
  EXPECT_EQ(nodes("srun -N2 prog"), 2);
  EXPECT_EQ(nodes("srun --nodes=2-4 prog"), 2);
  EXPECT_EQ(nodes("mpirun -N 2 prog"), std::nullopt) << "there it is ranks per node";
}

TEST(SeveralNodesTest, ALineThatDoesNotTellGivesNothing) {
  EXPECT_EQ(nodes("mpirun -n 4 prog"), std::nullopt);
  EXPECT_EQ(nodes_in({}), std::nullopt);
}

using ClaimTest = MarkedCase;

TEST_F(ClaimTest, TheSameNodeMayClaimAgainAnotherMayNot) {
  ASSERT_TRUE(claim_case(plan, clock));
  EXPECT_TRUE(claim_case(plan, clock));
  ASSERT_TRUE(replace_file(join(control_directory(plan.case_path), "sole-node"), "elsewhere"));
  const auto refused = claim_case(plan, clock);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::bad_input);
  EXPECT_NE(refused.error().text().find("elsewhere"), std::string::npos) << refused.error().text();
  EXPECT_NE(refused.error().text().find("stage.direct"), std::string::npos) << refused.error().text();
}

TEST_F(ClaimTest, TheNameThatAnotherNodeIsAboutToWriteIsWaitedFor) {
  const std::string mark = join(control_directory(plan.case_path), "sole-node");
  ASSERT_TRUE(replace_file(mark, ""));
  int waits = 0;
  clock.while_asleep = [&] {
    if (++waits == 3) {
      EXPECT_TRUE(replace_file(mark, "elsewhere"));
    }
  };
  EXPECT_NE(claim_case(plan, clock).error().text().find("elsewhere"), std::string::npos);
  EXPECT_EQ(waits, 3);
  ASSERT_TRUE(replace_file(mark, ""));
  clock.while_asleep = {};
  const auto before = clock.now();
  EXPECT_FALSE(claim_case(plan, clock)) << "it never comes";
  EXPECT_EQ(clock.now() - before, std::chrono::seconds(1));
}

TEST_F(ClaimTest, ARefusalNamesTheDirectoriesThatTheProgramIsKnownToWriteTogether) {
  plan.written_together = {"checkpoint", "postprocessing"};
  const Error refused = too_many_nodes("2 nodes", plan).value();
  EXPECT_NE(refused.text().find("--direct checkpoint --direct postprocessing"), std::string::npos) << refused.text();
}

TEST_F(ClaimTest, DirectDirectoriesAreMadeWhereTheyAreMissingAndFilesAreRefused) {
  plan.settings.stage.direct = {"deep/down", "any*"};
  ASSERT_TRUE(check_direct_directories(plan));
  ASSERT_TRUE(make_direct_directories(plan));
  EXPECT_TRUE(list_directory(join(plan.case_path, "deep/down")));
  EXPECT_FALSE(list_directory(join(plan.case_path, "any*"))) << "a pattern is no name";
  ASSERT_TRUE(make_direct_directories(plan)) << "what is there stays";
  ASSERT_TRUE(replace_file(join(plan.case_path, "deep/file"), "content"));
  plan.settings.stage.direct = {"deep/file"};
  const auto refused = check_direct_directories(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::bad_input);
}

TEST_F(ClaimTest, DecomposedCasesAndDirectDirectoriesMayHaveSeveralNodes) {
  EXPECT_TRUE(needs_one_node(plan));
  plan.settings.stage.direct = {"results"};
  EXPECT_FALSE(needs_one_node(plan));
  plan.settings.stage.direct.clear();
  plan.decomposed = true;
  EXPECT_FALSE(needs_one_node(plan));
}

}  // namespace
}  // namespace forebay::launch
