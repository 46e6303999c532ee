// write_steps DIRECTORY: three steps of a flow in a row of cubes, as the ranks of a program write them.
#include <vector>

#include "row_of_cubes.h"

namespace {

using namespace forebay;
using namespace forebay::blocks;

void write_steps(const std::string& directory) {
  const Team team = must(Team::of(MPI_COMM_WORLD));
  const RowOfCubes row(team, 50);
  const auto files = must(Checkpoints::open(team, directory, {Method::mpi_collective, {}, "/dev/shm"}));
  const auto output = must(MeshOutput::make(*files, "flow", row.mesh()));
  for (const std::int64_t step : {0, 1, 2})
    must(output->write({step, 0.5 * static_cast<double>(step), "write_steps", "row"}, row.fields()));
  must(output->settle());
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  if (count == 2) write_steps(words[1]);
  MPI_Finalize();
  return count == 2 ? 0 : 2;
}
