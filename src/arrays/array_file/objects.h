// The objects that files of arrays are made of: HDF5 objects without times, whose bytes depend on what they are told
// alone; and how they are found again. Functions that return false or nothing leave the reason with the LibraryErrors
// that are alive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrays/array_file/hdf5.h"

namespace forebay::array_file {

// Large arrays begin at whole stripes of the usual parallel file systems.
constexpr hsize_t kAlignment = hsize_t{1} << 20;

// How files are opened: without the library's locks, which fail where a shared file system is mounted without any. A
// file gets its name when it is whole, and nobody writes to it from then on.
Handle file_access();
// An open file as a new one, in one version of the format whatever the version of the library. It is that very file,
// also when it was renamed meanwhile; one that was deleted is refused.
Handle new_content(int fd);
// The future content of a group, for the room that it needs: how many links, and how long the longest name is.
struct Links {
  unsigned count = 0;
  unsigned name_bytes = 0;
};
Handle new_group(hid_t parent, const char* name, Links expected = {});

bool put_number(hid_t object, const char* name, hid_t stored, hid_t given, const void* value);
bool put_number(hid_t object, const char* name, std::uint64_t value);
bool put_text(hid_t object, const char* name, const std::string& text);

// Makes a contiguous dataset whose room is taken now and filled by nobody; its offset, or nothing. One of no bytes has
// no offset: 0.
std::optional<std::uint64_t> place(hid_t group, const std::string& name, hid_t type, std::uint64_t items,
                                   std::uint32_t components);

bool get_number(hid_t object, const char* name, hid_t wanted, void* value);
std::optional<std::uint64_t> get_number(hid_t object, const char* name);
std::optional<std::string> get_text(hid_t object, const char* name);
std::optional<std::vector<std::string>> names_in(hid_t group);
// The path of the first object, from this one down, that does not open with its attributes, type and place; nothing
// where every one does. Each part of a file that tells of an object has a checksum of its own, which opening compares.
std::optional<std::string> unreadable_in(hid_t parent, const std::string& name, int depth = 0);

}  // namespace forebay::array_file
