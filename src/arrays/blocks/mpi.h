// MPI with errors as values: what a call of MPI returns, and errors that all ranks share.
#pragma once

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#endif
#include <mpi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base.h"

namespace forebay::blocks {

// The result of a call as a Status: "cannot write /x/y (MPI: no space left)".
Status mpi_status(int returned, std::string_view what, std::string_view path = {}, std::string_view advice = {});

// An error where the program runs with an MPI of another family than this library was built with: their handles differ,
// so that any other call would end the program. May be asked before MPI_Init.
Status check_family();

int rank_in(MPI_Comm communicator);
int size_of(MPI_Comm communicator);

// Collective: ok on every rank where it is on all; otherwise the error of the lowest rank that has one, on every rank.
Status agree(MPI_Comm communicator, const Status& mine);

// Collective: the text that the rank `from` has.
std::string broadcast(MPI_Comm communicator, std::string mine, int from);

// Owns a communicator; freed at the end of its life, by all of its ranks together.
class Communicator {
 public:
  Communicator() = default;
  explicit Communicator(MPI_Comm owned) : handle_(owned) {}
  Communicator(Communicator&& other) noexcept : handle_(std::exchange(other.handle_, MPI_COMM_NULL)) {}
  Communicator& operator=(Communicator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Communicator();
  MPI_Comm get() const { return handle_; }
  explicit operator bool() const { return handle_ != MPI_COMM_NULL; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

// A type of one item of so many bytes, so that counts are those of items and stay below 2^31 for long.
class ItemType {
 public:
  explicit ItemType(std::size_t bytes);
  ItemType(const ItemType&) = delete;
  ItemType& operator=(const ItemType&) = delete;
  ~ItemType();
  MPI_Datatype get() const { return handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

// Sum, maximum or minimum over all ranks.
std::uint64_t over_all(MPI_Comm communicator, std::uint64_t mine, MPI_Op operation);
// Waits for all ranks as a barrier does, for what takes long: asleep, and so up to a millisecond longer. MPI's own ways
// of waiting take a whole core each, also from those for whom they wait.
void meet_asleep(MPI_Comm communicator);
// Whether all ranks have the same.
bool same_on_all(MPI_Comm communicator, std::uint64_t mine);

// The size of a communicator is an int in MPI, a size of vectors here.
constexpr std::size_t index(int rank) {
  return static_cast<std::size_t>(rank);
}

}  // namespace forebay::blocks
