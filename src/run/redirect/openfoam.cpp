// OpenFOAM's own way to remove a time: Foam::rmDir, which it calls by its symbol. What it does then is known, so that
// purging a time takes one call to the kernel. (v1912's; other versions have other arguments, and are served by the
// calls that they make.)
#include <dlfcn.h>

#include "run/redirect/hand_over.h"
#include "run/redirect/next.h"

namespace forebay::redirect {

// A std::string of libstdc++, which begins with a pointer to its text. (In no unnamed namespace, or the entry would
// have no name either.)
struct FileName {
  const char* text;
};

namespace {

using Remove = bool (*)(const FileName&, bool);
constexpr const char* symbol = "_ZN4Foam5rmDirERKNS_8fileNameEb";

// What the caller would have called. Where OpenFOAM was loaded for one library only (a module of Python), it is not
// among what comes next, but what that library finds.
Remove behind(void* caller) {
  if (void* next = find_symbol(RTLD_NEXT, symbol)) return reinterpret_cast<Remove>(next);
  Dl_info info;
  if (dladdr(caller, &info) == 0) return nullptr;
  void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* found = handle != nullptr ? find_symbol(handle, symbol) : nullptr;
  if (handle != nullptr) dlclose(handle);
  return reinterpret_cast<Remove>(found);
}

}  // namespace

// bool Foam::rmDir(const fileName& directory, bool silent): true when nothing of it is left.
ENTRY(bool, _ZN4Foam5rmDirERKNS_8fileNameEb, (const FileName& directory, bool silent)) {
  const int before = errno;
  const bool moved = active() && move_over(directory.text);
  errno = before;
  if (moved) return true;
  const Remove next = behind(__builtin_return_address(0));
  return next != nullptr && next != entry__ZN4Foam5rmDirERKNS_8fileNameEb && next(directory, silent);
}

}  // namespace forebay::redirect
