#include "meshes/multiply/fine.h"

#include <algorithm>
#include <cmath>

#include "meshes/mesh/part.h"
#include "meshes/multiply/levels.h"

namespace forebay::multiply {

using mesh::Shape;

Result<std::unique_ptr<Fine>> Fine::make(mesh::Mesh mesh, mesh::Topology topology, int levels,
                                         mesh::Partition partition, unsigned threads) {
  auto fine = std::make_unique<Fine>();
  fine->mesh_ = std::move(mesh);
  fine->topology_ = std::move(topology);
  fine->partition_ = std::move(partition);
  fine->part_ = fine->partition_.part;
  while (levels > mesh::kMostLevels) {
    const int now = std::min(levels - mesh::kMostLevels, mesh::kMostLevels);
    if (auto ok = fine->refine_now(now, threads); !ok) return forward(ok);
    levels -= now;
  }
  auto refinement = mesh::Refinement::make(fine->mesh_, fine->topology_, levels);
  if (!refinement) return forward(refinement);
  fine->refinement_.emplace(std::move(*refinement));
  if (auto ok = survey_levels(fine->mesh_, fine->topology_, levels, threads, fine->before_); !ok) return forward(ok);
  fine->add_data();
  return fine;
}

Status Fine::refine_now(int levels, unsigned threads) {
  const auto refinement = mesh::Refinement::make(mesh_, topology_, levels);
  if (!refinement) return forward(refinement);
  if (auto ok = survey_levels(mesh_, topology_, levels, threads, before_); !ok) return ok;
  auto refined = refined_mesh(*refinement);
  if (!refined) return forward(refined);
  std::vector<std::uint32_t> part;
  for (std::size_t cell = 0; cell < part_.size(); ++cell)
    part.insert(part.end(), refinement->pattern(mesh_.shapes[cell]).cell_count, part_[cell]);
  part_ = std::move(part);
  mesh_ = std::move(*refined);
  auto topology = number(mesh_);
  if (!topology) return forward(topology);
  topology_ = std::move(*topology);
  return {};
}

void Fine::add_data() {
  for (const mesh::CellGroup& group : mesh_.cell_groups) {
    cell_data_.push_back({data_name_of(group.name), array_file::Type::uint8, std::vector<std::int32_t>(mesh_.cells())});
    for (const std::uint32_t cell : group.cells) cell_data_.back().of_coarse_cell[cell] = 1;
  }
  if (!part_.empty()) cell_data_.push_back({"part", array_file::Type::int32, {part_.begin(), part_.end()}});
}

std::uint64_t least_bytes(const mesh::Mesh& mesh, int levels) {
  const auto bytes_of = [](Shape shape) { return 8.0 * describe(shape).corners + 8 + 1; };  // corners, end, type
  const double eight = std::pow(8, levels), six = std::pow(6, levels);
  double bytes = 0;
  for (const Shape shape : mesh.shapes) {
    bytes += shape == Shape::pyramid ? six * bytes_of(shape) + 2 * (eight - six) * bytes_of(Shape::tetrahedron)
                                     : eight * bytes_of(shape);
  }
  constexpr double kMost = 9e18;
  return static_cast<std::uint64_t>(std::min(bytes, kMost));
}

std::string data_name_of(const std::string& group) {
  std::string name = "group_" + printable(group);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

}  // namespace forebay::multiply
