#include "arrays/blocks/gather.h"

namespace forebay::blocks {

std::vector<array_file::PartCheck> gather(const Team& team, const std::vector<array_file::PartCheck>& mine) {
  const ItemType part(sizeof(array_file::PartCheck));
  const auto count = static_cast<int>(mine.size());
  std::vector<int> counts(index(team.ranks())), places(index(team.ranks()));
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, team.all());
  int sum = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    places[rank] = sum;
    sum += counts[rank];
  }
  std::vector<array_file::PartCheck> all(static_cast<std::size_t>(sum));
  MPI_Gatherv(mine.data(), count, part.get(), all.data(), counts.data(), places.data(), part.get(), 0, team.all());
  return all;
}

Result<array_file::Description> from_rank_0(const Team& team, const Result<array_file::Description>& mine) {
  if (auto ok = team.agree(mine ? Status{} : Status(forward(mine))); !ok) return forward(ok);
  return array_file::decode(broadcast(team.all(), team.rank() == 0 ? encode(*mine) : "", 0));
}

}  // namespace forebay::blocks
