#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "store.h"

namespace n3d {
namespace {

class ArrayStore : public StateStore {
 public:
  explicit ArrayStore(std::size_t state_size) : state_size_(state_size) {}

  Status put(Step step, std::span<const double> state) override {
    auto [entry, fresh] = kept_.try_emplace(step);
    if (fresh) {
      if (free_.empty()) free_.push_back(std::make_unique_for_overwrite<double[]>(state_size_));
      entry->second = std::move(free_.back());
      free_.pop_back();
    }
    std::copy_n(state.data(), state_size_, entry->second.get());
    return {};
  }
  Result<std::span<const double>> get(Step step) override {
    const auto entry = kept_.find(step);
    if (entry == kept_.end()) return forebay::error(forebay::Code::failed, fmt::format("state {} was not kept", step));
    return std::span<const double>(entry->second.get(), state_size_);
  }
  void drop(Step step) override {
    auto entry = kept_.extract(step);
    if (entry) free_.push_back(std::move(entry.mapped()));
  }
  Status rewind() override {
    for (auto& [step, array] : kept_) free_.push_back(std::move(array));
    kept_.clear();
    return {};
  }

 private:
  using Array = std::unique_ptr<double[]>;
  std::size_t state_size_;
  std::unordered_map<Step, Array> kept_;
  std::vector<Array> free_;
};

}  // namespace

std::unique_ptr<StateStore> make_array_store(std::size_t state_size) {
  return std::make_unique<ArrayStore>(state_size);
}

}  // namespace n3d
