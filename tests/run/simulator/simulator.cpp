// Random schedules of the rules in run/core/decide.h: a program, agents, kills, lost nodes, full pools, late letters.
//   simulator [--schedules N] [--seed S]   ends with 1 at the first schedule that breaks an invariant, and names it
//   simulator --only SEED                  one schedule, told
//   simulator --mistake NAME               with one wrong line of the world
//   simulator --decisions FILE             writes what went into the core and what came out, a line of JSON each
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>

#include "judge.h"
#include "run.h"

namespace forebay::simulator {

namespace {

struct Counts {
  int ended = 0, told_safe = 0;
};

std::optional<StateId> resume(Run& run, Random& random, std::vector<Node*> nodes) {
  std::optional<StateId> found;
  for (int again = 0;; ++again) {
    const auto actor = make_resume(run, nodes, found);
    bool killed = false;
    do {
      killed = again <= 2 && random.chance(.01);  // a resume may be killed itself
      ++run.now;
    } while (!killed && actor->step());
    if (!run.late.empty() && random.chance(.5)) run.finish_late_rename();
    if (!killed) return found;
  }
}

void requeue(Run& run, Random& random, const std::optional<StateId>& found) {
  if (found)
    for (Rank rank = 0; rank < run.habits.ranks; ++rank)
      for (const auto& step : switch_steps(run, rank, run.the_case.records.at({1, *found}).at(rank).line)) step();
  for (Rank rank = 0; rank < run.habits.ranks && !found; ++rank)
    if (!run.the_case.directories.contains({rank, "0"})) return;
  Run second(random, run.the_case, 2, found ? found->time : "0", &run);  // on other nodes
  const int steps = random.pick({50, 300, 1500});
  for (int i = 0; i < steps; ++i) {
    if (!second.actors.empty()) second.step();
    if (!run.late.empty() && random.chance(.05)) run.finish_late_rename();
  }
  for (const auto& node : second.nodes) second.kill_agent(*node);
  std::vector<Node*> old_nodes;
  for (const auto& node : run.nodes) old_nodes.push_back(node.get());
  std::optional<StateId> ignored;
  const auto actor = make_resume(run, old_nodes, ignored);  // the old nodes come back
  while (actor->step()) ++run.now;
  const bool any_drained = std::ranges::any_of(second.nodes, [](const auto& each) { return each->ledger.drained; });
  if (second.told_safe.empty() || any_drained) return;
  const auto best = second.best_on_case();
  if (!best) throw Broken("b: what a later run had made safe is gone");
  judge_on_case(second, *best);
}

void after_kill(Run& run, Random& random) {
  for (const auto& node : run.nodes) run.kill_agent(*node);
  run.dying = true;  // what was open is torn, as in a direct run
  run.end_actors([](const Actor&) { return true; });
  run.dying = false;
  run.tell("killed");
  enum class How { same_nodes, one_lost, requeued };
  const How how = random.pick({How::same_nodes, How::same_nodes, How::one_lost, How::one_lost, How::requeued});
  std::optional<StateId> safe;
  for (const StateId& each : run.told_safe)
    if (!safe || *safe < each) safe = each;
  const bool ending = std::ranges::any_of(run.nodes, [](const auto& each) { return each->ledger.drained; });
  const auto want = promised_output(run);
  std::vector<Node*> nodes;
  if (how != How::requeued)
    for (const auto& node : run.nodes) nodes.push_back(node.get());
  if (how == How::one_lost) nodes.erase(nodes.begin() + random.below(static_cast<int>(nodes.size())));
  const auto found = nodes.empty() ? run.best_on_case() : resume(run, random, nodes);
  if (how == How::same_nodes && want && !ending && output_of_state(run, found) < *want && !may_be_too_far(run))
    throw Broken("a: output " + std::to_string(*want) + " was left by all, resume finds " +
                 std::to_string(output_of_state(run, found)));
  if (want && is_drained(run, *want) && output_of_state(run, run.best_on_case()) < *want)
    throw Broken("a: output " + std::to_string(*want) + " was drained, the case does not tell");
  if (safe && !ending) {
    if (!found || *found < *safe) throw Broken("b: a state had been safe, an older one is found");
    judge_on_case(run, *found);
  }
  if (how == How::requeued) requeue(run, random, found);
}

void one_schedule(std::uint64_t seed, Counts& counts) {
  Random random(seed);
  Case the_case;
  Run run(random, the_case, 1);
  const int steps = random.pick({100, 200, 400, 800, 1500, 3000});
  run.go(run.habits.is_long ? 40'000 : steps);
  counts.ended += run.has_ended;
  counts.told_safe += static_cast<int>(run.told_safe.size());
  if (run.has_ended) {
    judge_clean_end(run);
  } else {
    after_kill(run, random);
  }
}

int run_schedules(std::uint64_t seed, int schedules) {
  const auto began = std::chrono::steady_clock::now();
  Counts counts;
  for (int i = 0; i < schedules; ++i) {
    const std::uint64_t each = seed * 10'000'000 + static_cast<std::uint64_t>(i);
    try {
      one_schedule(each, counts);
    } catch (const Broken& broken) {
      std::cout << "schedule " << i << " (--only " << each << "): " << broken.what() << '\n';
      return 1;
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << schedules << " schedules hold, " << counts.ended << " ended by themselves, " << counts.told_safe
            << " times a state was called safe; " << static_cast<int>(schedules / took.count()) << " a second\n";
  return 0;
}

}  // namespace
}  // namespace forebay::simulator

int main(int argc, char** argv) {
  using namespace forebay::simulator;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> only;
  int schedules = 20'000;
  std::ofstream file;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    if (word == "--seed") seed = std::stoull(argv[i + 1]);
    if (word == "--schedules") schedules = std::stoi(argv[i + 1]);
    if (word == "--only") only = std::stoull(argv[i + 1]);
    if (word == "--mistake") plant(argv[i + 1]);
    if (word == "--decisions") file.open(argv[i + 1]);
  }
  if (file.is_open()) decisions_to = &file;
  if (!only) return run_schedules(seed, schedules);
  telling = true;
  Counts counts;
  try {
    one_schedule(*only, counts);
  } catch (const Broken& broken) {
    std::cout << broken.what() << '\n';
    return 1;
  }
  std::cout << "holds\n";
  return 0;
}
