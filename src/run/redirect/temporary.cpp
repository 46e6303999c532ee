// mkstemp and its kin: libc fills in the mapped template, and the program's own gets the same letters.
#include <stdio.h>
#include <stdlib.h>

#include <initializer_list>

#include "run/redirect/errors.h"
#include "run/redirect/link.h"
#include "run/redirect/next.h"
#include "run/redirect/open.h"

namespace forebay::redirect {
namespace {

class Template {
 public:
  explicit Template(char* text) : own_(text), location_(AT_FDCWD, text) {}
  // The template that libc works on.
  char* text() {
    pass_gate(location_);
    return const_cast<char*>(location_.path);
  }
  template <class Result>
  Result noting_failure(Result result) const {
    return noting(location_, result);
  }
  // Both end alike: copies the end of the filled template back.
  void fill_in() {
    if (location_.path == own_) return;
    const size_t own = strlen(own_), mapped = strlen(location_.path);
    const char* slash = strrchr(own_, '/');
    const size_t name = slash != nullptr ? own - static_cast<size_t>(slash + 1 - own_) : own;
    if (name <= mapped) memcpy(own_ + own - name, location_.path + mapped - name, name);
  }

 private:
  char* own_;
  Located location_;
};

// mkostemps by an open of our own, which chooses where the file is made.
COLD int make_temporary(char* pattern, int suffix, int flags) {
  static const char wanted[] = "XXXXXX";
  constexpr size_t count = sizeof wanted - 1;
  const size_t size = strlen(pattern);
  if (suffix < 0 || size < count + static_cast<size_t>(suffix)) return with_errno_int(-EINVAL);
  char* letters = pattern + size - static_cast<size_t>(suffix) - count;
  if (memcmp(letters, wanted, count) != 0) return with_errno_int(-EINVAL);
  const int errno_before = errno;
  for (int tries = 0; tries < 1000; ++tries) {
    unsigned char random[count] = {};
    system_call(SYS_getrandom, word(random), count, 0);
    for (size_t i = 0; i < count; ++i)
      letters[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[random[i] % 62];
    errno = errno_before;
    const int fd = open_redirected(AT_FDCWD, pattern, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

}  // namespace

ENTRY(int, mkostemps, (char* pattern, int suffix, int flags)) {
  if (active() && state.flags.places) return make_temporary(pattern, suffix, flags);
  Template mapped(pattern);
  const int fd = mapped.noting_failure(NEXT(mkostemps)(mapped.text(), suffix, flags));
  if (fd >= 0) mapped.fill_in();
  return fd;
}
ENTRY_ALIAS(mkostemps64, mkostemps);
ENTRY(int, mkstemps, (char* pattern, int suffix)) {
  return entry_mkostemps(pattern, suffix, 0);
}
ENTRY_ALIAS(mkstemps64, mkstemps);
ENTRY(int, mkostemp, (char* pattern, int flags)) {
  return entry_mkostemps(pattern, 0, flags);
}
ENTRY_ALIAS(mkostemp64, mkostemp);
ENTRY(int, mkstemp, (char* pattern)) {
  return entry_mkostemps(pattern, 0, 0);
}
ENTRY_ALIAS(mkstemp64, mkstemp);

ENTRY(char*, mkdtemp, (char* pattern)) {
  Template mapped(pattern);
  if (mapped.noting_failure(NEXT(mkdtemp)(mapped.text()) == nullptr ? -1 : 0) < 0) return nullptr;
  mapped.fill_in();
  return pattern;
}

ENTRY(char*, mktemp, (char* pattern)) {
  Template mapped(pattern);
  char* text = mapped.text();
  NEXT(mktemp)(text);
  if (*text == '\0')
    *pattern = '\0';
  else
    mapped.fill_in();
  return pattern;
}

ENTRY(char*, tempnam, (const char* directory, const char* prefix)) {
  // libc prefers TMPDIR, then what it is given; both may lie in the case, and only the name it makes up counts.
  const char* wanted = secure_getenv("TMPDIR");
  for (const char* candidate : {wanted, directory}) {
    if (candidate == nullptr) continue;
    const Located location(AT_FDCWD, candidate, Reach::whole);
    struct stat status;
    if (location.outside() || sys_fstatat(location.directory, location.path, &status, 0) < 0 ||
        !S_ISDIR(status.st_mode))
      continue;
    char name[16] = "";
    for (size_t i = 0; prefix != nullptr && i < 5 && prefix[i] != '\0'; ++i) name[i] = prefix[i];
    const size_t size = strlen(candidate) + sizeof name + 8;
    auto* pattern = static_cast<char*>(malloc(size));
    if (pattern == nullptr) return nullptr;
    snprintf(pattern, size, "%s/%s%s", candidate, name[0] != '\0' ? name : "file", "XXXXXX");
    if (*entry_mktemp(pattern) != '\0') return pattern;
    free(pattern);
    return nullptr;
  }
  return NEXT(tempnam)(directory, prefix);
}

}  // namespace forebay::redirect
