// The C interface as the tests use it: options in one line, statuses with their message.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "forebay/trajectory.h"
#include "segment/tests/scratch.h"

namespace forebay {

#define EXPECT_STATUS(expected, call) \
  EXPECT_STREQ(forebay_status_name(call), forebay_status_name(expected)) << #call << ": " << forebay_last_error()
#define ASSERT_STATUS(expected, call) \
  ASSERT_STREQ(forebay_status_name(call), forebay_status_name(expected)) << #call << ": " << forebay_last_error()

class OptionsOf {
 public:
  OptionsOf& dram(std::uint64_t bytes) { return done(forebay_trajectory_options_add_dram(options_.get(), bytes)); }
  OptionsOf& pool(const std::string& path, std::uint64_t bytes) {
    return done(forebay_trajectory_options_add_pool(options_.get(), path.c_str(), bytes));
  }
  OptionsOf& shared(const std::string& path, std::uint64_t bytes) {
    return done(forebay_trajectory_options_add_shared(options_.get(), path.c_str(), bytes));
  }
  OptionsOf& keep() { return done(forebay_trajectory_options_set_keep(options_.get(), 1)); }
  OptionsOf& process_only() {
    return done(forebay_trajectory_options_set_survives(options_.get(), FOREBAY_SURVIVES_PROCESS_ONLY));
  }
  OptionsOf& checksum(int mode) { return done(forebay_trajectory_options_set_checksum(options_.get(), mode)); }
  OptionsOf& mode(forebay_mode mode) { return done(forebay_trajectory_options_set_mode(options_.get(), mode)); }
  OptionsOf& debug() { return done(forebay_trajectory_options_set_debug(options_.get(), 1)); }
  OptionsOf& segments(std::uint64_t bytes) {
    return done(forebay_trajectory_options_set_segment_bytes(options_.get(), bytes));
  }
  OptionsOf& encoders(int threads) { return done(forebay_trajectory_options_set_encoders(options_.get(), threads)); }
  OptionsOf& rank(int rank, int ranks) {
    return done(forebay_trajectory_options_set_rank(options_.get(), rank, ranks));
  }
  forebay_trajectory_options* get() const { return options_.get(); }

 private:
  OptionsOf& done(int status) {
    EXPECT_STATUS(FOREBAY_OK, status);
    return *this;
  }
  std::unique_ptr<forebay_trajectory_options, decltype(&forebay_trajectory_options_free)> options_{
      forebay_trajectory_options_create(), &forebay_trajectory_options_free};
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
    return forebay_trajectory_put(handle_, step, 0.1 * static_cast<double>(step), &memory);
  }
  int write(std::int64_t step) {
    double* u = nullptr;
    const int status =
        forebay_trajectory_begin(handle_, step, 0.1 * static_cast<double>(step), reinterpret_cast<void**>(&u));
    if (status != FOREBAY_OK) return status;
    for (std::uint64_t i = 0; i < values_; ++i) u[i] = value(step, i);
    return forebay_trajectory_commit(handle_);
  }
  // Gets, compares every value, releases.
  testing::AssertionResult whole(std::int64_t step) {
    const double* u = nullptr;
    const int status = forebay_trajectory_get(handle_, step, 0, reinterpret_cast<const void**>(&u));
    if (status != FOREBAY_OK) return testing::AssertionFailure() << "step " << step << ": " << forebay_last_error();
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
    forebay_trajectory_count(handle_, &steps);
    return steps;
  }
  std::uint64_t capacity() {
    std::uint64_t states = 0;
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_capacity(handle_, &states));
    return states;
  }
  forebay_tier_info tier(int number) {
    forebay_tier_info info{};
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_tier_info(handle_, number, &info, sizeof(info)));
    return info;
  }

 private:
  std::uint64_t values_;
  forebay_trajectory* handle_ = nullptr;
};

constexpr std::uint64_t kMiB = 1 << 20;

}  // namespace forebay
