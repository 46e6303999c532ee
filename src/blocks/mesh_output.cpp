#include "blocks/mesh_output.h"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::blocks {
namespace {

namespace grid = arrays::grid;

Status check(const MeshToWrite& mesh, int rank) {
  const std::uint64_t points = mesh.points->plan().local_items(), cells = mesh.cells->plan().local_items();
  const auto wrong_size = [rank](std::string_view what, std::uint64_t has, std::uint64_t wanted) {
    return error(Code::bad_input, fmt::format("rank {} gives {} {}, where its plan needs {}", rank, has, what, wanted));
  };
  std::uint64_t corners = 0;
  for (const std::uint64_t length : mesh.lengths) corners += length;
  if (mesh.places.size() != 3 * points) return wrong_size("coordinates", mesh.places.size(), 3 * points);
  if (mesh.types.size() != cells) return wrong_size("types of cells", mesh.types.size(), cells);
  if (mesh.lengths.size() != cells) return wrong_size("lengths of cells", mesh.lengths.size(), cells);
  if (mesh.vertices.size() != corners) return wrong_size("vertices of cells", mesh.vertices.size(), corners);
  const std::uint64_t all = mesh.points->plan().map().items();
  for (const std::uint64_t vertex : mesh.vertices) {
    if (vertex < 1 || vertex > all)
      return error(Code::bad_input, fmt::format("a cell of rank {} has vertex {} of {}", rank, vertex, all));
  }
  return {};
}

}  // namespace

MeshOutput::MeshOutput(Checkpoints& files, std::string name, const MeshToWrite& mesh)
    : files_(files), name_(std::move(name)), mesh_(mesh) {}

Result<std::unique_ptr<MeshOutput>> MeshOutput::make(Checkpoints& files, std::string name, const MeshToWrite& mesh) {
  std::unique_ptr<MeshOutput> output(new MeshOutput(files, std::move(name), mesh));
  if (auto ok = output->plan(); !ok) return forward(ok);
  return output;
}

Status MeshOutput::plan() {
  Status mine = check(mesh_, team().rank());
  if (mine && team().rank() == 0) {
    auto series = Series::read(join(files_.directory(), name_ + kSeriesEnding));
    if (!series) mine = forward(series);
    if (series) series_ = std::move(*series);
  }
  if (auto ok = team().agree(mine); !ok) return ok;
  auto lists = number_lists(*mesh_.cells, mesh_.lengths);
  if (!lists) return forward(lists);
  // Whether cells may be shared their own plan has said.
  auto corner_plan = plan_of_lists(team(), lists->ranges, lists->values, {{}, Shared::once});
  if (!corner_plan) return forward(corner_plan);
  corner_plan_ = std::move(*corner_plan);
  corners_ = std::make_unique<Exchange>(corner_plan_);
  for (const ListRange& range : lists->ranges) ends_.push_back(static_cast<std::int64_t>(range.end));
  for (const std::uint64_t vertex : mesh_.vertices) connectivity_.push_back(static_cast<std::int64_t>(vertex - 1));
  return {};
}

Status MeshOutput::write(const Head& head, std::span<const FieldToWrite> fields) {
  using arrays::Type;
  std::vector<FieldToWrite> all(fields.begin(), fields.end());
  all.push_back({grid::kPlaces, grid::kPoints, Type::float64, 3, mesh_.points, mesh_.places.data()});
  all.push_back({grid::kConnectivity, grid::kCorners, Type::int64, 1, corners_.get(), connectivity_.data()});
  all.push_back({grid::kEnds, grid::kCells, Type::int64, 1, mesh_.cells, ends_.data()});
  all.push_back({grid::kTypes, grid::kCells, Type::uint8, 1, mesh_.cells, mesh_.types.data()});
  const std::string name = fmt::format("{}-{:06}.vtkhdf", name_, head.step);
  if (auto ok = files_.write(name, head, all, arrays::Form::grid); !ok) return ok;
  series_.add(name, head.time);
  return files_.options().method == Method::staged ? Status{} : list();
}

Status MeshOutput::settle() {
  if (auto ok = files_.settle(); !ok) return ok;
  return list();
}

Status MeshOutput::list() {
  Status mine;
  if (team().rank() == 0) mine = series_.write(join(files_.directory(), name_ + kSeriesEnding));
  return team().agree(mine);
}

}  // namespace forebay::blocks
