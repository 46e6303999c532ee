// multiply: a coarse mesh refined into a file that VTK and ParaView read, piece by piece.
//
// Promises: memory depends on the coarse mesh, not on the fine one; the file's bytes on the coarse mesh and the levels,
// not on the number of threads. A mistake in what is asked is told before anything is written; there is room for the
// file, or it is not begun; all files appear whole under their names, or none (names.h). Must not know: command lines,
// MPI, ranks.
//
//   OUT.vtkhdf            the cells; with groups of cells and parts as data
//   OUT-boundary.vtkhdf   the faces at the boundary and those of groups, with their groups as data
#pragma once

#include <functional>
#include <string>

#include "meshes/multiply/report.h"
#include "meshes/multiply/source.h"

namespace forebay::multiply {

struct Request {
  int levels = 0;
  std::string output;       // ends in .vtkhdf
  bool force = false;       // what is there already is replaced
  std::uint32_t parts = 0;  // not 0: each cell gets the number of its part of so many
  std::string parts_from;   // not empty: this file tells the part of each coarse cell
  std::string partition;    // not empty: the part of each coarse cell goes into this file, too
  unsigned threads = 1;
};

// Told now and then: how many bytes are written, of how many.
using Progress = std::function<void(std::uint64_t written, std::uint64_t all)>;

Result<Report> multiply(const Request& request, mesh::Mesh coarse, const Progress& progress);

}  // namespace forebay::multiply
