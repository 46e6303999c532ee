// Random damage, an opening, more damage, another opening, in all modes and on one to three tiers: no state is ever
// wrong, none is an older one, and whatever is missing is told. FOREBAY_TEST_ROUNDS: how
// often (trajectory/many_openings: more).
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "store/trajectory/tests/api.h"

namespace forebay::two_openings_test {
namespace {

constexpr std::uint64_t kSegment = 16 << 10;
constexpr std::uint64_t kValues = 200;
constexpr std::int64_t kSteps = 100;
constexpr const char* kModes[] = {"any", "any", "must-exist", "read-only", "partial"};

namespace files = std::filesystem;

class TwoOpenings : public testing::TestWithParam<int> {
 protected:
  using Versions = std::map<std::int64_t, int>;  // of the steps that were put and not dropped

  void SetUp() override {
    if (const char* given = std::getenv("FOREBAY_TEST_SEED")) seed_ = std::strtoull(given, nullptr, 10);
    if (const char* given = std::getenv("FOREBAY_TEST_ROUNDS")) rounds_ = std::atoi(given);
    for (int tier = 0; tier < GetParam(); ++tier) places_.push_back(pools_[tier].path() + "/trajectory-0");
  }
  bool is_last(int tier) const { return tier + 1 == GetParam(); }

  // On disks: checksums are on by themselves.
  OptionsOf options(const char* mode) const {
    OptionsOf options;
    options.segments(kSegment).keep().process_only().mode(mode);
    for (int tier = 0; tier < GetParam(); ++tier) {
      const std::uint64_t segments = is_last(tier) ? 60 : 3;
      if (tier > 0 && is_last(tier)) {
        options.shared(pools_[tier].path(), segments * kSegment);
      } else {
        options.pool(pools_[tier].path(), segments * kSegment);
      }
    }
    return options;
  }
  static double value(std::int64_t step, int version, std::uint64_t i) {
    return States::value(step, i) + 0.125 * version;
  }
  static int put(forebay_trajectory* t, std::int64_t step, int version) {
    std::vector<double> u(kValues);
    for (std::uint64_t i = 0; i < kValues; ++i) u[i] = value(step, version, i);
    const void* memory = u.data();
    return forebay_trajectory_put(t, step, 0, &memory, 1);
  }

  enum class May { damage_segments, damage_all, remove };
  void damage(std::mt19937_64& random, const std::string& place, May may, std::string& where) {
    const bool may_go = may == May::remove;
    const std::string name = place + (random() % 4 == 0 && may != May::damage_segments ? "/store" : "/segments");
    where += "damage of " + name + ", ";
    const auto bytes = read_file(name);
    if (!bytes || bytes->empty()) return;
    const std::uint64_t size = bytes->size(), at = random() % size;
    switch (random() % 8) {
      case 0:
        ASSERT_EQ(::truncate(name.c_str(), static_cast<off_t>(at)), 0);
        break;
      case 1:
        ASSERT_EQ(::truncate(name.c_str(), static_cast<off_t>(at / kSegment * kSegment)), 0);
        break;
      case 2:
        if (may_go) {
          ASSERT_EQ(::unlink(name.c_str()), 0);
        }
        break;
      case 3:
        if (may_go) {
          ASSERT_TRUE(remove_tree(place));
        }
        break;
      case 4:
        overwrite(name, at / 4096 * 4096, std::string(4096, '\0'));
        break;
      default:
        for (std::uint64_t i = 0; i <= random() % 20; ++i) {
          overwrite(name, random() % size, std::string(1, static_cast<char>(random())));
        }
    }
  }
  static void overwrite(const std::string& path, std::uint64_t at, const std::string& bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  // Reads all, and compares. Null where the store was refused.
  forebay_trajectory* open(const char* mode, const Versions& versions, const std::string& where) {
    forebay_trajectory* t = nullptr;
    const int status = forebay_trajectory_open(options(mode).get(), &t);
    if (status != FOREBAY_OK) {
      ++refused_;
      EXPECT_TRUE(status == FOREBAY_E_DAMAGED || status == FOREBAY_E_VERSION || status == FOREBAY_E_NO_SUCH_STORE)
          << where << forebay_error_get_text();
      return nullptr;
    }
    ++opened_;
    std::uint64_t count = 0;
    forebay_trajectory_count_steps(t, &count);
    if (*forebay_trajectory_get_recovery(t) == '\0') {
      EXPECT_EQ(count, versions.size()) << where << "nothing told";
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      std::int64_t step = 0;
      forebay_trajectory_get_step(t, i, &step, nullptr);
      const double* u = nullptr;
      const int got = get_values(t, step, u);
      EXPECT_TRUE(got == FOREBAY_OK || got == FOREBAY_E_DAMAGED) << where << forebay_error_get_text();
      if (got != FOREBAY_OK) continue;
      const auto known = versions.find(step);
      EXPECT_NE(known, versions.end()) << where << "step " << step << " came back";
      for (std::uint64_t k = 0; known != versions.end() && k < kValues; ++k) {
        if (u[k] == value(step, known->second, k)) continue;
        ADD_FAILURE() << where << "step " << step << " has " << u[k] << " at " << k << ", put " << known->second
                      << " times before";
        break;
      }
      forebay_trajectory_release(t, step);
    }
    return t;
  }

  // Drops some, and puts again some of those that are lost.
  static void work(std::mt19937_64& random, forebay_trajectory* t, Versions& versions) {
    for (int i = 0; i < 30; ++i) {
      const auto step = static_cast<std::int64_t>(random() % (kSteps + 20));
      if (random() % 4 == 0) {
        if (forebay_trajectory_drop(t, step) == FOREBAY_OK) versions.erase(step);
      } else {
        const int version = versions.contains(step) ? versions[step] + 1 : 1;
        if (put(t, step, version) == FOREBAY_OK) versions[step] = version;
      }
    }
  }

  void round(std::mt19937_64& random, const Versions& whole, std::string where) {
    Versions versions = whole;
    const auto tiers = static_cast<std::uint64_t>(GetParam());
    const std::string &first = places_[random() % tiers], &second = places_[random() % tiers];
    const bool away = tiers > 1 && random() % 4 == 0;
    const std::string aside = first + "-aside";
    if (away) {
      files::rename(first, aside);
      where += "away with " + first + ", ";
    } else {
      damage(random, first, tiers > 1 ? May::remove : May::damage_all, where);
    }
    const char* const before = kModes[random() % std::size(kModes)];
    if (forebay_trajectory* const t = open(before, versions, where + before + ": ")) {
      const bool writes = *before == 'a' || *before == 'm';
      if (writes && random() % 2 == 0) work(random, t, versions);
      EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_close(t));
    }
    bool back = false;
    if (away) {
      back = random() % 2 == 0;
      if (back) {
        where += "back with it, ";
        (void)remove_tree(first);
        files::rename(aside, first);
      }
      (void)remove_tree(aside);
    }
    // Nothing tells of a store that has no head left.
    std::size_t heads = 0;
    for (const std::string& place : places_) heads += files::exists(place + "/store") ? 1 : 0;
    // Nor does anything tell that a tier was away where just the heads that know of it are lost (docs/gaps.md).
    damage(random, second, back ? May::damage_segments : heads > 1 ? May::remove : May::damage_all, where);
    const char* const after = kModes[random() % std::size(kModes)];
    if (heads > 0) (void)forebay_trajectory_close(open(after, versions, where + after + ": "));
  }

  std::uint64_t seed_ = 20261128;
  int rounds_ = 60, opened_ = 0, refused_ = 0;
  const Scratch pools_[3] = {Scratch("/tmp"), Scratch("/tmp"), Scratch("/tmp")}, whole_{"/tmp"};
  std::vector<std::string> places_;
};

TEST_P(TwoOpenings, WithDamageBeforeEachAreRightOrTell) {
  Versions versions;
  {
    forebay_trajectory* t = nullptr;
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(options("create").get(), &t));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_declare(t, "u", FOREBAY_FLOAT64, kValues, nullptr));
    for (std::int64_t step = 0; step < kSteps; ++step) {
      ASSERT_STATUS(FOREBAY_OK, put(t, step, 1));
      versions[step] = 1;
    }
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_close(t));
  }
  for (int tier = 0; tier < GetParam(); ++tier) {
    files::copy(pools_[tier].path(), whole_.path() + "/" + std::to_string(tier), files::copy_options::recursive);
  }
  std::mt19937_64 random(seed_ + static_cast<std::uint64_t>(GetParam()));
  for (int number = 0; number < rounds_ && !HasFailure(); ++number) {
    for (int tier = 0; tier < GetParam(); ++tier) {
      ASSERT_TRUE(remove_tree(places_[tier]));
      files::copy(whole_.path() + "/" + std::to_string(tier), pools_[tier].path(), files::copy_options::recursive);
    }
    round(random, versions, "FOREBAY_TEST_SEED=" + std::to_string(seed_) + ", round " + std::to_string(number) + ", ");
  }
  std::printf("%d opened, %d refused\n", opened_, refused_);
  EXPECT_GT(opened_, rounds_);
}

INSTANTIATE_TEST_SUITE_P(OnTiers, TwoOpenings, testing::Values(1, 2, 3));

}  // namespace
}  // namespace forebay::two_openings_test
