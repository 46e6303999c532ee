// The measured figures of a run's pool: the free bytes of its mount, the bytes that the run's own files have there, and
// the claims of the user's other runs on this node. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "run/launch/pool_share.h"

namespace forebay::launch {

class PoolMeter {
 public:
  struct Room {
    std::uint64_t bytes;
    bool any_inodes = true;  // for further files
  };

  virtual ~PoolMeter() = default;
  // Cheap: one call of the kernel's.
  virtual Room room() = 0;
  // Goes on with a count of the allocated bytes, for about so many entries. When it is through: how many they are. A
  // file with several names counts once; a file without a name does not count.
  virtual std::optional<std::uint64_t> count(std::size_t entries) = 0;
  // Tells the other runs in this pool what this one claims, and returns what those claim whose agents live.
  virtual std::vector<Claim> exchange(const Claim& own) = 0;
  // Pools of one mount have one number.
  virtual std::uint64_t mount() const = 0;
};

// `directories`: those of this run in the pool at `path`, as pool_run.h makes them. In the first of them lies "claim",
// with the two numbers of a Claim; its agent holds a lock on it as long as it lives.
Result<std::unique_ptr<PoolMeter>> measure_pool(const std::string& path, const std::vector<std::string>& directories);

using MeasurePool = std::function<Result<std::unique_ptr<PoolMeter>>(const std::string& path,
                                                                     const std::vector<std::string>& directories)>;

}  // namespace forebay::launch
