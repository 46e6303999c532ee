#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <optional>
#include <vector>

#include "arrays/array_file/file.h"
#include "arrays/array_file/grid.h"
#include "arrays/array_file/grid_hdf5.h"
#include "arrays/array_file/inspect.h"
#include "arrays/array_file/objects.h"
#include "arrays/array_file/pieces.h"
#include "arrays/array_file/read_at.h"

namespace forebay::array_file {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr const char* kFormat = "arrays";
constexpr const char* kGridFormat = "grid";
constexpr const char* kChecksums = "checksums";
constexpr const char* kRefused = "it is no file of arrays of this version; look at it with h5dump";

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

bool put_head(hid_t file, const Description& description) {
  return put_text(file, "forebay_format", description.form == Form::grid ? kGridFormat : kFormat) &&
         put_number(file, "forebay_version", kVersion) &&
         put_number(file, "step", H5T_STD_I64LE, H5T_NATIVE_INT64, &description.step) &&
         put_number(file, "time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &description.time) &&
         put_text(file, "program", description.program) && put_text(file, "mesh", description.mesh) &&
         put_number(file, "description_crc32", checksum_of(description));
}

// Where an array is, and the group that tells how many items its location has.
std::string path_of(Form form, const std::string& location, const std::string& name) {
  return form == Form::grid ? grid::path_of(location, name) : "data/" + location + "/" + name;
}
std::string group_of(Form form, const std::string& location) {
  return (form == Form::grid ? "checksums/" : "data/") + location;
}

Links links_of(const Description& description, const std::string& location) {
  Links links;
  for (const Array& array : description.arrays) {
    if (array.location != location) continue;
    ++links.count;
    links.name_bytes = std::max(links.name_bytes, static_cast<unsigned>(array.name.size()));
  }
  return links;
}

bool put_arrays(hid_t file, Description& description) {
  const Form form = description.form;
  const bool made = form == Form::grid ? put_grid(file, description) : static_cast<bool>(new_group(file, "data"));
  if (!made || !new_group(file, kChecksums)) return false;
  for (const Location& location : description.locations) {
    const std::string group = group_of(form, location.name), checks_group = "checksums/" + location.name;
    const Links links = links_of(description, location.name);
    const Handle here = new_group(file, group.c_str(), links);
    if (!here || !put_number(here.get(), "items", location.items)) return false;
    if (group != checks_group && !new_group(file, checks_group.c_str(), links)) return false;
    for (Array& array : description.arrays) {
      if (array.location != location.name) continue;
      const std::uint64_t leading = form == Form::grid ? grid::leading_items(array.location, array.name) : 0;
      const auto offset = place(file, path_of(form, array.location, array.name), file_type(array.type),
                                array.items + leading, array.components);
      const auto checks_offset =
          place(file, checks_group + "/" + array.name, H5T_STD_U32LE, pieces_of(array.bytes()), 1);
      if (!offset || !checks_offset) return false;
      array.offset = *offset + leading * array.item_bytes();
      array.checks_offset = *checks_offset;
    }
  }
  return true;
}

// --- reading ---------------------------------------------------------------------------------------------------------

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
  const Form form = description.form;
  const Handle checksums(H5Gopen2(file, kChecksums, H5P_DEFAULT), H5Gclose);
  if (!checksums) return error(Code::bad_input, "no checksums of arrays in", path, kRefused);
  const auto locations = names_in(checksums.get());
  if (!locations) return error(Code::lost, "the checksums of the arrays are damaged in", path);
  for (const std::string& location : *locations) {
    const Handle here(H5Gopen2(file, group_of(form, location).c_str(), H5P_DEFAULT), H5Gclose);
    const Handle checks(H5Gopen2(checksums.get(), location.c_str(), H5P_DEFAULT), H5Gclose);
    const auto items = get_number(here.get(), "items");
    const auto names = names_in(checks.get());
    if (!here || !names || !items) return error(Code::lost, fmt::format("location {} is damaged in", location), path);
    description.locations.push_back({location, *items});
    for (const std::string& name : *names) {
      const auto array = find(file, path_of(form, location, name));
      const auto check = find(checks.get(), name, H5T_STD_U32LE);
      const std::uint64_t leading = form == Form::grid ? grid::leading_items(location, name) : 0;
      if (!array || !check || array->items != *items + leading) {
        return error(Code::lost, fmt::format("array {}/{} is not contiguous, or damaged, in", location, name), path,
                     kRefused);
      }
      description.arrays.push_back({name, location, array->type, array->components, *items, array->offset, 0});
      Array& added = description.arrays.back();
      added.offset += leading * added.item_bytes();
      added.checks_offset = check->offset;
    }
  }
  return {};
}

Handle open_to_read(const std::string& path) {
  const Handle access = file_access();
  // Objects that the library leaves open because of damage go with the file.
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
}

bool begins_as_hdf5(const std::string& path) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  std::string begin(kSignature.size(), '\0');
  const auto file = open_file(path, O_RDONLY);
  return file && read_at(file->get(), 0, std::as_writable_bytes(std::span(begin)), path) && begin == kSignature;
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
Status ask_for_room(int fd, const std::string& path, const Description& description) {
  const std::uint64_t objects = description.arrays.size() + description.locations.size();
  const std::uint64_t beside = (objects + 16) * 8192;  // more than the library needs for an object
  std::uint64_t bytes = beside;
  for (const Array& each : description.arrays) bytes += each.bytes() + kAlignment;
  errno =
      ::ftruncate(fd, static_cast<off_t>(bytes)) != 0 ? errno : ::posix_fallocate(fd, 0, static_cast<off_t>(beside));
  if (errno != 0) return errno_error("no room to lay out", path);
  return {};
}

}  // namespace

Status check_objects(const std::string& path, const Description& description) {
  const LibraryErrors errors;
  const Handle file = open_to_read(path);
  auto damaged = unreadable_in(file.get(), "/");
  if (!damaged && description.form == Form::grid) damaged = unfit_for_vtk(file.get(), description);
  if (!damaged) return {};
  auto failed =
      errors.as_error(*damaged + " is damaged in", path, "HDF5 programs cannot read it, or read something else");
  failed.value().code = Code::lost;
  return failed;
}

Status lay_out(int fd, const std::string& path_for_errors, Description& description) {
  if (auto ok = complete(description); !ok) return ok;
  if (auto ok = ask_for_room(fd, path_for_errors, description); !ok) return ok;
  const LibraryErrors errors;
  Handle file = new_content(fd);
  if (!file) return errors.as_error("cannot make", path_for_errors);
  if (!put_head(file.get(), description) || !put_arrays(file.get(), description)) {
    return errors.as_error("cannot lay out", path_for_errors);
  }
  if (!file.close()) return errors.as_error("cannot write the layout of", path_for_errors);
  return {};
}

Status lay_out(const std::string& path, Description& description) {
  const auto file = open_file(path, O_RDWR | O_CREAT | O_EXCL, 0666);
  if (!file) return forward(file);
  Status done = lay_out(file->get(), path, description);
  if (!done) ::unlink(path.c_str());
  return done;
}

Result<Description> describe(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errno_error("cannot read", path);
  const LibraryErrors errors;
  const Handle file = open_to_read(path);
  if (!file) {
    auto failed = errors.as_error("cannot read as HDF5", path, "the file is cut off, damaged, or of another kind");
    if (begins_as_hdf5(path)) failed.value().code = Code::lost;
    return failed;
  }
  const auto version = get_number(file.get(), "forebay_version");
  const auto format = get_text(file.get(), "forebay_format");
  if ((format != kFormat && format != kGridFormat) || !version) {
    return error(Code::bad_input, "not a file of arrays:", path, kRefused);
  }
  if (*version != kVersion) {
    return error(Code::conflict, fmt::format("of version {}, where this program knows {}:", *version, kVersion), path);
  }
  Description description;
  description.form = format == kGridFormat ? Form::grid : Form::checkpoint;
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

}  // namespace forebay::array_file
