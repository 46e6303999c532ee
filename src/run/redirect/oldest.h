// Functions of libc by the version that its oldest releases have them in. A program brings its own libc, which may be
// older than the one that this library was built with: the library asks for nothing newer than glibc 2.17.
//
// Until 2.33 those of dlfcn.h and of threads lay in libraries of their own, which CMakeLists.txt therefore names.
#pragma once

#if defined(__x86_64__)
#define OLDEST_LIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST_LIBC "GLIBC_2.17"
#else
#error "Which version of glibc was the first one for this processor?"
#endif
#define FROM_OLDEST_LIBC(name) __asm__(".symver " #name "," #name "@" OLDEST_LIBC)
