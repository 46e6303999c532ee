// Inputs that no link to the case can stand for, whatever the way in.
#pragma once

#include "run/tree/tree.h"

namespace forebay::tree {

// Programs and scripts become copies. A program finds its libraries ($ORIGIN), its prefix and its neighbours by where
// it lies (/proc/self/exe), and through a link that would be the case as it was before the run. A library is found by
// its name, so it may be a link.
void copy_programs(const StageRequest& request, Inputs& inputs);
// So does what somebody may write who may not replace it in its directory, as copying it up does. A program of root's
// may become any user: the owner of the file, one of its group, or any other.
void copy_what_cannot_be_replaced(const StageRequest& request, Inputs& inputs);

}  // namespace forebay::tree
