// OpenFOAM's own way to remove a time: Foam::rmDir, which it calls by its symbol. The library knows what that function
// does, so that purging a time takes one call to the kernel. Each line of versions has arguments of its own, and so a
// symbol.
#include <dlfcn.h>

#include "run/redirect/next.h"
#include "run/redirect/oldest.h"
#include "run/redirect/times.h"

FROM_OLDEST_LIBC(dladdr);
FROM_OLDEST_LIBC(dlclose);

namespace forebay::redirect {

// A std::string of libstdc++, which begins with a pointer to its text. (In no unnamed namespace, or the entry would
// have no name either.)
struct FileName {
  const char* text;
};

namespace {

bool is_moved(const FileName& directory) {
  const int before = errno;
  const bool moved = active() && purge_time(directory.text);
  errno = before;
  return moved;
}

// The function that the caller would have called, unless that is `entry` itself. Where OpenFOAM was loaded for one
// library only (a module of Python), it is not among what comes next, but what that library finds.
template <class Remove>
Remove* behind(Remove* entry, const char* symbol, void* caller) {
  if (void* next = find_symbol(RTLD_NEXT, symbol)) return reinterpret_cast<Remove*>(next);
  Dl_info info;
  if (dladdr(caller, &info) == 0) return nullptr;
  void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  auto* const found = handle != nullptr ? reinterpret_cast<Remove*>(find_symbol(handle, symbol)) : nullptr;
  if (handle != nullptr) dlclose(handle);
  return found != entry ? found : nullptr;
}

}  // namespace

#define BEHIND(name) behind(&entry_##name, #name, __builtin_return_address(0))

// bool Foam::rmDir(const fileName& directory), of the Foundation: true when nothing of it is left.
ENTRY(bool, _ZN4Foam5rmDirERKNS_8fileNameE, (const FileName& directory)) {
  if (is_moved(directory)) return true;
  auto* const next = BEHIND(_ZN4Foam5rmDirERKNS_8fileNameE);
  return next != nullptr && next(directory);
}

// OpenCFD's.
ENTRY(bool, _ZN4Foam5rmDirERKNS_8fileNameEb, (const FileName& directory, bool silent)) {
  if (is_moved(directory)) return true;
  auto* const next = BEHIND(_ZN4Foam5rmDirERKNS_8fileNameEb);
  return next != nullptr && next(directory, silent);
}

// Newer ones of OpenCFD. `empty_only`: what holds a file stays.
ENTRY(bool, _ZN4Foam5rmDirERKNS_8fileNameEbb, (const FileName& directory, bool silent, bool empty_only)) {
  if (!empty_only && is_moved(directory)) return true;
  auto* const next = BEHIND(_ZN4Foam5rmDirERKNS_8fileNameEbb);
  return next != nullptr && next(directory, silent, empty_only);
}

}  // namespace forebay::redirect
