// mesh: coarse meshes, and the fine ones that uniform refinement makes of them, with global numbers.
//
// Promises: a refined mesh is conforming; its numbers, coordinates and orders depend on the coarse mesh and the number
// of levels alone, bit by bit, never on how many parts it is made in or which part makes a point; every number is found
// without communication. What is read from outside is checked before it is used. Numbers count from 0. No exceptions,
// no global state; all that is const may be used by several threads.
// Must not know: MPI, files of results, ranks; a part is a list of coarse cells.
//
//   Mesh -> number() -> Topology -> Refinement -> make_part(), stream_points() / stream_cells() / stream_faces(),
//                       conformity()              survey()
#pragma once

#include "mesh/cavity.h"
#include "mesh/coarse.h"
#include "mesh/conformity.h"
#include "mesh/join.h"
#include "mesh/part.h"
#include "mesh/partition.h"
#include "mesh/periodic.h"
#include "mesh/reader.h"
#include "mesh/refinement.h"
#include "mesh/shape.h"
#include "mesh/stream.h"
#include "mesh/survey.h"
#include "mesh/topology.h"
