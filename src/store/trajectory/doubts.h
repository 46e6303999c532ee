// Segments whose payloads may have been damaged since they were written: which of their records were compared with
// their checksums.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "store/trajectory/log.h"

namespace forebay::trajectory {

class Doubts {
 public:
  // The records that are asked for from now on lie in this segment. `every_read`: a comparison counts for one read.
  void turn_to(std::uint32_t number, const Segment& about, bool every_read);
  void turn_away() { current_ = nullptr; }

  bool must_verify(std::uint32_t record) const noexcept {
    return current_ != nullptr && (current_->every_read || !current_->verified[record]);
  }
  // The generation of the segment, where must_verify().
  std::uint64_t generation() const { return current_->generation; }
  void set_verified(std::uint32_t record) { current_->verified[record] = true; }

 private:
  struct Doubt {
    std::uint64_t generation = 0;
    std::uint32_t arrivals = 0;
    std::vector<bool> verified;  // by record
    bool every_read = false;
  };
  Doubt* current_ = nullptr;                 // none where nothing is in doubt
  std::vector<std::unique_ptr<Doubt>> all_;  // by segment
};

}  // namespace forebay::trajectory
