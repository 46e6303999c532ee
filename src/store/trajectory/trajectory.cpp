#include "store/trajectory/trajectory.h"

namespace forebay::trajectory {

Outcome<std::unique_ptr<Trajectory>> Trajectory::open(const Options& options) {
  std::unique_ptr<Trajectory> made(new Trajectory(options));
  if (auto ok = made->kept_.open(); !ok) return pass_on(ok);
  return made;
}

Done Trajectory::close() {
  const auto open = writer_.open_step();
  const Done sealed = writer_.close();
  kept_.close();
  if (!sealed) return sealed;
  if (open) return fail(FOREBAY_E_CLOSED_OPEN, "closed while step {} was open: that step is not stored", *open);
  return {};
}

Outcome<int> Trajectory::declare(const char* name, forebay_type type, std::uint64_t count) {
  if (const auto open = writer_.open_step()) {
    return fail(FOREBAY_E_STEP_OPEN, "a field cannot be declared while step {} is open", *open);
  }
  return fields().declare(name, type, count);
}

Outcome<forebay_encoding_info> Trajectory::encoding(int number) {
  if (auto field = fields().find(number); !field) return pass_on(field);
  if (auto ok = writer_.place_pending(); !ok) return pass_on(ok);
  forebay_encoding_info info = writer_.encoding(number);
  info.decoded_ahead = reader_.sweep().decoded_ahead(number);
  return info;
}

Outcome<const void*> Trajectory::get(std::int64_t step, int number) {
  if (!fields().has(number)) return pass_on(fields().find(number));
  auto entry = kept_.find(step);
  if (!entry) return pass_on(entry);
  if (auto ok = tiers().look_at_files(); !ok) return pass_on(ok);
  if ((*entry)->segment == kNone) {
    if (auto ok = writer_.place_pending(); !ok) return pass_on(ok);
  }
  return reader_.get(**entry, number);
}

Done Trajectory::reverse(std::int64_t from) {
  Index& index = kept_.index();
  const std::size_t after = index.position(from);
  const bool stored = after < index.size() && index[after].step == from;
  if (!stored && after == 0) return kept_.unknown(from);
  if (auto ok = writer_.place_pending(); !ok) return ok;
  reader_.reverse(from, index[stored ? after : after - 1]);
  return {};
}

Done Trajectory::keep(bool kept) {
  if (auto ok = kept_.refuse_to_write(); !ok) return ok;
  if (auto ok = kept ? tiers().look_at_files() : Done{}; !ok) return ok;
  if (auto ok = writer_.place_pending(); !ok) return ok;
  reader_.sweep().rest();
  return kept_.keep(kept);
}

Outcome<const Entry*> Trajectory::at(std::size_t position) {
  if (position >= count()) {
    return fail(FOREBAY_E_NO_SUCH_STEP, "there is no step at position {}: {} are stored", position, count());
  }
  return &kept_.index()[position];
}

Outcome<const Entry*> Trajectory::find(std::int64_t step) {
  auto entry = kept_.find(step);
  if (!entry) return pass_on(entry);
  return *entry;
}

}  // namespace forebay::trajectory
