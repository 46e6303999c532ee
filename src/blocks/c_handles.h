// What the C interface (forebay/blocks.h) shares: what its handles are, and outcomes as statuses.
#pragma once

#include <cstdio>
#include <exception>

#include "blocks/exchange.h"
#include "blocks/team.h"
#include "forebay/blocks.h"

struct forebay_team {
  forebay::blocks::Team value;
};

struct forebay_plan {
  explicit forebay_plan(forebay::blocks::Plan made) : value(std::move(made)), exchange(value) {}
  forebay_plan(const forebay_plan&) = delete;
  forebay_plan& operator=(const forebay_plan&) = delete;

  const forebay::blocks::Plan value;
  forebay::blocks::Exchange exchange;
  forebay::blocks::NodeMemory image;  // of what to_block and from_block move
};

namespace forebay::blocks {

// Keeps the words of the error for this thread.
int report(const Error& error) noexcept;
// An argument that is NULL, before anything collective has begun.
int missing(const char* what) noexcept;

// Calls and turns what comes out into a status. Only lack of memory throws, on this rank alone: the others are in a
// collective call already, and would wait for ever.
template <class Call>
int run(MPI_Comm communicator, Call&& call) noexcept {
  try {
    const Status outcome = call();
    return outcome ? FOREBAY_BLOCKS_OK : report(outcome.error());
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "forebay: %s; the other ranks cannot go on without this one\n", exception.what());
    MPI_Abort(communicator, 1);
    return FOREBAY_BLOCKS_FAILED;
  }
}

template <class T, class V>
void assign(T* target, V value) {
  if (target != nullptr) *target = value;
}

}  // namespace forebay::blocks
