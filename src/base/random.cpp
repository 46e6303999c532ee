#include "base/random.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/file.h"

namespace forebay {

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) == sizeof number) return number;
  // Linux has the call from 3.17 on.
  if (const auto device = open_file("/dev/urandom", O_RDONLY))
    if (::read(device->get(), &number, sizeof number) == sizeof number) return number;
  // Without both, processes of one machine still differ.
  return static_cast<std::uint64_t>(::getpid());
}

}  // namespace forebay
