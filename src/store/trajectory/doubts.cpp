#include "store/trajectory/doubts.h"

namespace forebay::trajectory {

void Doubts::turn_to(std::uint32_t number, const Segment& about, bool every_read) {
  current_ = nullptr;
  if (about.arrivals == 0) return;
  if (all_.size() <= number) all_.resize(number + 1);
  auto& doubt = all_[number];
  if (!doubt || doubt->generation != about.generation || doubt->arrivals != about.arrivals) {
    doubt = std::make_unique<Doubt>(Doubt{about.generation, about.arrivals, {}});
    doubt->verified.resize((about.extent.headers - segment::kFirstRecord) / segment::kLine);
  }
  doubt->every_read = every_read;
  current_ = doubt.get();
}

}  // namespace forebay::trajectory
