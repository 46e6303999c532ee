#include "arrays/inspect.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "arrays/arrays.h"
#include "segment/tests/scratch.h"

namespace forebay::arrays {
namespace {

// A file with one array of doubles on cells, whole with its checksums.
Description write_cells(const std::string& path, const std::string& name, const std::vector<double>& values) {
  Description description{1, 0, "", "", {{"cells", values.size()}}, {{name, "cells", Type::float64}}};
  EXPECT_TRUE(lay_out(path, description));
  const Array& array = description.arrays[0];
  std::string file = *read_file(path);
  std::memcpy(file.data() + array.offset, values.data(), array.bytes());
  const auto checks = whole_checks(part_checks(0, std::as_bytes(std::span(values))), array.bytes());
  std::memcpy(file.data() + array.checks_offset, checks->data(), checks->size() * sizeof(std::uint32_t));
  EXPECT_TRUE(replace_file(path, file));
  return description;
}

TEST(Inspect, FindsEveryDamagedPiece) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  const Description description = write_cells(path, "p", std::vector<double>(1'500'000, 1.5));
  EXPECT_TRUE(verify(path, description)->empty());
  std::string file = *read_file(path);
  for (const std::uint64_t at : {std::uint64_t{0}, 2 * kPieceBytes + 5}) file[description.arrays[0].offset + at] ^= 1;
  ASSERT_TRUE(replace_file(path, file));
  const auto damages = verify(path, description);
  ASSERT_TRUE(damages) << damages.error().text();
  ASSERT_EQ(damages->size(), 1U);
  EXPECT_EQ(damages->front().array, "p");
  EXPECT_EQ(damages->front().first_bytes, (std::vector<std::uint64_t>{0, 2 * kPieceBytes}));
}

TEST(Inspect, FindsWhatNobodyWroteWithoutReadingTheRest) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  const Description description = write_cells(path, "p", std::vector<double>(1'500'000, 1.5));
  std::string file = *read_file(path);
  const std::uint64_t offset = description.arrays[0].offset;
  file[offset] ^= 1;
  ASSERT_TRUE(replace_file(path, file));
  EXPECT_TRUE(verify(path, description, Look::at_holes)->empty());
  const auto opened = open_file(path, O_RDWR);
  ASSERT_EQ(::fallocate(opened->get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(offset + kPieceBytes + 8192), 4096),
            0);
  const auto damages = verify(path, description, Look::at_holes);
  ASSERT_TRUE(damages) << damages.error().text();
  ASSERT_EQ(damages->size(), 1U);
  EXPECT_EQ(damages->front().first_bytes, (std::vector<std::uint64_t>{kPieceBytes}));
  // Zeros may be a hole.
  const std::string other = join(scratch.path(), "b.h5");
  const Description zeros = write_cells(other, "p", std::vector<double>(1'500'000, 0));
  const auto of_zeros = open_file(other, O_RDWR);
  ASSERT_EQ(::fallocate(of_zeros->get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(zeros.arrays[0].offset), 1 << 20),
            0);
  EXPECT_TRUE(verify(other, zeros, Look::at_holes)->empty());
}

TEST(Inspect, TellsTheLargestDifferenceAndWhereItIs) {
  const Scratch scratch;
  const std::string a = join(scratch.path(), "a.h5"), b = join(scratch.path(), "b.h5");
  std::vector<double> values(1'000'000, 2.0);
  const Description first = write_cells(a, "p", values);
  values[10] += 0.5;
  values[777'776] -= 0.75;
  const Description second = write_cells(b, "p", values);
  const auto differences = compare(a, first, b, second);
  ASSERT_TRUE(differences) << differences.error().text();
  ASSERT_EQ(differences->size(), 1U);
  EXPECT_EQ(differences->front().different_values, 2U);
  EXPECT_EQ(differences->front().largest, 0.75);
  EXPECT_EQ(differences->front().item, 777'777U);
  EXPECT_EQ(compare(a, first, a, first)->front().different_values, 0U);
  values[10] = std::nan("");
  EXPECT_TRUE(
      std::isinf(compare(a, first, join(scratch.path(), "c.h5"), write_cells(join(scratch.path(), "c.h5"), "p", values))
                     ->front()
                     .largest));
}

TEST(Inspect, TellsWhereHeadsDiffer) {
  const Description one{7, 0.1, "program 1", "box", {}, {}};
  Description other = one;
  other.program = "program 2";
  EXPECT_TRUE(compare_heads(one, other).empty());
  other.step = 8;
  other.time = std::nextafter(0.1, 1.0);
  other.mesh = "tube";
  std::vector<std::vector<std::string>> told;
  for (const HeadDifference& each : compare_heads(one, other)) told.push_back({each.what, each.here, each.there});
  EXPECT_EQ(told, (std::vector<std::vector<std::string>>{
                      {"step", "7", "8"}, {"time", "0.1", "0.10000000000000002"}, {"mesh", "box", "tube"}}));
}

TEST(Inspect, SaysWhichArraysCannotBeCompared) {
  const Scratch scratch;
  const std::string a = join(scratch.path(), "a.h5"), b = join(scratch.path(), "b.h5");
  const Description first = write_cells(a, "p", {1, 2, 3}), second = write_cells(b, "q", {1, 2, 3});
  const auto differences = compare(a, first, b, second);
  ASSERT_TRUE(differences) << differences.error().text();
  ASSERT_EQ(differences->size(), 2U);
  EXPECT_EQ((*differences)[0].why_not, "only in " + a);
  EXPECT_EQ((*differences)[1].why_not, "only in " + b);
}

}  // namespace
}  // namespace forebay::arrays
