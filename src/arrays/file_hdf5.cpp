#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <optional>
#include <vector>

#include "arrays/file.h"
#include "arrays/hdf5.h"
#include "arrays/pieces.h"

namespace forebay::arrays {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr const char* kData = "data";
constexpr const char* kChecksums = "checksums";
constexpr const char* kRefused = "it is no file of arrays of this version; look at it with h5dump";
// Large arrays begin at whole stripes of the usual parallel file systems.
constexpr hsize_t kAlignment = hsize_t{1} << 20;

hid_t file_type(Type type) {
  switch (type) {
    case Type::uint8:
      return H5T_STD_U8LE;
    case Type::int32:
      return H5T_STD_I32LE;
    case Type::int64:
      return H5T_STD_I64LE;
    case Type::uint64:
      return H5T_STD_U64LE;
    case Type::float32:
      return H5T_IEEE_F32LE;
    case Type::float64:
      return H5T_IEEE_F64LE;
  }
  return H5I_INVALID_HID;
}

std::optional<Type> type_of(hid_t type) {
  for (const Type each : {Type::uint8, Type::int32, Type::int64, Type::uint64, Type::float32, Type::float64}) {
    if (H5Tequal(type, file_type(each)) > 0) return each;
  }
  return {};
}

// --- writing ---------------------------------------------------------------------------------------------------------

// Objects are made without times, so that equal content makes equal bytes.
Handle properties(hid_t kind) {
  Handle list(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(list.get(), false);
  return list;
}

Handle new_group(hid_t parent, const char* name) {
  const Handle list = properties(H5P_GROUP_CREATE);
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

bool put_head(hid_t file, const Description& description) {
  return put_text(file, "forebay_format", "arrays") && put_number(file, "forebay_version", kVersion) &&
         put_number(file, "step", H5T_STD_I64LE, H5T_NATIVE_INT64, &description.step) &&
         put_number(file, "time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &description.time) &&
         put_text(file, "program", description.program) && put_text(file, "mesh", description.mesh) &&
         put_number(file, "description_crc32", checksum_of(description));
}

// Makes a contiguous dataset whose room is taken now and filled by nobody; its offset, or nothing. One of no bytes has
// no offset: 0.
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

bool put_arrays(hid_t file, Description& description) {
  const Handle data = new_group(file, kData), checksums = new_group(file, kChecksums);
  for (const Location& location : description.locations) {
    const Handle here = new_group(data.get(), location.name.c_str());
    const Handle checks = new_group(checksums.get(), location.name.c_str());
    if (!here || !checks || !put_number(here.get(), "items", location.items)) return false;
    for (Array& array : description.arrays) {
      if (array.location != location.name) continue;
      const auto offset = place(here.get(), array.name, file_type(array.type), array.items, array.components);
      const auto checks_offset = place(checks.get(), array.name, H5T_STD_U32LE, pieces_of(array.bytes()), 1);
      if (!offset || !checks_offset) return false;
      array.offset = *offset;
      array.checks_offset = *checks_offset;
    }
  }
  return true;
}

// --- reading ---------------------------------------------------------------------------------------------------------

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

std::vector<std::string> names_in(hid_t group) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
  return names;
}

struct Found {
  Type type = Type::uint8;
  std::uint64_t items = 0;
  std::uint32_t components = 1;
  std::uint64_t offset = 0;
};

std::optional<Found> find(hid_t group, const std::string& name, std::optional<hid_t> wanted_type = {}) {
  const Handle dataset(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) return {};
  const Handle type(H5Dget_type(dataset.get()), H5Tclose), space(H5Dget_space(dataset.get()), H5Sclose);
  std::array<hsize_t, 2> extent = {0, 1};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 1 || rank > 2 || H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr) < 0) return {};
  Found found{Type::uint8, extent[0], static_cast<std::uint32_t>(extent[1]), 0};
  if (wanted_type) {
    if (H5Tequal(type.get(), *wanted_type) <= 0) return {};
  } else {
    const auto known = type_of(type.get());
    if (!known) return {};
    found.type = *known;
  }
  if (extent[0] == 0) return found;
  const haddr_t offset = H5Dget_offset(dataset.get());
  if (offset == HADDR_UNDEF) return {};
  found.offset = offset;
  return found;
}

Status get_arrays(hid_t file, const std::string& path, Description& description) {
  const Handle data(H5Gopen2(file, kData, H5P_DEFAULT), H5Gclose);
  const Handle checksums(H5Gopen2(file, kChecksums, H5P_DEFAULT), H5Gclose);
  if (!data || !checksums) return error(Code::bad_input, "no arrays, or no checksums of them, in", path, kRefused);
  for (const std::string& location : names_in(data.get())) {
    const Handle here(H5Gopen2(data.get(), location.c_str(), H5P_DEFAULT), H5Gclose);
    const Handle checks(H5Gopen2(checksums.get(), location.c_str(), H5P_DEFAULT), H5Gclose);
    const auto items = get_number(here.get(), "items");
    if (!here || !checks || !items) return error(Code::lost, fmt::format("location {} is damaged in", location), path);
    description.locations.push_back({location, *items});
    for (const std::string& name : names_in(here.get())) {
      const auto array = find(here.get(), name);
      const auto check = find(checks.get(), name, H5T_STD_U32LE);
      if (!array || !check || array->items != *items) {
        return error(Code::lost, fmt::format("array {}/{} is not contiguous, or damaged, in", location, name), path,
                     kRefused);
      }
      description.arrays.push_back(
          {name, location, array->type, array->components, array->items, array->offset, check->offset});
    }
  }
  return {};
}

bool lies_within(const Array& array, std::uint64_t file_bytes) {
  const auto fits = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset <= file_bytes && bytes <= file_bytes - offset;
  };
  return array.items <= file_bytes / array.item_bytes() && fits(array.offset, array.bytes()) &&
         fits(array.checks_offset, pieces_of(array.bytes()) * sizeof(std::uint32_t));
}

// Whether there is room for a file of this size, of which the arrays stay holes. Asked first, since the library
// (1.10.8) ends the program with a segmentation fault at its exit when it could not close a file.
Status ask_for_room(const std::string& path, const Description& description) {
  const std::uint64_t objects = description.arrays.size() + description.locations.size();
  const std::uint64_t beside = (objects + 16) * 8192;  // more than the library needs for an object
  std::uint64_t bytes = beside;
  for (const Array& each : description.arrays) bytes += each.bytes() + kAlignment;
  auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (!file) return forward(file);
  Status room;
  errno = ::ftruncate(file->get(), static_cast<off_t>(bytes)) != 0
              ? errno
              : ::posix_fallocate(file->get(), 0, static_cast<off_t>(beside));
  if (errno != 0) room = errno_error("no room to lay out", path);
  ::unlink(path.c_str());
  return room;
}

}  // namespace

Status lay_out(const std::string& path, Description& description) {
  if (auto ok = complete(description); !ok) return ok;
  if (auto ok = ask_for_room(path, description); !ok) return ok;
  const QuietErrors quiet;
  const Handle creation = properties(H5P_FILE_CREATE);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // One version of the format, whatever the version of the library.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18);
  H5Pset_alignment(access.get(), kAlignment, kAlignment);
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, creation.get(), access.get()), H5Fclose);
  if (!file) return hdf5_error("cannot make", path);
  if (!put_head(file.get(), description) || !put_arrays(file.get(), description)) {
    return hdf5_error("cannot lay out", path);
  }
  if (!file.close()) return hdf5_error("cannot write the layout of", path);
  return {};
}

Result<Description> describe(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errno_error("cannot read", path);
  const QuietErrors quiet;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Whatever damage makes the library leave open goes with the file.
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (!file) return hdf5_error("cannot read as HDF5", path, "the file is cut off, damaged, or of another kind");
  const auto version = get_number(file.get(), "forebay_version");
  if (get_text(file.get(), "forebay_format") != "arrays" || !version) {
    return error(Code::bad_input, "not a file of arrays:", path, kRefused);
  }
  if (*version != kVersion) {
    return error(Code::conflict, fmt::format("of version {}, where this program knows {}:", *version, kVersion), path);
  }
  Description description;
  const auto check = get_number(file.get(), "description_crc32");
  const auto program = get_text(file.get(), "program"), mesh = get_text(file.get(), "mesh");
  if (!check || !program || !mesh || !get_number(file.get(), "step", H5T_NATIVE_INT64, &description.step) ||
      !get_number(file.get(), "time", H5T_NATIVE_DOUBLE, &description.time)) {
    return error(Code::lost, "the description of the arrays is damaged in", path);
  }
  description.program = *program;
  description.mesh = *mesh;
  if (auto ok = get_arrays(file.get(), path, description); !ok) return forward(ok);
  if (auto ok = complete(description); !ok || checksum_of(description) != *check) {
    return error(Code::lost, "the description of the arrays does not fit its checksum in", path);
  }
  for (const Array& array : description.arrays) {
    if (!lies_within(array, static_cast<std::uint64_t>(status.st_size))) {
      return error(Code::lost, fmt::format("array {}/{} lies beyond the end of", array.location, array.name), path);
    }
  }
  return description;
}

}  // namespace forebay::arrays
