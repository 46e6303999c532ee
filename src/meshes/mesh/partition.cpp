#include "meshes/mesh/partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "meshes/mesh/hilbert.h"
#include "meshes/mesh/vector.h"

namespace forebay::mesh {
namespace {

struct Box {
  Point low{}, high{};
};

Box box_of(const Mesh& mesh) {
  Box box{mesh.points.front(), mesh.points.front()};
  for (const Point& point : mesh.points)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      box.low[axis] = std::min(box.low[axis], point[axis]);
      box.high[axis] = std::max(box.high[axis], point[axis]);
    }
  return box;
}

Point middle_of(const Mesh& mesh, std::size_t cell) {
  const auto corners = mesh.cell(cell);
  Point middle{};
  for (const std::uint32_t corner : corners)
    for (std::size_t axis = 0; axis < 3; ++axis)
      middle[axis] += mesh.points[corner][axis] / static_cast<double>(corners.size());
  return middle;
}

// Coarse cells in the order of the curve. One scale for all axes: cubes of the curve are cubes of the mesh.
std::vector<std::uint32_t> along_curve(const Mesh& mesh) {
  constexpr double kLast = (1U << kHilbertBits) - 1;
  const Box box = box_of(mesh);
  const Point extent = box.high - box.low;
  const double scale = kLast / *std::max_element(extent.begin(), extent.end());
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  for (std::uint32_t cell = 0; cell < mesh.cells(); ++cell) {
    const Point place = middle_of(mesh, cell) - box.low;
    std::array<std::uint32_t, 3> cube{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      cube[axis] = static_cast<std::uint32_t>(std::clamp(place[axis] * scale, 0.0, kLast));
    order.emplace_back(hilbert_index(cube), cell);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::uint32_t> cells;
  for (const auto& [index, cell] : order) cells.push_back(cell);
  return cells;
}

}  // namespace

std::vector<std::uint32_t> Partition::cells_of(std::uint32_t which) const {
  std::vector<std::uint32_t> cells;
  for (std::uint32_t cell = 0; cell < part.size(); ++cell)
    if (part[cell] == which) cells.push_back(cell);
  return cells;
}

Result<Partition> partition_along_curve(const Refinement& refinement, std::uint32_t parts) {
  if (parts < 1) return error(Code::bad_input, "cannot cut a mesh into 0 parts");
  const Mesh& mesh = refinement.mesh();
  Partition partition{parts, std::vector<std::uint32_t>(mesh.cells())};
  const std::uint64_t all = refinement.counts().cells;
  std::uint64_t before = 0;
  for (const std::uint32_t cell : along_curve(mesh)) {
    const std::uint64_t own = refinement.pattern(mesh.shapes[cell]).cell_count;
    // The piece in which the middle of this cell's own stretch lies. Fewer than 2^50 cells, so long double is exact.
    const long double share =
        (static_cast<long double>(before) + static_cast<long double>(own) / 2) / static_cast<long double>(all);
    partition.part[cell] = static_cast<std::uint32_t>(share * parts);
    before += own;
  }
  return partition;
}

Status write_partition(const Partition& partition, const std::string& path) {
  std::string text;
  for (const std::uint32_t part : partition.part) text += fmt::format("{}\n", part);
  return replace_file(path, text, 0666);
}

Result<Partition> read_partition(const std::string& path, std::size_t cells) {
  // Ten digits and the end of a line; an eleventh character for files with \r.
  const auto text = read_file(path, cells * 12 + 1);
  if (!text) return forward(text);
  Partition partition;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto part = parse_integer(line);
    if (!part || *part < 0 || *part >= std::int64_t{kNone})
      return error(Code::bad_input, fmt::format("line {} is not the number of a part in", partition.part.size() + 1),
                   path);
    partition.part.push_back(static_cast<std::uint32_t>(*part));
    partition.parts = std::max(partition.parts, partition.part.back() + 1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (partition.part.size() != cells)
    return error(Code::bad_input,
                 fmt::format("{} for a mesh of {} in", plural(partition.part.size(), "line"), plural(cells, "cell")),
                 path, "it belongs to another mesh");
  return partition;
}

}  // namespace forebay::mesh
