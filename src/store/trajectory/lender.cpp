#include "store/trajectory/lender.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "store/trajectory/encoded.h"

namespace forebay::trajectory {
namespace {

void set_access(const segment::Mapping& memory, int access) {
  if (!memory.bytes.empty()) ::mprotect(memory.bytes.data(), memory.bytes.size(), access);
}

void mark(const segment::Mapping& memory) {
  constexpr int kPattern = 0xfb;
  if (memory.bytes.empty()) return;
  set_access(memory, PROT_READ | PROT_WRITE);
  std::memset(memory.bytes.data(), kPattern, memory.bytes.size());
  set_access(memory, PROT_READ);
}

Outcome<segment::Mapping> memory_of(std::uint64_t bytes) {
  return memory_beside_tiers(std::max<std::uint64_t>(bytes, 1));
}

}  // namespace

Outcome<std::byte*> Lender::lend(std::int64_t step, std::uint64_t bytes) {
  call_back();
  std::swap(lent_, lent_before_);
  if (lent_.bytes.empty()) {
    auto made = memory_of(bytes);
    if (!made) return pass_on(made);
    lent_ = std::move(*made);
  }
  set_access(lent_, PROT_READ | PROT_WRITE);
  step_ = step;
  return lent_.bytes.data();
}

void Lender::protect() {
  set_access(lent_, PROT_READ);
}

void Lender::call_back() {
  mark(lent_);
}

void Lender::forget(std::int64_t step) {
  if (step == step_) call_back();
}

Outcome<const std::byte*> Shown::show(std::int64_t step, const std::byte* state, std::uint64_t bytes) {
  if (const auto found = shown_.find(step); found != shown_.end()) return found->second.bytes.data();
  segment::Mapping memory;
  if (hidden_.size() > kHidden) {
    memory = std::move(hidden_.front());
    hidden_.erase(hidden_.begin());
  } else {
    auto made = memory_of(bytes);
    if (!made) return pass_on(made);
    memory = std::move(*made);
  }
  set_access(memory, PROT_READ | PROT_WRITE);
  std::memcpy(memory.bytes.data(), state, bytes);
  set_access(memory, PROT_READ);
  return shown_.emplace(step, std::move(memory)).first->second.bytes.data();
}

void Shown::hide(std::int64_t step) {
  const auto found = shown_.find(step);
  if (found == shown_.end()) return;
  mark(found->second);
  hidden_.push_back(std::move(found->second));
  shown_.erase(found);
}

}  // namespace forebay::trajectory
