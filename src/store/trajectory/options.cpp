#include "store/trajectory/options.h"

#include <algorithm>
#include <string_view>

#include "store/segment/segment.h"

namespace forebay::trajectory {
namespace {

constexpr std::uint64_t kUsualSegment = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostSegments = std::uint64_t{1} << 31;
// The words have the order of Mode.
constexpr std::string_view kModes[] = {"any", "create", "must-exist", "read-only", "partial"};

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Done check(const Options& options) {
  if (options.rank >= options.ranks) {
    return fail(FOREBAY_E_INVALID, "rank {} of {} does not exist: ranks count from 0", options.rank, options.ranks);
  }
  if (options.tiers.empty()) {
    return fail(FOREBAY_E_INVALID, "a trajectory needs at least one tier: memory of the process or a pool");
  }
  if (options.tiers.size() > segment::kMostTiers) {
    return fail(FOREBAY_E_INVALID, "{} given: at most {} may be used", plural(options.tiers.size(), "tier"),
                segment::kMostTiers);
  }
  // A part of a store may lie there alone.
  if (options.tiers.front().kind == TierKind::shared && options.mode != Mode::partial) {
    return fail(FOREBAY_E_INVALID,
                "the shared directory needs a faster tier above it: memory of the process or a pool");
  }
  if (!options.keep && options.mode != Mode::any) {
    return fail(FOREBAY_E_INVALID, "a way to open a store that is kept says nothing without keep");
  }
  for (std::size_t i = 0; i < options.tiers.size(); ++i) {
    if (options.keep && options.tiers[i].kind == TierKind::dram) {
      return fail(FOREBAY_E_INVALID,
                  "memory of the process cannot be kept; use a pool on tmpfs such as /dev/shm instead of dram");
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (options.tiers[i].path == options.tiers[k].path) {
        return fail(FOREBAY_E_INVALID, "two tiers lie in the same place: {}",
                    options.tiers[i].path.empty() ? "dram" : options.tiers[i].path);
      }
    }
  }
  return {};
}

Outcome<Options> options_of(const forebay_options& given) {
  if (forebay_options_check(&given, "trajectory") != FOREBAY_OK) {
    return fail(FOREBAY_E_INVALID, "{}", forebay_error_get_text());
  }
  Options options;
  options.name = given.text("name").value_or(options.name);
  options.rank = static_cast<int>(given.integer("rank").value_or(options.rank));
  options.ranks = static_cast<int>(given.integer("ranks").value_or(options.ranks));
  options.tiers = given.tiers;
  options.keep = given.on("keep").value_or(false);
  const auto mode = std::find(std::begin(kModes), std::end(kModes), given.text("mode").value_or("any"));
  options.mode = static_cast<Mode>(mode - std::begin(kModes));
  options.process_only = given.text("survives") == "process";
  options.checksum = given.on("checksum");
  options.compare_every_read = given.text("compare") != "first-read";
  if (const auto threads = given.integer("encoders")) options.encoders = static_cast<int>(*threads);
  options.debug = given.on("debug").value_or(false);
  options.segment_bytes = static_cast<std::uint64_t>(given.integer("segment-bytes").value_or(0));
  return options;
}

namespace {

// A budget is for states: it holds as many as their bytes fit into it. Headers, and the end of a segment that no whole
// state can use, come on top of it, up to a twentieth or one segment.
struct Segments {
  std::uint64_t wanted = 0;  // for all states of the budget
  std::uint64_t most = 0;
};
Segments segments_of(std::uint64_t budget, std::uint64_t segment_bytes, std::uint64_t record_bytes) {
  const std::uint64_t records = std::max<std::uint64_t>((segment_bytes - segment::kFirstRecord) / record_bytes, 1);
  const std::uint64_t state_bytes = std::max(record_bytes - segment::kLine, segment::kLine);
  return {(budget / state_bytes + records - 1) / records,
          std::max((budget + budget / 20) / segment_bytes, budget / segment_bytes + 1)};
}

// The size of a segment of so many records at least, or a few more where less of a segment is then left to nobody.
// `several` segments hold the states of a budget, unless that has less states. 0: no size does that.
std::uint64_t segment_for(std::uint64_t budget, std::uint64_t record_bytes, std::uint64_t fewest,
                          std::uint64_t several) {
  const std::uint64_t page = segment::page_bytes();
  constexpr std::uint64_t kMore = 32, kLittle = 25;  // in thousandths
  std::uint64_t best = 0, least_waste = ~std::uint64_t{0};
  for (std::uint64_t records = fewest; records < fewest + kMore && least_waste > kLittle; ++records) {
    const std::uint64_t needed = segment::kFirstRecord + records * record_bytes;
    if (needed > segment::kLargestSegment) break;
    std::uint64_t bytes = round_up(needed, needed >= kHugePage ? kHugePage : page);
    if ((bytes - needed) * 20 > needed) bytes = round_up(needed, page);
    const Segments segments = segments_of(budget, bytes, record_bytes);
    if (segments.wanted < several || segments.wanted > segments.most) continue;
    const std::uint64_t waste = (bytes - needed) * 1000 / needed;
    if (waste >= least_waste) continue;
    best = bytes;
    least_waste = waste;
  }
  return best;
}

}  // namespace

Sizes sizes_with(const Options& options, std::uint64_t segment_bytes, std::uint64_t record_bytes) {
  Sizes sizes{segment_bytes, {}};
  for (const TierOptions& tier : options.tiers) {
    const Segments segments = segments_of(tier.budget, segment_bytes, record_bytes);
    sizes.limits.push_back(static_cast<std::uint32_t>(std::min({segments.wanted, segments.most, kMostSegments})));
  }
  return sizes;
}

Outcome<Sizes> sizes_for(const Options& options, std::uint64_t record_bytes) {
  const std::uint64_t page = segment::page_bytes();
  for (const TierOptions& tier : options.tiers) {
    if (tier.budget >= record_bytes - segment::kLine) continue;
    return fail(FOREBAY_E_INVALID, "the budget of {} for {} {} is too small: a state has {}",
                plural(tier.budget, "byte"), api::words_for(tier.kind), tier.path,
                plural(record_bytes - segment::kLine, "byte"));
  }
  const std::uint64_t least = segment::kFirstRecord + record_bytes;
  if (least > segment::kLargestSegment) {
    return fail(FOREBAY_E_INVALID, "a step of {} is too large: at most {} on a rank", plural(record_bytes, "byte"),
                plural(segment::kLargestSegment - segment::kFirstRecord, "byte"));
  }
  if (options.segment_bytes != 0) {
    if (options.segment_bytes < least || options.segment_bytes > segment::kLargestSegment) {
      return fail(FOREBAY_E_INVALID, "segments of {} cannot hold steps of {}", plural(options.segment_bytes, "byte"),
                  plural(record_bytes, "byte"));
    }
    return sizes_with(options, round_up(options.segment_bytes, page), record_bytes);
  }
  // Segments are large enough that a change of them is rare and a spill sequential. They are small enough that a few
  // more of them, for reading and cleaning, are no more than a twentieth of a budget.
  constexpr std::uint64_t kSegmentsOfABudget = 64;
  std::uint64_t smallest_budget = ~std::uint64_t{0};
  for (const TierOptions& tier : options.tiers) smallest_budget = std::min(smallest_budget, tier.budget);
  const std::uint64_t usual = std::clamp(smallest_budget / kSegmentsOfABudget, 16 * page, kUsualSegment);
  // Several: what is pinned, or written, holds its whole segment, and the others go on.
  const std::uint64_t states = smallest_budget / std::max(record_bytes - segment::kLine, segment::kLine);
  const std::uint64_t usual_records = std::max<std::uint64_t>(usual / record_bytes, 1);
  std::uint64_t best = 0;
  for (std::uint64_t several = std::min<std::uint64_t>(4, states); best == 0 && several > 0; --several) {
    const std::uint64_t fewest = std::min(usual_records, std::max<std::uint64_t>(states / several, 1));
    best = segment_for(smallest_budget, record_bytes, fewest, several);
  }
  if (best == 0) best = round_up(segment::kFirstRecord + usual_records * record_bytes, page);
  return sizes_with(options, best, record_bytes);
}

}  // namespace forebay::trajectory
