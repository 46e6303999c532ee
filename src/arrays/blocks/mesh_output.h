// Meshes and fields that ParaView opens: one VTKHDF file for each step, and a list of them with their times.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrays/blocks/checkpoint.h"
#include "arrays/blocks/lists.h"
#include "arrays/blocks/mesh_to_write.h"
#include "arrays/carry/series.h"

namespace forebay::blocks {

// Everything here is collective, and an error of one rank is that of all.
class MeshOutput {
 public:
  // The plan of the mesh, for any number of steps. The files are NAME-000012.vtkhdf of step 12, ... and
  // NAME.vtkhdf.series, in the directory of `files`, by its method; `files` outlives this. The exchanges and places of
  // the mesh are used by every write(), so that vertices may move; the rest of it is copied.
  static Result<std::unique_ptr<MeshOutput>> make(Checkpoints& files, std::string name, const MeshToWrite& mesh);

  // Fields are on "points" or "cells", with the exchanges of the mesh. A file appears as a checkpoint does.
  Status write(const Head& head, std::span<const FieldToWrite> fields);
  // The list names files that are there: of staged ones, those that were settled.
  Status settle();

 private:
  MeshOutput(Checkpoints& files, std::string name);
  Status plan(const MeshToWrite& mesh);
  Status read_list();
  Status write_list();
  const Team& team() const { return files_.team(); }
  std::string list() const { return join(files_.directory(), name_ + carry::kSeriesEnding); }

  Checkpoints& files_;
  const std::string name_;
  Exchange* points_ = nullptr;
  const double* places_ = nullptr;
  Exchange* cells_ = nullptr;
  // The types of this rank's cells, as they stand in the file.
  std::vector<std::uint8_t> types_;
  std::vector<std::int64_t> ends_, connectivity_;
  Plan corner_plan_;
  std::unique_ptr<Exchange> corners_;  // of the plan above
  carry::Series series_;               // rank 0's
  bool has_news_ = false;              // for the list; the same on all ranks
};

}  // namespace forebay::blocks
