#include "mpi_calls.h"

#include "arrays/blocks/mpi.h"

namespace forebay::blocks {

MpiCalls& mpi_calls() {
  static MpiCalls calls;
  return calls;
}

namespace {

void note_hints(MPI_File file) {
  MPI_Info info = MPI_INFO_NULL;
  int count = 0;
  MPI_File_get_info(file, &info);
  MPI_Info_get_nkeys(info, &count);
  mpi_calls().hints_of_file.clear();
  for (int i = 0; i < count; ++i) {
    char name[MPI_MAX_INFO_KEY + 1] = "", value[MPI_MAX_INFO_VAL + 1] = "";
    int known = 0;
    MPI_Info_get_nthkey(info, i, name);
    MPI_Info_get(info, name, MPI_MAX_INFO_VAL, value, &known);
    if (known != 0) mpi_calls().hints_of_file[name] = value;
  }
  MPI_Info_free(&info);
}

}  // namespace
}  // namespace forebay::blocks

extern "C" {

int MPI_File_open(MPI_Comm communicator, const char* name, int mode, MPI_Info info, MPI_File* file) {
  const int returned = PMPI_File_open(communicator, name, mode, info, file);
  if (returned == MPI_SUCCESS) forebay::blocks::note_hints(*file);
  return returned;
}

int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  ++forebay::blocks::mpi_calls().messages;
  return PMPI_Isend(from, count, type, to, tag, communicator, request);
}

int MPI_Send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator) {
  ++forebay::blocks::mpi_calls().messages;
  return PMPI_Send(from, count, type, to, tag, communicator);
}

int MPI_Alltoallv(const void* from, const int* counts, const int* places, MPI_Datatype type, void* to,
                  const int* to_counts, const int* to_places, MPI_Datatype to_type, MPI_Comm communicator) {
  int peers = 0;
  MPI_Comm_size(communicator, &peers);
  for (int peer = 0; peer < peers; ++peer) forebay::blocks::mpi_calls().messages += counts[peer] > 0 ? 1 : 0;
  return PMPI_Alltoallv(from, counts, places, type, to, to_counts, to_places, to_type, communicator);
}

}  // extern "C"
