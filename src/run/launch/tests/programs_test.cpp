// Which program of a run began a time.
#include "run/launch/programs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "run/launch/stability.h"

namespace forebay::launch {
namespace {

ProgramAtWork at_work(const std::string& name, std::size_t processes, double age = 0, bool filters = false) {
  ProgramAtWork program{name, {}, age, filters};
  for (std::size_t i = 0; i < processes; ++i) program.processes.push_back(static_cast<pid_t>(i + 1));
  return program;
}

std::string name_of(const ProgramAtWork* program) {
  return program == nullptr ? "" : program->name;
}

TEST(WriterOfTimes, InRanksDirectoriesIsWhoHasAsManyProcesses) {
  EXPECT_EQ(name_of(writer_of({at_work("tee", 1, 0, true), at_work("simpleFoam", 4, 0, true)}, 4)), "simpleFoam");
  EXPECT_EQ(name_of(writer_of({at_work("decomposePar", 1)}, 4)), "") << "it writes for ranks, and is none";
  EXPECT_EQ(name_of(writer_of({at_work("a", 4), at_work("b", 4)}, 4)), "") << "one or the other";
  EXPECT_EQ(name_of(writer_of({}, 4)), "");
}

TEST(WriterOfTimes, InTheCaseIsTheOnlyOneButForWhoReadsWhatItPrints) {
  EXPECT_EQ(name_of(writer_of({at_work("icoFoam", 1)}, 0)), "icoFoam");
  EXPECT_EQ(name_of(writer_of({at_work("icoFoam", 1), at_work("tee", 1, 0, true)}, 0)), "icoFoam");
  EXPECT_EQ(name_of(writer_of({at_work("icoFoam", 1), at_work("sleep", 1)}, 0)), "");
  EXPECT_EQ(name_of(writer_of({at_work("cs_solver", 4)}, 0)), "cs_solver") << "its ranks write together";
}

// The programs at work, and whether they still are.
struct Node {
  std::vector<ProgramAtWork> programs;
  bool alive = true;
  int looks = 0;
  TimeWriters writers{[this] {
                        ++looks;
                        return programs;
                      },
                      [this](const ProgramAtWork&) { return alive; }};

  std::string writer(std::size_t ranks, double when, double now) {
    const auto found = writers.of(ranks, when, now);
    return found ? found->name : "";
  }
};

TEST(TimeWriters, WhoIsAtWorkIsLookedForOnceAProgram) {
  Node node{{at_work("simpleFoam", 4, 2)}};
  for (int time = 1; time <= 100; ++time) EXPECT_EQ(node.writer(4, 10 + time, 10 + time), "simpleFoam");
  EXPECT_EQ(node.looks, 1);
}

TEST(TimeWriters, ATimeThatIsOlderThanItsProgramIsTheOneBefores) {
  Node node{{at_work("potentialFoam", 4, 2)}};
  EXPECT_EQ(node.writer(4, 10, 10), "potentialFoam");
  node.alive = false;
  node.programs = {at_work("simpleFoam", 4, 1)};
  EXPECT_EQ(node.writer(4, 18, 20), "potentialFoam") << "noticed when simpleFoam was at work, since 19";
  node.alive = true;
  EXPECT_EQ(node.writer(4, 19.5, 20), "simpleFoam");
  EXPECT_EQ(node.writer(4, 1, 20), "") << "before either";
}

TEST(TimeWriters, AProgramThatHasEndedUnseenHasNoName) {
  Node node{{}, false};
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(node.writer(0, 5 + 0.01 * i, 5 + 0.01 * i), "");
  EXPECT_LT(node.looks, 20) << "in vain ever more rarely";
  EXPECT_GT(node.looks, 8);
}

TEST(TimeWriters, AShortProgramIsMetBeforeItsTimesAreNoticed) {
  Node node{{at_work("simpleFoam", 4, 0.5)}};
  node.writers.meet(4, 1);
  node.alive = false;
  node.programs.clear();
  EXPECT_EQ(node.writer(4, 1.5, 3), "simpleFoam");
  EXPECT_EQ(node.writer(0, 1.5, 3), "") << "of times in the case nobody is known";
}

TEST(TimeWriters, RanksThatComeOneAfterTheOtherAreAllOfIt) {
  Node node{{at_work("simpleFoam", 1, 0.5)}};
  node.writers.meet(1, 1);
  node.programs = {at_work("simpleFoam", 4, 1)};
  const auto writer = node.writers.of(4, 1.4, 1.5);
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->processes, 4u);
  EXPECT_EQ(writer->began, 0.5);
}

TEST(ProgramsAtWork, AreTheProcessesWithoutChildrenByTheirNames) {
  const std::vector<ProgramAtWork> programs = programs_at_work({::getpid()});
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs.front().name, "launch_test");
  EXPECT_EQ(programs.front().processes, std::vector{::getpid()});
  EXPECT_GE(programs.front().age, 0);
  EXPECT_LT(programs.front().age, 3600);
  EXPECT_TRUE(is_alive(programs.front()));
}

class SteadinessTest : public testing::Test {
 protected:
  void begin(const std::string& time, double seconds, std::size_t ranks, const std::string& name, double began = 0) {
    steadiness.sample(now += seconds, {}, 0, false);
    const TimeWriters::Writer writer{name, name == "decomposePar" ? 1 : std::max<std::size_t>(ranks, 1), began};
    steadiness.begun(name.empty() ? std::nullopt : std::optional(writer), {time, now, false, ranks});
  }
  Steadiness steadiness;
  double now = 0;
};

TEST_F(SteadinessTest, OfAScriptTheSolverOnRanksIsToldAndNotWhoWroteMoreTimesAfterIt) {
  for (int time = 1; time <= 5; ++time) begin(std::to_string(time), 2, 4, "simpleFoam");
  for (int time = 1; time <= 50; ++time) begin(std::to_string(time), 0.1, 0, "reconstructPar");
  const StabilityReport report = steadiness.report();
  EXPECT_EQ(report.program, "simpleFoam");
  EXPECT_EQ(report.ranks, 4u);
  EXPECT_EQ(report.steps, 4u);
  EXPECT_DOUBLE_EQ(report.mean, 2);
  EXPECT_NEAR(report.course.back().end, now, 1e-9) << "the course is that of the whole run";
  const StabilityReport pace = steadiness.pace();
  EXPECT_EQ(pace.program, "simpleFoam");
  EXPECT_EQ(pace.steps, 4u);
  EXPECT_DOUBLE_EQ(pace.mean, 2);
  EXPECT_TRUE(pace.course.empty()) << "it is told each second";
}

TEST_F(SteadinessTest, WhereNobodyKnowsWhoWroteOnRanksNobodysIsTold) {
  for (int time = 1; time <= 5; ++time) begin(std::to_string(time), 2, 4, "");
  for (int time = 1; time <= 5; ++time) begin(std::to_string(time), 0.1, 0, "reconstructPar");
  EXPECT_EQ(steadiness.report().program, "");
  EXPECT_EQ(steadiness.report().steps, 0u);
  EXPECT_NEAR(steadiness.report().course.back().end, now, 1e-9);
}

TEST_F(SteadinessTest, OneProcessThatWritesForAllRanksIsNotTheirProgram) {
  begin("1", 1, 1, "decomposePar");  // the others' directories are still to come
  for (int time = 2; time <= 5; ++time) begin(std::to_string(time), 1, 4, "decomposePar");
  EXPECT_EQ(steadiness.report().program, "");
}

TEST_F(SteadinessTest, WithoutRanksItIsTheProgramThatWroteMost) {
  for (int time = 1; time <= 3; ++time) begin(std::to_string(time), 0.1, 0, "moveMesh");
  for (int time = 4; time <= 9; ++time) begin(std::to_string(time), 1, 0, "icoFoam");
  EXPECT_EQ(steadiness.report().program, "icoFoam");
  EXPECT_EQ(steadiness.report().steps, 5u) << "what lies between two programs is none";
}

TEST_F(SteadinessTest, ASecondRunOfTheSameProgramBeginsAnew) {
  for (int time = 1; time <= 3; ++time) begin(std::to_string(time), 1, 4, "simpleFoam", 0);
  for (int time = 4; time <= 6; ++time) begin(std::to_string(time), time == 4 ? 60 : 1, 4, "simpleFoam", 62);
  EXPECT_EQ(steadiness.report().steps, 4u);
  EXPECT_DOUBLE_EQ(steadiness.report().longest, 1);
}

TEST_F(SteadinessTest, WhatAnUnknownProgramWroteInBetweenIsNoStep) {
  begin("1", 1, 4, "simpleFoam");
  begin("2", 1, 4, "");
  begin("3", 1, 4, "simpleFoam");
  begin("4", 1, 4, "simpleFoam");
  EXPECT_EQ(steadiness.report().steps, 1u);
}

TEST_F(SteadinessTest, AScriptOfManyProgramsIsBounded) {
  for (int program = 0; program < 100; ++program)
    for (int time = 0; time < (program == 50 ? 10 : 2); ++time)
      begin(std::to_string(100 * program + time), 1, 0, "program" + std::to_string(program), program);
  EXPECT_EQ(steadiness.report().program, "program50");
}

}  // namespace
}  // namespace forebay::launch
