// Sockets, by hwloc. Internal to node.
#pragma once

#include <vector>

#include "run/node/node.h"

namespace forebay::node {

// In hwloc's logical order, the sockets outside this process's binding and control group included: the index of a
// socket must be the same for every process of the node. A machine without packages is one socket.
Result<std::vector<Socket>> load_sockets();

}  // namespace forebay::node
