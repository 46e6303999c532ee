// What a trajectory is opened with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trajectory/failure.h"

namespace forebay::trajectory {

enum class TierKind { dram, pool, shared };

struct TierOptions {
  TierKind kind = TierKind::dram;
  std::string path;
  std::uint64_t budget = 0;
};

// What open expects of a store that is kept, and what it may do with it.
enum class Mode { any, create, must_exist, read_only, partial };

struct Options {
  std::string name = "trajectory";
  int rank = 0;
  int ranks = 1;
  std::vector<TierOptions> tiers;
  bool keep = false;
  Mode mode = Mode::any;
  bool process_only = false;
  int checksum = -1;
  int encoders = -1;
  bool debug = false;
  std::uint64_t segment_bytes = 0;
};

// Each of these refuses what makes no sense by itself.
Done set_name(Options& options, const char* name);
Done set_rank(Options& options, int rank, int ranks);
Done set_encoders(Options& options, int threads);
Done add_tier(Options& options, TierKind kind, const char* path, std::uint64_t bytes);
// What must fit together.
Done check(const Options& options);

// Bytes of a segment for records of `record_bytes` (with headers), and how many each tier may have.
struct Sizes {
  std::uint64_t segment_bytes = 0;
  std::vector<std::uint32_t> limits;
};
Outcome<Sizes> sizes_for(const Options& options, std::uint64_t record_bytes);
// The same where the segment size is given, by an existing store.
Sizes sizes_with(const Options& options, std::uint64_t segment_bytes, std::uint64_t record_bytes);

}  // namespace forebay::trajectory
