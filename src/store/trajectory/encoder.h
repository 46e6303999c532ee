// States on their way into the store: the solver writes one, threads encode those before it, and the oldest waits for
// the trajectory to place it, in the order of the commits.
//
// Threads see numbers only. Segments, the index and the tiers stay with the caller's thread. At its next begin it
// copies what has become of a state, a fraction of it, into the store. So nothing there needs another lock, and room
// can be promised before a state is accepted. A state that begins a segment must stand alone, but is encoded before it
// is known where it will lie: then it is encoded again, and those behind it. That happens once a segment.
//
// Where a commit must have stored the state when it returns, there is one state only, and the commit waits for it; the
// threads then encode its fields side by side.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "store/segment/segment.h"
#include "store/trajectory/encoded.h"
#include "store/trajectory/failure.h"
#include "store/trajectory/field_encoder.h"
#include "store/trajectory/lanes.h"

namespace forebay::trajectory {

class Encoder {
 public:
  // States that have memory: one is written, one encoded, one waits.
  static constexpr std::size_t kStates = 3;

  // `threads`: none for what the machine has to spare. The fields outlive it.
  Encoder(const std::vector<Field>& fields, std::optional<int> threads);
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  struct Encoded {
    std::int64_t step = 0;
    double time = 0;
    std::vector<std::span<const std::byte>> parts;  // of every field
    std::uint64_t payload_bytes = 0;
    bool alone = true;  // no part stands on the step before
  };

  bool has_threads() const { return lanes_.threads() > 0; }
  // Accepted and not yet placed.
  std::size_t pending() const { return pending_.size(); }
  bool full() const { return pending_.size() + 1 == kStates; }

  // Memory for the next state, the same until that is accepted; not full().
  Outcome<std::byte*> stage();
  // The state in that memory is complete: the threads may encode it.
  void accept(std::int64_t step, double time);

  // The oldest that is pending, encoded; `wait` for that, or nullptr. Valid until the next call.
  Outcome<const Encoded*> oldest(bool wait);
  // The oldest pending state is placed in a segment.
  void pop();
  // The oldest, and all that come behind it, again, standing on nothing before.
  void start_again();
  // The next state stands on nothing before; none is pending.
  void forget();
  // Forgets all pending states; the next state stands on nothing before.
  void clear();

  forebay_encoding_info info(std::size_t field) const { return infos_[field]; }

 private:
  struct State {
    segment::Mapping raw, encoded;
    std::vector<codec::Outcome<codec::Encoded>> results;  // of the encoded fields
    std::atomic<std::size_t> left = 0;                    // fields that are not done
    std::int64_t step = 0;
    double time = 0;
  };
  struct Lane {
    std::size_t field;
    std::uint64_t offset;  // of its part in State::encoded
    std::unique_ptr<FieldEncoder> encoder;
  };
  void post(State& state);
  std::span<std::byte> room_for(const State& state, const Lane& lane) const;
  void count(const State& state);

  const std::vector<Field>& fields_;
  std::vector<Lane> encoders_;
  std::uint64_t raw_bytes_ = 0, encoded_bytes_ = 0;
  std::vector<forebay_encoding_info> infos_;
  std::unique_ptr<State> open_;
  std::vector<std::unique_ptr<State>> free_;
  std::deque<std::unique_ptr<State>> pending_;
  Encoded oldest_;
  Lanes lanes_;  // the last member: its threads end before what they use
};

}  // namespace forebay::trajectory
