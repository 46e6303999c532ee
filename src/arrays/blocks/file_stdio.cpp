#include "arrays/blocks/standard_file.h"

namespace forebay::blocks {
namespace {

class FilePerProcess final : public BlockFile {
 public:
  FilePerProcess(const Team& team, const std::string& path, Access access)
      : BlockFile(team, path), file_(path, access) {}

 protected:
  Status write_mine(std::uint64_t offset, std::span<const std::byte> block) override {
    return file_.write(offset, block);
  }
  Status read_mine(std::uint64_t offset, std::span<std::byte> block) override { return file_.read(offset, block); }
  Status close_mine() override { return file_.close(); }

 private:
  StandardFile file_;
};

}  // namespace

std::unique_ptr<BlockFile> file_per_process(const Team& team, const std::string& path, Access access) {
  return std::make_unique<FilePerProcess>(team, path, access);
}

}  // namespace forebay::blocks
