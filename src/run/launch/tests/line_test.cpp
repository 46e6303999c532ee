#include "run/launch/line.h"

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
  EXPECT_TRUE(line.launched());
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
  EXPECT_FALSE(line.launched());
}

TEST(Line, ExecWrittenByHandIsFoundBehindAnyLauncher) {
  const auto line = parse("mylauncher -k 4 forebay exec -- simpleFoam -parallel").value();
  EXPECT_EQ(quoted(line.words), "mylauncher -k 4 /bin/forebay exec -- simpleFoam -parallel");
  EXPECT_EQ(line.programs, Words{"simpleFoam"});
  EXPECT_TRUE(line.launched());
}

TEST(Line, ALauncherIsFoundBehindWhatStartsAnother) {
  const auto line = parse("env MPIEXEC=/usr/bin/mpiexec numactl -m 0 mpirun -n 4 simpleFoam -parallel").value();
  EXPECT_EQ(quoted(line.words),
            "env MPIEXEC=/usr/bin/mpiexec numactl -m 0 mpirun -n 4 /bin/forebay exec -- simpleFoam -parallel");
  EXPECT_EQ(line.launcher, (Words{"mpirun", "-n", "4"}));
  EXPECT_EQ(line.ranks, 4);
  for (const std::string start : {"time -o mpirun.log ", "timeout -k 5 1h ", "taskset -c 0-3 ", "nice -n 5 ", "nohup ",
                                  "numactl -aC 0-3 --cpubind 0 "})
    EXPECT_EQ(parse(start + "srun -n 2 a").value().launcher, (Words{"srun", "-n", "2"})) << start;
}

TEST(Line, AWordThatOnlyLooksLikeALauncherIsNone) {
  for (const std::string line : {"time blockMesh", "time ./Allrun mpirun", "nice simpleFoam -case flux", "env A=1",
                                 "timeout 1h ./solver /data/prun", "./flux -i x", "nice", "taskset"}) {
    const auto parsed = parse(line);
    ASSERT_TRUE(parsed) << line;
    EXPECT_FALSE(parsed->launched()) << line;
    EXPECT_EQ(quoted(parsed->words), "/bin/forebay exec -- " + line);
  }
}

TEST(Line, WhereTheLauncherIsNotKnownTheLineToUseIsShown) {
  for (const std::string start : {"ibrun ", "jsrun -n 4 ", "flux run -n 4 ", "mpirun_mpt -np 4 ", "time aprun -n 4 ",
                                  "charmrun +p4 ", "mpirun --frobnicate "}) {
    const auto line = parse(start + "run -parallel");
    ASSERT_FALSE(line) << start;
    EXPECT_EQ(line.error().code, Code::bad_input);
    EXPECT_NE(line.error().advice.find(start + "forebay exec -- run -parallel"), std::string::npos)
        << line.error().advice;
    EXPECT_TRUE(parse(start + "forebay exec -- run -parallel").value().launched());
  }
  for (const std::string line : {"ibrun -n 4", "/opt/bin/flux", "mpirun_x a : -n 2 b"})
    EXPECT_NE(parse(line).error().advice.find("itself is your program: forebay exec -- " + line), std::string::npos);
  EXPECT_FALSE(parse("/home/me/mpirun_case.sh 4").value().launched());
}

TEST(Line, TheLineToUseHasExecInEveryPart) {
  const auto line = parse("mpirun -k -n 2 simpleFoam -parallel : -n 2 simpleFoam -case /b -parallel : a");
  ASSERT_FALSE(line);
  const std::string shown =
      "mpirun -k -n 2 forebay exec -- simpleFoam -parallel : -n 2 forebay exec -- simpleFoam -case /b -parallel : "
      "forebay exec -- a";
  EXPECT_NE(line.error().advice.find(shown), std::string::npos) << line.error().advice;
  EXPECT_EQ(parse(shown).value().programs, (Words{"simpleFoam", "simpleFoam", "a"}));
}

TEST(Line, ExecWrittenByHandIsReplacedInEveryPart) {
  const auto line =
      parse("mpirun -H n1 -k forebay exec -- a -H no : -H n2 forebay exec --case /c -- b : -n 1 forebay exec -- c")
          .value();
  EXPECT_EQ(
      quoted(line.words),
      "mpirun -H n1 -k /bin/forebay exec -- a -H no : -H n2 /bin/forebay exec -- b : -n 1 /bin/forebay exec -- c");
  EXPECT_EQ(line.programs, (Words{"a", "b", "c"}));
  EXPECT_EQ(line.launcher, (Words{"mpirun", "-H", "n1", "-k", "-H", "n2", "-n", "1"}));
  for (const std::string part : {"forebay exec b", "-n 1 b", "b", "forebay exec --", ""}) {
    EXPECT_FALSE(parse("mpirun -k forebay exec -- a : " + part)) << part;
    EXPECT_FALSE(parse("mpirun " + part + " : -n 2 forebay exec -- a")) << part;
  }
  EXPECT_EQ(quoted(parse("srun forebay exec -- a : b").value().words), "srun /bin/forebay exec -- a : b");
}

TEST(Line, OnlyWhatStandsBeforeTheProgramsIsTheLaunchers) {
  const auto line = parse("mpirun -n 2 -H n1 prog -f input -N 3 : -n 2 -H n2 prog -H no").value();
  EXPECT_EQ(line.launcher, (Words{"mpirun", "-n", "2", "-H", "n1", "-n", "2", "-H", "n2"}));
  EXPECT_EQ(parse("env A=1 srun -N 2 forebay exec -- prog -N 9").value().launcher, (Words{"srun", "-N", "2"}));
  EXPECT_EQ(parse("time -f X other -k forebay exec -- prog").value().launcher, (Words{"other", "-k"}));
  const auto alone = parse("env A=1 forebay exec -- prog").value();
  EXPECT_EQ(quoted(alone.words), "env A=1 /bin/forebay exec -- prog");
  EXPECT_FALSE(alone.launched());
  EXPECT_EQ(alone.ranks, 1);
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
