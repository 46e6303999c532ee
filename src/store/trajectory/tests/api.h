// The C interface as the tests use it: options in one line, statuses with their message.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/tests/scratch.h"
#include "forebay/trajectory.h"

namespace forebay {

#define EXPECT_STATUS(expected, call)                                            \
  EXPECT_STREQ(forebay_status_get_name(call), forebay_status_get_name(expected)) \
      << #call << ": " << forebay_error_get_text()
#define ASSERT_STATUS(expected, call)                                            \
  ASSERT_STREQ(forebay_status_get_name(call), forebay_status_get_name(expected)) \
      << #call << ": " << forebay_error_get_text()

// A struct of the interface, as a program must give it.
template <class T>
T sized() {
  T made{};
  made.size = sizeof(T);
  return made;
}

// A trajectory of one field, as values of its type.
template <class T>
int begin_values(forebay_trajectory* trajectory, std::int64_t step, double time, T*& values) {
  void* memory = values;
  const int status = forebay_trajectory_begin(trajectory, step, time, &memory, 1);
  values = static_cast<T*>(memory);
  return status;
}
template <class T>
int get_values(forebay_trajectory* trajectory, std::int64_t step, const T*& values) {
  const void* memory = nullptr;
  const int status = forebay_trajectory_get(trajectory, step, 0, &memory);
  values = static_cast<const T*>(memory);
  return status;
}

class OptionsOf {
 public:
  OptionsOf& dram(std::uint64_t bytes) { return done(forebay_options_add_dram(options_.get(), bytes)); }
  OptionsOf& pool(const std::string& path, std::uint64_t bytes) {
    return done(forebay_options_add_pool(options_.get(), path.c_str(), bytes));
  }
  OptionsOf& shared(const std::string& path, std::uint64_t bytes) {
    return done(forebay_options_add_shared(options_.get(), path.c_str(), bytes));
  }
  OptionsOf& keep() { return set("keep", "on"); }
  OptionsOf& process_only() { return set("survives", "process"); }
  OptionsOf& checksum(bool wanted) { return set("checksum", wanted ? "on" : "off"); }
  OptionsOf& mode(const char* mode) { return set("mode", mode); }
  OptionsOf& debug() { return set("debug", "on"); }
  OptionsOf& segments(std::optional<std::uint64_t> bytes) {
    return set("segment-bytes", bytes ? std::to_string(*bytes).c_str() : nullptr);
  }
  OptionsOf& encoders(int threads) { return set("encoders", std::to_string(threads).c_str()); }
  OptionsOf& rank(int rank, int ranks) {
    return set("rank", std::to_string(rank).c_str()).set("ranks", std::to_string(ranks).c_str());
  }
  OptionsOf& set(const char* key, const char* value) { return done(forebay_options_set(options_.get(), key, value)); }
  forebay_options* get() const { return options_.get(); }

 private:
  OptionsOf& done(int status) {
    EXPECT_STATUS(FOREBAY_OK, status);
    return *this;
  }
  std::unique_ptr<forebay_options, decltype(&forebay_options_free)> options_{forebay_options_create(),
                                                                             &forebay_options_free};
};

// A trajectory of one field of doubles; every value of a step tells the step and its position.
class States {
 public:
  explicit States(const OptionsOf& options, std::uint64_t values = 1000) : values_(values) {
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_open(options.get(), &handle_));
    if (handle_ != nullptr) {
      EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_declare(handle_, "u", FOREBAY_FLOAT64, values, nullptr));
    }
  }
  States(const States&) = delete;
  States& operator=(const States&) = delete;
  ~States() { close(); }
  int close() {
    const int status = forebay_trajectory_close(handle_);
    handle_ = nullptr;
    return status;
  }
  forebay_trajectory* get() const { return handle_; }
  operator forebay_trajectory*() const { return handle_; }

  static double value(std::int64_t step, std::uint64_t i) {
    return 1e6 * static_cast<double>(step) + static_cast<double>(i);
  }
  int put(std::int64_t step) {
    std::vector<double> u(values_);
    for (std::uint64_t i = 0; i < values_; ++i) u[i] = value(step, i);
    const void* memory = u.data();
    return forebay_trajectory_put(handle_, step, 0.1 * static_cast<double>(step), &memory, 1);
  }
  int write(std::int64_t step) {
    double* u = nullptr;
    const int status = begin_values(handle_, step, 0.1 * static_cast<double>(step), u);
    if (status != FOREBAY_OK) return status;
    for (std::uint64_t i = 0; i < values_; ++i) u[i] = value(step, i);
    return forebay_trajectory_commit(handle_);
  }
  // Gets, compares every value, releases.
  testing::AssertionResult whole(std::int64_t step) {
    const double* u = nullptr;
    const int status = get_values(handle_, step, u);
    if (status != FOREBAY_OK) return testing::AssertionFailure() << "step " << step << ": " << forebay_error_get_text();
    for (std::uint64_t i = 0; i < values_; ++i) {
      if (u[i] != value(step, i)) {
        return testing::AssertionFailure() << "step " << step << " has " << u[i] << " at " << i;
      }
    }
    forebay_trajectory_release(handle_, step);
    return testing::AssertionSuccess();
  }
  std::uint64_t count() {
    std::uint64_t steps = 0;
    forebay_trajectory_count_steps(handle_, &steps);
    return steps;
  }
  std::uint64_t capacity() {
    std::uint64_t states = 0;
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_get_capacity(handle_, &states));
    return states;
  }
  forebay_tier_info tier(int number) {
    auto info = sized<forebay_tier_info>();
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_describe_tier(handle_, number, &info));
    return info;
  }

 private:
  std::uint64_t values_;
  forebay_trajectory* handle_ = nullptr;
};

constexpr std::uint64_t kMiB = 1 << 20;

}  // namespace forebay
