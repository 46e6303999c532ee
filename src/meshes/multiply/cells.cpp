#include "meshes/multiply/cells.h"

#include <algorithm>

#include "meshes/mesh/part.h"
#include "meshes/multiply/vtk.h"

namespace forebay::multiply {
namespace {

namespace grid = array_file::grid;

// Takes one piece of a stream after the other into the file.
class CellWriter {
 public:
  CellWriter(const Fine& fine, const Runs& runs, GridFile& file)
      : fine_(fine),
        runs_(runs),
        file_(file),
        connectivity_(file.array(grid::kCorners, grid::kConnectivity)),
        ends_(file.array(grid::kCells, grid::kEnds)),
        types_(file.array(grid::kCells, grid::kTypes)) {}

  Status write(const mesh::ElementPiece& piece) {
    const std::uint64_t width = describe(piece.shape).corners, before = runs_.corners_before(piece.first);
    if (auto ok = file_.write(connectivity_, before * sizeof(std::uint64_t), std::as_bytes(piece.corners)); !ok)
      return ok;
    end_.resize(piece.count());
    for (std::size_t i = 0; i < end_.size(); ++i) end_[i] = before + (i + 1) * width;
    if (auto ok = file_.write(ends_, piece.first * sizeof end_[0], std::as_bytes(std::span(end_))); !ok) return ok;
    bytes_.assign(piece.count(), vtk_type(piece.shape));
    if (auto ok = file_.write(types_, piece.first, std::as_bytes(std::span(bytes_))); !ok) return ok;
    for (const CellData& data : fine_.cell_data()) {
      const Status ok =
          data.type == array_file::Type::uint8 ? write_data(data, piece, bytes_) : write_data(data, piece, numbers_);
      if (!ok) return ok;
    }
    return {};
  }

 private:
  template <class T>
  Status write_data(const CellData& data, const mesh::ElementPiece& piece, std::vector<T>& values) {
    const mesh::Refinement& refinement = fine_.refinement();
    const std::size_t coarse_cells = refinement.mesh().cells();
    values.resize(piece.count());
    std::uint64_t done = 0;
    for (std::size_t coarse = coarse_cell_of(piece.first); done < values.size(); ++coarse) {
      const std::uint64_t next = coarse + 1 < coarse_cells
                                     ? refinement.cells_of_cell(static_cast<std::uint32_t>(coarse + 1))
                                     : refinement.counts().cells;
      const std::uint64_t end = std::min<std::uint64_t>(next - piece.first, values.size());
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(done), end - done,
                  static_cast<T>(data.of_coarse_cell[coarse]));
      done = end;
    }
    return file_.write(file_.array(grid::kCells, data.name), piece.first * sizeof(T), std::as_bytes(std::span(values)));
  }

  std::size_t coarse_cell_of(std::uint64_t cell) const {
    std::size_t first = 0, count = fine_.refinement().mesh().cells();
    while (count > 1) {  // `cell` is one of these coarse ones'
      const std::size_t half = count / 2;
      const bool upper = fine_.refinement().cells_of_cell(static_cast<std::uint32_t>(first + half)) <= cell;
      first += upper ? half : 0;
      count = upper ? count - half : half;
    }
    return first;
  }

  const Fine& fine_;
  const Runs& runs_;
  GridFile& file_;
  const array_file::Array &connectivity_, &ends_, &types_;
  std::vector<std::uint64_t> end_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::int32_t> numbers_;
};

}  // namespace

array_file::Description description_of(const Fine& fine, const Runs& runs) {
  const auto& counts = fine.refinement().counts();
  auto description = grid::describe(counts.points, counts.cells, runs.corners());
  for (const CellData& each : fine.cell_data()) description.arrays.push_back({each.name, grid::kCells, each.type});
  return description;
}

Status write_points(const Fine& fine, GridFile& file) {
  const array_file::Array& places = file.array(grid::kPoints, grid::kPlaces);
  return stream_points(fine.refinement(), mesh::all_cells(fine.refinement().mesh()),
                       [&](const mesh::PointPiece& piece) {
                         return file.write(places, piece.first * sizeof(mesh::Point), std::as_bytes(piece.points));
                       });
}

Status write_cells(const Fine& fine, const Runs& runs, std::span<const std::uint32_t> coarse_cells, GridFile& file) {
  CellWriter writer(fine, runs, file);
  return stream_cells(fine.refinement(), coarse_cells,
                      [&](const mesh::ElementPiece& piece) { return writer.write(piece); });
}

}  // namespace forebay::multiply
