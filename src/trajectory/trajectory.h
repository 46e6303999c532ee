// trajectory: the states of all time steps of a forward run, read backwards by the adjoint. This is what lies behind
// forebay/trajectory.h, which says what each call promises.
//
// Promises: begin, commit, get and release take no lock, allocate nothing and make no system call, except where one
// segment ends and another begins (and on media that need a call to make stores last). What is pinned stays where it
// is. Must not know: files of a run, drains, MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trajectory/index.h"
#include "trajectory/options.h"
#include "trajectory/tiers.h"

namespace forebay::trajectory {

struct Field {
  std::string name;
  forebay_type type = FOREBAY_BYTES;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // in the payload of a record
};

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

  Done begin(std::int64_t step, double time, void** memory);
  Done commit();
  Done cancel();
  Done put(std::int64_t step, double time, const void* const* memory);

  Outcome<const void*> get(std::int64_t step, int field);
  Done release(std::int64_t step);
  Done interpolate(double time, int field, void* memory);
  Done reverse(std::int64_t from);
  Done drop(std::int64_t step);
  Done rewind();
  Done keep(bool kept);

  std::size_t count() const { return index_.size(); }
  Outcome<const Entry*> at(std::size_t position);
  Outcome<const Entry*> find(std::int64_t step);
  Tiers& tiers() { return *tiers_; }

 private:
  explicit Trajectory(const Options& options) : options_(options) {}
  Done load();
  void lay_out(Field& field);
  Done begin_step(std::int64_t step);
  Done finish(segment::Writer::Payload how);
  Outcome<const std::byte*> hold(Entry& entry);
  void leave();
  bool held(std::uint32_t segment) const { return segment < pins_.size() && pins_[segment] != 0; }
  Done verify(Entry& entry, const std::byte* base);
  tl::unexpected<Failure> unknown(std::int64_t step);

  const Options options_;
  std::unique_ptr<Tiers> tiers_;
  std::vector<Field> fields_;
  std::uint64_t payload_bytes_ = 0;
  Index index_;

  segment::Writer writer_;
  Tiers::Active active_;
  std::uint32_t active_live_ = 0;
  bool step_open_ = false;
  std::int64_t open_step_ = 0;
  double open_time_ = 0;

  // The segment that was read last stays held, so that the next get needs no lock.
  std::uint32_t reading_ = kNone;
  const std::byte* reading_base_ = nullptr;
  bool reading_suspicious_ = false;
  std::vector<std::uint32_t> pins_;  // by segment: pinned steps there
  std::uint64_t pinned_ = 0;         // in all
};

}  // namespace forebay::trajectory
