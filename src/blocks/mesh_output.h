// Meshes and fields that ParaView opens: one VTKHDF file for each step, and a list of them with their times.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "blocks/checkpoint.h"
#include "blocks/lists.h"
#include "blocks/series.h"

namespace forebay::blocks {

// A mesh as each rank has it; shared vertices where their plan lets them be shared. The spans are read at every step,
// so the vertices may move.
struct MeshToWrite {
  Exchange* points = nullptr;
  std::span<const double> places;  // three of each of this rank's vertices
  Exchange* cells = nullptr;
  std::span<const std::uint8_t> types;      // of this rank's cells: VTK's numbers of shapes (vtkCellType.h)
  std::span<const std::uint64_t> lengths;   // how many vertices each has
  std::span<const std::uint64_t> vertices;  // their global numbers, from 1, cell after cell, each in VTK's order
};

// Everything here is collective, and an error of one rank is that of all.
class MeshOutput {
 public:
  // The plan of the mesh, for any number of steps. The files are NAME-000012.vtkhdf of step 12, ... and
  // NAME.vtkhdf.series, in the directory of `files`, by its method; `files` and what the mesh points to outlive this.
  static Result<std::unique_ptr<MeshOutput>> make(Checkpoints& files, std::string name, const MeshToWrite& mesh);

  // Fields are on "points" or "cells", with the exchanges of the mesh. A file appears as a checkpoint does.
  Status write(const Head& head, std::span<const FieldToWrite> fields);
  // The list names files that are there: staged ones from here on.
  Status settle();

 private:
  MeshOutput(Checkpoints& files, std::string name, const MeshToWrite& mesh);
  Status plan();
  Status list();
  const Team& team() const { return mesh_.cells->plan().team(); }

  Checkpoints& files_;
  const std::string name_;
  const MeshToWrite mesh_;
  std::vector<std::int64_t> ends_, connectivity_;  // of this rank's cells, as they stand in the file
  Plan corner_plan_;
  std::unique_ptr<Exchange> corners_;  // of the plan above
  Series series_;                      // rank 0's
};

}  // namespace forebay::blocks
