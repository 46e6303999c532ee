// array_file: files of named arrays that HDF5 programs read, and whose raw bytes anybody may write at known offsets.
//
// Promises: the HDF5 library lays a file out, with every array contiguous and allocated, so that the arrays can then be
// written and read in parallel without it. The bytes of a file depend on its description and its data alone: no times,
// no host, no rank. Every array has checksums of its pieces of 4 MiB; the description has one of its own; what is read
// is not believed before they fit. The formats are in docs/format.md, "Checkpoints" and "Meshes and fields".
// Must not know: MPI, ranks, blocks, or who writes the arrays.
#pragma once

#include "arrays/array_file/checks.h"
#include "arrays/array_file/description.h"
#include "arrays/array_file/file.h"
#include "arrays/array_file/grid.h"
#include "arrays/array_file/pieces.h"
