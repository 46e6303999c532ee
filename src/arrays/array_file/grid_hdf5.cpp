#include "arrays/array_file/grid_hdf5.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arrays/array_file/grid.h"
#include "arrays/array_file/objects.h"

namespace forebay::array_file {
namespace {

// The first version: what a grid of one time step needs has not changed since, and every reader knows it.
constexpr std::array<std::int32_t, 2> kGridVersion = {1, 0};
constexpr std::string_view kType = "UnstructuredGrid";
constexpr std::array<std::pair<const char*, const char*>, 3> kCounts = {
    {{"NumberOfPoints", grid::kPoints}, {"NumberOfCells", grid::kCells}, {"NumberOfConnectivityIds", grid::kCorners}}};

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

// The first one of a dataset.
std::optional<std::int64_t> first_number(hid_t group, const char* name) {
  const Handle dataset(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
  const Handle space(H5Dget_space(dataset.get()), H5Sclose), memory(H5Screate(H5S_SCALAR), H5Sclose);
  const hsize_t first = 0, one = 1;
  std::int64_t number = 0;
  if (!dataset || H5Sget_simple_extent_ndims(space.get()) != 1 ||
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &one, nullptr) < 0 ||
      H5Dread(dataset.get(), H5T_NATIVE_INT64, memory.get(), space.get(), H5P_DEFAULT, &number) < 0)
    return {};
  return number;
}

}  // namespace

bool put_grid(hid_t file, const Description& description) {
  const Handle group = new_group(file, "VTKHDF");
  const auto put = [&](const auto& count) {
    return put_count(group.get(), count.first, description.location(count.second)->items);
  };
  return group && put_version(group.get()) && put_type(group.get()) &&
         std::all_of(kCounts.begin(), kCounts.end(), put) && new_group(group.get(), "PointData") &&
         new_group(group.get(), "CellData");
}

std::optional<std::string> unfit_for_vtk(hid_t file, const Description& description) {
  const Handle group(H5Gopen2(file, "VTKHDF", H5P_DEFAULT), H5Gclose);
  std::array<std::int32_t, 2> version{};
  if (get_text(group.get(), "Type") != kType || !get_number(group.get(), "Version", H5T_NATIVE_INT32, &version) ||
      version != kGridVersion)
    return "VTKHDF";
  for (const auto& [name, location] : kCounts) {
    if (first_number(group.get(), name) != static_cast<std::int64_t>(description.location(location)->items))
      return std::string("VTKHDF/") + name;
  }
  if (first_number(group.get(), grid::kEnds) != 0) return std::string("VTKHDF/") + grid::kEnds;
  for (const char* const name : {"PointData", "CellData"}) {
    if (!Handle(H5Gopen2(group.get(), name, H5P_DEFAULT), H5Gclose)) return std::string("VTKHDF/") + name;
  }
  return {};
}

}  // namespace forebay::array_file
