// The same arrays written by Code_Saturne's own library, each as a section of a restart file, which plans anew for
// every section. A program of its own, since that library brings serial and parallel HDF5 along.
#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "arrays/blocks/bench/arrays_of_ranks.h"
#include "arrays/blocks/bench/need.h"
#include "arrays/blocks/bench/timed.h"

extern "C" {
#include <cs_defs.h>
#include <cs_file.h>
#include <cs_mesh.h>
#include <cs_restart.h>
}

namespace {

using forebay::blocks::bench::need;

// Code_Saturne itself never does this.
void sync(const std::string& path) {
  const auto file = need(forebay::open_file(path, O_RDONLY));
  if (::fsync(file.get()) != 0) need(forebay::Status(forebay::errno_error("cannot sync", path)));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace forebay::blocks::bench;
  MPI_Init(&argc, &argv);
  ArraysOfRanks arrays;
  bool synced = false;
  CLI::App app("What Code_Saturne's own library needs for the same arrays: seconds, each the slowest rank's");
  arrays.add_to(app);
  app.add_flag("--sync", synced, "wait for the disk");
  CLI11_PARSE(app, argc, argv);

  cs_glob_mpi_comm = MPI_COMM_WORLD;
  MPI_Comm_rank(MPI_COMM_WORLD, &cs_glob_rank_id);
  MPI_Comm_size(MPI_COMM_WORLD, &cs_glob_n_ranks);
  cs_file_set_default_comm(1, 1 << 20, MPI_COMM_WORLD);
  cs_glob_mesh = cs_mesh_create();  // whose locations every restart file has
  const auto owned = arrays.numbers(cs_glob_n_ranks, cs_glob_rank_id);
  const std::vector<cs_gnum_t> numbers(owned.begin(), owned.end());
  const std::vector<cs_real_t> data(owned.begin(), owned.end());
  const std::string path = arrays.directory + "/saturne-bench";
  nlohmann::json json;
  const auto write = [&](const char* name, cs_file_access_t access) {
    cs_file_set_default_access(CS_FILE_MODE_WRITE, access, MPI_INFO_NULL);
    for (int i = 0; i < arrays.repeat; ++i) {
      json[name].push_back(timed([&] {
        cs_restart_t* restart = cs_restart_create("values", path.c_str(), CS_RESTART_MODE_WRITE);
        const int location = cs_restart_add_location(restart, "items", arrays.items,
                                                     static_cast<cs_lnum_t>(numbers.size()), numbers.data());
        cs_restart_write_section(restart, "values", location, 1, CS_TYPE_cs_real_t, data.data());
        cs_restart_destroy(&restart);
        if (synced && cs_glob_rank_id == 0) sync(path + "/values");
      }));
      if (cs_glob_rank_id == 0) std::filesystem::remove_all(path);
      MPI_Barrier(MPI_COMM_WORLD);  // it is made anew by every rank
    }
  };
  // Not CS_FILE_MPI_INDEPENDENT: version 6.0 fails with it ("Error writing ... bytes").
  write("serial", CS_FILE_STDIO_SERIAL);
  write("noncollective", CS_FILE_MPI_NON_COLLECTIVE);
  write("collective", CS_FILE_MPI_COLLECTIVE);
  if (cs_glob_rank_id == 0) fmt::print("{}\n", json.dump(1));
  MPI_Finalize();
}
