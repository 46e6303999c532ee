// A trajectory of one encoded field: waves that move a little from step to step, and differ altogether between
// versions.
#pragma once

#include <algorithm>
#include <cmath>

#include "store/codec/tests/fields.h"
#include "store/trajectory/tests/api.h"

namespace forebay {

class Flow {
 public:
  Flow(const OptionsOf& options, std::uint64_t values, double accepted, std::optional<forebay_codec> codec = {})
      : values_(values), accepted_(accepted) {
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_open(options.get(), &handle_));
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_declare(handle_, "u", FOREBAY_FLOAT64, values, nullptr));
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_set_accepted_error(handle_, 0, accepted));
    if (codec) {
      EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_set_codec(handle_, 0, *codec));
    }
  }
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  ~Flow() { forebay_trajectory_close(handle_); }
  operator forebay_trajectory*() const { return handle_; }

  static std::vector<double> state(std::uint64_t values, std::int64_t step, std::uint64_t version) {
    return codec::test::smooth<double>(values, 0.001 * static_cast<double>(step) + static_cast<double>(version % 1000));
  }
  int put(std::int64_t step, std::uint64_t version = 0) {
    const std::vector<double> u = state(values_, step, version);
    const void* memory = u.data();
    return forebay_trajectory_put(handle_, step, 0.1 * static_cast<double>(step), &memory, 1);
  }
  int write(std::int64_t step, std::uint64_t version = 0) {
    double* u = nullptr;
    const int status = begin_values(handle_, step, 0.1 * static_cast<double>(step), u);
    if (status != FOREBAY_OK) return status;
    std::ranges::copy(state(values_, step, version), u);
    return forebay_trajectory_commit(handle_);
  }
  // Gets, compares within the accepted error, releases.
  testing::AssertionResult whole(std::int64_t step, std::uint64_t version = 0) {
    const double* u = nullptr;
    const int status = get_values(handle_, step, u);
    if (status != FOREBAY_OK) return testing::AssertionFailure() << "step " << step << ": " << forebay_error_get_text();
    const std::vector<double> exact = state(values_, step, version);
    const double error = codec::test::error_between(std::span<const double>(exact), std::span(u, values_));
    forebay_trajectory_release(handle_, step);
    if (error <= accepted_ * (1 + 1e-9)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "step " << step << " has an error of " << error;
  }
  std::vector<double> got(std::int64_t step) {
    const double* u = nullptr;
    EXPECT_STATUS(FOREBAY_OK, get_values(handle_, step, u));
    std::vector<double> values(u, u + values_);
    forebay_trajectory_release(handle_, step);
    return values;
  }
  std::uint64_t count() {
    std::uint64_t steps = 0;
    forebay_trajectory_count_steps(handle_, &steps);
    return steps;
  }
  forebay_encoding_info encoding(int field = 0) {
    auto info = sized<forebay_encoding_info>();
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_describe_encoding(handle_, field, &info));
    return info;
  }

 private:
  std::uint64_t values_;
  double accepted_;
  forebay_trajectory* handle_ = nullptr;
};

}  // namespace forebay
