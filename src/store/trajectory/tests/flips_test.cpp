// Flips each byte of what describes a kept store, and samples of what it holds, one at a time: it is told, or does no
// harm. Told is an opening that is refused, a report, or an error of the state that is asked for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>

#include "store/segment/format.h"
#include "store/trajectory/tests/flow.h"

namespace forebay::flips_test {
namespace {

constexpr std::uint64_t kValues = 200;

class Flips : public testing::Test {
 protected:
  using IsRight = std::function<bool(const double* u, std::int64_t step)>;
  struct Counts {
    int flips = 0, refused = 0, reported = 0, denied = 0, harmless = 0;
  };

  // Files: checksums are on by default.
  const Scratch pool_{"/tmp"}, below_{"/tmp"};
  const std::string first_ = pool_.path() + "/trajectory-0", second_ = below_.path() + "/trajectory-0";

  OptionsOf one_tier(std::uint64_t segment) const {
    return std::move(OptionsOf().pool(pool_.path(), 20 * segment).segments(segment).keep().process_only());
  }
  OptionsOf two_tiers(std::uint64_t segment) const {
    return std::move(OptionsOf()
                         .pool(pool_.path(), 3 * segment)
                         .shared(below_.path(), 20 * segment)
                         .segments(segment)
                         .keep()
                         .process_only());
  }
  static bool is_right(const double* u, std::int64_t step) {
    for (std::uint64_t i = 0; i < kValues; ++i) {
      if (u[i] != States::value(step, i)) return false;
    }
    return true;
  }

  struct Found {
    bool refused = false, reported = false;
    std::map<std::int64_t, bool> steps;  // whether each was given
  };
  static Found look(const OptionsOf& options, const IsRight& is_right) {
    Found found;
    forebay_trajectory* t = nullptr;
    const int status = forebay_trajectory_open(options.get(), &t);
    if (status != FOREBAY_OK) {
      EXPECT_TRUE(status == FOREBAY_E_DAMAGED || status == FOREBAY_E_VERSION) << forebay_error_get_text();
      found.refused = true;
      return found;
    }
    found.reported = *forebay_trajectory_get_recovery(t) != '\0';
    std::uint64_t count = 0;
    forebay_trajectory_count_steps(t, &count);
    for (std::uint64_t i = count; i-- > 0;) {
      std::int64_t step = 0;
      forebay_trajectory_get_step(t, i, &step, nullptr);
      const double* u = nullptr;
      const int got = get_values(t, step, u);
      EXPECT_TRUE(got == FOREBAY_OK || got == FOREBAY_E_DAMAGED) << forebay_error_get_text();
      if (got == FOREBAY_OK) {
        EXPECT_TRUE(is_right(u, step)) << "step " << step;
      }
      found.steps[step] = got == FOREBAY_OK;
      forebay_trajectory_release(t, step);
    }
    forebay_trajectory_close(t);
    return found;
  }

  // `may_go`: a step whose loss nothing can tell.
  void flip_all(OptionsOf options, const IsRight& is_right, std::uint64_t segment, Counts& counts, int may_go = -1) {
    options.mode("read-only");
    const Found whole = look(options, is_right);
    ASSERT_FALSE(whole.refused || whole.reported);
    ASSERT_GT(whole.steps.size(), 20u);
    for (const std::string& directory : {first_, second_}) {
      for (const std::string& name : {directory + "/store", directory + "/segments"}) {
        const int file = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
        if (file < 0) continue;
        struct stat status {};
        ASSERT_EQ(::fstat(file, &status), 0);
        for (off_t at = 0; at < status.st_size; ++at) {
          if (!is_flipped(name.ends_with("store"), static_cast<std::uint64_t>(at), segment)) continue;
          const auto flip = [&] {
            std::uint8_t byte = 0;
            ASSERT_EQ(::pread(file, &byte, 1, at), 1);
            byte ^= static_cast<std::uint8_t>(1u << (at % 7));
            ASSERT_EQ(::pwrite(file, &byte, 1, at), 1);
          };
          flip();
          judge(whole, look(options, is_right), may_go, name + ", byte " + std::to_string(at), counts);
          flip();
          if (HasFailure()) break;
        }
        ::close(file);
        if (HasFailure()) return;
      }
    }
    std::printf("%d flips: %d refused, %d reported, %d denied, %d harmless\n", counts.flips, counts.refused,
                counts.reported, counts.denied, counts.harmless);
  }

 private:
  // All of headers, and of the rest some.
  static bool is_flipped(bool head, std::uint64_t at, std::uint64_t segment) {
    constexpr std::uint64_t kHeaders = segment::header_place(3);  // of a segment's, with some of its records
    if (!head) return at % segment < kHeaders || at % 509 == 0;
    const bool fixed = at < 56 + 64 + 16;
    const bool check_and_epochs = at >= segment::kHeadBytes - 8 && at < segment::kLedgerAt + 3 * segment::kLine;
    return fixed || check_and_epochs || at % 509 == 0;
  }
  static void judge(const Found& whole, const Found& found, int may_go, const std::string& where, Counts& counts) {
    ++counts.flips;
    if (found.refused) {
      ++counts.refused;
      return;
    }
    bool all = true, denied = false;
    for (const auto& [step, given] : found.steps) {
      EXPECT_TRUE(whole.steps.contains(step)) << where << ": step " << step << " came back";
      denied = denied || !given;
    }
    for (const auto& [step, given] : whole.steps) all = all && (found.steps.contains(step) || step == may_go);
    EXPECT_TRUE(all || found.reported) << where << ": " << found.steps.size() << " steps of " << whole.steps.size()
                                       << ", and nothing told";
    ++(found.reported ? counts.reported : denied ? counts.denied : counts.harmless);
  }
};

TEST_F(Flips, OfAStoreOnTwoTiersAreToldOrHarmless) {
  constexpr std::uint64_t kSegment = 16 << 10;
  {
    States run(two_tiers(kSegment), kValues);
    for (int step = 0; step < 60; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
    for (int step = 10; step < 50; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    for (int step = 10; step < 50; step += 7) ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
    ASSERT_GT(run.tier(1).used, 0u);
  }
  Counts counts;
  flip_all(two_tiers(kSegment), is_right, kSegment, counts);
  EXPECT_GT(counts.reported, 0);
  EXPECT_GT(counts.denied, 0);
}

// Its process was killed, so a segment is open: that its last header is damaged looks like the death before its commit.
TEST_F(Flips, OfAStoreThatAKilledProcessLeftAreToldOrHarmless) {
  constexpr std::uint64_t kSegment = 16 << 10;
  constexpr int kLast = 31;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    States run(one_tier(kSegment), kValues);
    for (int step = 0; step < 60; ++step) (void)run.put(step);
    forebay_trajectory_rewind(run);
    for (int step = 0; step <= kLast; ++step) (void)run.put(step);
    ::_exit(run.count() == kLast + 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  Counts counts;
  flip_all(one_tier(kSegment), is_right, kSegment, counts, kLast);
}

TEST_F(Flips, OfEncodedFieldsAreToldOrHarmless) {
  constexpr std::uint64_t kSegment = 16 << 10;
  constexpr double kAccepted = 1e-4;
  {
    forebay_trajectory* t = nullptr;
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(two_tiers(kSegment).get(), &t));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_declare(t, "u", FOREBAY_FLOAT64, kValues, nullptr));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_set_accepted_error(t, 0, kAccepted));
    for (int step = 0; step < 50; ++step) {
      const std::vector<double> u = Flow::state(kValues, step, 1);
      const void* memory = u.data();
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_put(t, step, 0, &memory, 1));
    }
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_close(t));
  }
  const auto is_right = [](const double* u, std::int64_t step) {
    const std::vector<double> exact = Flow::state(kValues, step, 1);
    return codec::test::error_between(std::span<const double>(exact), std::span(u, kValues)) <= kAccepted * (1 + 1e-9);
  };
  Counts counts;
  flip_all(two_tiers(kSegment), is_right, kSegment, counts);
}

}  // namespace
}  // namespace forebay::flips_test
