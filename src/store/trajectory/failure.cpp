#include "store/trajectory/failure.h"

#include "api/status_of.h"

namespace forebay::trajectory {

Failure failure_of(const Error& error) {
  return {api::status_of(error), error.text()};
}

}  // namespace forebay::trajectory
