#include <algorithm>
#include <array>

#include "arrays/blocks/standard_file.h"

namespace forebay::blocks {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{8} << 20;  // what rank 0 has room for

// Blocks travel to or from rank 0 in pieces, in the order of ranks. After a failure the pieces still travel, so that
// nobody waits for ever.
class FileThroughRank0 final : public BlockFile {
 public:
  FileThroughRank0(const Team& team, const std::string& path, Access access)
      : BlockFile(team, path), file_(path, access) {}

 protected:
  Status write_mine(std::uint64_t offset, std::span<const std::byte> block) override {
    if (team_.rank() != 0) {
      announce(offset, block.size());
      each_piece(block.size(),
                 [&](std::uint64_t at, int bytes) { MPI_Send(block.data() + at, bytes, MPI_BYTE, 0, 0, team_.all()); });
      return {};
    }
    Status done = file_.write(offset, block);
    each_other([&](int rank, std::uint64_t at, int bytes) {
      MPI_Recv(piece_.data(), bytes, MPI_BYTE, rank, 0, team_.all(), MPI_STATUS_IGNORE);
      if (done) done = file_.write(at, std::span(piece_).first(static_cast<std::size_t>(bytes)));
    });
    return done;
  }

  Status read_mine(std::uint64_t offset, std::span<std::byte> block) override {
    if (team_.rank() != 0) {
      announce(offset, block.size());
      each_piece(block.size(), [&](std::uint64_t at, int bytes) {
        MPI_Recv(block.data() + at, bytes, MPI_BYTE, 0, 0, team_.all(), MPI_STATUS_IGNORE);
      });
      return {};
    }
    Status done = file_.read(offset, block);
    each_other([&](int rank, std::uint64_t at, int bytes) {
      if (done) done = file_.read(at, std::span(piece_).first(static_cast<std::size_t>(bytes)));
      MPI_Send(piece_.data(), bytes, MPI_BYTE, rank, 0, team_.all());
    });
    return done;
  }

  Status close_mine() override { return file_.close(); }

 private:
  using Place = std::array<std::uint64_t, 2>;  // offset and bytes

  template <class Act>
  static void each_piece(std::uint64_t bytes, Act act) {
    for (std::uint64_t at = 0; at < bytes; at += kPiece) act(at, static_cast<int>(std::min(kPiece, bytes - at)));
  }

  void announce(std::uint64_t offset, std::uint64_t bytes) const {
    const Place mine = {offset, bytes};
    MPI_Gather(mine.data(), 2, MPI_UINT64_T, nullptr, 2, MPI_UINT64_T, 0, team_.all());
  }

  // Rank 0 calls act(rank, offset in the file, bytes) for all pieces of the other ranks.
  template <class Act>
  void each_other(Act act) {
    const Place mine{};
    std::vector<Place> places(index(team_.ranks()));
    MPI_Gather(mine.data(), 2, MPI_UINT64_T, places.data(), 2, MPI_UINT64_T, 0, team_.all());
    piece_.resize(kPiece);
    for (int rank = 1; rank < team_.ranks(); ++rank) {
      const auto [offset, bytes] = places[index(rank)];
      each_piece(bytes, [&, first = offset](std::uint64_t at, int size) { act(rank, first + at, size); });
    }
  }

  StandardFile file_;
  std::vector<std::byte> piece_;
};

}  // namespace

std::unique_ptr<BlockFile> file_through_rank_0(const Team& team, const std::string& path, Access access) {
  return std::make_unique<FileThroughRank0>(team, path, access);
}

}  // namespace forebay::blocks
