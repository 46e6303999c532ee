// blocks: global arrays whose items are scattered over the ranks of a parallel program, in files that do not show it.
//
// Promises: the bytes of a file depend on its arrays alone, not on method, ranks, blocks or time. Every call is
// collective unless it says otherwise; what one rank does wrong is the same error on every rank, and none waits for
// ever. A file appears whole under its name or not at all, and never damages the one before. A plan is made once and
// serves arrays of any item size; numbers that are missing or come twice are named.
// Must not know: cases, or what an array means; of a mesh, only what VTK wants to be told.
#pragma once

#include "arrays/blocks/checkpoint.h"
#include "arrays/blocks/exchange.h"
#include "arrays/blocks/lists.h"
#include "arrays/blocks/mesh_output.h"
#include "arrays/blocks/method.h"
#include "arrays/blocks/plan.h"
#include "arrays/blocks/team.h"
