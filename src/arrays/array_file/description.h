// The content of a file of arrays, as a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"

namespace forebay::array_file {

enum class Type { uint8, int32, int64, uint64, float32, float64 };
std::size_t bytes_of(Type type);
std::string_view name_of(Type type);
Result<Type> type_named(std::string_view name);

// Where items lie on a mesh: "cells", "interior faces", ...
struct Location {
  std::string name;
  std::uint64_t items = 0;
  friend bool operator==(const Location&, const Location&) = default;
};

struct Array {
  std::string name;
  std::string location;
  Type type = Type::float64;
  std::uint32_t components = 1;  // of an item, interleaved
  std::uint64_t items = 0;       // those of the location
  // In the file; known once it is laid out.
  std::uint64_t offset = 0;
  std::uint64_t checks_offset = 0;

  std::uint64_t item_bytes() const { return bytes_of(type) * components; }
  std::uint64_t bytes() const { return items * item_bytes(); }
};

// How the file is laid out: for HDF5 programs at large, or so that VTK and ParaView read it, too (grid.h).
enum class Form { checkpoint, grid };

struct Description {
  std::int64_t step = 0;
  double time = 0;
  std::string program;  // that wrote it: name and version
  std::string mesh;     // whatever tells this mesh from others; empty: only the locations do
  std::vector<Location> locations;
  std::vector<Array> arrays;
  Form form = Form::checkpoint;

  const Location* location(std::string_view name) const;
  const Array* array(std::string_view location, std::string_view name) const;
};

// Checks names (usable, each only once, locations that exist), fills in `items` of the arrays, and sorts by name, so
// that a file does not depend on the order in which its content was named.
Status complete(Description& description);
// ok where data of one fits the other; otherwise what is different: "the file has 1000 cells, this run 1200".
Status same_mesh(const Description& file, const Description& run, const std::string& path);

// All of it as JSON, and back: from one rank to the others.
std::string encode(const Description& description);
Result<Description> decode(std::string_view text);
// The checksum of all that encode() tells but offsets.
std::uint32_t checksum_of(const Description& description);

}  // namespace forebay::array_file
