// Of a project in C++ that uses arrays.
#include <forebay/arrays.h>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  forebay_team* team = nullptr;
  const int status = forebay_team_create(MPI_COMM_WORLD, nullptr, &team);
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%s on %d ranks\n", forebay_status_get_name(status), ranks);
  forebay_team_free(team);
  MPI_Finalize();
  return status;
}
