#include <algorithm>
#include <cmath>

#include "parts.h"
#include "store/codec/bench/flows.h"
#include "tools.h"

namespace forebay::trajectory::bench {
namespace {

// The states of a run: a few consecutive steps of a flow, forwards and back again, so that neighbours are alike however
// many are stored.
class Run {
 public:
  explicit Run(const Settings& settings) : states_(settings.states) {
    constexpr int kSteps = 8;
    const std::uint64_t values = settings.state_bytes / sizeof(double);
    const auto edge = static_cast<std::size_t>(std::lround(std::cbrt(static_cast<double>(values))));
    if (edge * edge * edge != values) give_in("the states of lossy are cubes of doubles");
    auto made = codec::bench::flow(settings.flow, edge, kSteps);
    if (!made) give_in("there is no flow " + settings.flow);
    fields_ = std::move(*made);
  }
  std::uint64_t states() const { return states_; }
  std::uint64_t values() const { return fields_[0].size(); }
  std::uint64_t bytes() const { return values() * sizeof(double); }
  const double* state(std::uint64_t step) const {
    const std::uint64_t turn = 2 * (fields_.size() - 1), at = step % turn;
    return fields_[at < fields_.size() ? at : turn - at].data();
  }

 private:
  std::uint64_t states_;
  std::vector<std::vector<double>> fields_;
};

// The work of a solver between two states, for a given time: it reads memory of its own.
class Work {
 public:
  explicit Work(const Run& run) : memory_(some_state(run.bytes())) {}
  void lasts(double time) { seconds_ = time; }
  void operator()() const {
    for (double spent = 0; spent < seconds_;) {
      spent += seconds([&] { consume(memory_.data(), memory_.size() * sizeof(memory_[0])); });
    }
  }

 private:
  std::vector<std::uint64_t> memory_;
  double seconds_ = 0;
};

// Seconds of the solver in the store, without its own work.
double write_all(const Store& store, const Run& run, const Work& work) {
  double spent = 0;
  need(forebay_trajectory_rewind(store.get()));
  for (std::uint64_t k = 0; k < run.states(); ++k) {
    work();
    const void* memory = run.state(k);
    spent += seconds([&] {
      need(forebay_trajectory_put(store.get(), static_cast<std::int64_t>(k), static_cast<double>(k), &memory, 1));
    });
  }
  return spent;
}

// The same, every byte consumed.
double sweep_back(const Store& store, const Run& run, const Work& work) {
  const auto last = static_cast<std::int64_t>(run.states()) - 1;
  double spent = seconds([&] { need(forebay_trajectory_reverse(store.get(), last)); });
  for (std::int64_t step = last; step >= 0; --step) {
    spent += seconds([&] {
      const void* state = nullptr;
      need(forebay_trajectory_get(store.get(), step, 0, &state));
      consume(state, run.bytes());
      need(forebay_trajectory_release(store.get(), step));
    });
    work();
  }
  return spent;
}

double error_of(const double* exact, const double* stored, std::uint64_t values) {
  double wrong = 0, all = 0;
  for (std::uint64_t i = 0; i < values; ++i) {
    wrong += (stored[i] - exact[i]) * (stored[i] - exact[i]);
    all += exact[i] * exact[i];
  }
  return std::sqrt(wrong / all);
}

double largest_error(const Store& store, const Run& run) {
  double largest = 0;
  for (std::uint64_t k = 0; k < run.states(); ++k) {
    const void* state = nullptr;
    need(forebay_trajectory_get(store.get(), static_cast<std::int64_t>(k), 0, &state));
    largest = std::max(largest, error_of(run.state(k), static_cast<const double*>(state), run.values()));
    need(forebay_trajectory_release(store.get(), static_cast<std::int64_t>(k)));
  }
  return largest;
}

}  // namespace

nlohmann::json lossy(const Settings& s) {
  const Run run(s);
  const Store::Tiers tiers{.directory = s.directory, .bytes = budget_for(s.states, s.state_bytes)};
  Store raw(tiers), smaller(tiers);
  raw.declare_numbers(run.values(), 0);
  smaller.declare_numbers(run.values(), s.accepted);
  Work work(run);
  (void)write_all(raw, run, work);
  // Neither fresh pages nor the choice of a codec are what is asked for, but what comes when both are behind. Then the
  // solver's step is twice what encoding takes, so that a thread beside it has the time to keep up.
  double encoding = 0;
  for (int pass = 0; pass < 3; ++pass) encoding = write_all(smaller, run, work);
  work.lasts(2 * encoding / static_cast<double>(s.states));
  std::vector<double> put, put_raw, sweep, sweep_raw;
  for (int i = 0; i < s.repetitions; ++i) {
    alternate(
        i, [&] { put.push_back(write_all(smaller, run, work)); },
        [&] { put_raw.push_back(write_all(raw, run, work)); });
    alternate(
        i, [&] { sweep.push_back(sweep_back(smaller, run, work)); },
        [&] { sweep_raw.push_back(sweep_back(raw, run, work)); });
  }
  const double error = largest_error(smaller, run);
  work.lasts(0);
  const double busy_put = write_all(smaller, run, work), busy_sweep = sweep_back(smaller, run, work);
  const std::uint64_t sweeps = sweep.size() + 1;
  forebay_encoding_info info{};
  info.size = sizeof(info);
  need(forebay_trajectory_describe_encoding(smaller.get(), 0, &info));
  return {{"put", put},
          {"put_raw", put_raw},
          {"sweep", sweep},
          {"sweep_raw", sweep_raw},
          {"busy_put", busy_put},
          {"busy_sweep", busy_sweep},
          {"raw_bytes", info.raw_bytes},
          {"stored_bytes", info.stored_bytes},
          {"error", error},
          {"codec", static_cast<int>(info.codec)},
          {"decoded_ahead", static_cast<double>(info.decoded_ahead) / static_cast<double>(sweeps * s.states)}};
}

}  // namespace forebay::trajectory::bench
