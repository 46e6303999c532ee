#include "trajectory/failure.h"

#include <cerrno>

namespace forebay::trajectory {

Failure failure_of(const Error& error) {
  const auto status = [&] {
    if (error.code == Code::busy) return FOREBAY_E_BUSY;
    if (error.code == Code::conflict) return FOREBAY_E_VERSION;
    if (error.code == Code::lost) return FOREBAY_E_DAMAGED;
    switch (error.errno_value) {
      case ENOSPC:
      case EDQUOT:
        return FOREBAY_E_NO_SPACE;
      case ENOMEM:
        return FOREBAY_E_NO_MEMORY;
      case EROFS:
      case EACCES:
      case EPERM:
        return FOREBAY_E_READ_ONLY;
      default:
        return FOREBAY_E_IO;
    }
  }();
  return {status, error.text()};
}

}  // namespace forebay::trajectory
