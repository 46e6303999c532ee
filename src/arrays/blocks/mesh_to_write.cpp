#include "arrays/blocks/mesh_to_write.h"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "arrays/blocks/cell_types.h"
#include "arrays/blocks/order.h"

namespace forebay::blocks {
namespace {

constexpr std::uint8_t kPolyhedron = 42;

Status check_sizes(const MeshToWrite& mesh, int rank) {
  const std::uint64_t points = mesh.points->plan().local_items(), cells = mesh.cells->plan().local_items();
  const auto wrong_size = [rank](std::string_view what, std::uint64_t has, std::uint64_t wanted) {
    return error(Code::bad_input, fmt::format("rank {} gives {} {}, where its plan needs {}", rank, has, what, wanted));
  };
  if (mesh.places.size() != 3 * points) return wrong_size("coordinates", mesh.places.size(), 3 * points);
  if (mesh.types.size() != cells) return wrong_size("types of cells", mesh.types.size(), cells);
  if (mesh.lengths.size() != cells) return wrong_size("lengths of cells", mesh.lengths.size(), cells);
  std::uint64_t corners = 0;
  bool too_few = false;
  for (const std::uint64_t length : mesh.lengths) {
    too_few = length > mesh.vertices.size() - corners;  // a sum could overflow
    if (too_few) break;
    corners += length;
  }
  if (!too_few && corners == mesh.vertices.size()) return {};
  return error(Code::bad_input, fmt::format("rank {} gives {} vertices of cells, {} than their lengths say", rank,
                                            mesh.vertices.size(), too_few ? "fewer" : "more"));
}

// Checks one cell.
Status check_cell(std::uint8_t number, std::span<const std::uint64_t> vertices, std::uint64_t points) {
  const CellType* type = cell_type(number);
  if (number == kPolyhedron)
    return error(Code::bad_input, "is a polyhedron (type 42), whose faces the file cannot hold");
  if (type == nullptr)
    return error(Code::bad_input, fmt::format("has type {}, which is no shape of VTK up to the second order", number));
  if (vertices.size() < type->least || vertices.size() > type->most) {
    return error(Code::bad_input,
                 fmt::format("is a {} (type {}) with {} vertices instead of {}{}", type->name, number, vertices.size(),
                             type->most == type->least ? "" : "at least ", type->least));
  }
  for (const std::uint64_t vertex : vertices) {
    if (vertex < 1 || vertex > points)
      return error(Code::bad_input, fmt::format("has vertex {} of {}", as_given(vertex), points));
  }
  return {};
}

struct BadCell {
  std::uint64_t place;  // among those of this rank
  std::string words;
};

std::optional<BadCell> first_bad_cell(const MeshToWrite& mesh) {
  const std::uint64_t points = mesh.points->plan().map().items();
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < mesh.types.size(); first += mesh.lengths[i++]) {
    const Status fits = check_cell(mesh.types[i], mesh.vertices.subspan(first, mesh.lengths[i]), points);
    if (!fits) return BadCell{i, fits.error().what};
  }
  return {};
}

// The global numbers of this rank's items, which a plan has not kept. Collective.
Result<std::vector<std::uint64_t>> numbers_of(const Team& team, Exchange& items) {
  NodeMemory image;
  const std::size_t bytes = sizeof(std::uint64_t);
  if (auto ok = team.agree(image.reserve(team.node(), items.layout().items * bytes)); !ok) return forward(ok);
  const auto block = items.my_block(image.data(), bytes);
  auto* numbers = reinterpret_cast<std::uint64_t*>(block.data());
  std::iota(numbers, numbers + block.size() / bytes, items.plan().block().first + 1);
  std::vector<std::uint64_t> mine(items.plan().local_items());
  if (auto ok = items.from_image(image.data(), bytes, reinterpret_cast<std::byte*>(mine.data())); !ok)
    return forward(ok);
  return mine;
}

}  // namespace

Status check(const Team& team, const MeshToWrite& mesh) {
  if (auto ok = team.agree(check_sizes(mesh, team.rank())); !ok) return ok;
  const std::optional<BadCell> bad = first_bad_cell(mesh);
  if (over_all(team.all(), bad ? 1 : 0, MPI_MAX) == 0) return {};
  const auto numbers = numbers_of(team, *mesh.cells);
  if (!numbers) return forward(numbers);
  Status mine;
  if (bad) {
    mine = error(Code::bad_input, fmt::format("cell {} of rank {} {}", (*numbers)[bad->place], team.rank(), bad->words),
                 {}, "docs/arrays/arrays.md tells which cells can be written");
  }
  return team.agree(mine);
}

}  // namespace forebay::blocks
