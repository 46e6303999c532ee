#include "arrays/array_file/grid.h"

#include <gtest/gtest.h>

#include <cstring>

#include "arrays/array_file/array_file.h"
#include "arrays/array_file/hdf5.h"
#include "base/tests/scratch.h"

namespace forebay::array_file {
namespace {

Description tetrahedron_with_data() {
  Description description = grid::describe(4, 1, 4);
  description.arrays.push_back({"pressure", "cells", Type::float64});
  description.arrays.push_back({"Offsets", "points", Type::float32, 3});  // a name that only cells have taken
  return description;
}

std::vector<std::int64_t> integers_at(hid_t file, const char* path) {
  const Handle dataset(H5Dopen2(file, path, H5P_DEFAULT), H5Dclose);
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  std::vector<std::int64_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  EXPECT_GE(H5Dread(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << path;
  return values;
}

TEST(GridFile, TellsAfterwardsWhatWasLaidOut) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.vtkhdf");
  Description made = tetrahedron_with_data();
  const auto laid_out = lay_out(path, made);
  ASSERT_TRUE(laid_out) << laid_out.error().text();
  const auto found = describe(path);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(encode(*found), encode(made));
  const auto decoded = decode(encode(made));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(encode(*decoded), encode(made));
  EXPECT_EQ(decoded->form, Form::grid);
}

TEST(GridFile, HasItsArraysWhereVtkLooksForThem) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.vtkhdf");
  Description made = tetrahedron_with_data();
  ASSERT_TRUE(lay_out(path, made));
  std::string bytes = *read_file(path);
  const std::int64_t end = 4;
  std::memcpy(bytes.data() + made.array("cells", "Offsets")->offset, &end, sizeof end);
  ASSERT_TRUE(replace_file(path, bytes));
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  EXPECT_EQ(integers_at(file.get(), "/VTKHDF/NumberOfPoints"), std::vector<std::int64_t>{4});
  EXPECT_EQ(integers_at(file.get(), "/VTKHDF/NumberOfCells"), std::vector<std::int64_t>{1});
  EXPECT_EQ(integers_at(file.get(), "/VTKHDF/NumberOfConnectivityIds"), std::vector<std::int64_t>{4});
  EXPECT_EQ(integers_at(file.get(), "/VTKHDF/Offsets"), (std::vector<std::int64_t>{0, 4}));
  for (const char* name : {"/VTKHDF/Points", "/VTKHDF/Connectivity", "/VTKHDF/Types", "/VTKHDF/CellData/pressure",
                           "/VTKHDF/PointData/Offsets"}) {
    const Handle dataset(H5Dopen2(file.get(), name, H5P_DEFAULT), H5Dclose);
    EXPECT_TRUE(dataset) << name;
  }
}

TEST(GridFile, NeedsTheArraysOfAGridAndHasDataOnPointsAndCellsOnly) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "a.vtkhdf");
  std::vector<Description> wrong(4, tetrahedron_with_data());
  std::erase_if(wrong[0].arrays, [](const Array& each) { return each.name == grid::kTypes; });
  for (Array& each : wrong[1].arrays) each.components = 1;  // Points, too
  wrong[2].locations.push_back({"faces", 4});
  wrong[2].arrays.push_back({"flux", "faces"});
  wrong[3].arrays.push_back({"angle", grid::kCorners});
  for (Description& each : wrong) {
    const auto laid_out = lay_out(path, each);
    ASSERT_FALSE(laid_out);
    EXPECT_EQ(laid_out.error().code, Code::bad_input);
  }
}

}  // namespace
}  // namespace forebay::array_file
