// The parts of a trajectory: its fields, its steps, and the tiers where they lie. Writer and reader work on this. It
// takes over a store that was kept, begins a new one, and lets one be kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "store/trajectory/fields.h"
#include "store/trajectory/index.h"
#include "store/trajectory/options.h"
#include "store/trajectory/tiers.h"

namespace forebay::trajectory {

class Kept {
 public:
  explicit Kept(const Options& options) : options_(options) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  Done open();
  // Removes what is not kept. Nothing else may be called afterwards.
  void close();
  // A store of the fields that are declared, where none was found.
  Done begin();
  // Every step lies in a segment.
  Done keep(bool kept);

  Done refuse_to_write() const;
  // The number of states that fit in all.
  Outcome<std::uint64_t> capacity();
  Outcome<Entry*> find(std::int64_t step);
  tl::unexpected<Failure> unknown(std::int64_t step);

  const Options& options() const { return options_; }
  Tiers& tiers() const { return *tiers_; }
  Fields& fields() { return fields_; }
  const Fields& fields() const { return fields_; }
  Index& index() { return index_; }

 private:
  Done load();
  // A record whose step was stored again.
  struct Older {
    std::uint32_t segment;
    std::uint32_t record;
  };
  Done read_index(std::vector<std::uint32_t>& live, std::vector<Older>& older);

  const Options options_;
  std::unique_ptr<Tiers> tiers_;
  Fields fields_;
  Index index_;
};

}  // namespace forebay::trajectory
