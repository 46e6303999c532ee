// How a process that may wait for a server for ever tells the one that watches it what it is at. Nobody can end a call
// that the server has read, nor wait for the end of its process: who watches leaves it alone (run/launch/worker.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay {

// A page that this process and the children that it makes from now on share.
class Pulse {
 public:
  static Result<Pulse> make();

  // In the one that is watched: its calls are told from now on.
  void tell_calls() const;
  // For a child that is left to itself: its calls are its own and tell nothing of the parent.
  static void tell_no_calls();
  // It is at work.
  static void beat();
  // Its patience with the case is over: a call that does not return now is not waited for.
  static void give_up();
  // Waits for a person, or for another program: that may take any time.
  static void rest(bool rests);
  // The directory in a pool where it tells of itself.
  static void set_home(std::string_view home);

  // State of the process that watches.
  struct Look {
    std::uint64_t changes = 0;  // beats, and calls that began or returned
    bool rests = false, gave_up = false;
    std::uint64_t call = 0;  // the oldest that has not returned; 0: none
    std::string path = {};   // of that one
    bool operator==(const Look&) const = default;
  };
  Look look() const;
  std::string home() const;

 private:
  struct Page;
  friend class MayHang;
  explicit Pulse(Page* page) : page_(page) {}
  // The one state of a whole process in this room: a call is told wherever it is made.
  static Page* told_;
  Page* page_;
};

// A call to the file system of `path` by this thread, while it lives.
class MayHang {
 public:
  explicit MayHang(std::string_view path);
  MayHang(const MayHang&) = delete;
  MayHang& operator=(const MayHang&) = delete;
  ~MayHang();

 private:
  int slot_ = -1;
};

}  // namespace forebay
