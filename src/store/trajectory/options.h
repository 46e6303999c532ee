// The options that a trajectory is opened with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/options.h"
#include "store/trajectory/failure.h"

namespace forebay::trajectory {

using api::TierKind;
using api::TierOptions;

// The expectations of open about a store that is kept, and what it may do with it.
enum class Mode { any, create, must_exist, read_only, partial };

struct Options {
  std::string name = "trajectory";
  int rank = 0;
  int ranks = 1;
  std::vector<TierOptions> tiers;
  bool keep = false;
  Mode mode = Mode::any;
  bool process_only = false;
  std::optional<bool> checksum;
  bool compare_every_read = true;
  std::optional<int> encoders;
  bool debug = false;
  std::uint64_t segment_bytes = 0;
};

Outcome<Options> options_of(const forebay_options& given);
// Checks what must fit together.
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
