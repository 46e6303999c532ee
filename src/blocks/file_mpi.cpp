#include <algorithm>

#include "blocks/file.h"

namespace forebay::blocks {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{1} << 30;  // MPI counts with an int

class Info {
 public:
  explicit Info(const Options& options) {
    MPI_Info_create(&handle_);
    for (const auto& [name, value] : options.hints) MPI_Info_set(handle_, name.c_str(), value.c_str());
  }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info() { MPI_Info_free(&handle_); }
  MPI_Info get() const { return handle_; }

 private:
  MPI_Info handle_ = MPI_INFO_NULL;
};

class FileOfMpi final : public BlockFile {
 public:
  FileOfMpi(const Team& team, const Options& options, const std::string& path, Access access)
      : BlockFile(team, path), method_(options.method), access_(access), info_(options) {}
  ~FileOfMpi() override {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }

  // Not for the independent method, where each rank opens at its first block.
  Status open_together() {
    if (method_ == Method::mpi_independent) return {};
    return team_.agree(open_as(team_.all()));
  }

 protected:
  Status write_mine(std::uint64_t offset, std::span<const std::byte> block) override {
    const auto call = method_ == Method::mpi_collective ? MPI_File_write_at_all : MPI_File_write_at;
    return in_pieces(block.size(), "cannot write", [&](std::uint64_t at, int bytes, MPI_Status* status) {
      return call(file_, static_cast<MPI_Offset>(offset + at), block.data() + at, bytes, MPI_BYTE, status);
    });
  }
  Status read_mine(std::uint64_t offset, std::span<std::byte> block) override {
    const auto call = method_ == Method::mpi_collective ? MPI_File_read_at_all : MPI_File_read_at;
    return in_pieces(block.size(), "cannot read", [&](std::uint64_t at, int bytes, MPI_Status* status) {
      return call(file_, static_cast<MPI_Offset>(offset + at), block.data() + at, bytes, MPI_BYTE, status);
    });
  }
  Status close_mine() override {
    if (file_ == MPI_FILE_NULL) return {};
    Status done;
    if (access_ == Access::write) done = mpi_status(MPI_File_sync(file_), "cannot sync", path_);
    const Status closed = mpi_status(MPI_File_close(&file_), "cannot close", path_);
    return done ? closed : done;
  }

 private:
  Status open_as(MPI_Comm communicator) {
    const int mode = access_ == Access::read ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
    return mpi_status(MPI_File_open(communicator, path_.c_str(), mode, info_.get(), &file_), "cannot open", path_);
  }

  // Collective calls are made as often as the largest block needs, and go on after a failure: the others are in them.
  template <class Call>
  Status in_pieces(std::uint64_t bytes, std::string_view what, Call call) {
    if (method_ == Method::mpi_independent && bytes > 0 && file_ == MPI_FILE_NULL) {
      if (auto ok = open_as(MPI_COMM_SELF); !ok) return ok;
    }
    const bool together = method_ == Method::mpi_collective;
    const std::uint64_t most = together ? over_all(team_.all(), bytes, MPI_MAX) : bytes;
    Status done;
    for (std::uint64_t at = 0; at < most; at += kPiece) {
      const int piece = at < bytes ? static_cast<int>(std::min(kPiece, bytes - at)) : 0;
      MPI_Status status;
      const int returned = call(std::min(at, bytes), piece, &status);
      if (!done) continue;
      done = mpi_status(returned, what, path_);
      int moved = 0;
      if (done) MPI_Get_count(&status, MPI_BYTE, &moved);
      if (done && moved != piece)
        done = error(Code::failed, std::string(what) + " all of a block of", path_, "full, or cut off?");
    }
    return done;
  }

  const Method method_;
  const Access access_;
  const Info info_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace

Result<std::unique_ptr<BlockFile>> file_of_mpi(const Team& team, const Options& options, const std::string& path,
                                               Access access) {
  auto file = std::make_unique<FileOfMpi>(team, options, path, access);
  if (auto ok = file->open_together(); !ok) return forward(ok);
  return file;
}

}  // namespace forebay::blocks
