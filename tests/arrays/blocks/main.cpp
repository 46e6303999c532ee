// Runs the same tests on every rank. Rank 0 tells about all of them, the others only about what fails there.
#include <gtest/gtest.h>

#include <cstdio>

#include "arrays/blocks/mpi.h"

namespace {

class FailuresOnly final : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    // Which test it is, the library would tell only under a lock that it holds meanwhile.
    std::fprintf(stderr, "rank %d, %s:%d: %s\n", rank_, result.file_name(), result.line_number(), result.message());
  }
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));
  }
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
