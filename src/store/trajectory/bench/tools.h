// Shared by the parts: a clock, memory to measure against, and a trajectory to measure.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/base.h"
#include "forebay/trajectory.h"

namespace forebay::trajectory::bench {

[[noreturn]] void give_in(const std::string& text);
void need(int forebay_status);
void need(const Status& status);
template <class T>
T need(Result<T> result) {
  if (!result) give_in(result.error().text());
  return std::move(*result);
}

// Seconds that the work took.
template <class Work>
double seconds(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Runs both, and the second one first in every other repetition, so that neither always follows the other.
template <class First, class Second>
void alternate(int repetition, First&& first, Second&& second) {
  if (repetition % 2 == 0) {
    first();
    second();
  } else {
    second();
    first();
  }
}

// Reads every byte. The results add up in one place, so that no reading is optimised away.
void consume(const void* memory, std::uint64_t bytes);

// Bytes that look like those of a flow.
std::vector<std::uint64_t> some_state(std::uint64_t bytes);

// A file without a name in a directory.
Descriptor nameless_file(const std::string& directory, std::uint64_t bytes);

// Memory of the directory's medium, shared as a segment is.
class Room {
 public:
  Room(const std::string& directory, std::uint64_t bytes);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  // As fast as the system can: all pages by one call, where it knows that call.
  void touch();
  std::byte* data() const { return memory_.data(); }

 private:
  std::span<std::byte> memory_;
};

// One field, in tiers.
class Store {
 public:
  struct Tiers {
    std::string directory;
    std::uint64_t bytes = 0;
    std::uint64_t segment_bytes = 0;  // 0: as the store chooses
    std::string disk = {};            // none if empty
    std::uint64_t disk_bytes = 0;
    bool keep = false;
    int rank = 0;
    int ranks = 1;
  };
  explicit Store(const Tiers& tiers);
  void declare(std::uint64_t state_bytes);
  void declare_numbers(std::uint64_t count, double accepted_error);
  forebay_trajectory* get() const { return handle_.get(); }
  forebay_tier_info tier(int number) const;

 private:
  struct Close {
    void operator()(forebay_trajectory* handle) const { forebay_trajectory_close(handle); }
  };
  std::unique_ptr<forebay_trajectory, Close> handle_;
};
// Room in the first tier for so many states, with what a segment may leave empty.
std::uint64_t budget_for(std::uint64_t states, std::uint64_t state_bytes);

// The number of states that one segment holds.
std::uint64_t states_of_a_segment(std::uint64_t segment_bytes, std::uint64_t state_bytes);

void put_all(const Store& store, std::uint64_t states, const void* state);
// Reads from the last step to the first, and consumes each byte.
void read_back(const Store& store, std::uint64_t states, std::uint64_t state_bytes);

}  // namespace forebay::trajectory::bench
