#include "base/pulse.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>

namespace forebay {
namespace {

// More calls at once are not told: those that hang keep their places.
constexpr int most_calls = 32;
constexpr std::size_t longest_path = 1000;

}  // namespace

struct Pulse::Page {
  struct Text {
    std::atomic<std::size_t> size{0};
    std::array<char, longest_path> text{};
    void set(std::string_view path) {
      const std::size_t length = std::min(path.size(), text.size());
      std::copy_n(path.begin(), length, text.begin());
      size = length;
    }
    std::string get() const { return {text.data(), size.load()}; }
  };
  struct Call {
    std::atomic<std::uint64_t> began{0};  // the number of changes then; 0: a free place
    Text path;
  };
  std::atomic<std::uint64_t> changes{1};
  std::atomic<bool> rests{false}, gave_up{false};
  Text home;
  std::array<Call, most_calls> calls;
};

Pulse::Page* Pulse::told_ = nullptr;

Result<Pulse> Pulse::make() {
  void* memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno_error("cannot share memory with a child", "");
  return Pulse(new (memory) Page);
}

void Pulse::tell_calls() const {
  told_ = page_;
}

void Pulse::tell_no_calls() {
  told_ = nullptr;
}

void Pulse::beat() {
  if (told_ != nullptr) ++told_->changes;
}

void Pulse::give_up() {
  if (told_ != nullptr) told_->gave_up = true;
}

void Pulse::rest(bool rests) {
  if (told_ == nullptr) return;
  told_->rests = rests;
  ++told_->changes;
}

void Pulse::set_home(std::string_view home) {
  if (told_ != nullptr) told_->home.set(home);
}

// The oldest call: it was the first that did not return.
Pulse::Look Pulse::look() const {
  Look look{page_->changes, page_->rests, page_->gave_up};
  for (const Page::Call& call : page_->calls) {
    const std::uint64_t began = call.began;
    if (began == 0 || (look.call != 0 && began >= look.call)) continue;
    look.call = began;
    look.path = call.path.get();
  }
  return look;
}

std::string Pulse::home() const {
  return page_->home.get();
}

MayHang::MayHang(std::string_view path) {
  if (Pulse::told_ == nullptr) return;
  auto& calls = Pulse::told_->calls;
  const std::uint64_t now = ++Pulse::told_->changes;
  for (int slot = 0; slot < most_calls && slot_ < 0; ++slot) {
    std::uint64_t free = 0;
    if (!calls[static_cast<std::size_t>(slot)].began.compare_exchange_strong(free, now)) continue;
    slot_ = slot;
    calls[static_cast<std::size_t>(slot)].path.set(path);
  }
}

MayHang::~MayHang() {
  if (Pulse::told_ == nullptr) return;
  if (slot_ >= 0) Pulse::told_->calls[static_cast<std::size_t>(slot_)].began = 0;
  ++Pulse::told_->changes;
}

}  // namespace forebay
