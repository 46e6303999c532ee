// Room in the pools: what is drained is replaced by links. Private to the room.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "run/drain/run.h"

namespace forebay::drain {

struct Eviction {
  Run& run;
  Policy& policy;
  Work& work;

  std::set<std::string> nothing_to_evict = {};  // pools without files that the case has too, as long as no job ends
  std::set<std::string> changed_groups = {};    // on the case, that are not as they lie here: they stay until the end

  std::string evictable(const std::string& path, const Known& known, const std::string& pool) const;
  std::uint64_t evict_carried(std::uint64_t wanted, const std::string& pool);
  std::uint64_t evict_files(std::uint64_t wanted, const std::string& pool);
  std::uint64_t evict_group(const CollatedTime& group, const std::string& pool);
};

}  // namespace forebay::drain
