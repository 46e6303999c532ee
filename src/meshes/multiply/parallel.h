// Jobs that several threads share among them.
#pragma once

#include <cstddef>
#include <functional>

#include "base/base.h"

namespace forebay::multiply {

// Does the jobs 0 .. count - 1, each begun after those before it; none is begun any more once one has failed, whose
// error is returned. `meanwhile` is called now and then, by the calling thread.
Status in_parallel(unsigned threads, std::size_t count, const std::function<Status(std::size_t)>& job,
                   const std::function<void()>& meanwhile);

}  // namespace forebay::multiply
