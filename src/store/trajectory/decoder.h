// Encoded fields of stored steps, decoded into memory of the process, which stays where it is while the step is pinned.
//
// A sweep reads one step after the other, so while the solver works on one a thread decodes the next: the fields that
// the sweep has asked for. The thread knows numbers and the memory that they go to; which steps have memory is the
// caller's thread's. A field that could not be decoded ahead, field() decodes again when it is asked for, and says why
// not: an error belongs to the step that has it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "store/trajectory/field_decoder.h"
#include "store/trajectory/lanes.h"

namespace forebay::trajectory {

// All functions are called by one thread. The fields outlive it.
class Decoder {
 public:
  explicit Decoder(const std::vector<Field>& fields);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // An encoded field of a step, of which this is the record in the segment; from now on the step is pinned.
  Outcome<const std::byte*> field(std::int64_t step, std::span<const std::byte> segment, std::uint32_t record,
                                  std::size_t number);
  // Where it was pinned, its memory may be used for others; until that happens, another field() finds it again.
  void unpin(std::int64_t step);

  // A sweep begins: starts the thread that decode_ahead() needs, and forgets what the last sweep asked for.
  void begin_sweep();
  // Begins to decode a step of which field() has not been asked yet. Its segment stays as it is until rest().
  void decode_ahead(std::int64_t step, std::span<const std::byte> segment, std::uint32_t record);
  // From now on no segment is read, until field() or decode_ahead().
  void rest();

  // The step's decoded fields count no more; it is not pinned.
  void forget(std::int64_t step);
  void clear();
  // States of a field that were decoded ahead.
  std::uint64_t decoded_ahead(std::size_t number) const { return decoded_ahead_[number]; }

 private:
  struct State {
    segment::Mapping memory;
    std::vector<bool> decoded;  // by field
    bool pinned = false;
  };
  // The thread's work. Its segment and memory stay where they are: the step is neither pinned nor among `unpinned_`.
  struct Ahead {
    std::int64_t step = 0;
    std::vector<std::size_t> fields;
    std::size_t done = 0;  // the first so many
  };
  Outcome<State*> state_of(std::int64_t step);
  std::span<std::byte> memory_of(const State& state, std::size_t number) const;
  Done check_counts(std::span<const std::byte> segment, std::uint32_t record, std::size_t wanted) const;
  void retire(std::int64_t step);

  const std::vector<Field>& fields_;
  std::vector<std::unique_ptr<FieldDecoder>> decoders_;  // by field; none where it is not encoded
  std::vector<std::uint64_t> offsets_;                   // by field, in State::memory
  std::uint64_t state_bytes_ = 0;
  std::unordered_map<std::int64_t, State> states_;
  std::deque<std::int64_t> unpinned_;  // the longest first
  std::vector<bool> asked_;            // by field: in this sweep
  std::vector<std::uint64_t> decoded_ahead_;
  std::optional<Ahead> ahead_;
  std::optional<Lanes> lanes_;  // the last member: its thread ends before what it uses
};

}  // namespace forebay::trajectory
