// Writes states: gives memory for the one that is open, puts it into a segment, and takes back what was written.
//
// Where a field has an accepted error, states take another way: begin gives memory beside the tiers, commit hands it to
// an Encoder, and what has become of it is placed into a segment by this thread (encoder.h says why). Only states that
// have room whatever they become are accepted, so nothing that was committed can be lost to a full tier. A commit into
// a kept trajectory returns when the state is placed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "store/trajectory/active.h"
#include "store/trajectory/encoder.h"
#include "store/trajectory/kept.h"
#include "store/trajectory/lender.h"
#include "store/trajectory/reader.h"

namespace forebay::trajectory {

class Writer {
 public:
  // The reader reads the active segment, too.
  Writer(Kept& kept, Active& active, Reader& reader);

  Done begin(std::int64_t step, double time, void** memory);
  Done commit();
  Done cancel();
  Done put(std::int64_t step, double time, const void* const* memory);
  Done drop(std::int64_t step);
  Done move(std::int64_t step, int tier);
  Done rewind();
  // Seals the active segment. Nothing else may be called afterwards.
  Done close();

  // The step that is open.
  std::optional<std::int64_t> open_step() const { return step_open_ ? std::optional(step_) : std::nullopt; }
  // Every state lies in a segment from now on.
  Done place_pending();
  forebay_encoding_info encoding(int field) const;
  // Seconds that begin has waited for states that are being encoded.
  double waited_for_codecs() const { return waited_for_codecs_; }

 private:
  Tiers& tiers() const { return kept_.tiers(); }
  const Fields& fields() const { return kept_.fields(); }
  // The payload of a state that is not encoded.
  std::uint64_t payload_bytes() const { return fields().payload_bytes(); }
  Done begin_step(std::int64_t step);
  Done next_segment();
  Done end_segment();
  // Gives the checksum of what was stored; 0 where none is wanted.
  Outcome<std::uint64_t> store(const void* const* memory);
  Done finish(segment::Writer::Payload how, std::uint64_t check = 0);
  // Where no tier has room: moves the states of a segment in which others were dropped to the one that begins now.
  Done clean(const Failure& no_room);
  Done move_records(std::uint32_t from, const std::byte* base);
  // Once a segment: with the record that is now written half of it is used, and there will be another.
  void announce_next(std::uint64_t payload_bytes);

  // Reserves room and memory for one more state, whatever it becomes, where a field is encoded:
  Done reserve();
  bool has_room(const Active& active) const;
  // Gives the open state to the encoder.
  Done accept();
  // Puts the oldest pending state into a segment, or has it encoded again where it must begin one.
  Done place(const Encoder::Encoded& state);

  Kept& kept_;
  Active& active_;
  Reader& reader_;
  Active spare_;                 // the next segment, where states that are encoded fill the first one to its end
  bool next_announced_ = false;  // that another segment will be wanted
  bool step_open_ = false;
  std::int64_t step_ = 0;  // that is open, or was the last one
  double time_ = 0;
  std::optional<Lender> lender_;  // with the option "debug"
  std::byte* staged_ = nullptr;   // where a field is encoded: the state that is open, or comes next
  std::unique_ptr<Encoder> encoder_;
  double waited_for_codecs_ = 0;
};

tl::unexpected<Failure> cannot_store(std::int64_t step, int errno_value);

}  // namespace forebay::trajectory
