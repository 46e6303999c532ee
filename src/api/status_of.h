// The status of an error of the rooms below, for the public libraries.
#pragma once

#include <cerrno>

#include "base/error.h"
#include "forebay/status.h"

namespace forebay::api {

inline forebay_status status_of(const Error& error) {
  switch (error.code) {
    case Code::bad_input:
      return FOREBAY_E_INVALID;
    case Code::undrained:
      return FOREBAY_E_STAGED;
    case Code::lost:
      return FOREBAY_E_DAMAGED;
    case Code::conflict:
      return FOREBAY_E_VERSION;
    case Code::pool_full:
      return FOREBAY_E_NO_SPACE;
    case Code::busy:
      return FOREBAY_E_BUSY;
    case Code::failed:
      break;
  }
  switch (error.errno_value) {
    case ENOSPC:
    case EDQUOT:
      return FOREBAY_E_NO_SPACE;
    case ENOMEM:
      return FOREBAY_E_NO_MEMORY;
    case EROFS:
      return FOREBAY_E_READ_ONLY;
    case ENOENT:
    case ENOTDIR:
      return FOREBAY_E_NO_SUCH_FILE;
    case EACCES:
    case EPERM:
      return FOREBAY_E_DENIED;
    default:
      return FOREBAY_E_IO;
  }
}

}  // namespace forebay::api
