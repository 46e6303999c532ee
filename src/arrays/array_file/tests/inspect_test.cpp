#include "arrays/array_file/inspect.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "arrays/array_file/array_file.h"
#include "arrays/array_file/tests/seen_by_hdf5.h"
#include "base/tests/scratch.h"

namespace forebay::array_file {
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

// How a program ends that looks at a file, with memory whose content is none of before: 0 where it finds what the
// description says.
int end_of_looking_at(const std::string& path, const Description& description) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::mallopt(M_PERTURB, 0xa5);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, 2);
    const auto found = describe(path);
    if (!found || !check_objects(path, *found)) std::exit(1);
    std::exit(encode(*found) == encode(description) ? 0 : 2);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(Inspect, OfManyArraysWhoseDescriptionIsDamagedEndsNoProgram) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  for (const Form form : {Form::checkpoint, Form::grid}) {
    Description description = form == Form::grid ? grid::describe(4, 1, 4) : Description{};
    if (form == Form::checkpoint) description.locations = {{"cells", 1}};
    for (int i = 0; i < 30; ++i) description.arrays.push_back({"of many " + std::to_string(i), "cells"});
    ::unlink(path.c_str());
    ASSERT_TRUE(lay_out(path, description));
    const std::string whole = *read_file(path);
    EXPECT_EQ(whole.find("BTLF"), whole.npos) << "a tree, whose damaged leaves HDF5 1.10 does not survive";
    std::size_t refused = 0, looked_at = 0;
    for (std::size_t at = form == Form::grid ? 5 : 3; at < whole.size(); at += whole.size() / 120, ++looked_at) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << at % 8);
      ASSERT_TRUE(replace_file(path, flipped));
      const int status = end_of_looking_at(path, description);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2) << "byte " << at << ": " << status;
      refused += WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 1 : 0;
    }
    EXPECT_GT(refused, looked_at / 3);
  }
}

TEST(Inspect, FindsWhatNobodyWroteWithoutReadingTheRest) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  const Description description = write_cells(path, "p", std::vector<double>(1'500'000, 1.5));
  std::string file = *read_file(path);
  const std::uint64_t offset = description.arrays[0].offset;
  file[offset] ^= 1;
  ASSERT_TRUE(replace_file(path, file));
  EXPECT_TRUE(verify(path, description, Where::at_holes)->empty());
  const auto opened = open_file(path, O_RDWR);
  ASSERT_EQ(::fallocate(opened->get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(offset + kPieceBytes + 8192), 4096),
            0);
  const auto damages = verify(path, description, Where::at_holes);
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
  EXPECT_TRUE(verify(other, zeros, Where::at_holes)->empty());
}

// A mesh of a few cells with a field, or a checkpoint of the same arrays; whole with its checksums.
Description write_small(const std::string& path, Form form) {
  Description description = grid::describe(12, 2, 16);
  description.arrays.push_back({"pressure", grid::kCells, Type::float32});
  description.form = form;
  EXPECT_TRUE(lay_out(path, description));
  const auto file = open_file(path, O_RDWR);
  Checks checks;
  for (const Array& array : description.arrays) {
    std::vector<std::byte> data(array.bytes());
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 + 1);
    EXPECT_TRUE(write_all_at(file->get(), array.offset, data, path));
    checks.push_back(part_checks(0, data));
  }
  EXPECT_TRUE(write_checks(file->get(), path, description, checks));
  return description;
}

// Looks as `forebay inspect` does.
bool is_called_good(const std::string& path) {
  const auto description = describe(path);
  if (!description || !check_objects(path, *description)) return false;
  const auto damages = verify(path, *description);
  return damages && damages->empty();
}

// Every fifth byte of the file is flipped in one of its bits: the tables of HDF5, the arrays, their
// checksums, and what lies between.
TEST(Flips, AreFoundOrAreNothingThatAReaderSees) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  for (const Form form : {Form::checkpoint, Form::grid}) {
    ::unlink(path.c_str());
    write_small(path, form);
    ASSERT_TRUE(is_called_good(path));
    const auto whole = seen_by_hdf5(path);
    ASSERT_TRUE(whole);
    const std::string bytes = *read_file(path);
    const auto file = open_file(path, O_RDWR);
    std::size_t found = 0, good = 0;
    for (std::size_t at = form == Form::grid ? 0 : 1; at < bytes.size(); at += 5) {
      const std::byte flipped = static_cast<std::byte>(bytes[at]) ^ static_cast<std::byte>(1 << at % 8);
      ASSERT_TRUE(write_all_at(file->get(), at, {&flipped, 1}, path));
      if (is_called_good(path)) {
        ++good;
        EXPECT_TRUE(seen_by_hdf5(path) == whole) << "byte " << at;
      } else {
        ++found;
      }
      ASSERT_TRUE(write_all_at(file->get(), at, std::as_bytes(std::span(&bytes[at], 1)), path));
    }
    EXPECT_GT(found, good) << "of " << bytes.size() << " bytes";
  }
}

TEST(Inspect, NamesWhatOfAGridNoReaderCanUse) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.vtkhdf");
  const Description description = write_small(path, Form::grid);
  EXPECT_TRUE(check_objects(path, description));
  const auto file = open_file(path, O_RDWR);
  // The number before the first end is of no cell, and in no checksum.
  const std::uint64_t before = description.array(grid::kCells, grid::kEnds)->offset - 8;
  for (const std::byte each : {std::byte{1}, std::byte{0x80}}) {
    ASSERT_TRUE(write_all_at(file->get(), before + 7, {&each, 1}, path));
    const Status found = check_objects(path, description);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Code::lost);
    EXPECT_EQ(found.error().what, "VTKHDF/Offsets is damaged in");
  }
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
}  // namespace forebay::array_file
