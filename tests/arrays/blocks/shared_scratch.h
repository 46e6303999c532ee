// Where all ranks write by all methods, and teams of some of them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/tests/scratch.h"
#include "numbering.h"

namespace forebay::blocks {

inline constexpr std::array kMethods = {Method::serial,          Method::stdio,
                                        Method::mpi_independent, Method::mpi_noncollective,
                                        Method::mpi_collective,  Method::staged};

// A directory that all ranks see, made and removed by rank 0.
class SharedScratch {
 public:
  SharedScratch() {
    if (rank() == 0) own_ = std::make_unique<Scratch>();
    char path[256] = "";
    if (own_) std::snprintf(path, sizeof path, "%s", own_->path().c_str());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = path;
  }
  ~SharedScratch() { MPI_Barrier(MPI_COMM_WORLD); }
  const std::string& path() const { return path_; }
  std::string in(const std::string& name) const { return join(path_, name); }

 private:
  static int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  std::unique_ptr<Scratch> own_;
  std::string path_;
};

// Some ranks of the program, as a team of their own; the others have none.
inline std::optional<Team> team_of(int ranks, int most_per_node = 0) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &part);
  if (part == MPI_COMM_NULL) return {};
  const Communicator owned(part);
  return must(Team::of(part, most_per_node));
}

inline int all_ranks() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

inline Options options_of(Method method, const SharedScratch& scratch) {
  Options options;
  options.method = method;
  options.pool = scratch.path();
  return options;
}

}  // namespace forebay::blocks
