// The proofs: of the solver against what is known of the equations, of the adjoint against the solver, and of the
// stores against each other.
#pragma once

#include <string>
#include <vector>

#include "pictures.h"
#include "store.h"

namespace n3d {

struct Proof {
  std::string what;
  double figure = 0;
  double least = 0, most = 0;  // holds when least <= figure <= most
  bool holds() const { return figure >= least && figure <= most; }
};

struct Checked {
  std::vector<Proof> proofs;
  std::vector<Remainder> remainders;
  bool all_hold() const;
  std::string table() const;
};

struct Sizes {
  std::size_t points = 32;
  Step steps = 20;
  std::uint64_t seed = 1;
};

// `directory` takes the files of the file store; empty: a temporary one, which is removed. Collective.
Result<Checked> check_gradient(MPI_Comm communicator, const Sizes& sizes, std::string directory);

}  // namespace n3d
