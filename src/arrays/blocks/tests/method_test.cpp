#include "arrays/blocks/method.h"

#include <gtest/gtest.h>

#include "arrays/blocks/striping.h"
#include "arrays/blocks/tests/fake_lustre.h"

namespace forebay::blocks {
namespace {

TEST(Method, IsKnownByItsName) {
  for (const Method method : {Method::serial, Method::stdio, Method::mpi_independent, Method::mpi_noncollective,
                              Method::mpi_collective, Method::staged}) {
    EXPECT_EQ(*method_named(name_of(method)), method);
  }
  const auto unknown = method_named("mpi-colective");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().text(), "unknown method 'mpi-colective'; did you mean mpi-collective?");
}

TEST(Options, OfTheEnvironmentWin) {
  const Variable method("FOREBAY_ARRAYS_METHOD", "staged"), pool("FOREBAY_ARRAYS_POOL", "/mnt/pmem0");
  const Variable hints("FOREBAY_ARRAYS_HINTS", "striping_factor=8,cb_nodes=4");
  const Variable verify("FOREBAY_ARRAYS_VERIFY", "read-back");
  const auto options = Options::from_environment({});
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->method, Method::staged);
  EXPECT_EQ(options->verify, carry::Verify::read_back);
  EXPECT_EQ(options->pool, "/mnt/pmem0");
  ASSERT_EQ(options->hints.size(), 2U);
  EXPECT_EQ(options->hints[1].first, "cb_nodes");
  EXPECT_EQ(options->hints[1].second, "4");
}

TEST(Options, OfTheEnvironmentThatAreEmptyAreNotSet) {
  const Variable method("FOREBAY_ARRAYS_METHOD", ""), pool("FOREBAY_ARRAYS_POOL", "");
  const Variable hints("FOREBAY_ARRAYS_HINTS", ""), verify("FOREBAY_ARRAYS_VERIFY", "");
  Options given;
  given.method = Method::staged;
  given.pool = "/mnt/pmem0";
  given.verify = carry::Verify::read_back;
  const auto options = Options::from_environment(given);
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->method, Method::staged);
  EXPECT_EQ(options->pool, "/mnt/pmem0");
  EXPECT_EQ(options->verify, carry::Verify::read_back);
  EXPECT_TRUE(options->hints.empty());
}

TEST(Options, OfTheEnvironmentThatMakeNoSenseAreRefused) {
  {
    const Variable method("FOREBAY_ARRAYS_METHOD", "fast");
    EXPECT_FALSE(Options::from_environment({}));
  }
  {
    const Variable verify("FOREBAY_ARRAYS_VERIFY", "twice");
    EXPECT_FALSE(Options::from_environment({}));
  }
  const Variable hints("FOREBAY_ARRAYS_HINTS", "cb_nodes=4,oops");
  EXPECT_FALSE(Options::from_environment({}));
}

TEST(Options, OfTheEnvironmentThatNobodyKnowsAreRefused) {
  for (const auto& [name, advice] : {std::pair("FOREBAY_ARRAYS_VERFY", "did you mean FOREBAY_ARRAYS_VERIFY?"),
                                     {"FOREBAY_ARRAYS_POOLS", "did you mean FOREBAY_ARRAYS_POOL?"},
                                     {"FOREBAY_ARRAYS_SPEEDOMETER", "docs/arrays/arrays.md"}}) {
    const Variable misspelt(name, "read-back");
    const auto options = Options::from_environment({});
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().code, Code::bad_input);
    EXPECT_NE(options.error().text().find(name), std::string::npos) << options.error().text();
    EXPECT_NE(options.error().text().find(advice), std::string::npos) << options.error().text();
  }
  const Variable of_python("FOREBAY_ARRAYS_LIBRARY", "x"), foreign("FOREBAY_BLOCKADE", "1");
  EXPECT_TRUE(Options::from_environment({}));
}

TEST(Striping, IsSetForTheDirectoryWhereTheHintsAskForIt) {
  const FakeLustre lustre(0);
  Options options;
  EXPECT_TRUE(set_striping("/case", options));
  EXPECT_EQ(lustre.asked(), "nothing");
  options.hints = {{"striping_factor", "8"}, {"cb_nodes", "4"}, {"striping_unit", "4194304"}};
  EXPECT_TRUE(set_striping("/case", options));
  EXPECT_EQ(lustre.asked(), "setstripe -c 8 -S 4194304 /case\n");
}

TEST(Striping, ThatIsRefusedIsAnError) {
  const FakeLustre lustre(22);
  Options options;
  options.hints = {{"striping_factor", "many"}};
  const auto set = set_striping("/case", options);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, Code::bad_input);
}

TEST(Striping, IsNoMatterWhereThereIsNoLustre) {
  const Variable path("PATH", "/nowhere");
  Options options;
  options.hints = {{"striping_factor", "8"}};
  EXPECT_TRUE(set_striping("/case", options));
}

}  // namespace
}  // namespace forebay::blocks
