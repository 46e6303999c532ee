// The tiers of one rank: segments on media, and the two helper threads that keep it all moving.
//
// The log (log.h) says where each segment lies. What lies in mapped memory is read there; what lies on a streamed tier
// (stream_file.h) is read from the cache (read_cache.h), which has buffers of its own: the budgets are for states
// alone. The preparer makes and touches the segment of the first tier that the writer will want next. The mover does
// one job after the other, as decided by policy.h: it carries the oldest segments down before the first tier is full,
// and fetches what a reader wants, or will want in a reverse sweep.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "segment/segment.h"
#include "trajectory/failure.h"
#include "trajectory/log.h"
#include "trajectory/options.h"
#include "trajectory/policy.h"
#include "trajectory/read_cache.h"

namespace forebay::trajectory {

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
  Done load(const Visit& visit, std::uint64_t record_bytes);
  // `live` of the records found in each segment count. Starts the threads.
  Done go_on(const std::vector<std::uint32_t>& live);
  // What load() could not take over, a line each.
  const std::string& remarks() const { return remarks_; }
  void remark(std::string line) { remarks_ += std::move(line) + "\n"; }

  // Begins a store: `fields` and the size of a record (with header) are known. Starts the threads.
  Done begin_store(const std::vector<segment::FieldEntry>& fields, std::uint64_t record_bytes);
  // How many segments fit, and of what size; before begin_store() as that would choose them.
  struct Capacity {
    std::uint64_t segment_bytes = 0;
    std::uint64_t segments = 0;
  };
  Outcome<Capacity> capacity(std::uint64_t record_bytes);
  bool started() const { return started_; }
  bool kept() const { return kept_; }
  bool read_only() const { return read_only_; }

  // --- the writer: a segment to write into; waits for room ---
  struct Active {
    std::uint32_t segment = kNone;
    std::byte* base = nullptr;
  };
  Outcome<Active> next(segment::Writer& writer);
  // Where next() has found no room: the slot that is kept for cleaning, to which the records of another segment move.
  Outcome<Active> next_for_cleaning(segment::Writer& writer);
  // The segment to clean, which has fewer live records than `records`; kNone.
  std::uint32_t sparsest(std::uint32_t records);
  // So many of its records count no more.
  void leave(std::uint32_t segment, std::uint32_t records);
  // The active segment is half full: the one after it will be wanted. Never waits; false where it could not be said.
  bool announce_next();
  // The active segment is full: `live` of its records count. It is held by the caller if `held`.
  Done seal(segment::Writer& writer, std::uint32_t segment, std::uint32_t live, bool held);
  segment::Medium& first_medium() { return *tiers_.front().medium; }

  // --- the reader: a held segment stays where it is, at the address returned ---
  Outcome<const std::byte*> hold(std::uint32_t segment);
  // The same where it need not be fetched; else nullptr.
  const std::byte* hold_if_at_hand(std::uint32_t segment);
  void unhold(std::uint32_t segment);
  // A copy of what is known of a segment. Payloads of one with arrivals came from another process or from a disk: each
  // must fit its checksum.
  Segment about(std::uint32_t segment);
  std::uint64_t store() const { return store_; }
  // A record of a segment that is not active no longer counts.
  Done drop(std::uint32_t segment, std::uint32_t record);
  void reverse(std::uint32_t from_segment);
  // To another tier, by the mover; the segment is sealed and not held.
  Done move_to(std::uint32_t segment, std::uint32_t tier);
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
    std::unique_ptr<segment::StoreHome> directory;  // or range of a device; none of the process's memory
    std::unique_ptr<segment::Medium> medium;        // a mapped tier has this,
    std::unique_ptr<segment::StreamFile> stream;    // a streamed one this, and one that is not there neither
    std::vector<segment::Mapping> mappings;         // by slot
    bool checks = false;                            // records here have checksums
    std::optional<std::uint64_t> epoch;             // as its head tells, where one was found
    std::optional<Failure> failure;                 // why the last attempt to carry something here failed
    std::uint64_t moved_in = 0;
    std::uint64_t fetched = 0;

    const std::string& path() const { return directory ? directory->path() : options->path; }
  };
  using Lock = std::unique_lock<std::mutex>;

  explicit Tiers(const Options& options) : options_(options) {}
  Done open_tier(std::size_t number);
  Done read_heads();
  Done take_head(std::uint32_t tier, const segment::DecodedHead& found);
  Done check_head(const segment::StoreHead& head, const std::string& path);
  Done find_segments(std::uint32_t tier);
  void remark_lost_header(std::uint32_t tier, std::uint32_t slot);
  Done walk_segment(std::uint32_t segment, const Visit& visit);
  Done take_sizes(const Outcome<Sizes>& sizes);
  Outcome<Sizes> sizes_of(std::uint64_t record_bytes) const;
  void set_durable();
  void start_threads();
  void stop_threads();
  segment::StoreHead head_for(std::uint32_t tier) const;
  Done write_heads();
  Done mend_heads();

  bool streamed(std::uint32_t tier) const { return tiers_[tier].stream != nullptr; }
  bool has_streamed() const;
  // Of a segment; empty where it must be fetched first. Needs the lock: another thread may be adding a mapping.
  std::span<std::byte> memory_of(std::uint32_t segment) const;
  std::span<std::byte> memory_at(Place place) const { return tiers_[place.tier].mappings[place.slot].bytes; }

  // All below are called with the lock; those that take it may give it up meanwhile.
  // Something changed that the threads may act on.
  void poke();
  void prepare(Lock& lock);
  void move(Lock& lock);
  bool do_job(Lock& lock, const Job& job);
  Look look() const;
  std::uint32_t next_below_cursor() const;
  bool make_slot(Lock& lock, std::uint32_t tier, std::uint32_t most);
  std::optional<std::uint32_t> take_slot(Lock& lock, std::uint32_t tier);
  Outcome<Active> start(Lock& lock, segment::Writer& writer);
  // A buffer of the cache: a free one, or the one of a segment that is needed last, counting from a generation.
  std::uint32_t buffer_for(std::uint64_t generation);
  Done fetch(Lock& lock, std::uint32_t segment);
  Done relocate(Lock& lock, std::uint32_t segment, std::uint32_t to_tier);
  // Without the lock.
  Status carry(const segment::Extent& used, std::span<const std::byte> from, Place target, std::span<std::byte> to);
  void retire(Place place);
  Done mark_dropped(std::uint32_t segment, std::uint32_t record);
  void give_up_buffer(std::uint32_t segment);
  // The segment goes if nothing in it counts and nobody uses it.
  void settle(std::uint32_t segment);
  void forget(std::uint32_t segment);
  Failure no_room();

  const Options& options_;
  std::vector<Tier> tiers_;
  std::optional<segment::DecodedHead> found_head_;
  std::string remarks_;
  std::vector<segment::FieldEntry> fields_;
  std::uint64_t store_ = 0;
  std::uint64_t epoch_ = 1;
  std::uint64_t segment_bytes_ = 0;
  bool kept_ = false;
  bool read_only_ = false;
  bool durable_ = false;
  bool started_ = false;
  double waited_for_room_ = 0;
  double waited_for_states_ = 0;

  std::mutex mutex_;
  std::condition_variable work_;  // for the threads
  std::condition_variable done_;  // for the caller
  Log log_;
  ReadCache cache_;
  std::uint64_t next_generation_ = 1;
  std::uint64_t pokes_ = 0;
  bool stop_ = false;
  // What the threads are to know of the caller.
  struct {
    bool waits = false;
    bool wants_next = false;  // it waits, or has announced that it will
    bool took_one = false;
    bool always_wants = false;  // it waited for memory, with one to write meanwhile: half a segment is too late
  } writer_;
  std::uint32_t wanted_ = kNone;        // by the reader, who waits for it
  std::optional<Failure> not_fetched_;  // why it does not come
  struct {
    std::uint32_t segment = kNone;
    std::uint32_t tier = kNone;
    std::optional<Done> outcome;
  } request_;
  bool reversing_ = false;
  std::uint64_t cursor_ = 0;  // generation of the segment that was read last
  bool mover_busy_ = false;
  std::thread preparer_;
  std::thread mover_;
};

}  // namespace forebay::trajectory
