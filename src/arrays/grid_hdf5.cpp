#include "arrays/grid_hdf5.h"

#include <array>

#include "arrays/grid.h"
#include "arrays/objects.h"

namespace forebay::arrays {
namespace {

// The first version: what a grid of one time step needs has not changed since, and every reader knows it.
constexpr std::array<std::int32_t, 2> kGridVersion = {1, 0};
constexpr std::string_view kType = "UnstructuredGrid";

// VTK wants exactly as many bytes as the word has.
bool put_type(hid_t group) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), kType.size());
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return put_number(group, "Type", type.get(), type.get(), kType.data());
}

bool put_version(hid_t group) {
  const hsize_t extent = kGridVersion.size();
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const Handle attribute(H5Acreate2(group, "Version", H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute && H5Awrite(attribute.get(), H5T_NATIVE_INT32, kGridVersion.data()) >= 0;
}

// One number for each part of a grid; ours has one part.
bool put_count(hid_t group, const char* name, std::uint64_t count) {
  if (!place(group, name, H5T_STD_I64LE, 1, 1)) return false;
  const Handle dataset(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
  return dataset && H5Dwrite(dataset.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &count) >= 0;
}

}  // namespace

bool put_grid(hid_t file, const Description& description) {
  const Handle group = new_group(file, "VTKHDF");
  const auto items = [&](const char* location) { return description.location(location)->items; };
  return group && put_version(group.get()) && put_type(group.get()) &&
         put_count(group.get(), "NumberOfPoints", items(grid::kPoints)) &&
         put_count(group.get(), "NumberOfCells", items(grid::kCells)) &&
         put_count(group.get(), "NumberOfConnectivityIds", items(grid::kCorners)) &&
         new_group(group.get(), "PointData") && new_group(group.get(), "CellData");
}

}  // namespace forebay::arrays
