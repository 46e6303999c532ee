// mkstemp and its kin: libc fills in the mapped template, and the program's own gets the same letters.
#include <stdio.h>
#include <stdlib.h>

#include "redirect/link.h"
#include "redirect/next.h"

namespace forebay::redirect {
namespace {

class Template {
 public:
  explicit Template(char* text) : own_(text), place_(locate(AT_FDCWD, text, buffer_)) {}
  // What libc is to work on.
  char* text() {
    pass_gate(place_);
    return const_cast<char*>(place_.path);
  }
  // Both end alike: copies the end of the filled template back.
  void fill_in() {
    if (place_.path == own_) return;
    const size_t own = strlen(own_), mapped = strlen(place_.path);
    const char* slash = strrchr(own_, '/');
    const size_t name = slash != nullptr ? own - static_cast<size_t>(slash + 1 - own_) : own;
    if (name <= mapped) memcpy(own_ + own - name, place_.path + mapped - name, name);
  }

 private:
  char* own_;
  Path buffer_;
  Place place_;
};

}  // namespace

ENTRY(int, mkostemps, (char* pattern, int suffix, int flags)) {
  Template mapped(pattern);
  const int fd = NEXT(mkostemps)(mapped.text(), suffix, flags);
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
  if (NEXT(mkdtemp)(mapped.text()) == nullptr) return nullptr;
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
  Path buffer;
  const char* wanted = secure_getenv("TMPDIR");
  for (const char* candidate : {wanted, directory}) {
    if (candidate == nullptr) continue;
    const Place place = locate(AT_FDCWD, candidate, buffer, Reach::whole);
    struct stat status;
    if (place.outside() || sys_fstatat(place.directory, place.path, &status, 0) < 0 || !S_ISDIR(status.st_mode))
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
