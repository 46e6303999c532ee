// Encoded fields of stored steps, decoded into memory of the process, which stays where it is while the step is pinned.
//
// Differences are taken back as well as added: the numbers of a step lead to the one before by the record that is known
// already (codec.h), so a sweep in either direction reads each record once. A step out of order begins at the last one
// before it that stands alone.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "trajectory/encoded.h"

namespace forebay::trajectory {

// One thread at a time. The fields outlive it.
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
  // What was decoded of the step counts no more; it is not pinned.
  void forget(std::int64_t step);
  void clear();

 private:
  struct State {
    segment::Mapping memory;
    std::vector<bool> decoded;  // by field
    bool pinned = false;
  };
  // The numbers of the step that was decoded last.
  struct Reader {
    std::vector<std::int32_t> numbers;
    codec::Reference reference;
    std::uint64_t generation = 0;  // of its segment,
    std::uint32_t record = 0;      // and its number there
    std::uint64_t offset = 0;      // where the field lies in State::memory
  };
  Outcome<State*> state_of(std::int64_t step);
  Done check_counts(std::span<const std::byte> segment, std::uint32_t record, std::size_t wanted) const;
  Done decode(std::span<const std::byte> segment, std::uint32_t record, std::size_t number, std::span<std::byte> out);
  template <class Real>
  bool take_back(std::span<const std::byte> segment, const EncodedRecord& record, std::size_t number,
                 std::span<Real> out);
  template <class Real>
  Done decode_numbers(std::span<const std::byte> segment, const EncodedRecord& wanted, std::size_t number,
                      std::span<Real> out);

  const std::vector<Field>& fields_;
  codec::Workspace workspace_;
  std::vector<Reader> readers_;  // by field
  std::uint64_t state_bytes_ = 0;
  std::unordered_map<std::int64_t, State> states_;
  std::deque<std::int64_t> unpinned_;  // the longest first
};

}  // namespace forebay::trajectory
