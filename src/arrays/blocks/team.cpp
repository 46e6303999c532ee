#include "arrays/blocks/team.h"

#include "base/random.h"

namespace forebay::blocks {
namespace {

Result<Communicator> split(MPI_Comm communicator, int color, int rank) {
  MPI_Comm part = MPI_COMM_NULL;
  if (auto ok = mpi_status(MPI_Comm_split(communicator, color, rank, &part), "cannot split the ranks"); !ok) {
    return forward(ok);
  }
  return Communicator(part);
}

}  // namespace

Result<Team> Team::of(MPI_Comm communicator, int most_per_node) {
  Team team;
  MPI_Comm own = MPI_COMM_NULL;
  if (auto ok = mpi_status(MPI_Comm_dup(communicator, &own), "cannot copy the communicator"); !ok) return forward(ok);
  team.all_ = Communicator(own);
  // A message that fails ends the program, as MPI does it: there is nothing to go on with. Files report their errors.
  MPI_Comm_set_errhandler(own, MPI_ERRORS_ARE_FATAL);
  team.rank_ = rank_in(own);
  team.ranks_ = size_of(own);

  MPI_Comm whole = MPI_COMM_NULL;
  const int got = MPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, team.rank_, MPI_INFO_NULL, &whole);
  if (auto ok = mpi_status(got, "cannot find the ranks of this node"); !ok) return forward(ok);
  team.node_ = Communicator(whole);
  if (most_per_node > 0) {
    team.group_ = rank_in(whole) / most_per_node;
    auto part = split(whole, team.group_, team.rank_);
    if (!part) return forward(part);
    team.node_ = std::move(*part);
  }
  team.place_ = rank_in(team.node());
  auto meeting = Meeting::of(team.node());
  if (auto ok = team.agree(meeting ? Status{} : Status(forward(meeting))); !ok) return forward(ok);
  team.meeting_ = std::move(*meeting);
  auto leaders = split(own, team.place_ == 0 ? 0 : MPI_UNDEFINED, team.rank_);
  if (!leaders) return forward(leaders);
  team.leaders_ = std::move(*leaders);

  int number = team.leaders_ ? rank_in(team.leaders()) : 0;
  MPI_Bcast(&number, 1, MPI_INT, 0, team.node());
  team.node_of_.resize(index(team.ranks_));
  MPI_Allgather(&number, 1, MPI_INT, team.node_of_.data(), 1, MPI_INT, own);
  for (int rank = 0; rank < team.ranks_; ++rank) {
    const std::size_t node = index(team.node_of_[index(rank)]);
    if (node >= team.members_.size()) team.members_.resize(node + 1);
    team.members_[node].push_back(rank);
  }
  return team;
}

NodeSums::NodeSums(const Team& team, const std::vector<std::uint64_t>& mine) : before(mine.size()), all(mine.size()) {
  const auto count = static_cast<int>(mine.size());
  MPI_Exscan(mine.data(), before.data(), count, MPI_UINT64_T, MPI_SUM, team.node());
  if (team.place_in_node() == 0) before.assign(mine.size(), 0);  // where MPI_Exscan leaves anything
  MPI_Allreduce(mine.data(), all.data(), count, MPI_UINT64_T, MPI_SUM, team.node());
}

std::uint64_t Team::new_identity() const {
  std::uint64_t identity = rank_ == 0 ? random_number() : 0;
  MPI_Bcast(&identity, 1, MPI_UINT64_T, 0, all());
  return identity;
}

}  // namespace forebay::blocks
