// mesh: coarse meshes, and the fine ones that uniform refinement makes of them, with global numbers.
//
// Promises: a refined mesh is conforming. Its numbers, coordinates and orders depend on the coarse mesh and the number
// of levels alone, bit by bit, never on how many parts it is made in or which part makes a point. Every number is found
// without communication. Data from outside is checked before it is used. Numbers count from 0. No exceptions, no global
// state; all that is const may be used by several threads. Must not know: MPI, files of results, ranks; a part is a
// list of coarse cells.
//
//   Mesh -> number() -> Topology -> Refinement -> make_part(), stream_points() / stream_cells() / stream_faces(),
//                       conformity()              survey()
#pragma once

#include "meshes/mesh/cavity.h"
#include "meshes/mesh/coarse.h"
#include "meshes/mesh/conformity.h"
#include "meshes/mesh/join.h"
#include "meshes/mesh/part.h"
#include "meshes/mesh/partition.h"
#include "meshes/mesh/periodic.h"
#include "meshes/mesh/reader.h"
#include "meshes/mesh/refinement.h"
#include "meshes/mesh/shape.h"
#include "meshes/mesh/stream.h"
#include "meshes/mesh/survey.h"
#include "meshes/mesh/topology.h"
