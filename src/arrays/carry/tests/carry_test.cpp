// Proves: an image and its record become a whole file under its name; an image that is not what was staged becomes
// none, and a record that does not fit touches nothing.
#include "arrays/carry/carry.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <thread>

#include "arrays/array_file/inspect.h"
#include "arrays/carry/series.h"
#include "base/tests/scratch.h"

namespace forebay::carry {
namespace {

constexpr std::uint64_t kItems = 700'000;  // more than a piece of 4 MiB that has a checksum

class Carry : public testing::Test {
 protected:
  void SetUp() override {
    array_file::Description description{7, 0.25, "test", "box", {{"cells", kItems}}, {}, {}};
    description.arrays.push_back({"pressure", "cells", array_file::Type::float64, 1, kItems, 0, 0});
    ASSERT_TRUE(array_file::complete(description));
    const std::string layout = join(scratch_.path(), "layout");
    ASSERT_TRUE(array_file::lay_out(layout, description));
    record_.layout = *layout_of(open_file(layout, O_RDONLY)->get(), layout, description);
    ::unlink(layout.c_str());
    std::string image(kItems * sizeof(double), '\0');
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<char>(i * i >> 3);
    ASSERT_TRUE(replace_file(image_, image));
    record_.id = 1;
    record_.path = join(scratch_.path(), "a.h5");
    record_.session = 5;
    record_.sequence = 2;
    record_.committed = std::numeric_limits<std::int64_t>::max();
    record_.sidecar = sidecar_of(1, record_);
    record_.description = array_file::encode(description);
    // The array lies in two stretches, the second one first in the image.
    const std::uint64_t half = image.size() / 2;
    record_.extents = {{0, half, half, 0}, {0, 0, half, half}};
    sum_up(image);
  }
  // As those who staged this image would have done.
  void sum_up(const std::string& image) {
    slots::ItemSum sum;
    const auto* const bytes = reinterpret_cast<const std::byte*>(image.data());
    for (const slots::Extent& each : record_.extents)
      sum.add(sizeof(double), bytes + each.image, each.bytes / sizeof(double), each.first / sizeof(double));
    record_.sums = {sum.value()};
  }
  Status carried() { return carry_image(record_, image_, false); }
  std::string sidecar() const { return read_file(record_.path + ".json").value_or("none"); }

  Scratch scratch_;
  std::string image_ = join(scratch_.path(), "slot-0");
  slots::StagedRecord record_;
};

TEST_F(Carry, AnImageBecomesAWholeFile) {
  EXPECT_EQ(what_stands(record_), Standing::older);
  for (const bool crashed : {false, true}) {  // and does so again after a crash
    if (crashed) {
      ASSERT_TRUE(replace_file(record_.temporary(), ""));
    }
    ASSERT_TRUE(carried());
    EXPECT_EQ(what_stands(record_), Standing::same_or_later);
    const auto description = array_file::describe(record_.path);
    ASSERT_TRUE(description);
    EXPECT_EQ(description->step, 7);
    const auto damages = array_file::verify(record_.path, *description);
    ASSERT_TRUE(damages);
    EXPECT_TRUE(damages->empty());
    const std::uint32_t content = *array_file::content_checksum(record_.path, *description);
    EXPECT_EQ(sidecar(), "{\n  \"content_crc32\": " + std::to_string(content) + "," + record_.sidecar.substr(1));
    EXPECT_EQ(provenance_in(sidecar())->content, content);
    struct stat file {};
    ASSERT_EQ(::stat(record_.path.c_str(), &file), 0);
    EXPECT_LT(file.st_blocks * 512, file.st_size - 900'000);  // what aligns the array is a hole
  }
  EXPECT_EQ(list_directory(scratch_.path())->size(), 3U);  // nothing but these and the image
}

TEST_F(Carry, AFileThatKeepsItsNameKeepsItsSidecar) {
  // No file can take the place of a directory that is not empty.
  const std::string in_the_way = join(record_.path, "in the way");
  ASSERT_TRUE(make_private_directory(in_the_way));
  for (const std::string before : {"none", "of the one before"}) {
    if (before != "none") {
      ASSERT_TRUE(replace_file(record_.path + ".json", before));
    }
    const Status done = carried();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().what, "cannot rename to");
    EXPECT_EQ(sidecar(), before);
    EXPECT_FALSE(name_exists(record_.temporary() + ".json"));
  }
  ASSERT_TRUE(remove_tree(record_.path));
  ASSERT_TRUE(carried());
  EXPECT_EQ(sequence_in(sidecar(), record_), record_.sequence);
}

// This file system keeps other bytes than it was given.
TEST_F(Carry, WhatIsReadBackDifferentGetsNoName) {
  ASSERT_TRUE(carried());
  auto description = *array_file::describe(record_.path);
  const std::string whole = *read_file(record_.path);
  const std::span<const std::byte> values = std::as_bytes(std::span(whole)).subspan(description.arrays[0].offset);
  const Checks checks = {array_file::part_checks(0, values.first(description.arrays[0].bytes()))};
  std::string flipped = whole;
  flipped[description.arrays[0].offset + 12345] ^= 1;
  const std::string temporary = record_.temporary();
  const auto published = [&](const std::string& bytes, Verify verify) {
    EXPECT_TRUE(replace_file(temporary, bytes));
    Sidecar sidecar(temporary, sidecar_of(1, "serial"));
    return publish(open_file(temporary, O_RDWR)->get(), temporary, record_.path, description, checks, sidecar, verify);
  };
  const std::string before = sidecar();
  const Status refused = published(flipped, Verify::read_back);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "array cells/pressure reads back different from what was written:");
  EXPECT_TRUE(*read_file(record_.path) == whole);
  EXPECT_EQ(sidecar(), before);
  EXPECT_TRUE(published(whole, Verify::read_back));
  EXPECT_TRUE(published(flipped, Verify::written));
  EXPECT_TRUE(*read_file(record_.path) == flipped);
}

TEST_F(Carry, ASidecarTellsWhetherItIsOfTheFileBesideIt) {
  ASSERT_TRUE(carried());
  const std::string older = *read_file(record_.path);
  const auto content_of = [&] {
    return *array_file::content_checksum(record_.path, *array_file::describe(record_.path));
  };
  EXPECT_EQ(provenance_in(sidecar())->content, content_of());
  std::string image = *read_file(image_);
  image[12345] ^= 1;
  ASSERT_TRUE(replace_file(image_, image));
  sum_up(image);
  ++record_.sequence;
  ASSERT_TRUE(carried());
  EXPECT_EQ(provenance_in(sidecar())->content, content_of());
  // The files are as if it had been killed between the two names.
  ASSERT_TRUE(replace_file(record_.path, older));
  EXPECT_NE(provenance_in(sidecar())->content, content_of());
}

TEST_F(Carry, AFileKnowsWhatItMayBeReplacedBy) {
  ASSERT_TRUE(carried());
  slots::StagedRecord other = record_;
  other.sequence = 1;
  EXPECT_EQ(what_stands(other), Standing::same_or_later);
  other.sequence = 3;
  EXPECT_EQ(what_stands(other), Standing::older);
  // Within one program the sequence decides, whatever the clocks say; for another one the clocks do.
  other.committed = 0;
  EXPECT_EQ(what_stands(other), Standing::older);
  other.session = 6;
  EXPECT_EQ(what_stands(other), Standing::foreign);
  other.committed = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(what_stands(other), Standing::older);
  // The sidecar got its name, and then its program was killed.
  ASSERT_TRUE(replace_file(record_.temporary(), ""));
  EXPECT_EQ(what_stands(record_), Standing::older);
  // An older one of that program was begun, and never carried to its end.
  other.session = record_.session;
  other.sequence = 1;
  other.id = record_.id + 1;
  ASSERT_TRUE(replace_file(other.temporary(), ""));
  EXPECT_EQ(what_stands(other), Standing::same_or_later);
  // Written directly since.
  ASSERT_TRUE(replace_file(record_.path + ".json", sidecar_of(1, "serial")));
  record_.committed = 0;
  EXPECT_EQ(what_stands(record_), Standing::foreign);
}

TEST_F(Carry, ARecordThatDoesNotFitTouchesNothing) {
  const std::uint64_t all = kItems * sizeof(double);
  for (const slots::Extent& wrong : {slots::Extent{1, 0, 8, 0},
                                     {0, all, 8, 0},
                                     {0, 0, 8, all},
                                     {0, 8, all, 0},
                                     {0, 4, 8, 0},
                                     {0, 0, 4, 0},
                                     {0, 0, ~std::uint64_t{0}, 8},
                                     {0, ~std::uint64_t{0}, 8, 0}}) {
    record_.extents = {wrong};
    const Status done = carried();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::lost);
  }
  record_.extents = {{0, 0, 8, 0}};
  record_.sums = {};
  EXPECT_EQ(carried().error().code, Code::lost);
  EXPECT_EQ(list_directory(scratch_.path())->size(), 1U);
}

TEST_F(Carry, AnImageThatIsNotAsItWasStagedBecomesNoFile) {
  const std::string whole = *read_file(image_);
  std::vector<std::string> damaged(6, whole);
  for (std::size_t i = 0; i < 3; ++i) damaged[i][i * (whole.size() - 1) / 2] ^= 1 << 3 * i;  // first, middle, last byte
  damaged[3].replace(4096, 4096, std::string(4096, '\0'));
  std::swap_ranges(damaged[4].begin(), damaged[4].begin() + 4096, damaged[4].begin() + 5000);
  for (std::size_t i = 0; i < whole.size(); i += 8) damaged[5][i] ^= 1;  // of another step
  for (const std::string& each : damaged) {
    ASSERT_TRUE(replace_file(image_, each));
    const Status done = carried();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::lost);
    EXPECT_EQ(done.error().what, "array cells/pressure of " + record_.path + " is not as it was staged in");
    EXPECT_EQ(done.error().path, image_);
    EXPECT_FALSE(name_exists(record_.path));
  }
  // Among several nodes the one with rank 0 hears of it.
  record_.node = 1;
  record_.nodes = 2;
  EXPECT_EQ(carried().error().code, Code::lost);
  record_.node = 0;
  ASSERT_TRUE(replace_file(image_, whole));
  const Status done = carried();
  EXPECT_EQ(done.error().what, "node 1 has lost its part of");
  EXPECT_EQ(done.error().code, Code::lost);
  EXPECT_FALSE(name_exists(record_.path) || name_exists(record_.temporary()));
  // And all the others hear it from that one.
  record_.node = 2;
  record_.nodes = 3;
  EXPECT_EQ(carried().error().what, "node 0 has lost its part of");
  EXPECT_FALSE(name_exists(record_.temporary()));
  record_.node = 0;
  slots::clear_away(record_);
  EXPECT_EQ(list_directory(scratch_.path())->size(), 1U);
}

TEST_F(Carry, AnImageThatIsGoneIsLost) {
  ::unlink(image_.c_str());
  EXPECT_EQ(carried().error().code, Code::lost);
}

TEST_F(Carry, AnImageOfAnyItemsIsFoundToBeWhole) {
  const std::string values = *read_file(image_);
  for (const std::uint32_t components : {1, 3, 5, 8, 11, 70'001}) {
    const std::uint64_t items = values.size() / components;
    array_file::Description description{7, 0.25, "test", "box", {{"cells", items}}, {}, {}};
    description.arrays.push_back({"flag", "cells", array_file::Type::uint8, components, items, 0, 0});
    const std::string layout = join(scratch_.path(), "layout");
    ASSERT_TRUE(array_file::lay_out(layout, description));
    record_.layout = *layout_of(open_file(layout, O_RDONLY)->get(), layout, description);
    record_.description = array_file::encode(description);
    record_.extents = {{0, 0, items * components, 0}};
    ++record_.sequence;
    slots::ItemSum sum;
    for (std::uint64_t item = items; item-- > 0;)
      sum.add(components, reinterpret_cast<const std::byte*>(values.data()) + item * components, 1, item);
    record_.sums = {sum.value()};
    EXPECT_EQ(sum.bytes(), items * components);
    const Status done = carried();
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_TRUE(array_file::verify(record_.path, *array_file::describe(record_.path))->empty());
    ::unlink(layout.c_str());
  }
}

TEST_F(Carry, WithoutTheOthersItStaysUndrained) {
  record_.nodes = 2;
  const Status done = carry_image(record_, image_, true);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::undrained);
  EXPECT_FALSE(name_exists(record_.path));
}

// No file can take the place of a directory that is not empty.
TEST_F(Carry, GoesOnInTheBackgroundUntilItIsDone) {
  ASSERT_TRUE(make_private_directory(join(record_.path, "in the way")));
  Background background;
  auto done = std::async(std::launch::async, [&] { return carry_until_done(record_, image_, background); });
  while (!background.again) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(remove_tree(record_.path));
  EXPECT_TRUE(done.get());
  EXPECT_EQ(what_stands(record_), Standing::same_or_later);
}

TEST_F(Carry, TriesNoMoreWhenItIsToldSo) {
  ASSERT_TRUE(make_private_directory(join(record_.path, "in the way")));
  Background background;
  auto done = std::async(std::launch::async, [&] { return carry_until_done(record_, image_, background); });
  while (!background.again) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  background.no_more_tries.request_stop();
  EXPECT_FALSE(done.get());
}

TEST_F(Carry, TriesOnceOnlyWhereWhatOthersToldIsForgotten) {
  record_.nodes = 2;
  ASSERT_TRUE(make_private_directory(join(record_.path, "in the way")));
  ASSERT_TRUE(replace_file(record_.part(1), "carried\n"));
  Background background;
  EXPECT_FALSE(carry_until_done(record_, image_, background));
  EXPECT_FALSE(background.again);
  EXPECT_FALSE(name_exists(record_.part(1)));
}

TEST_F(Carry, ANodeThatHasToldItsPartDoesNothingMore) {
  record_.nodes = 2;
  record_.node = 1;
  ASSERT_TRUE(carried());
  ASSERT_TRUE(name_exists(record_.part(1)));
  ASSERT_TRUE(replace_file(record_.temporary(), ""));  // where it would be seen
  ASSERT_TRUE(carried());
  EXPECT_EQ(read_file(record_.temporary()), "");
  // Its message was damaged, or has been heard.
  for (const char* const told : {"", "a b c d\ncarried\n"}) {
    ASSERT_TRUE(replace_file(record_.part(1), told));
    ASSERT_TRUE(replace_file(record_.temporary(), ""));
    ASSERT_TRUE(carried());
    EXPECT_FALSE(read_file(record_.temporary())->empty()) << told;
    EXPECT_NE(read_file(record_.part(1)), told);
  }
}

TEST_F(Carry, ANodeBeginsNoFileThatHasItsName) {
  ASSERT_TRUE(carried());
  record_.nodes = 2;
  record_.node = 1;
  ASSERT_TRUE(carried());
  EXPECT_FALSE(name_exists(record_.temporary()));
  EXPECT_FALSE(name_exists(record_.part(1)));
}

// The others' messages are forgotten then, and no node would tell its own once more.
TEST_F(Carry, NorDoesTheNodeWithRank0ThatFailedBehindTheName) {
  record_.nodes = 2;
  ASSERT_TRUE(replace_file(record_.part(1), "carried\n"));
  ASSERT_TRUE(carried());
  const std::string whole = *read_file(record_.path);
  const Status again = carry_image(record_, image_, true);
  EXPECT_TRUE(again) << again.error().text();
  EXPECT_FALSE(name_exists(record_.temporary()));
  EXPECT_TRUE(*read_file(record_.path) == whole);
}

TEST_F(Carry, WhatANodeToldIsNotBelievedWhereItIsDamaged) {
  record_.nodes = 2;
  for (const char* const told : {"", "0 0 8\ncarried\n", "1 0 8 5\ncarried\n", "0 0 8 5\n", "a b c d\ncarried\n"}) {
    ASSERT_TRUE(replace_file(record_.part(1), told));
    const Status done = carry_image(record_, image_, true);
    ASSERT_FALSE(done) << told;
    EXPECT_EQ(done.error().code, Code::failed);
    EXPECT_FALSE(name_exists(record_.path));
  }
}

TEST(SeriesOfSteps, HasTheStepsThatWereBroughtHomeOne) {
  const Scratch scratch;
  const std::string list = join(scratch.path(), "flow.vtkhdf.series");
  const auto bring = [&](const std::string& name, double time, bool grid = true) {
    array_file::Description description{7, time, "test", "box", {{"cells", 1}}, {}, {}};
    if (grid) description = array_file::grid::describe(4, 1, 4);
    description.time = time;
    const std::string path = join(scratch.path(), name);
    ASSERT_TRUE(array_file::lay_out(path, description)) << name;
    const auto listed = list_in_series(path);
    EXPECT_TRUE(listed) << listed.error().text();
  };
  bring("flow-000002.vtkhdf", 0.5);
  bring("flow-000001.vtkhdf", 0.25);
  bring("flow-12.h5", 1, false);
  bring("flow.vtkhdf", 2);
  bring("other-3.vtkhdf", 3);
  bring("flow-000004.vtkhdf", 4, false);
  const auto series = Series::read(list);
  ASSERT_TRUE(series);
  Series wanted;
  wanted.add("flow-000001.vtkhdf", 0.25);
  wanted.add("flow-000002.vtkhdf", 0.5);
  EXPECT_EQ(*series, wanted) << "in the order of their times, and no checkpoints";
  EXPECT_TRUE(Series::read(join(scratch.path(), "other.vtkhdf.series"))->has("other-3.vtkhdf"));
  ::unlink(join(scratch.path(), "flow-000001.vtkhdf").c_str());
  bring("flow-000003.vtkhdf", 1);
  EXPECT_FALSE(Series::read(list)->has("flow-000001.vtkhdf")) << "what is gone is not listed";
  EXPECT_TRUE(Series::read(list)->has("flow-000003.vtkhdf"));
}

}  // namespace
}  // namespace forebay::carry
