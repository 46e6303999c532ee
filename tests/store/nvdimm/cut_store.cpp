// Stores, drops and rewinds for ever on two tiers, and says how many of its operations are acknowledged. What it does
// depends on the seed and the number of the operation alone, so that the next start, after the power was cut, can tell
// what must be there:   cut_store SEED LEAST FIRST_POOL SECOND_POOL
// LEAST operations were acknowledged. Says "found N" where N is the operation after which the store looked as it does.
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "forebay/trajectory.h"

namespace {

constexpr std::uint64_t kWords = 512;
constexpr std::uint64_t kSegment = 65536;
constexpr std::uint64_t kSteps = 60;  // different ones; the second tier has room for a segment of each

using Model = std::map<std::int64_t, std::uint64_t>;  // step -> the operation that stored it

[[noreturn]] void wrong(const std::string& what) {
  std::printf("wrong: %s\n", what.c_str());
  std::exit(1);
}

void check(int status) {
  if (status != FOREBAY_OK) wrong(std::string(forebay_status_get_name(status)) + ": " + forebay_error_get_text());
}

std::uint64_t word(std::int64_t step, std::uint64_t operation, std::uint64_t i) {
  return i == 0 ? operation : (static_cast<std::uint64_t>(step) * 0x9e3779b97f4a7c15u) ^ (operation << 20) ^ i;
}

struct Operation {
  enum class Kind { put, drop, rewind } kind;
  std::int64_t step = 0;
};

Operation operation(std::uint64_t seed, std::uint64_t number, const Model& before) {
  std::mt19937_64 random(seed + 0x9e3779b97f4a7c15u * number);
  if (random() % 400 == 0) return {Operation::Kind::rewind};
  const auto step = static_cast<std::int64_t>(random() % kSteps);
  return {before.count(step) != 0 ? Operation::Kind::drop : Operation::Kind::put, step};
}

void note(Model& model, const Operation& what, std::uint64_t number) {
  switch (what.kind) {
    case Operation::Kind::put:
      model[what.step] = number;
      break;
    case Operation::Kind::drop:
      model.erase(what.step);
      break;
    case Operation::Kind::rewind:
      model.clear();
      break;
  }
}

void put(forebay_trajectory* t, std::int64_t step, std::uint64_t number) {
  static std::vector<std::uint64_t> buffer(kWords);
  const bool in_place = number % 2 == 0;
  void* memory = buffer.data();
  if (in_place) check(forebay_trajectory_begin(t, step, 0, &memory, 1));
  for (std::uint64_t i = 0; i < kWords; ++i) static_cast<std::uint64_t*>(memory)[i] = word(step, number, i);
  check(in_place ? forebay_trajectory_commit(t) : forebay_trajectory_put(t, step, 0, &memory, 1));
}

void carry_out(forebay_trajectory* t, const Operation& what, std::uint64_t number) {
  switch (what.kind) {
    case Operation::Kind::put:
      put(t, what.step, number);
      break;
    case Operation::Kind::drop:
      check(forebay_trajectory_drop(t, what.step));
      break;
    case Operation::Kind::rewind:
      check(forebay_trajectory_rewind(t));
      break;
  }
}

// Everything in the store, compared word by word.
Model content(forebay_trajectory* t) {
  Model found;
  std::uint64_t count = 0;
  check(forebay_trajectory_count_steps(t, &count));
  for (std::uint64_t n = 0; n < count; ++n) {
    std::int64_t step = 0;
    const void* memory = nullptr;
    check(forebay_trajectory_get_step(t, n, &step, nullptr));
    check(forebay_trajectory_get(t, step, 0, &memory));
    const auto* const u = static_cast<const std::uint64_t*>(memory);
    for (std::uint64_t i = 0; i < kWords; ++i) {
      if (u[i] != word(step, u[0], i)) wrong("step " + std::to_string(step) + " is not whole");
    }
    found[step] = u[0];
    check(forebay_trajectory_release(t, step));
  }
  return found;
}

// Says on the console how far it is, as fast as that can be sent.
void report(const std::atomic<std::uint64_t>& acknowledged) {
  for (std::uint64_t said = acknowledged;;) {
    const std::uint64_t now = acknowledged;
    if (now == said) continue;
    std::printf("acknowledged %llu\n", static_cast<unsigned long long>(now));
    ::tcdrain(STDOUT_FILENO);
    said = now;
  }
}

}  // namespace

int main(int, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::uint64_t seed = std::strtoull(arguments[1], nullptr, 10);
  const std::uint64_t least = std::strtoull(arguments[2], nullptr, 10);
  forebay_options* options = forebay_options_create();
  check(forebay_options_add_pool(options, arguments[3], 8 * kSegment));
  ::mkdir(arguments[4], 0700);
  check(forebay_options_add_pool(options, arguments[4], 4 * kSteps * kSegment));
  check(forebay_options_set_integer(options, "segment-bytes", kSegment));
  check(forebay_options_set(options, "keep", "on"));
  forebay_trajectory* t = nullptr;
  check(forebay_trajectory_open(options, &t));
  if (*forebay_trajectory_get_recovery(t) != '\0') wrong(forebay_trajectory_get_recovery(t));
  check(forebay_trajectory_declare(t, "u", FOREBAY_BYTES, 8 * kWords, nullptr));
  forebay_tier_info first{}, second{};
  first.size = second.size = sizeof(first);
  check(forebay_trajectory_describe_tier(t, 0, &first));
  check(forebay_trajectory_describe_tier(t, 1, &second));
  std::printf("opened on %s and %s\n", first.medium, second.medium);

  const Model found = content(t);
  Model model;
  std::uint64_t number = 0;
  // The console is behind by a line or two.
  constexpr std::uint64_t kBehind = 1000000;
  for (; number < least || model != found; ++number) {
    if (number > least + kBehind) wrong("what is there was never stored, or something acknowledged is not there");
    note(model, operation(seed, number, model), number);
  }
  std::printf("found %llu\n", static_cast<unsigned long long>(number));

  std::atomic<std::uint64_t> acknowledged = number;
  std::thread(report, std::cref(acknowledged)).detach();
  for (;; ++number) {
    const Operation next = operation(seed, number, model);
    carry_out(t, next, number);
    note(model, next, number);
    acknowledged = number + 1;
  }
}
