#include "base/priority.h"

#include <linux/ioprio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace forebay {

void give_way() {
  constexpr int this_thread = 0;
  (void)::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, this_thread, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
}

}  // namespace forebay
