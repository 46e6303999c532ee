#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <vector>

#include "base/file.h"
#include "store.h"

namespace n3d {
namespace {

class FileStore : public StateStore {
 public:
  FileStore(std::size_t state_size, std::string directory, int rank, bool keep)
      : directory_(std::move(directory)), rank_(rank), keep_(keep), read_(state_size) {}
  ~FileStore() override {
    if (keep_) return;
    for (const Step step : written_) ::unlink(path_of(step).c_str());
  }

  Status put(Step step, std::span<const double> state) override {
    const std::string path = path_of(step);
    const auto file = forebay::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (!file) return forebay::forward(file);
    written_.insert(step);
    return forebay::write_all(file->get(), std::as_bytes(state), path);
  }
  Result<std::span<const double>> get(Step step) override {
    const std::string path = path_of(step);
    const auto file = forebay::open_file(path, O_RDONLY);
    if (!file) return forebay::forward(file);
    const auto bytes = std::as_writable_bytes(std::span(read_));
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::read(file->get(), bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return forebay::errno_error("cannot read", path);
      if (count == 0) return forebay::error(forebay::Code::lost, "cannot read a whole state from", path);
      done += static_cast<std::size_t>(count);
    }
    return std::span<const double>(read_);
  }
  // The file stays, as it does in codes that write files.
  void drop(Step) override {}
  Status rewind() override { return {}; }

 private:
  std::string path_of(Step step) const {
    return forebay::join(directory_, fmt::format("velocity.{:06}.rank{:04}", step, rank_));
  }

  std::string directory_;
  int rank_;
  bool keep_;
  std::vector<double> read_;
  std::set<Step> written_;
};

}  // namespace

std::unique_ptr<StateStore> make_file_store(std::size_t state_size, std::string directory, int rank, bool keep) {
  return std::make_unique<FileStore>(state_size, std::move(directory), rank, keep);
}

}  // namespace n3d
