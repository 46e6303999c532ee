#include "arrays/array_file/inspect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "arrays/array_file/pieces.h"
#include "arrays/array_file/read_at.h"
#include "base/page_buffer.h"

namespace forebay::array_file {
namespace {

// Calls act(first byte, bytes) for the pieces of an array that are wanted(first byte, end), one after the other.
template <class Wanted, class Act>
Status each_piece_if(int file, const std::string& path, const Array& array, Wanted wanted, Act act) {
  const PageBuffer buffer(std::min(kPieceBytes, array.bytes()));
  for (std::uint64_t first = 0; first < array.bytes(); first += kPieceBytes) {
    const std::span piece = buffer.bytes().first(std::min(kPieceBytes, array.bytes() - first));
    if (!wanted(first, first + piece.size())) continue;
    if (auto ok = read_at(file, array.offset + first, piece, path); !ok) return ok;
    if (auto ok = act(first, piece); !ok) return ok;
  }
  return {};
}

template <class Act>
Status each_piece(int file, const std::string& path, const Array& array, Act act) {
  const auto all = [](std::uint64_t, std::uint64_t) { return true; };
  return each_piece_if(file, path, array, all, act);
}

// The holes of a file, as far as its file system tells.
class Holes {
 public:
  explicit Holes(int file) : file_(file) {}
  // Callers ask from the file's beginning to its end.
  bool any_in(std::uint64_t first, std::uint64_t end) {
    if (next_ <= first) {
      const off_t hole = ::lseek(file_, static_cast<off_t>(first), SEEK_HOLE);
      next_ = hole < 0 ? kNone : static_cast<std::uint64_t>(hole);
    }
    return next_ < end;
  }

 private:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  int file_;
  std::uint64_t next_ = 0;
};

Result<Damage> damage_of(int file, const std::string& path, const Array& array, Where where) {
  const auto checks = read_checks(file, path, array);
  if (!checks) return forward(checks);
  Damage damage{array.location, array.name, {}};
  Holes holes(file);
  const auto wanted = [&](std::uint64_t first, std::uint64_t end) {
    return where == Where::everywhere || holes.any_in(array.offset + first, array.offset + end);
  };
  const auto compare = [&](std::uint64_t first, std::span<const std::byte> piece) -> Status {
    if (crc32(piece) != (*checks)[first / kPieceBytes]) damage.first_bytes.push_back(first);
    return {};
  };
  if (auto ok = each_piece_if(file, path, array, wanted, compare); !ok) return forward(ok);
  return damage;
}

template <class T>
void compare_values(std::span<const std::byte> a, std::span<const std::byte> b, std::uint64_t first_value,
                    std::uint32_t components, Difference& difference) {
  for (std::size_t at = 0; at < a.size(); at += sizeof(T)) {
    T x, y;
    std::memcpy(&x, a.data() + at, sizeof(T));
    std::memcpy(&y, b.data() + at, sizeof(T));
    if (std::memcmp(&x, &y, sizeof(T)) == 0) continue;
    ++difference.different_values;
    double distance = std::abs(static_cast<double>(x) - static_cast<double>(y));
    if (std::isnan(distance)) distance = std::numeric_limits<double>::infinity();
    if (distance <= difference.largest && difference.item != 0) continue;
    difference.largest = distance;
    difference.item = (first_value + at / sizeof(T)) / components + 1;
  }
}

void compare_values(Type type, std::span<const std::byte> a, std::span<const std::byte> b, std::uint64_t first_byte,
                    std::uint32_t components, Difference& difference) {
  const std::uint64_t first = first_byte / bytes_of(type);
  switch (type) {
    case Type::uint8:
      return compare_values<std::uint8_t>(a, b, first, components, difference);
    case Type::int32:
      return compare_values<std::int32_t>(a, b, first, components, difference);
    case Type::int64:
      return compare_values<std::int64_t>(a, b, first, components, difference);
    case Type::uint64:
      return compare_values<std::uint64_t>(a, b, first, components, difference);
    case Type::float32:
      return compare_values<float>(a, b, first, components, difference);
    case Type::float64:
      return compare_values<double>(a, b, first, components, difference);
  }
}

std::string shape_of(const Array& array) {
  return fmt::format("{} x {} {}", array.items, array.components, name_of(array.type));
}

}  // namespace

Result<std::vector<Damage>> verify(const std::string& path, const Description& description, Where where) {
  auto file = open_file(path, O_RDONLY);
  if (!file) return forward(file);
  std::vector<Damage> damages;
  for (const Array& array : description.arrays) {
    auto damage = damage_of(file->get(), path, array, where);
    if (!damage) return forward(damage);
    if (!damage->first_bytes.empty()) damages.push_back(std::move(*damage));
  }
  return damages;
}

std::vector<HeadDifference> compare_heads(const Description& description, const Description& other) {
  std::vector<HeadDifference> differences;
  const auto add_if_unlike = [&](const char* what, const std::string& here, const std::string& there) {
    if (here != there) differences.push_back({what, here, there});
  };
  add_if_unlike("step", std::to_string(description.step), std::to_string(other.step));
  add_if_unlike("time", fmt::format("{}", description.time),
                fmt::format("{}", other.time));  // the shortest that tells all bits
  add_if_unlike("mesh", description.mesh, other.mesh);
  return differences;
}

Result<std::vector<Difference>> compare(const std::string& path, const Description& description,
                                        const std::string& other_path, const Description& other) {
  auto file = open_file(path, O_RDONLY);
  if (!file) return forward(file);
  auto other_file = open_file(other_path, O_RDONLY);
  if (!other_file) return forward(other_file);
  std::vector<Difference> differences;
  for (const Array& array : description.arrays) {
    Difference& difference = differences.emplace_back(Difference{array.location, array.name, "", 0, 0, 0});
    const Array* twin = other.array(array.location, array.name);
    if (twin == nullptr) {
      difference.why_not = "only in " + path;
      continue;
    }
    if (twin->type != array.type || twin->components != array.components || twin->items != array.items) {
      difference.why_not = shape_of(array) + " against " + shape_of(*twin);
      continue;
    }
    const PageBuffer second(std::min(kPieceBytes, array.bytes()));
    const auto compare_piece = [&](std::uint64_t first, std::span<const std::byte> piece) -> Status {
      const std::span twin_piece = second.bytes().first(piece.size());
      if (auto ok = read_at(other_file->get(), twin->offset + first, twin_piece, other_path); !ok) return ok;
      compare_values(array.type, piece, twin_piece, first, array.components, difference);
      return {};
    };
    if (auto ok = each_piece(file->get(), path, array, compare_piece); !ok) return forward(ok);
  }
  for (const Array& array : other.arrays) {
    if (description.array(array.location, array.name) != nullptr) continue;
    differences.push_back({array.location, array.name, "only in " + other_path, 0, 0, 0});
  }
  return differences;
}

}  // namespace forebay::array_file
