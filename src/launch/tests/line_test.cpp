#include "launch/line.h"

#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

using Words = std::vector<std::string>;
const Words exec{"/bin/forebay", "exec", "--"};

Words words_of(const std::string& line) {
  Words words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
  return words;
}
Result<LaunchLine> parse(const std::string& line) {
  return insert_exec(words_of(line), exec);
}

TEST(Line, ExecGoesBeforeTheProgram) {
  const auto line = parse("mpirun -n 4 simpleFoam -parallel").value();
  EXPECT_EQ(quoted(line.words), "mpirun -n 4 /bin/forebay exec -- simpleFoam -parallel");
  EXPECT_EQ(line.ranks, 4);
  EXPECT_EQ(line.programs, Words{"simpleFoam"});
  EXPECT_TRUE(line.launched);
}

TEST(Line, OptionsWithArgumentsAreNotTakenForThePrograms) {
  const auto line = parse(
                        "mpirun --oversubscribe -np 2 --mca btl self,vader -x LD_LIBRARY_PATH --map-by ppr:1:numa "
                        "--bind-to=core -H n1,n2 pimpleFoam -parallel")
                        .value();
  EXPECT_EQ(line.programs, Words{"pimpleFoam"});
  EXPECT_EQ(line.ranks, 2);
}

TEST(Line, EveryPartOfAnMpmdLineGetsIt) {
  const auto line = parse("mpirun -n 24 simpleFoam -case /a -parallel : -n 12 simpleFoam -case /b -parallel").value();
  EXPECT_EQ(quoted(line.words),
            "mpirun -n 24 /bin/forebay exec -- simpleFoam -case /a -parallel : -n 12 /bin/forebay exec -- simpleFoam "
            "-case /b -parallel");
  EXPECT_EQ(line.ranks, 36);
}

TEST(Line, HydraIsUnderstood) {
  const auto line =
      parse(
          "mpiexec.hydra -genv OMP_NUM_THREADS 2 -f hosts -ppn 4 -bind-to core -prepend-rank -launcher ssh "
          "-n 8 simpleFoam -parallel")
          .value();
  EXPECT_EQ(line.programs, Words{"simpleFoam"});
  EXPECT_EQ(line.ranks, 8);
  const auto parts = parse("mpiexec -genvall -n 2 simpleFoam -parallel : -env A b -n 2 simpleFoam -parallel").value();
  EXPECT_EQ(quoted(parts.words),
            "mpiexec -genvall -n 2 /bin/forebay exec -- simpleFoam -parallel : -env A b -n 2 /bin/forebay exec -- "
            "simpleFoam -parallel");
  EXPECT_EQ(parts.ranks, 4);
}

TEST(Line, WhereWordsThatAreNoOptionsStandBeforeTheProgramTheLineToUseIsShown) {
  const auto line = parse("mpirun_rsh -np 2 n1 n2 A=1 simpleFoam -parallel");
  ASSERT_FALSE(line);
  EXPECT_NE(line.error().advice.find("forebay exec --"), std::string::npos) << line.error().advice;
  const auto by_hand = parse("mpirun_rsh -np 2 n1 n2 A=1 forebay exec -- simpleFoam -parallel").value();
  EXPECT_EQ(by_hand.programs, Words{"simpleFoam"});
}

TEST(Line, SrunIsUnderstood) {
  const auto line = parse("srun -n8 --mpi=pmix -c 2 -K simpleFoam -parallel").value();
  EXPECT_EQ(line.programs, Words{"simpleFoam"});
  EXPECT_EQ(line.ranks, 8);
}

TEST(Line, AnUnknownOptionIsAnErrorThatShowsTheLineToUse) {
  const auto line = parse("mpirun -n 4 --frobnicate simpleFoam -parallel");
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, Code::bad_input);
  EXPECT_NE(line.error().advice.find("mpirun -n 4 --frobnicate forebay exec -- simpleFoam -parallel"),
            std::string::npos);
}

TEST(Line, ExecWrittenByHandIsKeptInItsPlace) {
  const auto line = parse("mpirun --frobnicate 7 -n 4 forebay exec -- simpleFoam -parallel").value();
  EXPECT_EQ(quoted(line.words), "mpirun --frobnicate 7 -n 4 /bin/forebay exec -- simpleFoam -parallel");
}

TEST(Line, AProgramWithoutALauncherIsRunOnce) {
  const auto line = parse("blockMesh -dict system/x").value();
  EXPECT_EQ(quoted(line.words), "/bin/forebay exec -- blockMesh -dict system/x");
  EXPECT_FALSE(line.launched);
}

TEST(Line, ExecWrittenByHandIsFoundBehindAnyLauncher) {
  const auto line = parse("mylauncher -k 4 forebay exec -- simpleFoam -parallel").value();
  EXPECT_EQ(quoted(line.words), "mylauncher -k 4 /bin/forebay exec -- simpleFoam -parallel");
  EXPECT_EQ(line.programs, Words{"simpleFoam"});
  EXPECT_TRUE(line.launched);
}

TEST(Line, ALauncherWithoutAProgramIsAnError) {
  EXPECT_FALSE(parse("mpirun -n 4"));
  EXPECT_FALSE(insert_exec({}, exec));
}

TEST(Line, QuotingKeepsWordsApart) {
  EXPECT_EQ(quoted({"a b", "it's", "", "plain"}), "'a b' 'it'\\''s' '' plain");
}

}  // namespace
}  // namespace forebay::launch
