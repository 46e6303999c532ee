// Why programs are held back, for people: a node's fullest pool, and what would make room in it.
#pragma once

#include <cstdint>
#include <string>

namespace forebay::launch {

struct Standstill {
  std::string pool;
  std::uint64_t held_bytes = 0, budget = 0;
  std::uint64_t limit = 0;   // what it may hold at present; less than the budget where others have taken the space
  bool let_go = false;       // nothing made room for too long: programs go on as long as the file system has room
  std::uint64_t units = 0;   // to be carried to the case
  std::string failure = {};  // of the last attempt to carry something that is tried again

  // The other members change all the time.
  bool has_reason_of(const Standstill& other) const {
    return let_go == other.let_go && failure.empty() == other.failure.empty();
  }
};

// "the program waits for room in its pool: /dev/shm holds 95 MB of 100 MB; 12 entries are to be carried to the case"
std::string to_text(const Standstill& standstill);

}  // namespace forebay::launch
