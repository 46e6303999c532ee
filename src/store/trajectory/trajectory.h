// trajectory: the states of all time steps of a forward run, read backwards by the adjoint. This is what lies behind
// forebay/trajectory.h, which says what each call promises.
//
// Promises: begin, commit, get and release take no lock, allocate nothing and make no system call, except where one
// segment ends and another begins, or is asked for (and on media that need a call to make stores last). What is pinned
// stays where it is. Must not know: files of a run, drains, MPI.
//
// Where a field has an accepted error, states take another way: begin gives memory beside the tiers, commit hands it to
// an Encoder, and what has become of it is placed into a segment by this thread (encoder.h says why); get decodes
// (decoder.h). Only states that have room whatever they become are accepted, so nothing that was committed can be lost
// to a full tier. A commit into a kept trajectory returns when the state is placed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/trajectory/decoder.h"
#include "store/trajectory/encoder.h"
#include "store/trajectory/field.h"
#include "store/trajectory/index.h"
#include "store/trajectory/lender.h"
#include "store/trajectory/options.h"
#include "store/trajectory/tiers.h"

namespace forebay::trajectory {

class Trajectory {
 public:
  static Outcome<std::unique_ptr<Trajectory>> open(const Options& options);
  ~Trajectory();
  Trajectory(const Trajectory&) = delete;
  Trajectory& operator=(const Trajectory&) = delete;
  // Seals, and removes what is not kept. Nothing else may be called afterwards.
  Done close();

  Outcome<int> declare(const char* name, forebay_type type, std::uint64_t count);
  const std::vector<Field>& fields() const { return fields_; }
  Outcome<const Field*> field(int number) const;
  Done set_shape(int field, std::span<const std::uint64_t> extents);
  Done set_accepted_error(int field, double error);
  Done set_codec(int field, forebay_codec codec);
  Outcome<forebay_encoding_info> encoding(int field);

  Done begin(std::int64_t step, double time, void** memory);
  Done commit();
  Done cancel();
  Done put(std::int64_t step, double time, const void* const* memory);

  Outcome<const void*> get(std::int64_t step, int field);
  Done release(std::int64_t step);
  // The same for a state that is not encoded, in a segment that was read last or is being written: a handful of
  // instructions, so that the processor sees past them to the next state. nullptr and false where it takes more.
  const void* get_at_hand(std::int64_t step, int field) noexcept;
  bool release_at_hand(std::int64_t step) noexcept;
  Done interpolate(double time, int field, void* memory);
  Done reverse(std::int64_t from);
  Done drop(std::int64_t step);
  Done move(std::int64_t step, int tier);
  Done rewind();
  Done keep(bool kept);

  // How many states fit in all.
  Outcome<std::uint64_t> capacity();
  std::size_t count() const { return index_.size(); }
  Outcome<const Entry*> at(std::size_t position);
  Outcome<const Entry*> find(std::int64_t step);
  Tiers& tiers() { return *tiers_; }
  // Seconds that begin has waited for room, and for states that are being encoded.
  double waited_to_begin() const { return tiers_->waited_for_room() + waited_for_codecs_; }

 private:
  explicit Trajectory(const Options& options) : options_(options) {}
  Done load();
  Done take_over(const segment::FieldEntry& entry);
  void lay_out(Field& field);
  void fix_fields();
  bool encoded() const;

  Done begin_step(std::int64_t step);
  Done start_store();
  Done next_segment();
  Done end_segment();
  // Gives the checksum of what was stored; 0 where none is wanted.
  Outcome<std::uint64_t> store(const void* const* memory);
  Done finish(segment::Writer::Payload how, std::uint64_t check = 0);
  // Where no tier has room: moves the states of a segment in which others were dropped to the one that begins now.
  Done clean(const Failure& no_room);
  Done refuse_to_write() const;

  // Once a segment: with the record that is now written half of it is used, and there will be another.
  void announce_next(std::uint64_t payload_bytes);
  tl::unexpected<Failure> cannot_store(std::int64_t step, int errno_value);

  // Where a field is encoded. Room and memory for one more state, whatever it becomes:
  Done reserve();
  bool has_room(const Tiers::Active& segment, const segment::Writer& writer) const;
  // Gives the open state to the encoder.
  Done accept();
  // Puts the oldest pending state into a segment, or has it encoded again where it must begin one.
  Done place(const Encoder::Encoded& state);
  // Places all that are pending.
  Done place_pending();
  // In a sweep: lets the step below the one that was read be decoded, if its segment is at hand.
  void decode_ahead(const Entry& read);
  // From now on no segment is read or held for that.
  void end_decoding_ahead();
  void end_sweep();
  Outcome<const std::byte*> decode(const Entry& entry, const std::byte* base, std::size_t field);
  void stand_alone();

  void pin(Entry& entry) noexcept;
  void unpin(Entry& entry) noexcept;
  const void* pin(Entry& entry, const std::byte* base, int field) noexcept;
  const std::byte* at_hand(std::uint32_t segment) const noexcept;
  Outcome<const std::byte*> hold(Entry& entry);
  void leave();
  bool held(std::uint32_t segment) const { return segment < pins_.size() && pins_[segment] != 0; }
  bool must_verify(const Entry& entry) const noexcept;
  Done verify(Entry& entry, const std::byte* base);
  tl::unexpected<Failure> unknown(std::int64_t step);

  const Options options_;
  std::unique_ptr<Tiers> tiers_;
  std::vector<Field> fields_;
  std::uint64_t payload_bytes_ = 0;  // of a state that is not encoded
  std::uint64_t record_bytes_ = 0;   // of the largest record
  bool encoded_ = false;             // a field is
  Index index_;

  segment::Writer writer_;
  Tiers::Active active_;
  segment::Writer spare_writer_;
  Tiers::Active spare_;
  std::uint32_t active_live_ = 0;
  bool next_announced_ = false;  // that another segment will be wanted
  bool step_open_ = false;
  std::int64_t open_step_ = 0;
  double open_time_ = 0;
  std::optional<Lender> lender_;  // with the option "debug"

  // The segment that was read last stays held, so that the next get needs no lock.
  std::uint32_t reading_ = kNone;
  const std::byte* reading_base_ = nullptr;
  // Where its payloads may have been damaged: which records were compared with their checksums since it arrived.
  struct Doubt {
    std::uint64_t generation = 0;
    std::uint32_t arrivals = 0;
    std::vector<bool> verified;  // by record
    bool every_read = false;     // each counts for one read
  };
  Doubt* doubt_ = nullptr;                      // of the segment that is read; none where nothing is in doubt
  std::vector<std::unique_ptr<Doubt>> doubts_;  // by segment
  std::vector<std::uint32_t> pins_;             // by segment: pinned steps there

  // Where a field is encoded.
  std::byte* staged_ = nullptr;  // the state that is open, or comes next
  double waited_for_codecs_ = 0;
  std::unique_ptr<Encoder> encoder_;
  bool first_ = true;      // the next record of the active segment must stand alone
  bool sweeping_ = false;  // since reverse(); no state is pending then
  std::int64_t swept_to_ = 0;
  std::uint32_t ahead_ = kNone;  // the segment that is held for the decoder, beside the one that was read last
  const std::byte* ahead_base_ = nullptr;
  std::unique_ptr<Decoder> decoder_;  // the last member: its thread reads segments
};

}  // namespace forebay::trajectory
