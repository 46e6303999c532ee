// Where the states of a forward run are kept until the adjoint asks for them, behind five verbs.
//
// A store holds this rank's part of each state, all of the same size. Calls are not collective: no rank waits for
// another. `get` gives back the bits that `put` was given, unless the store was made to accept an error; its span holds
// until the next call on the store.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/schedule/schedule.h"

namespace n3d {

using forebay::Result;
using forebay::Status;
using forebay::schedule::Step;

class StateStore {
 public:
  StateStore() = default;
  StateStore(const StateStore&) = delete;
  StateStore& operator=(const StateStore&) = delete;
  virtual ~StateStore() = default;

  // Memory in which the state that is put next may be computed, so that its put copies nothing; it holds until the next
  // put. Empty where the store copies.
  virtual Result<std::span<double>> begin(Step) { return std::span<double>(); }
  virtual Status put(Step step, std::span<const double> state) = 0;
  virtual Result<std::span<const double>> get(Step step) = 0;
  // The state is not asked for again in this run.
  virtual void drop(Step step) = 0;
  // All states are dropped; the next run puts them anew.
  virtual Status rewind() = 0;
};

// Plain arrays, one a state, used again once dropped. What other stores are measured against.
std::unique_ptr<StateStore> make_array_store(std::size_t state_size);

// One file for each step and rank in `directory`, written and read by plain system calls, as codes do that have nothing
// better. A step that is put again overwrites its file. What was written is removed in the end, unless `keep`.
std::unique_ptr<StateStore> make_file_store(std::size_t state_size, std::string directory, int rank, bool keep);

// A tier of a trajectory and the most that each rank may use of it.
struct Tier {
  enum class Kind { dram, pool, shared } kind = Kind::dram;
  std::string directory;  // empty for dram
  std::uint64_t bytes = 0;
};
// Enough memory of the process for all states; what is not needed is not touched.
Tier dram_for(std::size_t state_size, Step states);
// forebay's trajectory (include/forebay/trajectory.h): memory beside the socket, spilling to what lies below it. `get`
// copies nothing. With an accepted relative L2 error states are made smaller within it; 0 keeps every bit.
Result<std::unique_ptr<StateStore>> make_trajectory_store(std::size_t state_size, const std::vector<Tier>& tiers,
                                                          int rank, int ranks, double accepted_error = 0);
// The same in a pool alone, with room for so many states at once: the room of a dropped one is used again at once.
Result<std::unique_ptr<StateStore>> make_pool_store(std::size_t state_size, const std::string& directory, Step states,
                                                    int rank, int ranks);

}  // namespace n3d
