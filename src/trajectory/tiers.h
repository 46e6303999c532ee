// The tiers of one rank: which segments exist, where each lies, and the two helper threads that keep it all moving.
//
// The preparer makes and touches the segment of the first tier that the writer will want next. The mover carries the
// oldest segments down before the first tier is full, and brings them back ahead of a reverse sweep. A segment that
// lies in mapped memory is read there; one that was carried to a streamed tier (stream_file.h) is copied back into the
// first tier, which keeps a few segments free for that.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "segment/segment.h"
#include "trajectory/failure.h"
#include "trajectory/options.h"

namespace forebay::trajectory {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// All functions but the threads' own are called by one thread, the trajectory's.
class Tiers {
 public:
  // Gets a record of a store that was reopened, and the segment where it lies; in the order of the commits.
  using Visit = std::function<void(std::uint32_t segment, const segment::RecordHeader&)>;
  // Whether a record still counts.
  using Lives = std::function<bool(std::uint32_t segment, const segment::RecordHeader&)>;

  // Opens directories and takes their locks. `options` outlives this.
  static Outcome<std::unique_ptr<Tiers>> open(const Options& options);
  ~Tiers();
  Tiers(const Tiers&) = delete;
  Tiers& operator=(const Tiers&) = delete;

  // The head of the kept store that was found, if any; then load() takes its segments over.
  const std::optional<segment::DecodedHead>& found_head() const { return found_head_; }
  Done load(const Visit& visit);
  // `live` of the records found in each segment count. Starts the threads.
  void go_on(const std::vector<std::uint32_t>& live);
  // What load() could not take over, a line each.
  const std::string& remarks() const { return remarks_; }
  void remark(std::string line) { remarks_ += std::move(line) + "\n"; }

  // Begins a store: `fields` and the size of a record (with header) are known. Starts the threads.
  Done begin_store(const std::vector<segment::FieldEntry>& fields, std::uint64_t record_bytes);
  bool started() const { return started_; }
  bool kept() const { return kept_; }

  // --- the writer: a segment to write into; waits for room ---
  struct Active {
    std::uint32_t segment = kNone;
    std::byte* base = nullptr;
  };
  Outcome<Active> next(segment::Writer& writer);
  // The active segment is half full: the one after it will be wanted. Never waits; false where it could not be said.
  bool announce_next();
  // The active segment is full: `live` of its records count. It is held by the caller if `held`.
  Done seal(segment::Writer& writer, std::uint32_t segment, std::uint32_t live, bool held);
  segment::Medium& first_medium() { return *tiers_.front().medium; }
  // Whether those who write much to a tier take turns, and the turn to do so.
  bool takes_turns(std::uint32_t tier) const;
  std::optional<segment::Turn> turn_at(std::uint32_t tier) const;

  // --- the reader: a held segment stays where it is, at the address returned ---
  Outcome<const std::byte*> hold(std::uint32_t segment);
  // The same where it need not be fetched; else nullptr.
  const std::byte* hold_if_at_hand(std::uint32_t segment);
  void unhold(std::uint32_t segment);
  // A record of a segment that is not active no longer counts.
  Done drop(std::uint32_t segment, std::uint32_t record);
  void reverse(std::uint32_t from_segment);
  // To another tier, by the mover; the segment is sealed and not held. One that lies there and above stays there only.
  Done move_to(std::uint32_t segment, std::uint32_t tier);
  // The payloads of this segment came from another process or from a disk.
  bool suspicious(std::uint32_t segment);
  // For messages: "POOL/NAME, segment 3".
  std::string place_of(std::uint32_t segment);

  // Forgets every segment. Nothing is held.
  Done rewind();
  // Marks as dropped whatever `lives` denies, so that a later process finds no more than this one knows.
  Done keep(bool kept, const Lives& lives);

  std::size_t count() const { return tiers_.size(); }
  Outcome<forebay_tier_info> info(std::size_t tier);
  double waited_for_room() const { return waited_for_room_; }
  double waited_for_states() const { return waited_for_states_; }
  std::uint64_t segment_bytes() const { return segment_bytes_; }

 private:
  struct Tier {
    const TierOptions* options = nullptr;
    std::unique_ptr<segment::StoreHome> directory;    // or range of a device
    std::unique_ptr<segment::Medium> medium;          // a mapped tier has this,
    std::unique_ptr<segment::StreamFile> stream;      // a streamed one this
    std::vector<segment::Mapping> mappings;           // by slot
    std::vector<std::uint32_t> free;                  // slots that exist and hold nothing
    std::uint32_t made = 0;                           // slots that exist
    std::uint32_t limit = 0;                          // that may exist
    std::uint32_t making = 0;                         // 1 while a thread makes the next one
    std::map<std::uint64_t, std::uint32_t> resident;  // generation -> segment
    std::optional<Failure> failure;                   // why the last attempt to carry something here failed
    std::uint64_t moved_in = 0;
    std::uint64_t fetched = 0;

    std::uint32_t room() const { return static_cast<std::uint32_t>(free.size()) + (limit - made); }
  };
  struct Place {
    std::uint32_t tier = kNone;
    std::uint32_t slot = kNone;
    explicit operator bool() const { return tier != kNone; }
  };
  struct Segment {
    std::uint64_t generation = 0;
    segment::Extent extent;
    std::uint32_t live = 0;
    std::uint32_t holds = 0;
    Place home;  // in mapped memory
    Place copy;  // on a streamed tier; then home, if any, can be given up at once
    bool used = false;
    bool sealed = false;
    bool moving = false;
    bool suspicious = false;
  };
  // What move_to() wants of the mover.
  struct Request {
    std::uint32_t segment = kNone;
    std::uint32_t tier = kNone;
    std::optional<Done> outcome;
  };
  using Lock = std::unique_lock<std::mutex>;

  Tiers(const Options& options) : options_(options) {}
  Done open_tier(std::size_t number);
  Done read_heads();
  Done find_segments(std::uint32_t tier, std::map<std::uint64_t, std::uint32_t>& found);
  Done walk_segment(std::uint32_t segment, const Visit& visit);
  Done take_sizes(const Outcome<Sizes>& sizes);
  void set_durable();
  void start_threads();
  void stop_threads();
  segment::StoreHead head_for(std::uint32_t tier) const;
  Done write_heads();

  bool streamed(std::uint32_t tier) const { return tiers_[tier].stream != nullptr; }
  bool has_streamed() const;
  std::byte* base(Place place) { return bytes(place).data(); }
  // Needs the lock: another thread may be adding a mapping. Empty for a streamed tier.
  std::span<std::byte> bytes(Place place) {
    return streamed(place.tier) ? std::span<std::byte>() : tiers_[place.tier].mappings[place.slot].bytes;
  }
  std::uint32_t ring() const;  // slots of the first tier that are kept for states that come back

  // All below are called with the lock; those that take it may give it up meanwhile.
  // Something changed that the threads may act on.
  void poke();
  void prepare(Lock& lock);
  void move(Lock& lock);
  bool make_slot(Lock& lock, std::uint32_t tier);
  bool fetch(Lock& lock, std::uint32_t segment);
  std::uint32_t next_to_fetch();
  bool give_up_clean(std::uint64_t wanted_generation, bool passed_only);
  bool spill_needed(std::uint32_t tier) const;
  std::uint32_t victim(std::uint32_t tier) const;
  bool can_spill(std::uint32_t tier) const;
  bool spill(Lock& lock, std::uint32_t tier);
  void give_up_home(Segment& clean);
  std::optional<std::uint32_t> slot_for(Lock& lock, std::uint64_t generation, std::uint32_t tier);
  Done relocate(Lock& lock, std::uint32_t segment, std::uint32_t to_tier);
  std::optional<std::uint32_t> take_slot(Lock& lock, std::uint32_t tier);
  // Without the lock. The memory of a streamed end is empty.
  Status carry(const segment::Extent& used, Place source, std::span<std::byte> from, Place target,
               std::span<std::byte> to);
  Status retire(Place place, std::span<std::byte> memory);
  Status mark_in_stream(Place copy, std::uint32_t record);
  void release_slot(Place place);
  void forget(std::uint32_t segment);
  std::uint32_t new_segment(std::uint64_t generation);
  Failure no_room();

  const Options& options_;
  std::vector<Tier> tiers_;
  std::optional<segment::DecodedHead> found_head_;
  std::string remarks_;
  std::vector<segment::FieldEntry> fields_;
  std::uint64_t store_ = 0;
  std::uint64_t epoch_ = 1;
  std::uint64_t segment_bytes_ = 0;
  bool payload_checks_ = false;
  bool kept_ = false;
  bool durable_ = false;
  bool started_ = false;
  double waited_for_room_ = 0;
  double waited_for_states_ = 0;

  std::mutex mutex_;
  std::condition_variable work_;  // for the threads
  std::condition_variable done_;  // for the caller
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> unused_;  // numbers of segments that are free
  std::uint64_t next_generation_ = 1;
  std::uint64_t pokes_ = 0;
  bool stop_ = false;
  bool writer_waits_ = false;
  bool next_wanted_ = false;    // by the writer: it waits, or has announced that it will
  bool took_one_ = false;       // the writer
  bool always_wanted_ = false;  // it waited for memory, with one to write meanwhile: half a segment is too late
  bool mover_busy_ = false;
  std::uint32_t wanted_ = kNone;  // the reader waits for this segment
  std::optional<Failure> fetch_failed_;
  std::optional<Request> request_;
  bool reversing_ = false;
  std::uint64_t cursor_ = 0;  // generation of the segment that was read last
  segment::Mapping bounce_;   // between two streamed tiers
  std::thread preparer_;
  std::thread mover_;
};

}  // namespace forebay::trajectory
