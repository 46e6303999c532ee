#include "trajectory/options.h"

#include <algorithm>
#include <string_view>

#include "segment/segment.h"

namespace forebay::trajectory {
namespace {

constexpr std::uint64_t kUsualSegment = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostSegments = std::uint64_t{1} << 31;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

const char* words_for(TierKind kind) {
  switch (kind) {
    case TierKind::dram:
      return "dram";
    case TierKind::pool:
      return "pool";
    case TierKind::shared:
      return "shared directory";
  }
  return "";
}

}  // namespace

Done set_name(Options& options, const char* name) {
  if (name == nullptr) return fail(FOREBAY_E_INVALID, "the name of a trajectory is missing");
  const std::string_view text = name;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  if (text.empty() || text.size() > 200 || text.front() == '.' || !std::all_of(text.begin(), text.end(), allowed)) {
    return fail(FOREBAY_E_INVALID,
                "\"{}\" cannot name a trajectory: at most 200 letters, digits, '.', '_' and '-', and no '.' first",
                printable(text));
  }
  options.name = text;
  return {};
}

Done set_rank(Options& options, int rank, int ranks) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return fail(FOREBAY_E_INVALID, "rank {} of {} does not exist: ranks count from 0", rank, ranks);
  }
  options.rank = rank;
  options.ranks = ranks;
  return {};
}

Done set_encoders(Options& options, int threads) {
  constexpr int kMost = 1024;
  if (threads < -1 || threads > kMost) {
    return fail(FOREBAY_E_INVALID, "{} threads cannot encode: -1 chooses, 0 to {} are possible", threads, kMost);
  }
  options.encoders = threads;
  return {};
}

Done set_writers(Options& options, int writers) {
  if (writers < 0) {
    return fail(FOREBAY_E_INVALID, "{} writers cannot take turns at a pool: 0 lets all write, 4 is usual", writers);
  }
  options.writers = writers;
  return {};
}

Done add_tier(Options& options, TierKind kind, const char* path, std::uint64_t bytes) {
  if (kind != TierKind::dram && (path == nullptr || *path == '\0')) {
    return fail(FOREBAY_E_INVALID, "a {} needs a directory", words_for(kind));
  }
  if (bytes == 0) return fail(FOREBAY_E_INVALID, "the budget of a tier ({}) is 0 bytes", words_for(kind));
  if (!options.tiers.empty() && options.tiers.back().kind == TierKind::shared) {
    return fail(FOREBAY_E_INVALID, "the shared directory is the last tier; add it last");
  }
  options.tiers.push_back({kind, kind == TierKind::dram ? "" : path, bytes});
  return {};
}

Done check(const Options& options) {
  if (options.tiers.empty()) {
    return fail(FOREBAY_E_INVALID, "a trajectory needs at least one tier: memory of the process or a pool");
  }
  if (options.tiers.front().kind == TierKind::shared) {
    return fail(FOREBAY_E_INVALID,
                "the shared directory needs a faster tier above it: memory of the process or a pool");
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

Outcome<Sizes> sizes_with(const Options& options, std::uint64_t segment_bytes, std::uint32_t first_needs) {
  Sizes sizes{segment_bytes, {}};
  for (std::size_t i = 0; i < options.tiers.size(); ++i) {
    const TierOptions& tier = options.tiers[i];
    const std::uint64_t needs = i == 0 ? first_needs : 1;
    const std::uint64_t limit = tier.budget / segment_bytes;
    if (limit < needs) {
      return fail(FOREBAY_E_INVALID,
                  "the budget of {} bytes for {} {} is too small: it must hold {} segments of {} bytes", tier.budget,
                  words_for(tier.kind), tier.path, needs, segment_bytes);
    }
    sizes.limits.push_back(static_cast<std::uint32_t>(std::min(limit, kMostSegments)));
  }
  return sizes;
}

Outcome<Sizes> sizes_for(const Options& options, std::uint64_t record_bytes, std::uint32_t first_needs) {
  const std::uint64_t page = segment::page_bytes();
  const std::uint64_t least = segment::kFirstRecord + record_bytes;
  if (least > segment::kLargestSegment) {
    return fail(FOREBAY_E_INVALID, "a step of {} bytes is too large: at most {} bytes on a rank", record_bytes,
                segment::kLargestSegment - segment::kFirstRecord);
  }
  if (options.segment_bytes != 0) {
    if (options.segment_bytes < least || options.segment_bytes > segment::kLargestSegment) {
      return fail(FOREBAY_E_INVALID, "segments of {} bytes cannot hold steps of {} bytes", options.segment_bytes,
                  record_bytes);
    }
    return sizes_with(options, round_up(options.segment_bytes, page), first_needs);
  }
  // Large enough that a change of segments is rare and a spill sequential; small enough that every tier has several.
  std::uint64_t smallest_budget = ~std::uint64_t{0};
  for (const TierOptions& tier : options.tiers) smallest_budget = std::min(smallest_budget, tier.budget);
  const std::uint64_t most = std::max(kUsualSegment, round_up(segment::kFirstRecord + 4 * record_bytes, kHugePage));
  std::uint64_t bytes = std::clamp(smallest_budget / 16, least, std::max(least, most));
  bytes = bytes >= kHugePage && bytes / kHugePage * kHugePage >= least ? bytes / kHugePage * kHugePage
                                                                       : round_up(bytes, page);
  // What no whole record can use goes to the other segments.
  bytes = std::min(bytes, segment::kLargestSegment);
  const std::uint64_t records = (bytes - segment::kFirstRecord) / record_bytes;
  bytes = round_up(segment::kFirstRecord + records * record_bytes, bytes % kHugePage == 0 ? kHugePage : page);
  return sizes_with(options, bytes, first_needs);
}

}  // namespace forebay::trajectory
