#include <forebay/trajectory.h>

#include <optional>

#include "store.h"

namespace n3d {
namespace {

tl::unexpected<forebay::Error> trajectory_error(std::string_view what) {
  return forebay::error(forebay::Code::failed, what, {}, forebay_error_get_text());
}

class TrajectoryStore : public StateStore {
 public:
  ~TrajectoryStore() override { forebay_trajectory_close(trajectory_); }

  Status open(std::size_t state_size, const std::vector<Tier>& tiers, std::optional<std::uint64_t> segment_bytes,
              int rank, int ranks, double accepted_error) {
    state_size_ = state_size;
    exact_ = accepted_error == 0;
    const std::unique_ptr<forebay_options, decltype(&forebay_options_free)> options(forebay_options_create(),
                                                                                    forebay_options_free);
    bool good = options && forebay_options_set(options.get(), "name", "n3d") == FOREBAY_OK &&
                forebay_options_set_integer(options.get(), "rank", rank) == FOREBAY_OK &&
                forebay_options_set_integer(options.get(), "ranks", ranks) == FOREBAY_OK;
    if (segment_bytes) {
      good = good && forebay_options_set_integer(options.get(), "segment-bytes",
                                                 static_cast<std::int64_t>(*segment_bytes)) == FOREBAY_OK;
    }
    for (const Tier& tier : tiers) good = good && add(options.get(), tier) == FOREBAY_OK;
    good = good && forebay_trajectory_open(options.get(), &trajectory_) == FOREBAY_OK &&
           forebay_trajectory_declare(trajectory_, "velocity", FOREBAY_FLOAT64, state_size, nullptr) == FOREBAY_OK &&
           forebay_trajectory_set_accepted_error(trajectory_, 0, accepted_error) == FOREBAY_OK;
    if (!good) return trajectory_error("cannot open the trajectory");
    return {};
  }

  Result<std::span<double>> begin(Step step) override {
    if (!exact_) return std::span<double>();  // what is encoded does not stay where it was written
    void* memory = nullptr;
    if (forebay_trajectory_begin(trajectory_, step, static_cast<double>(step), &memory, 1) != FOREBAY_OK)
      return trajectory_error("cannot keep a state");
    begun_ = static_cast<double*>(memory);
    return std::span(begun_, state_size_);
  }
  Status put(Step step, std::span<const double> state) override {
    release();
    forward_ = true;
    if (state.data() == begun_) return commit(step);
    const void* memory[] = {state.data()};
    if (forebay_trajectory_put(trajectory_, step, static_cast<double>(step), memory, 1) != FOREBAY_OK)
      return trajectory_error("cannot keep a state");
    return {};
  }
  Result<std::span<const double>> get(Step step) override {
    release();
    // The first state that is asked for after the forward run is the one from which the sweep begins.
    if (forward_ && forebay_trajectory_reverse(trajectory_, step) != FOREBAY_OK)
      return trajectory_error("cannot begin the reverse sweep");
    forward_ = false;
    const void* memory = nullptr;
    if (forebay_trajectory_get(trajectory_, step, 0, &memory) != FOREBAY_OK)
      return trajectory_error("cannot get a state");
    pinned_ = step;
    return std::span<const double>(static_cast<const double*>(memory), state_size_);
  }
  void drop(Step step) override {
    release();
    forebay_trajectory_drop(trajectory_, step);
  }
  Status rewind() override {
    release();
    if (forebay_trajectory_rewind(trajectory_) != FOREBAY_OK) return trajectory_error("cannot rewind the trajectory");
    return {};
  }

 private:
  static int add(forebay_options* options, const Tier& tier) {
    switch (tier.kind) {
      case Tier::Kind::dram:
        return forebay_options_add_dram(options, tier.bytes);
      case Tier::Kind::pool:
        return forebay_options_add_pool(options, tier.directory.c_str(), tier.bytes);
      case Tier::Kind::shared:
        return forebay_options_add_shared(options, tier.directory.c_str(), tier.bytes);
    }
    return FOREBAY_E_INVALID;
  }
  // The solver goes on from this state, so it stays where it is.
  Status commit(Step step) {
    begun_ = nullptr;
    const void* memory = nullptr;
    if (forebay_trajectory_commit(trajectory_) != FOREBAY_OK ||
        forebay_trajectory_get(trajectory_, step, 0, &memory) != FOREBAY_OK)
      return trajectory_error("cannot keep a state");
    pinned_ = step;
    return {};
  }
  void release() {
    if (pinned_) forebay_trajectory_release(trajectory_, *pinned_);
    pinned_.reset();
  }

  forebay_trajectory* trajectory_ = nullptr;
  std::size_t state_size_ = 0;
  bool exact_ = true;
  double* begun_ = nullptr;  // where the open step is computed
  std::optional<Step> pinned_;
  bool forward_ = false;
};

Result<std::unique_ptr<StateStore>> open_store(std::size_t state_size, const std::vector<Tier>& tiers,
                                               std::optional<std::uint64_t> segment_bytes, int rank, int ranks,
                                               double accepted_error = 0) {
  auto store = std::make_unique<TrajectoryStore>();
  const auto opened = store->open(state_size, tiers, segment_bytes, rank, ranks, accepted_error);
  if (!opened) return forebay::forward(opened);
  return store;
}

}  // namespace

Tier dram_for(std::size_t state_size, Step states) {
  // A segment holds whole records, so up to half of it may stay empty; and there are a few at least.
  const std::uint64_t record = state_size * sizeof(double) + 4096;
  return {Tier::Kind::dram, {}, 2 * record * (static_cast<std::uint64_t>(states) + 4)};
}

Result<std::unique_ptr<StateStore>> make_trajectory_store(std::size_t state_size, const std::vector<Tier>& tiers,
                                                          int rank, int ranks, double accepted_error) {
  return open_store(state_size, tiers, {}, rank, ranks, accepted_error);
}

Result<std::unique_ptr<StateStore>> make_pool_store(std::size_t state_size, const std::string& directory, Step states,
                                                    int rank, int ranks) {
  // A segment for each state: one that holds others too would keep the room of those that were dropped.
  constexpr std::uint64_t headers = 4096, page = 4096, spare = 2;
  const std::uint64_t segment = (state_size * sizeof(double) + headers + page - 1) / page * page;
  const Tier pool{Tier::Kind::pool, directory, (static_cast<std::uint64_t>(states) + spare) * segment};
  return open_store(state_size, {pool}, segment, rank, ranks);
}

}  // namespace n3d
