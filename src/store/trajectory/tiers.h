// The segments of one rank, and the two helper threads that keep them all moving.
//
// The log (log.h) says where each segment lies, the store (store.h) does what is to be done in a place. A segment in
// mapped memory is read there; one on a streamed tier is read from the cache (read_cache.h), which has buffers of its
// own: the budgets are for states alone. The preparer makes and touches the segment of the first tier that the writer
// will want next. The spiller does one job after the other, as decided by policy.h: it carries the oldest segments down
// before the first tier is full, and fetches what a reader wants, or will want in a reverse sweep.
//
// One mutex guards the log, the cache, the wishes and the store's places. The spiller gives it up while it copies: the
// segment is `moving` then, and the place that it goes to is in nobody's hands.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/segment/segment.h"
#include "store/trajectory/active.h"
#include "store/trajectory/failure.h"
#include "store/trajectory/log.h"
#include "store/trajectory/options.h"
#include "store/trajectory/policy.h"
#include "store/trajectory/read_cache.h"
#include "store/trajectory/store.h"
#include "store/trajectory/threads.h"

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
  const std::optional<segment::DecodedHead>& found_head() const { return store_.found_head(); }
  Done load(const Visit& visit, std::uint64_t record_bytes);
  // A store that load() has refused: removes what open has made where nothing was.
  void take_back() { store_.take_back(); }
  // Starts the threads. `live` of the records found in each segment count.
  Done go_on(const std::vector<std::uint32_t>& live);
  // The parts that load() could not take over, a line each.
  const std::string& remarks() const { return store_.remarks(); }
  void remark(std::string line) { store_.remark(std::move(line)); }

  // Begins a store and starts the threads: `fields` and the size of a record (with header) are known.
  Done begin_store(const std::vector<segment::FieldEntry>& fields, std::uint64_t record_bytes);
  // How many segments fit, and of what size; before begin_store() as that would choose them.
  struct Capacity {
    std::uint64_t segment_bytes = 0;
    std::uint64_t segments = 0;
  };
  Outcome<Capacity> capacity(std::uint64_t record_bytes);
  bool started() const { return started_; }
  bool kept() const { return store_.kept(); }
  bool read_only() const { return store_.read_only(); }

  // --- the writer: a segment to write into; waits for room ---
  Outcome<Active> next();
  // Where next() has found no room: the slot that is kept for cleaning, to which the records of another segment move.
  Outcome<Active> next_for_cleaning();
  // The segment to clean, which has fewer live records than `records`; kNone.
  std::uint32_t sparsest(std::uint32_t records);
  // So many of its records count no more.
  void leave(std::uint32_t segment, std::uint32_t records);
  // The active segment is half full: the one after it will be wanted. Never waits; false where it could not be said.
  bool announce_next();
  // No more is written into that segment. It is held by the caller if `held`.
  Done seal(Active& full, bool held);
  segment::Medium& first_medium() { return store_.medium(0); }
  // Refuses all that would touch memory of a file that was cut meanwhile, which would end the process.
  Done look_at_files() const { return store_.look_at_files(); }
  // Whether what was read of the first tier once may be damaged the next time.
  bool compares_every_read() const { return store_.compares_every_read(0); }

  // --- the reader: a held segment stays where it is, at the address returned ---
  Outcome<const std::byte*> hold(std::uint32_t segment);
  // The same where it need not be fetched; else nullptr.
  const std::byte* hold_if_at_hand(std::uint32_t segment);
  void unhold(std::uint32_t segment);
  // A copy of what is known of a segment. Payloads of one with arrivals came from another process or from a disk: each
  // must fit its checksum.
  Segment about(std::uint32_t segment);
  std::uint64_t store() const { return store_.id(); }
  // A record of a segment that is not active no longer counts.
  Done drop(std::uint32_t segment, std::uint32_t record);
  void reverse(std::uint32_t from_segment);
  // To another tier, by the spiller; the segment is sealed and not held.
  Done move_to(std::uint32_t segment, std::uint32_t tier);
  // The place in words of messages: "POOL/NAME, segment 3".
  std::string place_of(std::uint32_t segment);

  // Forgets every segment. Nothing is held.
  Done rewind();
  // Marks as dropped whatever `lives` denies, so that a later process finds no more than this one knows.
  Done keep(bool kept, const Lives& lives);

  std::size_t count() const { return store_.tiers(); }
  Outcome<forebay_tier_info> info(std::size_t tier);
  double waited_for_room() const { return waited_for_room_; }
  double waited_for_states() const { return waited_for_states_; }
  std::uint64_t segment_bytes() const { return store_.segment_bytes(); }

 private:
  // The traffic to a tier.
  struct Traffic {
    std::optional<Failure> failure;  // why the last attempt to carry something there, or to make a slot, failed
    std::uint64_t moved_in = 0;
    std::uint64_t fetched = 0;
  };

  explicit Tiers(const Options& options) : store_(options) {}
  Done find_segments(std::uint32_t tier) REQUIRES(mutex_);
  void take_limits(const Sizes& sizes) REQUIRES(mutex_);
  void start_threads();
  void stop_threads();

  // The memory of a segment; empty where it must be fetched first. The lock is needed: another thread may be adding a
  // mapping.
  std::span<std::byte> memory_of(std::uint32_t segment) const REQUIRES(mutex_);

  // All below are called with the lock; those that take it may give it up meanwhile.
  // Something changed that the threads may act on.
  void poke() REQUIRES(mutex_);
  void prepare() REQUIRES(mutex_);
  void tell() REQUIRES(mutex_);
  std::vector<Held> held() const REQUIRES(mutex_);
  bool is_making() const REQUIRES(mutex_);
  // Before a store that was found is changed: until then a tier that is gone may come back as if nothing had been.
  Done go_on_writing() REQUIRES(mutex_);
  void move() REQUIRES(mutex_);
  bool do_job(const Job& job) REQUIRES(mutex_);
  Situation situation() const REQUIRES(mutex_);
  bool make_slot(std::uint32_t tier, std::uint32_t most) REQUIRES(mutex_);
  std::optional<std::uint32_t> take_slot(std::uint32_t tier) REQUIRES(mutex_);
  Outcome<Active> start() REQUIRES(mutex_);
  // A buffer of the cache: a free one, or the one of a segment that is needed last, counting from a generation.
  std::uint32_t buffer_for(std::uint64_t generation) REQUIRES(mutex_);
  Status read_into(std::uint32_t buffer, Place place, const segment::Extent& used) REQUIRES(mutex_);
  Done fetch(std::uint32_t segment) REQUIRES(mutex_);
  Done relocate(std::uint32_t segment, std::uint32_t to_tier) REQUIRES(mutex_);
  void give_up_buffer(std::uint32_t segment) REQUIRES(mutex_);
  void look_for_room() REQUIRES(mutex_);
  // The segment goes if nothing in it counts and nobody uses it.
  void forget_if_unused(std::uint32_t segment) REQUIRES(mutex_);
  void forget(std::uint32_t segment) REQUIRES(mutex_);
  Failure no_room() REQUIRES(mutex_);

  Store store_;
  double waited_for_room_ = 0;
  double waited_for_states_ = 0;
  bool started_ = false;

  Mutex mutex_;
  Condition work_;  // for the threads
  Condition done_;  // for the caller
  Log log_ GUARDED_BY(mutex_);
  ReadCache cache_ GUARDED_BY(mutex_);
  Wishes wishes_ GUARDED_BY(mutex_);
  std::vector<Traffic> traffic_ GUARDED_BY(mutex_);  // by tier
  std::uint64_t next_generation_ GUARDED_BY(mutex_) = 1;
  std::uint64_t pokes_ GUARDED_BY(mutex_) = 0;
  bool stop_ GUARDED_BY(mutex_) = false;
  bool spiller_busy_ GUARDED_BY(mutex_) = false;
  bool writing_ GUARDED_BY(mutex_) = false;    // the store was begun here, or has been changed
  bool must_tell_ GUARDED_BY(mutex_) = false;  // more is to be told to the heads than they know
  bool telling_ GUARDED_BY(mutex_) = false;
  Thread preparer_;
  Thread spiller_;
};

}  // namespace forebay::trajectory
