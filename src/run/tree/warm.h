// Warm files were made by a run and carried to the case (decomposePar for the solver), or were copied ahead of a run.
// They are kept in the pool, so that the next run on the same case need not read them from the shared file system.
//
// Promises: a warm file is used only where the case still holds exactly what was carried; a set that is not whole is
// not used at all; what is used leaves the set. Nothing is ever lost with a warm file: the case has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/tree/tree.h"

namespace forebay::tree {

struct WarmFile {
  std::string path;   // relative to the case
  std::string local;  // where its content is
  Identity on_case;   // what the case holds
};

struct WarmSet {
  std::uint64_t files = 0, bytes = 0;
};

// Moves the files into `directory`, which is made anew, on the file system where they lie; stops at `budget` bytes.
Result<WarmSet> keep_warm(const std::string& directory, const std::vector<WarmFile>& files, std::uint64_t budget);

// The set in `directory`; empty when there is none. Nothing is moved yet.
std::vector<WarmFile> read_warm(const std::string& directory);

// A set's index, as text and back; `local` is not part of it.
std::string index_of_warm(const std::vector<WarmFile>& files);
std::vector<WarmFile> warm_from_index(std::string_view text);

// Before `request` is carried out: warm files are put where `inputs` has a copy, which then need not be
// made.
WarmSet bring_warm(const std::vector<WarmFile>& files, const StageRequest& request, const Inputs& inputs);

// Afterwards: warm files take the place of the links that `entries` (as staged by `request`) describe, and become
// copies there. A file on another file system is copied. The result is what was used.
WarmSet use_warm(const std::vector<WarmFile>& files, const StageRequest& request, std::vector<Entry>& entries);

}  // namespace forebay::tree
