#include "blocks/mesh_output.h"

#include <fmt/format.h>

namespace forebay::blocks {

namespace grid = arrays::grid;

MeshOutput::MeshOutput(Checkpoints& files, std::string name) : files_(files), name_(std::move(name)) {}

Result<std::unique_ptr<MeshOutput>> MeshOutput::make(Checkpoints& files, std::string name, const MeshToWrite& mesh) {
  std::unique_ptr<MeshOutput> output(new MeshOutput(files, std::move(name)));
  if (auto ok = output->plan(mesh); !ok) return forward(ok);
  if (auto ok = output->read_list(); !ok) return forward(ok);
  return output;
}

Status MeshOutput::plan(const MeshToWrite& mesh) {
  if (auto ok = check(team(), mesh); !ok) return ok;
  auto lists = number_lists(*mesh.cells, mesh.lengths);
  if (!lists) return forward(lists);
  // Whether cells may be shared their own plan has said.
  auto corner_plan = plan_of_lists(team(), lists->ranges, lists->values, {{}, Shared::once});
  if (!corner_plan) return forward(corner_plan);
  corner_plan_ = std::move(*corner_plan);
  corners_ = std::make_unique<Exchange>(corner_plan_);
  points_ = mesh.points;
  places_ = mesh.places.data();
  cells_ = mesh.cells;
  types_.assign(mesh.types.begin(), mesh.types.end());
  for (const ListRange& range : lists->ranges) ends_.push_back(static_cast<std::int64_t>(range.end));
  for (const std::uint64_t vertex : mesh.vertices) connectivity_.push_back(static_cast<std::int64_t>(vertex - 1));
  return {};
}

Status MeshOutput::write(const Head& head, std::span<const FieldToWrite> fields) {
  using arrays::Type;
  std::vector<FieldToWrite> all = {
      {grid::kPlaces, grid::kPoints, Type::float64, 3, points_, places_},
      {grid::kConnectivity, grid::kCorners, Type::int64, 1, corners_.get(), connectivity_.data()},
      {grid::kEnds, grid::kCells, Type::int64, 1, cells_, ends_.data()},
      {grid::kTypes, grid::kCells, Type::uint8, 1, cells_, types_.data()}};
  all.insert(all.end(), fields.begin(), fields.end());
  const std::string name = fmt::format("{}-{:06}.vtkhdf", name_, head.step);
  if (auto ok = files_.write(name, head, all, arrays::Form::grid); !ok) return ok;
  series_.add(name, head.time);
  has_news_ = true;
  return files_.options().method == Method::staged ? Status{} : write_list();
}

Status MeshOutput::settle() {
  if (auto ok = files_.settle(); !ok) return ok;
  return has_news_ ? write_list() : Status{};
}

Status MeshOutput::read_list() {
  Status mine;
  if (team().rank() == 0) {
    auto series = Series::read(join(files_.directory(), name_ + kSeriesEnding));
    if (!series) mine = forward(series);
    if (series) series_ = std::move(*series);
  }
  return team().agree(mine);
}

Status MeshOutput::write_list() {
  Status mine;
  if (team().rank() == 0) mine = series_.write(join(files_.directory(), name_ + kSeriesEnding));
  if (auto ok = team().agree(mine); !ok) return ok;
  has_news_ = false;
  return {};
}

}  // namespace forebay::blocks
