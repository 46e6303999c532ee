// Makes every call that redirect stands in front of, in the directory given as argument (the case, or a rank's in it),
// and prints what can be observed.
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <utime.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "run/redirect/tests/say.h"

namespace {

std::string root, own_name;  // the directory, and the last component of its path
const char* at(const std::string& name) {
  static std::string paths[16];
  static unsigned next = 0;
  std::string& path = paths[next++ % 16];
  path = root + "/" + name;
  return path.c_str();
}

void write_text(int fd, const char* text) {
  if (fd >= 0 && write(fd, text, std::strlen(text)) < 0) std::puts("write failed");
}

void opens(const std::string& prefix) {
  const auto in = [&](const char* name) { return prefix + name; };
  for (const char* name :
       {"a.txt", "link_rel", "link_abs", "link_absdir/y.txt", "missing", "dangling", "dir", "empty", "processor0",
        "processor0/0/U", "a.txt/x", "loop", "link_out", "dir/../a.txt", "processor0/../a.txt", "dir//x.txt",
        "./dir/./x.txt", "processor0/constant/../../dir/x.txt"}) {
    for (int flags : {O_RDONLY, O_RDONLY | O_NOFOLLOW, O_RDONLY | O_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                      O_PATH | O_NOFOLLOW, O_RDWR | O_NOFOLLOW, O_WRONLY | O_CREAT | O_EXCL}) {
      if ((flags & O_CREAT) != 0 && (std::string(name) == "missing")) continue;
      const int fd = open(in(name).c_str(), flags, 0644);
      say("open " + in(name) + " " + std::to_string(flags), fd < 0 ? -1 : 0);
      if (fd < 0) continue;
      struct stat status {};
      say("  fstat", fstat(fd, &status));
      say("  is", text_of(status, false));
      close(fd);
    }
    say("content " + in(name), content(in(name)));
  }
}

void reports(const std::string& prefix) {
  for (const char* name : {"a.txt",
                           "b.txt",
                           "ro.txt",
                           "link_rel",
                           "link_abs",
                           "link_dir",
                           "link_absdir",
                           "link_absdir/x.txt",
                           "link_out",
                           "dangling",
                           "loop",
                           "dir",
                           "dir/",
                           "a.txt/",
                           "link_dir/",
                           "link_dir/.",
                           "processor0",
                           "processor0/",
                           "processor1/constant/p",
                           "processor0/..",
                           "missing",
                           "dir/../a.txt",
                           "link_dir/../a.txt",
                           "processor0/../processor1/0/U",
                           "",
                           ".",
                           "..",
                           "missing/..",
                           "a.txt/..",
                           "../other/o.txt",
                           "../outside.txt",
                           "name with space",
                           "new\nline"}) {
    const std::string path = prefix + name;
    const bool times = std::string(name).find('.') != std::string::npos;
    struct stat status {};
    say("stat " + path, stat(path.c_str(), &status));
    say("  is", text_of(status, times));
    status = {};
    say("lstat " + path, lstat(path.c_str(), &status));
    say("  is", text_of(status, S_ISREG(status.st_mode)));
    status = {};
    say("fstatat " + path, fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW));
    say("  is", text_of(status, S_ISREG(status.st_mode)));
    struct statx extended {};
    say("statx " + path, statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &extended));
    say("  mode", extended.stx_mode);
    extended = {};
    say("statx following " + path, statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS, &extended));
    say("  mode", extended.stx_mode);
    say("access " + path, access(path.c_str(), R_OK));
    say("faccessat " + path, faccessat(AT_FDCWD, path.c_str(), X_OK, AT_SYMLINK_NOFOLLOW));
    say("euidaccess " + path, euidaccess(path.c_str(), F_OK));
    char text[PATH_MAX] = "";
    const ssize_t size = readlink(path.c_str(), text, sizeof text);
    say("readlink " + path, size);
    if (size >= 0) say("  text", std::string(text, static_cast<size_t>(size)));
    say("readlink into little " + path, readlink(path.c_str(), text, 3));
    char* resolved = realpath(path.c_str(), nullptr);
    say_pointer("realpath " + path, resolved);
    std::free(resolved);
    struct statfs file_system {};
    say("statfs " + path, statfs(path.c_str(), &file_system));
    struct statvfs portable {};
    say("statvfs " + path, statvfs(path.c_str(), &portable));
    say("pathconf " + path, pathconf(path.c_str(), _PC_NAME_MAX));
  }
}

std::string listing(const std::string& path) {
  DIR* stream = opendir(path.c_str());
  if (stream == nullptr) return std::strerror(errno);
  std::vector<std::string> words;
  while (const dirent* entry = readdir(stream))
    words.push_back(entry->d_name + std::string("=") + std::to_string(entry->d_type));
  closedir(stream);
  return joined(words);
}

std::vector<std::string> visited;
int note_visit(const char* path, const struct stat* status, int type, struct FTW* where) {
  visited.push_back(std::string(path) + "|" + std::to_string(type) + "|" + std::to_string(where->level) + "|" +
                    std::to_string(where->base) + "|" + (type == FTW_NS ? "" : text_of(*status, false)));
  return 0;
}
int note_plain(const char* path, const struct stat*, int type) {
  visited.push_back(std::string(path) + "|" + std::to_string(type));
  return 0;
}
int note_and_skip(const char* path, const struct stat*, int, struct FTW*) {
  visited.push_back(path);
  return std::strstr(path, "dir") != nullptr ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
}

void listings(const std::string& prefix) {
  for (const char* name :
       {".", "dir", "empty", "processor0", "processor0/..", "processor0/0", "missing", "a.txt", "link_absdir", ".."})
    say("list " + prefix + name, listing(prefix + name));
  dirent** names = nullptr;
  const int count = scandir((prefix + "dir").c_str(), &names, nullptr, alphasort);
  say("scandir", count);
  for (int i = 0; i < count; ++i) {
    say("  entry", std::string(names[i]->d_name) + " " + std::to_string(names[i]->d_type));
    std::free(names[i]);
  }
  std::free(names);
  for (int flags : {int{FTW_PHYS}, FTW_PHYS | FTW_DEPTH, int{FTW_DEPTH}, FTW_PHYS | FTW_MOUNT, FTW_PHYS | FTW_CHDIR}) {
    visited.clear();
    say("nftw " + std::to_string(flags),
        nftw((prefix + ((flags & FTW_PHYS) != 0 ? "." : "dir")).c_str(), note_visit, 5, flags));
    say("  visited", joined(visited));
  }
  visited.clear();
  say("nftw skipping", nftw((prefix + ".").c_str(), note_and_skip, 5, FTW_PHYS | FTW_ACTIONRETVAL));
  say("  visited", joined(visited));
  visited.clear();
  say("ftw", ftw((prefix + "dir").c_str(), note_plain, 5));
  say("  visited", joined(visited));
  visited.clear();
  say("nftw of a file", nftw((prefix + "a.txt").c_str(), note_visit, 5, FTW_PHYS));
  say("nftw of nothing", nftw((prefix + "missing").c_str(), note_visit, 5, FTW_PHYS));
  say("  visited", joined(visited));

  for (int options : {FTS_PHYSICAL | FTS_NOCHDIR, FTS_LOGICAL, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV,
                      FTS_PHYSICAL | FTS_SEEDOT | FTS_NOCHDIR}) {
    std::string start = prefix + "dir", second = prefix + "processor0";
    char* roots[] = {start.data(), second.data(), nullptr};
    FTS* traversal = fts_open(
        roots, options, [](const FTSENT** a, const FTSENT** b) { return std::strcmp((*a)->fts_name, (*b)->fts_name); });
    say("fts " + std::to_string(options), traversal != nullptr ? 0 : -1);
    while (traversal != nullptr) {
      FTSENT* entry = fts_read(traversal);
      if (entry == nullptr) break;
      say("  " + std::string(entry->fts_path), std::string(entry->fts_name) + " " + std::to_string(entry->fts_info) +
                                                   " " + std::to_string(entry->fts_level));
      if (std::string(entry->fts_name) == "sub" && (options & FTS_XDEV) != 0) fts_set(traversal, entry, FTS_SKIP);
      if (entry->fts_info == FTS_D && entry->fts_level == 0)
        for (FTSENT* child = fts_children(traversal, 0); child != nullptr; child = child->fts_link)
          say("    child", child->fts_name);
    }
    if (traversal != nullptr) say("fts_close", fts_close(traversal));
  }

  const std::string beside = "../" + own_name + "/a*";
  for (const char* pattern :
       {"*", "*/*.txt", "processor*/0/U", "[ab].txt", "link*", "dir/su?/", beside.c_str(), "nothing*"}) {
    glob_t found{};
    say("glob " + prefix + pattern, glob((prefix + pattern).c_str(), GLOB_MARK, nullptr, &found));
    for (size_t i = 0; i < found.gl_pathc; ++i) say("  match", found.gl_pathv[i]);
    globfree(&found);
  }
  std::vector<std::string> words;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(prefix + "."))
    words.push_back(entry.path().string() + (entry.is_symlink()     ? " link"
                                             : entry.is_directory() ? " directory"
                                                                    : " file"));
  say("std::filesystem", joined(words));
}

std::string here() {
  char text[PATH_MAX];
  return getcwd(text, sizeof text) != nullptr ? text : std::strerror(errno);
}

void directories() {
  const std::string below = own_name + "/dir";
  for (const char* name : {"dir", "..", "processor0/0", "..", "..", "link_absdir", "..", "link_dir", "../..",
                           own_name.c_str(), "processor1", "../dir/sub", "../../..", below.c_str(), "missing", "/"}) {
    say("chdir " + std::string(name), chdir(name));
    say("  getcwd", here());
    char* name_of_here = get_current_dir_name();
    say_pointer("  name", name_of_here);
    std::free(name_of_here);
    say("  listing", here() == "/" ? "" : listing("."));
    struct stat status {};
    say("  sees a.txt",
        stat("a.txt", &status) + stat("../a.txt", &status) * 2 + stat((own_name + "/a.txt").c_str(), &status) * 4);
  }
  chdir(root.c_str());
  char little[4];
  say_pointer("getcwd into little", getcwd(little, sizeof little));
  char* fitted = getcwd(nullptr, 0);
  say_pointer("getcwd allocating", fitted);
  std::free(fitted);
  const int fd = open(at("processor0"), O_RDONLY | O_DIRECTORY);
  say("fchdir", fchdir(fd));
  say("  getcwd", here());
  const int up = openat(fd, "..", O_RDONLY | O_DIRECTORY);
  say("openat ..", up < 0 ? -1 : 0);
  struct stat a {
  }, b{};
  fstat(up, &a);
  stat(root.c_str(), &b);
  say("  is the case", a.st_ino == b.st_ino && a.st_dev == b.st_dev);
  say("fstatat ../dir/x.txt", fstatat(fd, "../dir/x.txt", &a, 0));
  say("fchdir up", fchdir(up));
  say("  getcwd", here());
  const int parent = open(at(".."), O_RDONLY | O_DIRECTORY);
  say("openat from the parent",
      say_open("  opens", openat(parent, (own_name + "/dir/x.txt").c_str(), O_RDONLY)) < 0 ? -1 : 0);
  say("unlinkat from the parent", unlinkat(parent, (own_name + "/doomed1").c_str(), 0));
  char text[PATH_MAX];
  ssize_t size = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), text, sizeof text);
  say("/proc/self/fd", size > 0 ? std::string(text, static_cast<size_t>(size)) : "");
  size = readlink("/proc/self/cwd", text, sizeof text);
  say("/proc/self/cwd", size > 0 ? std::string(text, static_cast<size_t>(size)) : "");
  close(fd);
  close(up);
  close(parent);
}

// Each of these works on an input of its own: change0, change1, ...
std::string next_input() {
  static int number = 0;
  return "changes/c" + std::to_string(number++);
}
void show(const std::string& name, bool times = false) {
  struct stat status {};
  say("  lstat", lstat(at(name), &status));
  say("  is", text_of(status, times));
  say("  holds", content(at(name)));
}

void changes() {
  std::string name;
  for (int flags : {O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_WRONLY | O_APPEND, O_RDWR | O_CREAT,
                    O_WRONLY | O_CREAT | O_TRUNC, O_RDONLY | O_TRUNC, O_RDWR | O_NOFOLLOW}) {
    const int fd = say_open("open for change " + std::to_string(flags), open(at(name = next_input()), flags, 0600));
    if ((flags & O_ACCMODE) != O_RDONLY) write_text(fd, "NEW");
    close(fd);
    show(name);
  }
  close(say_open("creat", creat(at(name = next_input()), 0600)));
  show(name);
  const int exclusive = open(at(name = next_input()), O_CREAT | O_EXCL | O_WRONLY, 0600);
  say("O_EXCL", exclusive);
  show(name, true);
  for (const char* mode : {"r", "w", "a", "r+", "w+", "a+", "wx", "we", "rb+", "q"}) {
    FILE* file = fopen(at(name = next_input()), mode);
    say(std::string("fopen ") + mode, file != nullptr ? 0 : -1);
    if (file == nullptr) continue;
    say("  ftell", ftell(file));
    if (std::string(mode) != "r") std::fputs("WRITTEN", file);
    say("  ftell then", ftell(file));
    std::fclose(file);
    show(name);
  }
  FILE* again = fopen(at("a.txt"), "r");
  say("freopen", freopen(at(name = next_input()), "a", again) != nullptr ? 0 : -1);
  std::fputs("MORE", again);
  std::fclose(again);
  show(name);
  {
    std::fstream stream(at(name = next_input()), std::ios::in | std::ios::out);
    stream.seekp(2);
    stream << "++";
  }
  show(name);
  { std::ofstream(at(name = next_input())) << "fresh"; }
  show(name);
  say("truncate", truncate(at(name = next_input()), 3));
  show(name);
  say("truncate to nothing", truncate(at(name = next_input()), 0));
  show(name, true);
  say("chmod", chmod(at(name = next_input()), 0751));
  show(name, true);
  say("fchmodat", fchmodat(AT_FDCWD, at(name = next_input()), 0711, 0));
  show(name, true);
  int fd = open(at(name = next_input()), O_RDONLY);
  say("fchmod of a reader", fchmod(fd, 0700));
  close(fd);
  show(name, true);
  say("chown", chown(at(name = next_input()), getuid(), getgid()));
  show(name, true);
  say("lchown", lchown(at(name = next_input()), getuid(), getgid()));
  show(name, true);
  say("fchownat", fchownat(AT_FDCWD, at(name = next_input()), getuid(), getgid(), AT_SYMLINK_NOFOLLOW));
  show(name, true);
  const utimbuf seconds{1000, 2000};
  say("utime", utime(at(name = next_input()), &seconds));
  show(name, true);
  const timeval micros[2] = {{3000, 1}, {4000, 2}};
  say("utimes", utimes(at(name = next_input()), micros));
  show(name, true);
  say("lutimes", lutimes(at(name = next_input()), micros));
  show(name, true);
  say("futimesat", futimesat(AT_FDCWD, at(name = next_input()), micros));
  show(name, true);
  const timespec nanos[2] = {{5000, 3}, {6000, 4}};
  say("utimensat", utimensat(AT_FDCWD, at(name = next_input()), nanos, 0));
  show(name, true);
  say("utimensat not following", utimensat(AT_FDCWD, at(name = next_input()), nanos, AT_SYMLINK_NOFOLLOW));
  show(name, true);
  fd = open(at(name = next_input()), O_RDONLY);
  say("futimens of a reader", futimens(fd, nanos));
  close(fd);
  show(name, true);
  say("link", link(at(name = next_input()), at("changes/hard")));
  show(name, true);
  say("link appended through", [&] {
    const int other = open(at("changes/hard"), O_WRONLY | O_APPEND);
    write_text(other, "x");
    return close(other);
  }());
  show(name);
  say("rename", rename(at(name = next_input()), at("changes/renamed")));
  show(name);
  show("changes/renamed", true);
  say("rename over", rename(at(name = next_input()), at("changes/renamed")));
  show("changes/renamed", true);
  say("rename into a rank", rename(at(name = next_input()), at("processor0/0/moved")));
  show("processor0/0/moved", true);
  say("rename between ranks", rename(at("processor0/0/moved"), at("processor1/0/moved")));
  show("processor1/0/moved", true);
  say("renameat2 no replace", renameat2(AT_FDCWD, at(name = next_input()), AT_FDCWD, at("a.txt"), RENAME_NOREPLACE));
  const std::string one = next_input(), other = next_input();
  say("renameat2 exchange", renameat2(AT_FDCWD, at(one), AT_FDCWD, at(other), RENAME_EXCHANGE));
  show(one, true);
  say("unlink", unlink(at(name = next_input())));
  show(name);
  say("remove", std::remove(at(name = next_input())));
  show(name);
  say("unlinkat a directory", unlinkat(AT_FDCWD, at("dir"), 0));
  say("rmdir of a file", rmdir(at("a.txt")));
  say("rmdir of a full directory", rmdir(at("dir")));
  say("rmdir of a rank", rmdir(at("processor0")));
  say("unlink of a rank", unlink(at("processor0")));
  say("mkdir of a rank", mkdir(at("processor0"), 0755));
  say("mkdir of a file", mkdir(at("a.txt"), 0755));
  say("rmdir of an empty rank", rmdir(at("processor9")));
  say("mkdir it again", mkdir(at("processor9"), 0750));
  say("remove it", std::remove(at("processor9")));
  say("open for writing a directory", open(at("dir"), O_WRONLY));
  say("open for writing a rank", open(at("processor0"), O_WRONLY | O_CREAT, 0600));
  say("write by link_rel", [&] {
    const int by = open(at("changes/link"), O_WRONLY | O_APPEND);
    write_text(by, "by link");
    return close(by);
  }());
  show("changes/target", false);
  show("changes/link", false);
  say("write by an absolute link", [&] {
    const int by = open(at("changes/abslink"), O_WRONLY | O_APPEND);
    write_text(by, "by absolute link");
    return close(by);
  }());
  show("changes/abstarget", false);
  say("make by a dangling link", [&] {
    const int by = open(at("link_absdangling"), O_WRONLY | O_CREAT, 0640);
    write_text(by, "made");
    return close(by);
  }());
  show("new_by_link", false);
  show("link_absdangling", false);
  say("make behind a link to a directory", [&] {
    const int by = open(at("link_absdir/made"), O_WRONLY | O_CREAT, 0640);
    write_text(by, "made too");
    return close(by);
  }());
  show("dir/made", false);
  show("link_absdir/made", false);
  say("mkdir behind it", mkdir(at("link_absdir/made_directory"), 0755));
  say("  is there", listing(at("dir")));
  say("chmod by a link", chmod(at("changes/link"), 0640));
  show("changes/target", false);
  say("setxattr", setxattr(at(name = next_input()), "user.key", "value", 5, 0));
  char value[64];
  say("getxattr", getxattr(at(name), "user.key", value, sizeof value));
  say("lgetxattr", lgetxattr(at(name), "user.key", value, sizeof value));
  say("listxattr", listxattr(at(name), value, sizeof value));
  say("llistxattr", llistxattr(at(name), value, sizeof value));
  say("lgetxattr of an input", lgetxattr(at("a.txt"), "user.none", value, sizeof value));
  say("removexattr", removexattr(at(name), "user.key"));
  say("lsetxattr", lsetxattr(at(name = next_input()), "user.key", "value", 5, 0));
  show(name, true);
}

void creations() {
  say("mkdir", mkdir(at("made"), 0751));
  say("mkdirat", mkdirat(AT_FDCWD, at("made/deep"), 0700));
  say("mkfifo", mkfifo(at("made/fifo"), 0644));
  say("mknod", mknod(at("made/node"), S_IFREG | 0600, 0));
  say("symlink", symlink("../a.txt", at("made/link")));
  say("symlink absolute", symlink((root + "/b.txt").c_str(), at("made/abs")));
  say("content", content(at("made/link")) + content(at("made/abs")));
  say("write by the absolute one", [&] {
    const int by = open(at("made/abs"), O_WRONLY | O_APPEND);
    write_text(by, "more");
    return close(by);
  }());
  say("b.txt", content(at("b.txt")));
  say("symlink to a directory", symlink((root + "/dir").c_str(), at("made/absdir")));
  say("behind it", content(at("made/absdir/x.txt")) + listing(at("made/absdir")));
  say("chdir behind it", chdir(at("made/absdir")));
  say("  here", here());
  chdir(root.c_str());
  for (int kind = 0; kind < 3; ++kind) {
    std::string pattern = std::string(kind == 2 ? "made" : root + "/made") + "/tmpXXXXXX" + (kind == 1 ? ".dat" : "");
    const int fd = kind == 1 ? mkstemps(pattern.data(), 4) : mkstemp(pattern.data());
    struct stat status {};
    say("mkstemp", fd < 0 ? -1 : 0);
    say("  changed", pattern.find("XXXXXX") == std::string::npos);
    say("  found", stat(pattern.c_str(), &status));
    say("  prefix", pattern.rfind(kind == 2 ? "made/tmp" : root + "/made/tmp", 0) == 0);
    close(fd);
    unlink(pattern.c_str());
  }
  std::string pattern = root + "/made/dirXXXXXX";
  say("mkdtemp", mkdtemp(pattern.data()) != nullptr && pattern.find("XXX") == std::string::npos ? 0 : -1);
  say("  removed", rmdir(pattern.c_str()));
  char* name = tempnam(at("made"), "pre");
  say("tempnam", name != nullptr && std::string(name).rfind(root + "/made/pre", 0) == 0 ? 0 : -1);
  std::free(name);
  int fd = open(at("made"), O_TMPFILE | O_RDWR, 0600);
  say("O_TMPFILE", fd < 0 ? -1 : 0);
  write_text(fd, "unnamed");
  say("linkat",
      linkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(), AT_FDCWD, at("made/named"), AT_SYMLINK_FOLLOW));
  close(fd);
  say("named", content(at("made/named")));
  const std::string longest(255, 'n'), longer(256, 'n');
  close(say_open("255 bytes", open(at(longest), O_CREAT | O_WRONLY, 0600)));
  say("256 bytes", open(at(longer), O_CREAT | O_WRONLY, 0600));
  say("an endless path", open((root + "/" + std::string(5000, 'x')).c_str(), O_RDONLY));
  say("nullptr", open(static_cast<const char*>(nullptr), O_RDONLY));
  close(say_open("255 input", open(at(std::string(255, 'i')), O_RDWR)));
  say("listing", listing(root));
  say("empty path", open("", O_RDONLY));
  const int empty = open(at("a.txt"), O_RDONLY);
  struct stat status {};
  say("AT_EMPTY_PATH", fstatat(empty, "", &status, AT_EMPTY_PATH));
  say("  is", text_of(status, false));
  close(empty);

  const int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s/made/s", root.c_str());
  say("bind", bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address));
  say("listen", listen(listener, 1));
  say("connect", connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address));
  sockaddr_un name_of{};
  socklen_t size = sizeof name_of;
  say("getsockname", getsockname(listener, reinterpret_cast<sockaddr*>(&name_of), &size));
  say("  name", std::strstr(name_of.sun_path, ("/" + own_name + "/made/s").c_str()));
  close(client);
  close(listener);
  say("unlink socket", unlink(at("made/s")));

  const int watch = inotify_init1(IN_NONBLOCK);
  say("inotify_add_watch", inotify_add_watch(watch, at("made"), IN_CREATE) >= 0 ? 0 : -1);
  close(open(at("made/watched"), O_CREAT | O_WRONLY, 0600));
  char events[4096];
  say("  event", read(watch, events, sizeof events) > 0);
  close(watch);
}

}  // namespace

int main(int, char** arguments) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  root = arguments[1];
  own_name = std::filesystem::path(root).filename();
  umask(022);
  chdir("/");
  opens(root + "/");
  reports(root + "/");
  listings(root + "/");
  chdir(root.c_str());
  opens("");
  opens("dir/../");
  reports("");
  listings("./");
  directories();
  changes();
  creations();
  chdir(at("dir"));
  reports("../");
  chdir(at("processor0"));
  reports("../");
  listings("../");
  return 0;
}
