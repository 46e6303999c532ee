// trajectory: the states of all time steps of a forward run, read backwards by the adjoint. This is what lies behind
// forebay/trajectory.h, which says what each call promises.
//
// Promises: begin, commit, get and release take no lock, allocate nothing and make no system call. Exceptions are where
// one segment ends and another begins, or is asked for, and media that need a call to make stores last. A pinned state
// stays where it is. Must not know: files of a run, drains, MPI.
//
// A Kept has the fields, the steps and the tiers. The Reader works on it, and the Writer above that: to write it may
// have to ask what is pinned, or to have given back what is held for the next read only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "store/trajectory/kept.h"
#include "store/trajectory/reader.h"
#include "store/trajectory/writer.h"

namespace forebay::trajectory {

class Trajectory {
 public:
  static Outcome<std::unique_ptr<Trajectory>> open(const Options& options);
  // Seals, and removes what is not kept. Nothing else may be called afterwards.
  Done close();

  Outcome<int> declare(const char* name, forebay_type type, std::uint64_t count);
  Fields& fields() { return kept_.fields(); }
  Outcome<forebay_encoding_info> encoding(int field);

  Writer& writer() { return writer_; }
  Outcome<const void*> get(std::int64_t step, int field);
  Done release(std::int64_t step) { return reader_.release(step); }
  // The same where it takes a handful of instructions (reader.h); nullptr and false where it takes more.
  const void* get_at_hand(std::int64_t step, int field) noexcept { return reader_.get_at_hand(step, field); }
  bool release_at_hand(std::int64_t step) noexcept { return reader_.release_at_hand(step); }
  Done interpolate(double time, int field, void* memory);
  Done reverse(std::int64_t from);
  Done keep(bool kept);

  Outcome<std::uint64_t> capacity() { return kept_.capacity(); }
  std::size_t count() { return kept_.index().size(); }
  Outcome<const Entry*> at(std::size_t position);
  Outcome<const Entry*> find(std::int64_t step);
  Tiers& tiers() { return kept_.tiers(); }
  // Seconds that begin has waited for room, and for states that are being encoded.
  double waited_to_begin() { return tiers().waited_for_room() + writer_.waited_for_codecs(); }

 private:
  explicit Trajectory(const Options& options) : kept_(options) {}

  Kept kept_;
  Active active_;
  Reader reader_{kept_, active_};
  Writer writer_{kept_, active_, reader_};
};

}  // namespace forebay::trajectory
