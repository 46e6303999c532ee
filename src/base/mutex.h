// Mutexes of which clang checks that what they guard is used under them (-Wthread-safety, in the builds with
// sanitizers). Other compilers see the standard's.
#pragma once

#include <mutex>

#if defined(__clang__)
#define FOREBAY_ANALYSED(what) __attribute__((what))
#else
#define FOREBAY_ANALYSED(what)
#endif
#define GUARDED_BY(mutex) FOREBAY_ANALYSED(guarded_by(mutex))
#define REQUIRES(mutex) FOREBAY_ANALYSED(requires_capability(mutex))
#define NOT_ANALYSED FOREBAY_ANALYSED(no_thread_safety_analysis)

namespace forebay {

// A mutex of the kind that it is made of.
template <class Inner>
class FOREBAY_ANALYSED(capability("mutex")) Guard {
 public:
  void lock() FOREBAY_ANALYSED(acquire_capability()) { inner_.lock(); }
  void unlock() FOREBAY_ANALYSED(release_capability()) { inner_.unlock(); }
  bool try_lock() FOREBAY_ANALYSED(try_acquire_capability(true)) { return inner_.try_lock(); }
  // Gives it up until somebody notifies; it may return earlier.
  template <class Condition>
  void wait(Condition& changed) FOREBAY_ANALYSED(requires_capability(this)) {
    std::unique_lock lock(inner_, std::adopt_lock);
    changed.wait(lock);
    lock.release();
  }

 private:
  Inner inner_;
};

// Has a mutex for as long as it lives.
template <class Inner>
class FOREBAY_ANALYSED(scoped_lockable) Locked {
 public:
  explicit Locked(Guard<Inner>& mutex) FOREBAY_ANALYSED(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  // Holds a mutex that was taken already.
  Locked(Guard<Inner>& mutex, std::adopt_lock_t) FOREBAY_ANALYSED(requires_capability(mutex)) : mutex_(mutex) {}
  ~Locked() FOREBAY_ANALYSED(release_capability()) { mutex_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Guard<Inner>& mutex_;
};

// Has given a mutex up for as long as it lives.
template <class Inner>
class FOREBAY_ANALYSED(scoped_lockable) GivenUp {
 public:
  explicit GivenUp(Guard<Inner>& mutex) FOREBAY_ANALYSED(release_capability(mutex)) : mutex_(mutex) { mutex_.unlock(); }
  ~GivenUp() FOREBAY_ANALYSED(release_capability()) { mutex_.lock(); }
  GivenUp(const GivenUp&) = delete;
  GivenUp& operator=(const GivenUp&) = delete;

 private:
  Guard<Inner>& mutex_;
};

}  // namespace forebay
