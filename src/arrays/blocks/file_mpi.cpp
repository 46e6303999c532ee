#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "arrays/blocks/file.h"

namespace forebay::blocks {
namespace {

constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 30;  // MPI counts with an int

// Hints of the standard (MPI 3.1, 13.2.8) that are numbers, and the least that makes sense. Open MPI 4.1 divides by a
// cb_nodes of 0, and with a cb_buffer_size of 1 it writes wrong bytes and reports success.
struct Least {
  std::string_view hint;
  std::int64_t value;
};
constexpr std::array kLeast = {Least{"cb_block_size", 1}, Least{"cb_buffer_size", 64}, Least{"cb_nodes", 1},
                               Least{"num_io_nodes", 1},  Least{"striping_factor", 1}, Least{"striping_unit", 1}};

// All hints of the standard. Other hints are a library's own, and nobody knows all of those.
const std::vector<std::string> kStandard = {
    "access_style", "cb_block_size", "cb_buffer_size",  "cb_nodes",      "chunked",
    "chunked_item", "chunked_size",  "filename",        "file_perm",     "io_node_list",
    "nb_proc",      "num_io_nodes",  "striping_factor", "striping_unit", "collective_buffering"};

// When several ranks write for the others, Open MPI 4.1 reads what lies between two pieces and writes it back with
// them, without a lock: what another rank writes there meanwhile is lost, and success is reported. Open MPI reads the
// variable that forbids it when the first file of a process is opened.
void forbid_sieving() {
  [[maybe_unused]] static const int once = setenv("OMPI_MCA_fbtl_posix_write_datasieving", "0", 0);
}

// Whether it does so all the same: the user wants it, or the program had opened a file before.
bool sieves() {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
  int variable = 0, count = 0, on = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index("fbtl_posix_write_datasieving", &variable) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(variable, nullptr, &handle, &count) == MPI_SUCCESS) {
    MPI_T_cvar_read(handle, &on);
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return on != 0;
}

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
    forbid_sieving();
    const int mode = access_ == Access::read ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
    const int returned = MPI_File_open(communicator, path_.c_str(), mode, info_.get(), &file_);
    if (auto ok = mpi_status(returned, "cannot open", path_); !ok) return ok;
    if (access_ == Access::read || method_ != Method::mpi_collective || team_.ranks() == 1 || !sieves()) return {};
    return error(Code::bad_input, "Open MPI's data sieving, which is on, could lose bytes of", path_,
                 "export OMPI_MCA_fbtl_posix_write_datasieving=0 before the program starts, or use another method");
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
    for (std::uint64_t at = 0; at < most; at += kMostAtOnce) {
      const int piece = at < bytes ? static_cast<int>(std::min(kMostAtOnce, bytes - at)) : 0;
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

Status check_hints(const Options& options) {
  for (const auto& [name, value] : options.hints) {
    if (!name.empty() && name.size() < MPI_MAX_INFO_KEY && !value.empty() && value.size() < MPI_MAX_INFO_VAL) continue;
    return error(Code::bad_input,
                 fmt::format("MPI takes no hint '{}' = '{}': names may have up to {}, values up to {}", printable(name),
                             printable(value), plural(MPI_MAX_INFO_KEY - 1, "byte"), MPI_MAX_INFO_VAL - 1));
  }
  for (const auto& [name, value] : options.hints) {
    const std::string near = closest(name, kStandard);
    const bool of_this_length = near.size() <= name.size() + 1 && name.size() <= near.size() + 1;
    if (!near.empty() && near != name && of_this_length)
      return error(Code::bad_input, "MPI would ignore the hint " + printable(name), {}, "did you mean " + near + "?");
    const auto least =
        std::find_if(kLeast.begin(), kLeast.end(), [&name = name](const Least& each) { return each.hint == name; });
    if (least == kLeast.end() || parse_integer(value).value_or(0) >= least->value) continue;
    return error(Code::bad_input,
                 fmt::format("the hint {} is '{}', not a number of at least {}", name, printable(value), least->value));
  }
  return {};
}

Result<std::unique_ptr<BlockFile>> file_of_mpi(const Team& team, const Options& options, const std::string& path,
                                               Access access) {
  auto file = std::make_unique<FileOfMpi>(team, options, path, access);
  if (auto ok = file->open_together(); !ok) return forward(ok);
  return file;
}

}  // namespace forebay::blocks
