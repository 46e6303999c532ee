// What the program asks of MPI, seen on its way there by the standard's profiling interface.
#pragma once

#include <map>
#include <string>

namespace forebay::blocks {

struct MpiCalls {
  int messages = 0;                                  // that were sent from rank to rank
  std::map<std::string, std::string> hints_of_file;  // that MPI knows of the file that was opened last
};
MpiCalls& mpi_calls();

}  // namespace forebay::blocks
