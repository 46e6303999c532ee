// dlopen of a library that lies in the case.
//
// libc looks at the return address of dlopen to find the caller's search path (DT_RUNPATH), so nothing may stand
// between: the path is mapped, and the call jumps on with the caller's own return address.
#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {

extern "C" {
__attribute__((visibility("hidden"), used)) void* forebay_next_dlopen = nullptr;
__attribute__((visibility("hidden"), used)) const char* forebay_library_path(const char* path);
}

namespace {
constinit std::atomic<void*> slot{nullptr};
constinit thread_local char mapped[Path::capacity + 1]{};  // outlives the mapping
}  // namespace

extern "C" const char* forebay_library_path(const char* path) {
  if (slot.load(std::memory_order_relaxed) == nullptr)
    __atomic_store_n(&forebay_next_dlopen, next_function(slot, "dlopen"), __ATOMIC_RELAXED);
  // "$ORIGIN/..." is the linker's to understand.
  if (path == nullptr || *path == '$' || strchr(path, '/') == nullptr) return path;
  const Seen location(AT_FDCWD, path, true);
  if (location.path == path) return path;
  memcpy(mapped, location.path, strlen(location.path) + 1);
  return mapped;
}

#if defined(__x86_64__)
__asm__(R"(
        .text
        .globl  dlopen
        .type   dlopen, @function
dlopen: .cfi_startproc
        endbr64
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        call    forebay_library_path
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        movq    %rax, %rdi
        movq    forebay_next_dlopen(%rip), %r11
        jmp     *%r11
        .cfi_endproc
        .size   dlopen, .-dlopen
)");
#elif defined(__aarch64__)
__asm__(R"(
        .text
        .globl  dlopen
        .type   dlopen, %function
dlopen: .cfi_startproc
        hint    #34  // bti c
        stp     x30, x1, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset 30, -16
        bl      forebay_library_path
        ldp     x30, x1, [sp], #16
        .cfi_def_cfa_offset 0
        .cfi_restore 30
        adrp    x16, forebay_next_dlopen
        ldr     x16, [x16, #:lo12:forebay_next_dlopen]
        br      x16
        .cfi_endproc
        .size   dlopen, .-dlopen
)");
#else
#error "How does this processor jump on from a function as if it were not there?"
#endif

}  // namespace forebay::redirect
