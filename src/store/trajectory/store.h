// The places of one rank's segments: its tiers, what a kept store tells of itself on each of them (its head), and what
// is done to one segment where it lies. The store knows neither which segments there are (log.h) nor who uses them: it
// has no lock and no threads. Calls for different places may be made at once, but not add() or a call about the whole
// store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/segment/segment.h"
#include "store/trajectory/failure.h"
#include "store/trajectory/options.h"
#include "store/trajectory/place.h"

namespace forebay::trajectory {

class Store {
 public:
  explicit Store(const Options& options) : options_(options) {}

  // --- the whole store ---
  // Opens directories, takes their locks, and reads the heads of a store that was kept.
  Done open();
  // Removes what open has made where nothing was, of a store that was refused.
  void take_back();
  const std::optional<segment::DecodedHead>& found_head() const { return found_head_; }
  // For records of that size (with headers), in the store that was found or a new one.
  Outcome<Sizes> sizes(std::uint64_t record_bytes) const;
  // From now on the one that was found, or a new one.
  void take_over(std::uint64_t segment_bytes);
  Done begin(const std::vector<segment::FieldEntry>& fields, std::uint64_t segment_bytes);
  // Gives the epoch to the tiers that lack it, and heads to those that have lost theirs.
  Done mend_heads();
  // Begins the tiers anew of which nothing is left: what was there, should it come back, counts no more.
  Done begin_anew();
  Done write_heads(const std::vector<Held>& held);
  // The statements of the heads about each other from now on; tell() writes them.
  segment::Ledger ledger(const std::vector<Held>& held);  // `held`: by tier
  void tell(const segment::Ledger& ledger) const;
  // The stored steps count no more.
  Done rewind();
  // The names of a store that is to be kept from now on, or not.
  Done keep(bool kept);

  std::uint64_t id() const { return id_; }
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t segment_bytes() const { return segment_bytes_; }
  bool kept() const { return kept_; }
  bool read_only() const { return read_only_; }
  // The parts that could not be taken over, a line each.
  const std::string& remarks() const { return remarks_; }
  void remark(std::string line) { remarks_ += std::move(line) + "\n"; }
  // Compares what load() has found of a tier with what there was.
  void count_losses(std::uint32_t tier, std::uint64_t steps_found);

  // --- a tier ---
  std::uint32_t tiers() const { return static_cast<std::uint32_t>(tiers_.size()); }
  const TierOptions& options(std::uint32_t tier) const { return options_.tiers[tier]; }
  // Reached by reads and writes: its segments have no memory.
  bool streamed(std::uint32_t tier) const { return tiers_[tier].stream != nullptr; }
  bool checks(std::uint32_t tier) const { return tiers_[tier].checks; }
  // Whether records that have a checksum are compared with it; of a mapped tier on a disk, at every read.
  bool compares() const { return options_.checksum.value_or(true); }
  bool compares_every_read(std::uint32_t tier) const { return tiers_[tier].every_read; }
  segment::Medium& medium(std::uint32_t tier) { return *tiers_[tier].medium; }
  const char* kind(std::uint32_t tier) const;
  // Whether another segment may find room on a medium that was full.
  bool may_have_room(std::uint32_t tier) const;
  // Whether the files of a kept store, which others can reach, are as long as what is mapped of them.
  Done look_at_files() const;
  const std::string& path(std::uint32_t tier) const { return tiers_[tier].path(); }

  // --- a segment in its place ---
  // How many there may be in a store that was found.
  Outcome<std::uint32_t> slots_found(std::uint32_t tier);
  // The header that counts there; the place can be used from now on.
  Outcome<std::optional<segment::SegmentHeader>> find(Place place);
  // Makes memory for the next slot of a tier; then add() makes it a place.
  Outcome<segment::Mapping> make(std::uint32_t tier, std::uint32_t slot);
  void add(std::uint32_t tier, segment::Mapping memory) { tiers_[tier].mappings.push_back(std::move(memory)); }
  std::span<std::byte> bytes(Place place) const { return tiers_[place.tier].mappings[place.slot].bytes; }
  // Its records; what is in use of it.
  Outcome<segment::Extent> find_records(Place place, std::uint64_t generation,
                                        const std::function<void(const segment::RecordHeader&)>& visit);
  // Marks it as free.
  void retire(Place place);
  // Marks a record as dropped, there and in `copy`, where that is not empty.
  Done mark_dropped(Place place, std::uint32_t record, std::span<std::byte> copy);
  Done sync(Place place);
  // Into a place that counts for nothing until its header is there, which comes last. `memory` are the place's bytes,
  // where it has some.
  Status carry(const segment::Extent& used, std::span<const std::byte> from, Place to, std::span<std::byte> memory);
  Status read(Place place, const segment::Extent& used, std::span<std::byte> to);

 private:
  struct Tier {
    const TierOptions* options = nullptr;
    std::unique_ptr<segment::StoreHome> home;     // a directory, or a range of a device; none of the process's memory
    std::unique_ptr<segment::Medium> medium;      // a mapped tier has this,
    std::unique_ptr<segment::StreamFile> stream;  // a streamed one this, and one that is not there neither
    std::vector<segment::Mapping> mappings;       // by slot
    bool checks = false;                          // records that are written here get checksums
    bool every_read = false;                      // what was read once may be damaged the next time
    std::optional<segment::DecodedHead> head;     // where one was found
    bool head_damaged = false;                    // one is there, and cannot be read
    bool unfinished = false;                      // a process died before it had kept what lies here
    bool left_out = false;                        // what lies here is not read
    bool gone = false;                            // nothing of the store is left here
    bool lost_some = false;                       // or what was here is not whole

    const std::string& path() const { return home ? home->path() : options->path; }
  };

  Done open_all();
  Done open_tier(std::uint32_t number);
  Done read_heads();
  Done find_heads();
  Done take_head(std::uint32_t position);
  Done leave_out(Tier& tier, const char* why);
  Done leave_out_older_ones();
  void take_ledger();
  static void forget_steps(segment::Ledger& ledger);
  Done look_at_the_headless();
  void tell_what_is_missing();
  void tell_a_short_file(std::uint32_t position, std::uint64_t segments);
  void lose(std::uint32_t position, std::string line);
  // The entry of the tier at this position; where some are left out, it may have another number.
  segment::TierEntry& entry(std::uint32_t position);
  static std::uint64_t new_identity();
  Status name_tiers(bool kept);
  Done check_head(const segment::StoreHead& head, const std::string& path);
  segment::StoreHead head_for(std::uint32_t tier) const;
  void set_durable();
  void decide_checks();
  void remark_lost_header(Place place);
  std::uint64_t offset(Place place) const { return place.slot * segment_bytes_; }

  const Options& options_;
  std::vector<Tier> tiers_;
  std::optional<segment::DecodedHead> found_head_;
  segment::Ledger ledger_;
  std::string remarks_;
  std::vector<segment::FieldEntry> fields_;
  std::uint64_t id_ = 0;
  std::uint64_t epoch_ = 1;
  std::uint64_t segment_bytes_ = 0;
  bool kept_ = false;
  bool read_only_ = false;
  bool durable_ = false;
};

}  // namespace forebay::trajectory
