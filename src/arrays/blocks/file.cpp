#include "arrays/blocks/file.h"

namespace forebay::blocks {

Result<std::unique_ptr<BlockFile>> BlockFile::open(const Team& team, const Options& options, const std::string& path,
                                                   Access access) {
  switch (options.method) {
    case Method::serial:
      return file_through_rank_0(team, path, access);
    case Method::staged:
    case Method::stdio:
      return file_per_process(team, path, access);
    case Method::mpi_independent:
    case Method::mpi_noncollective:
    case Method::mpi_collective:
      return file_of_mpi(team, options, path, access);
  }
  return error(Code::bad_input, "no such method");
}

}  // namespace forebay::blocks
