// Shared parts of the C interface (forebay/arrays.h): what its handles are, and outcomes as statuses.
#pragma once

#include <cstdio>
#include <exception>
#include <optional>

#include "api/sized.h"
#include "arrays/blocks/checkpoint.h"
#include "arrays/blocks/exchange.h"
#include "arrays/blocks/team.h"
#include "forebay/arrays.h"

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

struct forebay_checkpoints {
  const forebay::blocks::Team* team;
  std::unique_ptr<forebay::blocks::Checkpoints> value;
  forebay::blocks::Head head;                    // of the last file that was read,
  forebay::array_file::Description description;  // or described
  std::vector<forebay::blocks::Recovered> recovered;
};

namespace forebay::blocks {

// Keeps the words of the error for this thread.
int report(const Error& error) noexcept;
// An argument of a local call, or a handle, that is NULL: of the ranks of such a handle nothing is known.
int missing(const char* what) noexcept;

// ok where an argument is not NULL; where `count` values may be read from it.
Status given(const char* what, const void* argument);
Status given(const char* what, const void* memory, std::uint64_t count);

// Whether all that is set of options is one of `user`.
Status check_options(const forebay_options* options, const char* user);
std::optional<std::int64_t> number_of(const forebay_options* options, const char* key);

// ok where a struct of a program can be read, or, with `to_fill`, filled.
template <class T>
Status check_size(const T& given, const char* name, bool to_fill = false) {
  const auto wrong = to_fill ? api::wrong_size(given, name) : api::wrong_to_read(given, name);
  return wrong ? Status(error(Code::bad_input, *wrong)) : Status{};
}

// ok where a head can be written.
Status check_head(const forebay_head* head);
Head head_of(const forebay_head& head);
// The table of a program as that of the room, where `mine`, what else this rank was given, is ok on all ranks too.
// Collective.
Result<std::vector<FieldToWrite>> fields_to_write(const Team& team, const forebay_array* arrays, int count,
                                                  Status mine = {});

// Calls and turns what comes out into a status. Only lack of memory throws, on this rank alone: the others are in a
// collective call already, and would wait for ever.
template <class Call>
int run(MPI_Comm communicator, Call&& call) noexcept {
  try {
    const Status outcome = call();
    return outcome ? FOREBAY_OK : report(outcome.error());
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "forebay: %s; the other ranks cannot go on without this one\n", exception.what());
    MPI_Abort(communicator, 1);
    return FOREBAY_E_NO_MEMORY;
  }
}
// Guards a local call in the same way: nobody waits for this rank, and lack of memory becomes a status.
template <class Call>
int run_alone(Call&& call) noexcept {
  try {
    const Status outcome = call();
    return outcome ? FOREBAY_OK : report(outcome.error());
  } catch (const std::exception&) {
    return forebay_error_set(FOREBAY_E_NO_MEMORY, "no memory");
  }
}

template <class T, class V>
void assign(T* target, V value) {
  if (target != nullptr) *target = value;
}

}  // namespace forebay::blocks
