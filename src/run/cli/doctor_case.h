// Doctor's view of the case: whether it is one, on how many ranks, on which file system, and whether there is anything
// to gain.
#pragma once

#include <optional>
#include <string>

#include "run/node/node.h"
#include "run/openfoam/openfoam.h"

namespace forebay::cli {

// The place of the case's files.
enum class Where { shared, own_disk, memory, unknown };

struct CaseView {
  std::string path;
  openfoam::CaseFacts facts;
  std::optional<node::Mount> mount;  // the one that it lies on
  Where where() const;
};
// Code::bad_input where it is no directory.
Result<CaseView> view_case(const std::string& path, const node::Machine& machine);

// "OpenFOAM, simpleFoam, decomposed into 4 ranks".
std::string kind_of(const CaseView& view);
// "/shared (lustre), which other nodes see, too".
std::string place_of(const CaseView& view);
// "every 10 time steps; all times are kept"; empty where the case does not tell.
std::string output_of(const CaseView& view);
// The settings that this shell lacks to start the case's programs, and what to do; empty where nothing is known to be
// missing.
std::string lacks_of(const CaseView& view);
// One sentence, and what to type to know more.
std::string gain_of(const CaseView& view);

}  // namespace forebay::cli
