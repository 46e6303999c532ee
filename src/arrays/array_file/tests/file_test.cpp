#include "arrays/array_file/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "arrays/array_file/objects.h"
#include "arrays/array_file/pieces.h"
#include "arrays/array_file/tests/version.h"
#include "base/tests/scratch.h"

namespace forebay::array_file {
namespace {

Description some_arrays() {
  Description description{12, 0.5, "test 1", "cavity", {{"vertices", 1000}, {"cells", 300'000}, {"none", 0}}, {}};
  description.arrays = {{"velocity", "cells", Type::float64, 3},
                        {"id", "vertices", Type::int64},
                        {"flag", "none", Type::uint8},
                        {"pressure", "cells", Type::float32}};
  return description;
}

TEST(FileOfArrays, TellsAfterwardsWhatWasLaidOut) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  Description made = some_arrays();
  const auto laid_out = lay_out(path, made);
  ASSERT_TRUE(laid_out) << laid_out.error().text();
  const auto found = describe(path);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(encode(*found), encode(made));
  EXPECT_EQ(found->array("cells", "velocity")->bytes(), 7'200'000U);
  EXPECT_EQ(found->array("cells", "velocity")->offset % (1 << 20), 0U) << "large arrays are aligned";
}

TEST(FileOfArrays, HasTheSameBytesWheneverAndInWhateverOrderItIsDescribed) {
  const Scratch scratch;
  Description one = some_arrays(), other = some_arrays();
  std::swap(other.arrays[0], other.arrays[3]);
  std::swap(other.locations[0], other.locations[1]);
  ASSERT_TRUE(lay_out(join(scratch.path(), "one"), one));
  ::usleep(1'100'000);  // times in HDF5 are in seconds
  ASSERT_TRUE(lay_out(join(scratch.path(), "other"), other));
  EXPECT_EQ(*read_file(join(scratch.path(), "one")), *read_file(join(scratch.path(), "other")));
}

TEST(FileOfArrays, IsNeverMadeOverAnotherOne) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  ASSERT_TRUE(replace_file(path, "precious"));
  Description description = some_arrays();
  EXPECT_FALSE(lay_out(path, description));
  EXPECT_EQ(*read_file(path), "precious");
}

TEST(FileOfArrays, ThatCannotBeMadeIsToldWithTheLibrarysReason) {
  const LibraryErrors errors;
  EXPECT_FALSE(new_content(-1));
  EXPECT_NE(errors.as_error("cannot make", "a.h5").value().text().find("No such file or directory"), std::string::npos)
      << errors.as_error("cannot make", "a.h5").value().text();
}

TEST(FileOfArrays, CutOffIsRefused) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  Description description = some_arrays();
  ASSERT_TRUE(lay_out(path, description));
  const std::string whole = *read_file(path);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    ASSERT_TRUE(replace_file(path, whole.substr(0, bytes)));
    const auto found = describe(path);
    ASSERT_FALSE(found) << bytes << " bytes";
    EXPECT_NE(found.error().text().find(path), std::string::npos);
    EXPECT_EQ(found.error().code, bytes == 0 ? Code::failed : Code::lost);
  }
}

TEST(FileOfArrays, OfAnotherVersionIsRefused) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  Description description = some_arrays();
  ASSERT_TRUE(lay_out(path, description));
  set_version(path, 1);
  EXPECT_TRUE(describe(path));
  for (const std::uint64_t version : {0, 2}) {
    set_version(path, version);
    const auto found = describe(path);
    ASSERT_FALSE(found) << version;
    EXPECT_EQ(found.error().code, Code::conflict);
    EXPECT_EQ(found.error().text(), "of version " + std::to_string(version) + ", where this program knows 1: " + path);
  }
}

TEST(FileOfArrays, WithAnyFlippedBitInItsDescriptionIsRefusedOrDescribesTheSame) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  Description description = some_arrays();
  description.locations = {{"cells", 3}};  // small, so that nearly all bytes of the file are description
  description.arrays = {{"velocity", "cells", Type::float64, 3}, {"pressure", "cells", Type::float32}};
  ASSERT_TRUE(lay_out(path, description));
  const std::string whole = *read_file(path);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1 << at % 8);
    ASSERT_TRUE(replace_file(path, flipped));
    const auto found = describe(path);
    refused += found ? 0 : 1;
    if (!found) continue;
    EXPECT_EQ(checksum_of(*found), checksum_of(description)) << "byte " << at;
  }
  EXPECT_GT(refused, 50U);
}

TEST(FileOfArrays, RefusesNamesThatNoFileCanHold) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.h5");
  for (const std::string& name : {std::string(), std::string("."), std::string("a/b"), std::string(256, 'x')}) {
    Description description = some_arrays();
    description.arrays[0].name = name;
    const auto laid_out = lay_out(path, description);
    ASSERT_FALSE(laid_out) << "'" << name << "'";
    EXPECT_EQ(laid_out.error().code, Code::bad_input);
  }
  Description twice = some_arrays();
  twice.arrays[3] = twice.arrays[0];
  EXPECT_FALSE(lay_out(path, twice));
}

TEST(FileOfArrays, OfAnotherMeshIsToldByItsDifference) {
  const Description file = some_arrays();
  Description run;
  run.mesh = "cavity";
  run.locations = {{"cells", 1200}};
  EXPECT_EQ(same_mesh(file, run, "x.h5").error().what, "of another mesh, with 300000 cells where this run has 1200:");
  run.locations = {{"edges", 7}};
  EXPECT_EQ(same_mesh(file, run, "x.h5").error().what, "of another mesh, with no edges where this run has 7:");
  run.locations = {{"cells", 300'000}};
  EXPECT_TRUE(same_mesh(file, run, "x.h5"));
  run.mesh = "tube";
  EXPECT_EQ(same_mesh(file, run, "x.h5").error().what, "of another mesh, 'cavity' where this run has 'tube':");
}

}  // namespace
}  // namespace forebay::array_file
