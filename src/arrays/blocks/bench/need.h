// Errors of a benchmark end it, on every rank.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "arrays/blocks/mpi.h"
#include "base/base.h"

namespace forebay::blocks::bench {

inline void need(const Status& status) {
  if (status) return;
  fmt::print(stderr, "cannot measure: {}\n", status.error().text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

template <class T>
T need(Result<T> result) {
  need(result ? Status{} : Status(forward(result)));
  return std::move(*result);
}

}  // namespace forebay::blocks::bench
