// The refinement that was asked for, with all that it stands on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays/array_file/array_file.h"
#include "meshes/mesh/partition.h"
#include "meshes/mesh/refinement.h"
#include "meshes/mesh/survey.h"

namespace forebay::multiply {

constexpr int kMostLevels = 20;  // 8^20 cells of each: more than any disk has room for

// Something that all fine cells of a coarse one have in common.
struct CellData {
  std::string name;
  array_file::Type type = array_file::Type::uint8;  // or int32
  std::vector<std::int32_t> of_coarse_cell;
};

class Fine {
 public:
  // More levels than one refinement has are made one refinement after the other; the first ones lie in memory.
  // `partition`: of the mesh, or of no part. An error where cells come out flat or inside out before the last level.
  // The topology is the mesh's own.
  static Result<std::unique_ptr<Fine>> make(mesh::Mesh mesh, mesh::Topology topology, int levels,
                                            mesh::Partition partition, unsigned threads);

  const mesh::Refinement& refinement() const { return *refinement_; }
  const std::vector<CellData>& cell_data() const { return cell_data_; }
  const std::vector<mesh::Survey>& before() const { return before_; }  // of all levels but the last
  const mesh::Partition& partition() const { return partition_; }      // of the mesh that was given

 private:
  Status refine_now(int levels, unsigned threads);
  void add_data();

  mesh::Mesh mesh_;
  mesh::Topology topology_;
  std::optional<mesh::Refinement> refinement_;  // of the two above
  std::vector<mesh::Survey> before_;
  mesh::Partition partition_;
  std::vector<std::uint32_t> part_;  // of each cell of mesh_
  std::vector<CellData> cell_data_;
};

// The least size of the file of cells, known before anything is refined.
std::uint64_t least_bytes(const mesh::Mesh& mesh, int levels);

// A name for data that tells a group's members.
std::string data_name_of(const std::string& group);

}  // namespace forebay::multiply
