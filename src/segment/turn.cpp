#include "segment/turn.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <thread>

namespace forebay::segment {

std::optional<Turn> Turn::take(const std::string& pool, unsigned limit) {
  struct stat status {};
  if (::stat(pool.c_str(), &status) != 0) return Turn(Descriptor());
  for (unsigned i = 0; i < limit; ++i) {
    Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket) return Turn(Descriptor());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // An abstract name begins with a zero byte.
    const std::string name = fmt::format("forebay-turn-{:x}-{:x}-{}", status.st_dev, status.st_ino, i);
    name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return Turn(std::move(socket));
    if (errno != EADDRINUSE) return Turn(Descriptor());
  }
  return std::nullopt;
}

Turn Turn::wait(const std::string& pool, unsigned limit) {
  for (;;) {
    if (auto turn = take(pool, limit)) return std::move(*turn);
    // A turn lasts as long as the copy of a segment: milliseconds.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace forebay::segment
