// A shared file to whose offsets the ranks write their blocks, by one of the direct methods.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "arrays/blocks/method.h"
#include "arrays/blocks/team.h"

namespace forebay::blocks {

enum class Access { read, write };

// Every call is collective, and an error of one rank is the error of all.
class BlockFile {
 public:
  // The file exists, laid out. `staged` reads as stdio does; it has no file to write.
  static Result<std::unique_ptr<BlockFile>> open(const Team& team, const Options& options, const std::string& path,
                                                 Access access);
  virtual ~BlockFile() = default;

  // This rank's block, which may be empty.
  Status write(std::uint64_t offset, std::span<const std::byte> block) {
    return team_.agree(write_mine(offset, block));
  }
  Status read(std::uint64_t offset, std::span<std::byte> block) { return team_.agree(read_mine(offset, block)); }
  // The written bytes are on the disk, as far as the file system tells, when this returns.
  Status close() { return team_.agree(close_mine()); }

 protected:
  BlockFile(const Team& team, std::string path) : team_(team), path_(std::move(path)) {}
  virtual Status write_mine(std::uint64_t offset, std::span<const std::byte> block) = 0;
  virtual Status read_mine(std::uint64_t offset, std::span<std::byte> block) = 0;
  virtual Status close_mine() = 0;

  const Team& team_;
  const std::string path_;
};

// Whether MPI takes names and values of this length: it ends the program otherwise.
Status check_hints(const Options& options);

// One for each family of methods; open() chooses.
std::unique_ptr<BlockFile> file_through_rank_0(const Team& team, const std::string& path, Access access);
std::unique_ptr<BlockFile> file_per_process(const Team& team, const std::string& path, Access access);
Result<std::unique_ptr<BlockFile>> file_of_mpi(const Team& team, const Options& options, const std::string& path,
                                               Access access);

}  // namespace forebay::blocks
