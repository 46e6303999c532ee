#include "forebay/options.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>

#include "api/api.h"

namespace forebay::api {
namespace {

class Options : public testing::Test {
 protected:
  int set(const char* key, const char* value) { return forebay_options_set(options_.get(), key, value); }
  const char* get(const char* key) const { return forebay_options_get(options_.get(), key); }
  static std::string words() { return forebay_error_get_text(); }

  std::unique_ptr<forebay_options, decltype(&forebay_options_free)> options_{forebay_options_create(),
                                                                             &forebay_options_free};
};

TEST_F(Options, HaveNoValueUntilTheyAreSetAndAfterTheyAreSetToNothing) {
  EXPECT_EQ(get("encoders"), nullptr);
  EXPECT_EQ(options_->integer("encoders"), std::nullopt);
  EXPECT_EQ(forebay_options_set_integer(options_.get(), "encoders", 0), FOREBAY_OK);
  EXPECT_STREQ(get("encoders"), "0");
  EXPECT_EQ(options_->integer("encoders"), 0);
  EXPECT_EQ(set("encoders", nullptr), FOREBAY_OK);
  EXPECT_EQ(get("encoders"), nullptr);
}

TEST_F(Options, AreOnOrOff) {
  EXPECT_EQ(options_->on("checksum"), std::nullopt);
  EXPECT_EQ(set("checksum", "off"), FOREBAY_OK);
  EXPECT_EQ(options_->on("checksum"), false);
  EXPECT_EQ(set("checksum", "on"), FOREBAY_OK);
  EXPECT_EQ(options_->on("checksum"), true);
}

TEST_F(Options, ThatDoNotExistAreRefusedWithTheNearestOne) {
  EXPECT_EQ(set("segment-byte", "5"), FOREBAY_E_INVALID);
  EXPECT_NE(words().find("did you mean \"segment-bytes\"?"), std::string::npos) << words();
  EXPECT_EQ(set("segment-byte", nullptr), FOREBAY_E_INVALID);
  EXPECT_EQ(set("xyz", "5"), FOREBAY_E_INVALID);
  EXPECT_NE(words().find("there are name, rank"), std::string::npos) << words();
  EXPECT_EQ(set(nullptr, "5"), FOREBAY_E_INVALID);
  EXPECT_EQ(forebay_options_set(nullptr, "name", "x"), FOREBAY_E_INVALID);
}

TEST_F(Options, KeepTheirValueWhereAnotherIsRefused) {
  ASSERT_EQ(set("rank", "3"), FOREBAY_OK);
  for (const char* wrong : {"-1", "", "three", "1e3", "3.5", "99999999999"}) {
    EXPECT_EQ(set("rank", wrong), FOREBAY_E_INVALID) << wrong;
    EXPECT_NE(words().find(wrong), std::string::npos) << words();
  }
  EXPECT_STREQ(get("rank"), "3");
  ASSERT_EQ(set("mode", "create"), FOREBAY_OK);
  EXPECT_EQ(set("mode", "append"), FOREBAY_E_INVALID);
  EXPECT_NE(words().find("there are any, create, must-exist, read-only, partial"), std::string::npos) << words();
  EXPECT_STREQ(get("mode"), "create");
  EXPECT_EQ(set("mode", "readonly"), FOREBAY_E_INVALID);
  EXPECT_NE(words().find("did you mean \"read-only\"?"), std::string::npos) << words();
  for (const char* value : {"0", "no", "non", "true"}) {
    EXPECT_EQ(set("keep", value), FOREBAY_E_INVALID);
    EXPECT_NE(words().find("there are on, off"), std::string::npos) << "nothing is guessed: " << words();
  }
}

TEST_F(Options, APoolHasAName) {
  ASSERT_EQ(set("pool", "/dev/shm"), FOREBAY_OK);
  EXPECT_EQ(set("pool", ""), FOREBAY_E_INVALID);
  EXPECT_EQ(words(), "the option pool is empty: it names a directory of the node");
  EXPECT_STREQ(get("pool"), "/dev/shm");
}

TEST_F(Options, OfOneUserAreNoneOfAnother) {
  EXPECT_EQ(forebay_options_check(nullptr, "plan"), FOREBAY_OK);
  EXPECT_EQ(forebay_options_check(options_.get(), "plan"), FOREBAY_OK);
  ASSERT_EQ(set("keep", "off"), FOREBAY_OK);
  EXPECT_EQ(forebay_options_check(options_.get(), "trajectory"), FOREBAY_OK);
  EXPECT_EQ(forebay_options_check(options_.get(), "plan"), FOREBAY_E_INVALID);
  EXPECT_NE(words().find("the option keep is one of trajectory"), std::string::npos) << words();
  ASSERT_EQ(set("keep", nullptr), FOREBAY_OK);
  ASSERT_EQ(forebay_options_add_dram(options_.get(), 1000), FOREBAY_OK);
  EXPECT_EQ(forebay_options_check(options_.get(), "plan"), FOREBAY_E_INVALID);
}

struct Grown {
  std::size_t size;
  std::uint64_t known;
  std::uint64_t newer;
};
struct Known {
  std::size_t size;
  std::uint64_t known;
};
struct Largest {
  std::size_t size;
  std::uint64_t known;
  std::array<unsigned char, FOREBAY_MOST_GROWTH> newer;
};

TEST(Sized, WhatANewerProgramGivesIsReadUnlessItAsksForMore) {
  Grown grown{sizeof(Grown), 5, 0};
  EXPECT_FALSE(wrong_to_read(reinterpret_cast<const Known&>(grown), "grown"));
  grown.newer = 1;
  EXPECT_TRUE(wrong_to_read(reinterpret_cast<const Known&>(grown), "grown"));
  EXPECT_FALSE(wrong_size(reinterpret_cast<const Known&>(grown), "grown")) << "where it is only filled";
  fill(reinterpret_cast<Known*>(&grown), Known{0, 7});
  EXPECT_EQ(grown.size, sizeof(Grown));
  EXPECT_EQ(grown.known, 7u);
  EXPECT_EQ(grown.newer, 0u);
}

TEST(Sized, AStructWithoutItsSizeIsRefused) {
  const Known unset{0, 5};
  EXPECT_TRUE(wrong_size(unset, "known"));
  EXPECT_TRUE(wrong_to_read(unset, "known"));
}

// The size has whatever the stack happens to hold, and the members behind it follow from that.
TEST(Sized, ASizeThatNoVersionCanHaveIsNotBelieved) {
  for (const std::size_t size : {sizeof(Known) + FOREBAY_MOST_GROWTH + 1, std::size_t{1} << 32, ~std::size_t{0}}) {
    const Known garbage{size, 5};
    const auto wrong = wrong_size(garbage, "known");
    ASSERT_TRUE(wrong) << size;
    EXPECT_EQ(*wrong, "the size of known is " + std::to_string(size) + ", not 16: set it to sizeof(known)");
    EXPECT_TRUE(wrong_to_read(garbage, "known")) << size;
  }
  const Largest largest{sizeof(Largest), 5, {}};
  EXPECT_FALSE(wrong_to_read(reinterpret_cast<const Known&>(largest), "known"));
}

TEST(LastError, IsCopiedAsFarAsThereIsRoom) {
  forebay_error_set(FOREBAY_E_BUSY, "in use");
  std::array<char, 8> buffer{};
  buffer.fill('x');
  EXPECT_EQ(forebay_error_copy_text(buffer.data(), buffer.size()), 6u);
  EXPECT_STREQ(buffer.data(), "in use");
  EXPECT_EQ(forebay_error_copy_text(buffer.data(), 3), 6u);
  EXPECT_STREQ(buffer.data(), "in");
  EXPECT_EQ(buffer[3], 'u') << "nothing beyond";
  EXPECT_EQ(forebay_error_copy_text(nullptr, 0), 6u);
}

TEST(LastError, IsOneForEachThread) {
  EXPECT_EQ(forebay_error_set(FOREBAY_E_BUSY, "here"), FOREBAY_E_BUSY);
  std::thread([] {
    EXPECT_STREQ(forebay_error_get_text(), "");
    forebay_error_set(FOREBAY_E_IO, "there");
  }).join();
  EXPECT_STREQ(forebay_error_get_text(), "here");
}

}  // namespace
}  // namespace forebay::api
