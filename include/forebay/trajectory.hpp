// The trajectory for C++20: forebay/trajectory.h with owners, spans and ranges. Header only, so that the library's
// binary interface stays the one of C.
//
//     forebay::Trajectory states({.tiers = {forebay::pool("/dev/shm", 4'000'000'000)}});
//     states.declare<double>("velocity", 3 * n);
//     for (...) {
//       auto step = states.begin(k, time);
//       std::span<double> u = step.field<double>(0);   // to be written in place
//       ...
//       step.commit();                                 // without it the step is forgotten
//     }
//     for (const auto& state : states.reverse()) {     // from the last step to the first, fetched ahead
//       std::span<const double> u = state.field<double>(0);
//       ...
//     }                                                // released here
//
// A status other than FOREBAY_OK is thrown here, as forebay::TrajectoryError: constructors and ranges have no other
// way, and it happens in the caller's own code, not in the library. Views that a Trajectory hands out must not outlive
// it. One thread at a time for each Trajectory.
#ifndef FOREBAY_TRAJECTORY_HPP
#define FOREBAY_TRAJECTORY_HPP

#include <forebay/trajectory.h>
#include <forebay/common.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace forebay {

using TrajectoryError = CallError;

struct TrajectoryTier {
  enum class Kind { dram, pool, shared } kind;
  std::string directory;
  std::uint64_t bytes;
};
inline TrajectoryTier dram(std::uint64_t bytes) {
  return {TrajectoryTier::Kind::dram, "", bytes};
}
inline TrajectoryTier pool(std::string directory, std::uint64_t bytes) {
  return {TrajectoryTier::Kind::pool, std::move(directory), bytes};
}
inline TrajectoryTier shared(std::string directory, std::uint64_t bytes) {
  return {TrajectoryTier::Kind::shared, std::move(directory), bytes};
}

// forebay/options.h says what each is.
struct TrajectoryOptions {
  std::vector<TrajectoryTier> tiers;
  std::string name = "trajectory";
  int rank = 0;
  int ranks = 1;
  bool keep = false;
  std::string mode = "any";
  bool survives_power_cut = true;
  std::optional<bool> checksum{};  // what is not set is chosen
  bool compare_every_read = true;
  std::optional<int> encoders{};
  bool debug = false;
  std::optional<std::uint64_t> segment_bytes{};
};

// The relative L2 error that is accepted of a field, and its codec, which is else chosen.
struct TrajectoryEncoding {
  double accepted_error = 0;
  std::optional<forebay_codec> codec{};
};

class Trajectory {
  struct Close {
    void operator()(forebay_trajectory* handle) const { forebay_trajectory_close(handle); }
  };

 public:
  // An open step; forgotten at its end unless it was committed.
  class Step {
   public:
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() {
      if (open_) forebay_trajectory_cancel(owner_);
    }
    template <class Number>
    std::span<Number> field(int number) const {
      return {static_cast<Number*>(memory_.at(static_cast<std::size_t>(number))), count<Number>(owner_, number)};
    }
    void commit() {
      open_ = false;
      check(forebay_trajectory_commit(owner_));
    }

   private:
    friend class Trajectory;
    Step(forebay_trajectory* owner, std::int64_t step, double time) : owner_(owner) {
      int fields = 0;
      check(forebay_trajectory_count_fields(owner, &fields));
      memory_.resize(static_cast<std::size_t>(fields));
      check(forebay_trajectory_begin(owner, step, time, memory_.data(), fields));
      open_ = true;
    }
    forebay_trajectory* owner_;
    std::vector<void*> memory_;
    bool open_ = false;
  };

  // A stored step; what its spans show stays where it is until the last State of the step is gone.
  class State {
   public:
    State(forebay_trajectory* owner, std::int64_t step) : owner_(owner), step_(step) {
      check(forebay_trajectory_get_time(owner, step, &time_));
      const void* memory = nullptr;  // pins the step for all its fields
      check(forebay_trajectory_get(owner, step, 0, &memory));
    }
    State(State&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), step_(other.step_), time_(other.time_) {}
    State& operator=(State&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(step_, other.step_);
      std::swap(time_, other.time_);
      return *this;
    }
    ~State() {
      if (owner_ != nullptr) forebay_trajectory_release(owner_, step_);
    }
    std::int64_t step() const { return step_; }
    double time() const { return time_; }
    template <class Number>
    std::span<const Number> field(int number) const {
      const std::size_t values = count<Number>(owner_, number);
      const void* memory = nullptr;
      check(forebay_trajectory_get(owner_, step_, number, &memory));
      forebay_trajectory_release(owner_, step_);  // the pin of the State remains
      return {static_cast<const Number*>(memory), values};
    }

   private:
    forebay_trajectory* owner_;
    std::int64_t step_;
    double time_ = 0;
  };

  // The stored steps from the highest, or from a given one, downwards. Steps may be dropped on the way once their State
  // is gone; none may be added.
  class Reverse {
   public:
    class iterator {
     public:
      using value_type = State;
      using difference_type = std::ptrdiff_t;
      iterator(forebay_trajectory* owner, std::uint64_t left) : owner_(owner), left_(left) {}
      State operator*() const {
        std::int64_t step = 0;
        check(forebay_trajectory_get_step(owner_, left_ - 1, &step, nullptr));
        return State(owner_, step);
      }
      iterator& operator++() {
        --left_;
        return *this;
      }
      void operator++(int) { --left_; }
      bool operator==(std::default_sentinel_t) const { return left_ == 0; }

     private:
      forebay_trajectory* owner_;
      std::uint64_t left_;
    };
    iterator begin() const { return {owner_, left_}; }
    std::default_sentinel_t end() const { return {}; }

   private:
    friend class Trajectory;
    Reverse(forebay_trajectory* owner, std::uint64_t left) : owner_(owner), left_(left) {}
    forebay_trajectory* owner_;
    std::uint64_t left_;
  };

  explicit Trajectory(const TrajectoryOptions& options) {
    const std::unique_ptr<forebay_options, void (*)(forebay_options*)> made(forebay_options_create(),
                                                                            &forebay_options_free);
    auto* const o = made.get();
    const auto set = [&](const char* key, const std::string& value) {
      check(forebay_options_set(o, key, value.c_str()));
    };
    const auto on = [](bool wanted) { return wanted ? "on" : "off"; };
    set("name", options.name);
    set("rank", std::to_string(options.rank));
    set("ranks", std::to_string(options.ranks));
    for (const TrajectoryTier& tier : options.tiers) {
      switch (tier.kind) {
        case TrajectoryTier::Kind::dram:
          check(forebay_options_add_dram(o, tier.bytes));
          break;
        case TrajectoryTier::Kind::pool:
          check(forebay_options_add_pool(o, tier.directory.c_str(), tier.bytes));
          break;
        case TrajectoryTier::Kind::shared:
          check(forebay_options_add_shared(o, tier.directory.c_str(), tier.bytes));
          break;
      }
    }
    set("keep", on(options.keep));
    set("mode", options.mode);
    set("survives", options.survives_power_cut ? "power-cut" : "process");
    set("debug", on(options.debug));
    if (options.checksum) set("checksum", on(*options.checksum));
    set("compare", options.compare_every_read ? "every-read" : "first-read");
    if (options.encoders) set("encoders", std::to_string(*options.encoders));
    if (options.segment_bytes) set("segment-bytes", std::to_string(*options.segment_bytes));
    forebay_trajectory* handle = nullptr;
    check(forebay_trajectory_open(o, &handle));
    handle_.reset(handle);
  }

  // Reports what the destructor would pass over in silence.
  void close() { check(forebay_trajectory_close(handle_.release())); }
  forebay_trajectory* get() const { return handle_.get(); }

  template <class Number>
  int declare(const std::string& name, std::uint64_t count) {
    int field = 0;
    check(forebay_trajectory_declare(get(), name.c_str(), type_of<Number>(), count, &field));
    return field;
  }
  template <class Number>
  int declare(const std::string& name, std::uint64_t count, const TrajectoryEncoding& encoding) {
    const int field = declare<Number>(name, count);
    check(forebay_trajectory_set_accepted_error(get(), field, encoding.accepted_error));
    if (encoding.codec) check(forebay_trajectory_set_codec(get(), field, *encoding.codec));
    return field;
  }
  forebay_encoding_info encoding(int field) const {
    forebay_encoding_info info{};
    info.size = sizeof(info);
    check(forebay_trajectory_describe_encoding(get(), field, &info));
    return info;
  }
  // Extents, the last one runs fastest.
  void set_shape(int field, std::span<const std::uint64_t> extents) {
    check(forebay_trajectory_set_shape(get(), field, static_cast<int>(extents.size()), extents.data()));
  }
  std::vector<std::uint64_t> shape(int field) const {
    std::vector<std::uint64_t> extents(FOREBAY_MOST_EXTENTS);
    int dimensions = 0;
    check(forebay_trajectory_get_shape(get(), field, &dimensions, extents.data()));
    extents.resize(static_cast<std::size_t>(dimensions));
    return extents;
  }
  int field(const std::string& name) const {
    int field = 0;
    check(forebay_trajectory_find_field(get(), name.c_str(), &field));
    return field;
  }

  Step begin(std::int64_t step, double time) { return Step(get(), step, time); }
  // The following is for a trajectory of one field.
  template <class Number>
  void put(std::int64_t step, double time, std::span<const Number> values) {
    int fields = 0;
    check(forebay_trajectory_count_fields(get(), &fields));
    if (fields != 1 || values.size() != count<Number>(get(), 0)) {
      throw TrajectoryError(FOREBAY_E_FIELD_CHANGED, "put of one span needs one field of its size");
    }
    const void* memory = values.data();
    check(forebay_trajectory_put(get(), step, time, &memory, 1));
  }
  State state(std::int64_t step) const { return State(get(), step); }
  template <class Number>
  void interpolate(double time, int field, std::span<Number> values) const {
    if (values.size() != count<Number>(get(), field)) {
      throw TrajectoryError(FOREBAY_E_FIELD_CHANGED, "the span has another size than the field");
    }
    check(forebay_trajectory_interpolate(get(), time, field, values.data()));
  }

  std::uint64_t capacity() const {
    std::uint64_t states = 0;
    check(forebay_trajectory_get_capacity(get(), &states));
    return states;
  }
  std::uint64_t size() const {
    std::uint64_t steps = 0;
    check(forebay_trajectory_count_steps(get(), &steps));
    return steps;
  }
  Reverse reverse() const {
    const std::uint64_t steps = size();
    if (steps == 0) return {get(), 0};
    std::int64_t last = 0;
    check(forebay_trajectory_get_step(get(), steps - 1, &last, nullptr));
    check(forebay_trajectory_reverse(get(), last));
    return {get(), steps};
  }
  Reverse reverse(std::int64_t from) const {
    check(forebay_trajectory_reverse(get(), from));
    std::uint64_t low = 0;
    for (std::uint64_t high = size(); low < high;) {
      const std::uint64_t middle = low + (high - low) / 2;
      std::int64_t step = 0;
      check(forebay_trajectory_get_step(get(), middle, &step, nullptr));
      (step <= from ? low : high) = step <= from ? middle + 1 : middle;
    }
    return {get(), low};
  }
  void drop(std::int64_t step) { check(forebay_trajectory_drop(get(), step)); }
  void move(std::int64_t step, int tier) { check(forebay_trajectory_move(get(), step, tier)); }
  void rewind() { check(forebay_trajectory_rewind(get())); }
  void keep(bool keep = true) { check(forebay_trajectory_keep(get(), keep ? 1 : 0)); }
  std::string recovery() const { return forebay_trajectory_get_recovery(get()); }

 private:
  // Values of a field; it must be of this type.
  template <class Number>
  static std::size_t count(forebay_trajectory* owner, int number) {
    forebay_type type = FOREBAY_BYTES;
    std::uint64_t values = 0;
    check(forebay_trajectory_get_field(owner, number, nullptr, &type, &values));
    if (type != type_of<std::remove_cv_t<Number>>()) {
      throw TrajectoryError(FOREBAY_E_FIELD_CHANGED, "the field is of another type");
    }
    return static_cast<std::size_t>(values);
  }

  std::unique_ptr<forebay_trajectory, Close> handle_;
};

}  // namespace forebay

#endif
