#include "arrays/blocks/mesh_output.h"

#include <fmt/format.h>

namespace forebay::blocks {

namespace grid = array_file::grid;

namespace {

constexpr std::string_view kStepEnding = ".vtkhdf";

}  // namespace

MeshOutput::MeshOutput(Checkpoints& files, std::string name) : files_(files), name_(std::move(name)) {}

Result<std::unique_ptr<MeshOutput>> MeshOutput::make(Checkpoints& files, std::string name, const MeshToWrite& mesh) {
  // The list names its files without the directory, and finds them in its own.
  const bool named = !name.empty() && name.find('/') == std::string::npos;
  const Status mine = named ? Status{} : error(Code::bad_input, "not a name for the files of a mesh:", printable(name));
  if (auto ok = files.team().agree(mine); !ok) return forward(ok);
  const Status differ = error(Code::bad_input, "ranks do not agree about the name of a mesh, for one of them", name);
  if (auto ok = files.team().agree_on(checksum(name), differ); !ok) return forward(ok);
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
  using array_file::Type;
  std::vector<FieldToWrite> all = {
      {grid::kPlaces, grid::kPoints, Type::float64, 3, points_, places_},
      {grid::kConnectivity, grid::kCorners, Type::int64, 1, corners_.get(), connectivity_.data()},
      {grid::kEnds, grid::kCells, Type::int64, 1, cells_, ends_.data()},
      {grid::kTypes, grid::kCells, Type::uint8, 1, cells_, types_.data()}};
  all.insert(all.end(), fields.begin(), fields.end());
  const std::string name = fmt::format("{}-{:06}{}", name_, head.step, kStepEnding);
  if (auto ok = files_.write(name, head, all, array_file::Form::grid); !ok) return ok;
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
  bool differs = false;
  if (team().rank() == 0) {
    const auto listed = carry::Series::read(list());
    if (listed) series_ = *listed;
    mine = listed ? series_.look_into(files_.directory(), name_) : Status(forward(listed));
    differs = listed && series_ != *listed;
  }
  if (auto ok = team().agree(mine); !ok) return ok;
  has_news_ = over_all(team().all(), differs ? 1 : 0, MPI_MAX) != 0;
  return {};
}

Status MeshOutput::write_list() {
  Status mine;
  if (team().rank() == 0) mine = series_.write(list());
  if (auto ok = team().agree(mine); !ok) return ok;
  has_news_ = false;
  return {};
}

}  // namespace forebay::blocks
