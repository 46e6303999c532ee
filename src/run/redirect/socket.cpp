// Sockets that have a name in the case.
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {
namespace {

// The address to give to the kernel. A mapped path may be longer than an address can hold: then it goes through a
// descriptor of its directory.
class Address {
 public:
  Address(const sockaddr* address, socklen_t size) : given_{address, size} {
    constexpr socklen_t header = offsetof(sockaddr_un, sun_path);
    if (!active() || address == nullptr || address->sa_family != AF_UNIX || size <= header || size > sizeof(own_))
      return;
    Path text;
    const char* name = reinterpret_cast<const sockaddr_un*>(address)->sun_path;
    text.append(name, strnlen(name, size - header));  // not necessarily terminated; abstract names begin with NUL
    const Located location(AT_FDCWD, text.text);
    if (location.outside() || location.path == text.text) return;
    // Where the kernel finds it by the name as it was given, getsockname is to tell that.
    if (state.rank.directory.rest(location.path) != nullptr && strstr(text.text, "..") == nullptr) return;
    const char* path = location.path;
    DescriptorPath parent(0);
    Path shorter;
    if (strlen(path) >= sizeof own_.sun_path) {
      const char* slash = strrchr(path, '/');
      Path directory;
      directory.append(path, static_cast<size_t>(slash - path));
      parent_ = sys_openat(AT_FDCWD, directory.text, O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (parent_ < 0) return;
      parent = DescriptorPath(parent_);
      shorter.append(parent.text);
      shorter.append(slash);
      path = shorter.text;
      if (shorter.size >= sizeof own_.sun_path) return;
    }
    own_.sun_family = AF_UNIX;
    const size_t length = strlen(path);
    memcpy(own_.sun_path, path, length + 1);
    given_ = {reinterpret_cast<const sockaddr*>(&own_), static_cast<socklen_t>(header + length + 1)};
  }
  ~Address() {
    if (parent_ >= 0) sys_close(parent_);
  }
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;

  const sockaddr* get() const { return given_.address; }
  socklen_t size() const { return given_.size; }

 private:
  struct {
    const sockaddr* address;
    socklen_t size;
  } given_;
  sockaddr_un own_{};
  int parent_ = -1;
};

// Shows the case's path in an address that the kernel filled in, of which `room` bytes fit.
void show(sockaddr* address, socklen_t* size, socklen_t room) {
  constexpr socklen_t header = offsetof(sockaddr_un, sun_path);
  if (!active() || address == nullptr || size == nullptr || *size <= header || *size > room ||
      address->sa_family != AF_UNIX)
    return;
  char* name = reinterpret_cast<sockaddr_un*>(address)->sun_path;
  Path text;
  text.append(name, strnlen(name, *size - header));
  if (text.text[0] != '/' || !to_virtual(text)) return;
  const socklen_t length = header + static_cast<socklen_t>(text.size) + 1;
  memcpy(name, text.text, (length < room ? length : room) - header);
  *size = length;
}

}  // namespace

ENTRY(int, bind, (int fd, const sockaddr* address, socklen_t size)) {
  const Address mapped(address, size);
  return NEXT(bind)(fd, mapped.get(), mapped.size());
}

ENTRY(int, connect, (int fd, const sockaddr* address, socklen_t size)) {
  const Address mapped(address, size);
  return NEXT(connect)(fd, mapped.get(), mapped.size());
}

ENTRY(ssize_t, sendto, (int fd, const void* bytes, size_t count, int flags, const sockaddr* address, socklen_t size)) {
  const Address mapped(address, size);
  return NEXT(sendto)(fd, bytes, count, flags, mapped.get(), mapped.size());
}

ENTRY(int, getsockname, (int fd, sockaddr* address, socklen_t* size)) {
  const socklen_t room = size != nullptr ? *size : 0;
  const int result = NEXT(getsockname)(fd, address, size);
  if (result == 0) show(address, size, room);
  return result;
}

ENTRY(int, getpeername, (int fd, sockaddr* address, socklen_t* size)) {
  const socklen_t room = size != nullptr ? *size : 0;
  const int result = NEXT(getpeername)(fd, address, size);
  if (result == 0) show(address, size, room);
  return result;
}

}  // namespace forebay::redirect
