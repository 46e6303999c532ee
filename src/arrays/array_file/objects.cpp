#include "arrays/array_file/objects.h"

#include <fmt/format.h>

#include <array>

namespace forebay::array_file {
namespace {

// No times, so that equal content makes equal bytes.
Handle properties(hid_t kind) {
  Handle list(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(list.get(), false);
  return list;
}

// The properties of groups, the file's own too: all links stand in the group's header, whose checksum the library
// compares before it follows them. The trees that it makes of more than 8 end a program that reads a damaged one
// (1.10.8).
Handle properties_of_groups(hid_t kind) {
  constexpr unsigned kMost = 65535;
  Handle list = properties(kind);
  H5Pset_link_phase_change(list.get(), kMost, 0);
  return list;
}

herr_t read_value(hid_t object, const char* name, const H5A_info_t*, void*) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  // A type without a size of its own is not ours: somebody has added it.
  if (H5Tdetect_class(type.get(), H5T_VLEN) > 0 || H5Tis_variable_str(type.get()) > 0) return 0;
  std::vector<std::byte> value(H5Aget_storage_size(attribute.get()) + H5Tget_size(type.get()));
  return H5Aread(attribute.get(), type.get(), value.data());
}

// Whether a dataset has a type, an extent and a place as the file tells them.
bool is_placed(hid_t dataset) {
  const Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
  const Handle list(H5Dget_create_plist(dataset), H5Pclose);
  return type && space && list && H5Sget_simple_extent_npoints(space.get()) >= 0;
}

}  // namespace

Handle file_access() {
  Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(list.get(), false, true);
  return list;
}

Handle new_content(int fd) {
  const Handle creation = properties_of_groups(H5P_FILE_CREATE);
  const Handle access = file_access();
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18);
  H5Pset_alignment(access.get(), kAlignment, kAlignment);
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose};
}

Handle new_group(hid_t parent, const char* name, Links expected) {
  const Handle list = properties_of_groups(H5P_GROUP_CREATE);
  // Room in one piece: a header that grows link by link is searched from its beginning each time.
  if (expected.count > 0) H5Pset_est_link_info(list.get(), expected.count, expected.name_bytes);
  return {H5Gcreate2(parent, name, H5P_DEFAULT, list.get(), H5P_DEFAULT), H5Gclose};
}

bool put_number(hid_t object, const char* name, hid_t stored, hid_t given, const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(object, name, stored, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute && H5Awrite(attribute.get(), given, value) >= 0;
}

bool put_number(hid_t object, const char* name, std::uint64_t value) {
  return put_number(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

bool put_text(hid_t object, const char* name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), text.size() + 1);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return put_number(object, name, type.get(), type.get(), text.c_str());
}

std::optional<std::uint64_t> place(hid_t group, const std::string& name, hid_t type, std::uint64_t items,
                                   std::uint32_t components) {
  const std::array<hsize_t, 2> extent = {items, components};
  const Handle space(H5Screate_simple(components > 1 ? 2 : 1, extent.data(), nullptr), H5Sclose);
  const Handle list = properties(H5P_DATASET_CREATE);
  H5Pset_layout(list.get(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER);
  const Handle dataset(H5Dcreate2(group, name.c_str(), type, space.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT),
                       H5Dclose);
  if (!dataset) return {};
  if (items == 0) return 0;
  const haddr_t offset = H5Dget_offset(dataset.get());
  if (offset == HADDR_UNDEF) return {};
  return offset;
}

bool get_number(hid_t object, const char* name, hid_t wanted, void* value) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  return attribute && H5Aread(attribute.get(), wanted, value) >= 0;
}

std::optional<std::uint64_t> get_number(hid_t object, const char* name) {
  std::uint64_t value = 0;
  if (!get_number(object, name, H5T_NATIVE_UINT64, &value)) return {};
  return value;
}

std::optional<std::string> get_text(hid_t object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  if (!attribute) return {};
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0) return {};
  std::string text(H5Tget_size(type.get()) + 1, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return {};
  return std::string(text.c_str());
}

std::optional<std::vector<std::string>> names_in(hid_t group) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) < 0) return {};
  return names;
}

std::optional<std::string> unreadable_in(hid_t parent, const std::string& name, int depth) {
  constexpr int kDeepest = 8;  // a damaged link may lead upwards
  const Handle object(H5Oopen(parent, name.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object || depth > kDeepest ||
      H5Aiterate2(object.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, read_value, nullptr) < 0)
    return name;
  if (H5Iget_type(object.get()) != H5I_GROUP) return is_placed(object.get()) ? std::nullopt : std::optional(name);
  const auto names = names_in(object.get());
  if (!names) return name;
  for (const std::string& each : *names)
    if (const auto unreadable = unreadable_in(object.get(), each, depth + 1))
      return name == "/" ? name + *unreadable : name + "/" + *unreadable;
  return {};
}

}  // namespace forebay::array_file
