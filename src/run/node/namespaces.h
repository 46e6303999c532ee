// Whether private mount namespaces work, found out by making one. Internal to node.
#pragma once

#include "base/base.h"

namespace forebay::node {

// In a child: unshare (with a user namespace of its own or without), uid and gid mapped to themselves, mounts made
// private, one directory bound. The error names the step that failed.
Status try_namespaces(bool user_namespace);

}  // namespace forebay::node
