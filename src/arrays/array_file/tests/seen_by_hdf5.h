// A reader of files by the HDF5 library alone: it judges what our own reader accepts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arrays/array_file/objects.h"

namespace forebay::array_file {

using SeenByHdf5 = std::map<std::string, std::vector<char>>;  // values, types and extents, by paths

inline std::vector<char> encoded(herr_t (*encode)(hid_t, void*, size_t*), hid_t id) {
  size_t bytes = 0;
  encode(id, nullptr, &bytes);
  std::vector<char> text(bytes);
  encode(id, text.data(), &bytes);
  return text;
}

inline bool see_attribute(hid_t attribute, const std::string& path, SeenByHdf5& seen) {
  const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  seen[path + " type"] = encoded(H5Tencode, type.get());
  seen[path].resize(H5Aget_storage_size(attribute));
  return H5Aread(attribute, type.get(), seen[path].data()) >= 0;
}

inline bool see_dataset(hid_t dataset, const std::string& path, SeenByHdf5& seen) {
  const Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
  if (!type || !space) return false;
  seen[path + " type"] = encoded(H5Tencode, type.get());
  std::vector<hsize_t> extent(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  for (const hsize_t each : extent) seen[path + " extent"].push_back(static_cast<char>(each % 251));
  seen[path].resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())) * H5Tget_size(type.get()));
  return H5Dread(dataset, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, seen[path].data()) >= 0;
}

inline bool see_object(hid_t object, const std::string& path, SeenByHdf5& seen) {
  seen[path];
  const auto add_name = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  std::vector<std::string> attributes;
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &attributes) < 0) return false;
  for (const std::string& name : attributes) {
    const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
    if (!attribute || !see_attribute(attribute.get(), path + "@" + name, seen)) return false;
  }
  if (H5Iget_type(object) == H5I_DATASET) return see_dataset(object, path, seen);
  const auto names = names_in(object);
  if (!names) return false;
  for (const std::string& name : *names) {
    const Handle child(H5Oopen(object, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!child || !see_object(child.get(), path + "/" + name, seen)) return false;
  }
  return true;
}

// None where the library cannot read something of it.
inline std::optional<SeenByHdf5> seen_by_hdf5(const std::string& path) {
  const LibraryErrors quiet;
  const Handle access = file_access();
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  SeenByHdf5 seen;
  if (!file || !see_object(file.get(), "", seen)) return {};
  return seen;
}

}  // namespace forebay::array_file
