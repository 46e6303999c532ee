// The run's summary: what it makes of the nodes' reports, and what the user reads of it.
#include "run/launch/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace forebay::launch {
namespace {

NodeReport told_by(const std::string& name, std::vector<int> ranks, std::optional<Code> trouble = {}) {
  NodeReport report;
  report.node = name;
  report.run = "20261121-204600-3f2a";
  report.phase = Phase::done;
  report.ranks = std::move(ranks);
  report.drain.trouble = trouble;
  return report;
}

RunReport run_of(std::vector<NodeReport> nodes, int program_status = 0) {
  RunReport report;
  report.case_path = "/shared/motorBike";
  report.run = "20261121-204600-3f2a";
  report.command = "mpirun -n 4 simpleFoam -parallel";
  report.program_status = program_status;
  report.nodes = std::move(nodes);
  report.ranks = 4;
  summarise(report, false, 4);
  return report;
}

TEST(RunReportTest, WhatIsOnlyLocalOnOneNodeIsNotHiddenBehindTheTroubleOfAnother) {
  const std::vector<Code> by_gravity{Code::lost, Code::undrained, Code::conflict, Code::pool_full, Code::failed};
  for (std::size_t graver = 0; graver < by_gravity.size(); ++graver) {
    for (std::size_t other = graver; other < by_gravity.size(); ++other) {
      for (const bool first : {true, false}) {
        const Code here = by_gravity[first ? graver : other], there = by_gravity[first ? other : graver];
        const RunReport report = run_of({told_by("n1", {0, 1}, here), told_by("n2", {2, 3}, there)});
        EXPECT_EQ(report.trouble, by_gravity[graver]) << static_cast<int>(here) << " " << static_cast<int>(there);
        EXPECT_EQ(report.exit_status, static_cast<int>(by_gravity[graver]));
        EXPECT_EQ(drain::needs_pool(report.trouble), graver < 2) << "the mark on the case stays while a pool does";
      }
    }
  }
}

TEST(NodeReportTest, WhyProgramsAreHeldBackIsReadBack) {
  NodeReport report = told_by("n1", {0, 1});
  EXPECT_FALSE(node_report_from_json(to_json(report))->waits.for_room);
  report.waits.for_room = Standstill{"/pool\xff", 95, 100, 98, true, 3, "no space"};
  const auto again = node_report_from_json(to_json(report));
  ASSERT_TRUE(again && again->waits.for_room);
  EXPECT_EQ(to_text(*again->waits.for_room), to_text(*report.waits.for_room));
}

TEST(NodeReportTest, EveryPhaseIsReadBackAndAnUnknownOneIsAnError) {
  for (const Phase phase : {Phase::staging, Phase::running, Phase::draining, Phase::removing, Phase::done}) {
    NodeReport report = told_by("n1", {0, 1});
    report.phase = phase;
    const auto again = node_report_from_json(to_json(report));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->phase, phase);
    EXPECT_EQ(is_home(*again), phase == Phase::removing || phase == Phase::done);
  }
  std::string text = to_json(told_by("n1", {0, 1}));
  text.replace(text.find("\"done\""), 6, "\"gone\"");
  const auto unknown = node_report_from_json(text);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text().find("phase"), std::string::npos) << unknown.error().text();
}

TEST(RunReportTest, TheTroubleOfOneNodeIsTheTroubleOfTheRun) {
  EXPECT_EQ(run_of({told_by("n1", {0, 1}), told_by("n2", {2, 3}, Code::conflict)}).trouble, Code::conflict);
  EXPECT_EQ(run_of({told_by("n1", {0, 1}, Code::conflict), told_by("n2", {2, 3})}).trouble, Code::conflict);
  const RunReport well = run_of({told_by("n1", {0, 1}), told_by("n2", {2, 3})});
  EXPECT_EQ(well.trouble, std::nullopt);
  EXPECT_EQ(well.exit_status, 0);
}

TEST(RunReportTest, ATroubleThatIsAddedCountsByItsGravity) {
  RunReport silent = run_of({told_by("n1", {0, 1}, Code::conflict), told_by("n2", {2, 3})});
  add_trouble(silent, Code::undrained, "node n2 has been silent");
  EXPECT_EQ(silent.trouble, Code::undrained);
  EXPECT_EQ(silent.exit_status, 3);
  EXPECT_EQ(silent.messages.back(), "node n2 has been silent");
  RunReport lost = run_of({told_by("n1", {0, 1}, Code::lost), told_by("n2", {2, 3})});
  add_trouble(lost, Code::undrained, "node n2 has been silent");
  EXPECT_EQ(lost.trouble, Code::lost);
  EXPECT_EQ(lost.exit_status, 4);
}

TEST(RunReportTest, TheProgramsOwnFailureIsTheExitStatus) {
  RunReport report = run_of({told_by("n1", {0, 1, 2, 3}, Code::undrained)}, 9);
  add_trouble(report, Code::lost, "gone");
  EXPECT_EQ(report.exit_status, 9);
  EXPECT_EQ(report.trouble, Code::lost);
  EXPECT_NE(to_text(report).find("exit status           9\n"), std::string::npos) << to_text(report);
}

TEST(RunReportTest, WhatHasNotBegunHasNoSummary) {
  RunReport report = run_of({}, 213);
  EXPECT_EQ(to_text(report), "forebay: no program was started; exit status 213\n");
  report.messages = {"the mark vanished"};
  EXPECT_EQ(to_text(report), "  ! the mark vanished\nforebay: no program was started; exit status 213\n");
  const std::string none = "forebay: no program was started; exit status 127\n";
  EXPECT_EQ(to_text(run_of({told_by("n1", {0})}, 127)), none);
  // It wrote before it ended like that.
  NodeReport wrote = told_by("n1", {0});
  wrote.drain.amounts.written.files = 1;
  EXPECT_NE(to_text(run_of({wrote}, 127)).find("written locally"), std::string::npos);
  EXPECT_NE(to_text(run_of({told_by("n1", {0})}, 1)).find("written locally"), std::string::npos);
}

// Two nodes that did well; every figure is another one, so that none can stand for another.
RunReport measured() {
  NodeReport first = told_by("n1", {0, 1}), second = told_by("n2", {2, 3});
  first.lasted.program_seconds = 2;
  second.lasted.program_seconds = 2.5;
  first.lasted.stage_seconds = 0.25;
  second.lasted.stage_seconds = 0.125;
  for (NodeReport* each : {&first, &second}) each->times.complete = {"1", "2"};
  first.times.safe = {"1", "2"};
  second.times.safe = {"1"};
  first.drain.amounts.written.files = 10;
  first.drain.amounts.written.bytes = 3'000'000;
  second.drain.amounts.written.files = 20;
  second.drain.amounts.written.bytes = 4'000'000;
  first.drain.amounts.shared.files = 3;
  first.drain.amounts.shared.bytes = 1'000'000;
  first.drain.amounts.shared.again = 1;
  second.drain.amounts.shared.files = 5;
  second.drain.amounts.shared.bytes = 1'500'000;
  second.drain.amounts.shared.again = 3;
  first.drain.amounts.never_shared = {7, 1'000};
  first.drain.amounts.read_back = {4, 200'000};
  first.drain.amounts.unseen_times = 3;
  first.drain.amounts.written_is_more = true;
  second.drain.amounts.never_shared = {15, 2'000};
  second.drain.amounts.read_back = {5, 300'000};
  first.drain.amounts.undrained.files = 1;
  second.drain.amounts.undrained.bytes = 11;
  first.drain.amounts.lag_seconds = 0.5;
  second.drain.amounts.lag_seconds = 0.75;
  second.drain.messages = {"a notice"};
  first.drain.notices = {"asks for nothing"};
  // The second has seen more of the program.
  first.drain.timeline = {{"1", 1, 1.5, 2}, {"2", 3, 3.5, -1}};
  first.stability.steps = 1;
  first.stability.mean = 2;
  second.stability.steps = 3;
  second.stability.mean = 0.5;
  second.stability.program = "simpleFoam";
  first.pool.in_memory = second.pool.in_memory = {"/dev/shm"};
  RunReport report = run_of({first, second});
  report.wall_seconds = 3;
  return report;
}

TEST(RunReportTest, TheSummaryTellsTimesBytesFilesAndLag) {
  EXPECT_EQ(to_text(measured()),
            "forebay: run 20261121-204600-3f2a on /shared/motorBike\n"
            "  wall time             3 s (staging 250 ms, program 2.5 s)\n"
            "  per written time      500 ms (simpleFoam)\n"
            "  written locally       at least 7.00 MB in 30 files; 3 time directories came and went between two looks\n"
            "  to the shared system  2.50 MB in 8 files; some changed and were carried again, 4 times in "
            "all\n"
            "  never had to go there 3.00 kB in 22 files, deleted or replaced by the program\n"
            "  read locally again    500 kB in 9 files that the run had written\n"
            "  pools in memory       /dev/shm: part of the job's memory; a restart of the node empties them, at some "
            "sites a logout\n"
            "  drain lag             750 ms\n"
            "  last complete time    2 (safe: 1)\n"
            "  note                  n1: asks for nothing\n"
            "  ! n2: a notice\n"
            "  exit status           0\n");
}

TEST(RunReportTest, TheSummarySaysOnlyWhatThereIsToSay) {
  NodeReport node = told_by("n1", {0, 1, 2, 3}, Code::conflict);
  node.drain.amounts.written.files = node.drain.amounts.shared.files = 1;
  const RunReport report = run_of({node});
  EXPECT_EQ(
      to_text(report),
      "forebay: run 20261121-204600-3f2a on /shared/motorBike\n"
      "  wall time             0 us (staging 0 us, program 0 us)\n"
      "  written locally       0 B in 1 file\n"
      "  to the shared system  0 B in 1 file\n"
      "  what helps            compare the two and keep one: `find /shared/motorBike -name '*.forebay-*'` lists the "
      "run's versions\n"
      "  exit status           5 (the program's own: 0)\n");
}

TEST(RunReportTest, TheJsonHasTheSumsOverTheNodesAndTheLongestLag) {
  const auto json = nlohmann::json::parse(to_json(measured()));
  EXPECT_EQ(json.at("local"),
            (nlohmann::json{{"files", 30}, {"bytes", 7'000'000}, {"unseen_times", 3}, {"at_least", true}}));
  EXPECT_EQ(json.at("shared"), (nlohmann::json{{"files", 8}, {"again", 4}, {"bytes", 2'500'000}}));
  EXPECT_EQ(json.at("undrained"), (nlohmann::json{{"files", 1}, {"bytes", 11}}));
  EXPECT_EQ(json.at("never_shared"), (nlohmann::json{{"files", 22}, {"bytes", 3000}}));
  EXPECT_EQ(json.at("never_shared_files"), 22) << "as before there were bytes";
  EXPECT_EQ(json.at("read_back"), (nlohmann::json{{"files", 9}, {"bytes", 500'000}}));
  EXPECT_EQ(json.at("drain_lag_seconds"), 0.75);
  EXPECT_TRUE(json.at("step_seconds").is_null());
  EXPECT_EQ(json.at("written_time_seconds"), 0.5);
  EXPECT_EQ(json.at("wall_seconds"), 3);
  EXPECT_EQ(json.at("program_seconds"), 2.5);
  EXPECT_EQ(json.at("stage_seconds"), 0.25);
  EXPECT_EQ(json.at("last_complete"), "2");
  EXPECT_EQ(json.at("last_safe"), "1");
  EXPECT_EQ(json.at("written_time_program"), "simpleFoam");
  EXPECT_EQ(json.at("messages"), nlohmann::json{"n2: a notice"});
  EXPECT_EQ(json.at("notices"), nlohmann::json{"n1: asks for nothing"});
  EXPECT_EQ(json.at("ranks"), 4);
  EXPECT_EQ(json.at("exit_status"), 0);
  EXPECT_EQ(json.at("timeline").size(), 2u);
  EXPECT_EQ(json.at("nodes").size(), 2u);
  EXPECT_EQ(json.at("stability").size(), 0u) << "of nodes that were seen to their end";
}

TEST(RunReportTest, ALagIsToldWhereATimeBecameSafe) {
  NodeReport node = told_by("n1", {0, 1, 2, 3});
  EXPECT_TRUE(nlohmann::json::parse(to_json(run_of({node}))).at("drain_lag_seconds").is_null());
  NodeReport other = told_by("n2", {4});
  other.drain.amounts.lag_seconds = 0;
  EXPECT_EQ(nlohmann::json::parse(to_json(run_of({node, other}))).at("drain_lag_seconds"), 0);
  EXPECT_NE(to_text(run_of({node, other})).find("  drain lag             0 us\n"), std::string::npos);
}

TEST(RunReportTest, HowSteadyEachNodeWasIsToldOnce) {
  NodeReport node = told_by("n1", {0, 1, 2, 3});
  node.stability.steps = 2;
  node.stability.worst = {{"7", {1, 3, 0.5}}};
  node.stability.course = {{0, 1}, {1, 3, 0.5, 1.25, 4000, 3000, 0.75, 1, 0.25, 0.25, 0.25}};
  const auto json = nlohmann::json::parse(to_json(run_of({node})));
  EXPECT_FALSE(json.at("nodes").at(0).contains("stability"));
  const auto& told = json.at("stability").at(0);
  EXPECT_EQ(told.at("node"), "n1");
  EXPECT_EQ(told.at("times"), 2);
  EXPECT_EQ(told.at("worst").at("time"), nlohmann::json{"7"});
  EXPECT_EQ(told.at("worst").at("held"), nlohmann::json{0.5});
  EXPECT_EQ(told.at("course").at("carried_bytes"), (nlohmann::json{0, 3000}));
  EXPECT_EQ(told.at("course").at("fill"), (nlohmann::json{0, 0.75}));
}

TEST(RunReportTest, WithoutTwoWrittenTimesThereIsNoIntervalBetweenThem) {
  NodeReport only = told_by("n1", {0, 1, 2, 3});
  const RunReport report = run_of({only});
  EXPECT_EQ(report.written_time_seconds, std::nullopt);
  EXPECT_TRUE(nlohmann::json::parse(to_json(report)).at("written_time_seconds").is_null());
}

TEST(RunReportTest, OfAnAgentThatWasKilledThePaceIsWhatItToldLast) {
  NodeReport killed = told_by("n1", {});
  killed.stability.program = "simpleFoam";
  killed.stability.steps = 2;
  killed.stability.mean = 0.5;
  const auto told = node_report_from_json(to_json(killed));
  ASSERT_TRUE(told);
  EXPECT_EQ(run_of({*told}).written_time_seconds, 0.5);
  EXPECT_EQ(run_of({*told}).written_time_program, "simpleFoam");
}

TEST(RunReportTest, NothingIsSafeForRanksThatNoNodeTellsOf) {
  NodeReport half = told_by("n1", {0, 1});
  half.drain.newest_complete = half.drain.newest_safe = "2";
  half.times.complete = half.times.safe = {"1", "2"};
  EXPECT_EQ(run_of({half}).last_safe, std::nullopt);
  EXPECT_EQ(run_of({half}).last_complete, std::nullopt);
  half.ranks = {0, 1, 2, 3};
  EXPECT_EQ(run_of({half}).last_safe, "2");
  EXPECT_EQ(run_of({half}).last_complete, "2");
}

TEST(RunReportTest, WhereTheCaseTellsItsIntervalTheTimeOfAStepIsTold) {
  RunReport report = measured();
  report.steps_per_time = 10;
  report.application = "pimpleFoam";
  EXPECT_TRUE(nlohmann::json::parse(to_json(report)).at("step_seconds").is_null()) << "another program wrote the times";
  report.application = "simpleFoam";
  EXPECT_EQ(nlohmann::json::parse(to_json(report)).at("step_seconds"), 0.05);
  EXPECT_NE(
      to_text(report).find("  time per step         50 ms (simpleFoam)\n  per written time      500 ms (simpleFoam)\n"),
      std::string::npos)
      << to_text(report);
  report.steps_per_time = 1;
  EXPECT_NE(to_text(report).find("  time per step         500 ms (simpleFoam)\n  written locally"), std::string::npos)
      << to_text(report);
}

TEST(NodeReportTest, ComesBackAsItWasWritten) {
  NodeReport report = measured().nodes.back();
  report.home = "/pool/odd \n name";
  report.sockets = {{2, 0}, {3, 1}};
  report.pool.in_memory = {"/dev/shm", "/mnt/odd \n name"};
  report.times.carried = {{true, 3, "0.3"}, {false, 7, "odd \n name"}};
  report.drain.trouble = Code::undrained;
  report.drain.groups = {{2, 3}};
  report.drain.safe_times = 17;
  report.stability.program = "simpleFoam";
  report.drain.notices = {"asks for nothing"};
  report.stability.ranks = 2;
  report.stability.program_ended = 3.5;
  report.stability.worst = {{"7", {1, 3, 0.5}}, {"3", {0, 1}}};
  report.stability.course = {{0, 1}, {1, 3, 0.5, 1.25, 4000, 3000, 0.75, 1, 0.25, 0.25, 0.25}};
  const std::string text = to_json(report);
  const auto again = node_report_from_json(text);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_json(*again), text);
  EXPECT_EQ(again->home, report.home);
  EXPECT_EQ(again->pool.in_memory, report.pool.in_memory);
  EXPECT_EQ(again->drain.trouble, Code::undrained);
  EXPECT_FALSE(node_report_from_json("{}"));
}

}  // namespace
}  // namespace forebay::launch
