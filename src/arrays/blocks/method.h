// The six methods of writing and reading blocks, by name; and what may be asked of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/carry/publish.h"
#include "base/base.h"

namespace forebay::blocks {

enum class Method {
  serial,             // all blocks pass through rank 0, standard C I/O
  stdio,              // every rank writes its own block, standard C I/O
  mpi_independent,    // MPI-IO, each rank opens the file for itself
  mpi_noncollective,  // MPI-IO, opened by all together, written by each for itself
  mpi_collective,     // MPI-IO, opened and written by all together
  staged,             // into an image of the blocks in the node's pool; carried to the file later
};
std::string_view name_of(Method method);
Result<Method> method_named(std::string_view name);

struct Options {
  Method method = Method::mpi_collective;
  // For MPI-IO, passed on as they are: striping_factor, striping_unit, cb_buffer_size, ... What the library does not
  // know it ignores; so a name that is nearly one of the standard's is refused.
  std::vector<std::pair<std::string, std::string>> hints;
  // The pool of `staged`: a directory in the node's own memory or on its own disk.
  std::string pool = "/dev/shm";
  // This is done before a file gets its name.
  carry::Verify verify = carry::Verify::written;

  // Adds hints as text: "striping_factor=8,cb_nodes=4". `from` is where they were given.
  Status add_hints(std::string_view text, std::string_view from);
  // The given options, with those that FOREBAY_ARRAYS_METHOD, FOREBAY_ARRAYS_HINTS ("striping_factor=8,cb_nodes=4"),
  // FOREBAY_ARRAYS_POOL and FOREBAY_ARRAYS_VERIFY ("written" or "read-back") set instead. Another variable of the
  // prefix is an error.
  static Result<Options> from_environment(Options given);
};

}  // namespace forebay::blocks
