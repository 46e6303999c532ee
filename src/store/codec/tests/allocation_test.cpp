// Counts the calls of the C library's allocator, which the libraries behind the codecs use too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "store/codec/codec.h"
#include "store/codec/tests/fields.h"

#if defined(__GLIBC__) && !defined(FOREBAY_SANITIZED)

namespace {
std::atomic<long> allocations = 0;
}
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* malloc(std::size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
}

namespace forebay::codec::test {
namespace {

TEST(Allocation, NothingIsAllocatedOnceTheWorkspaceIsWarm) {
  constexpr std::size_t kCount = 100000;
  for (const Codec codec : kCodecs) {
    Workspace workspace;
    Held writer(kCount), reader(kCount);
    std::vector<double> decoded(kCount);
    Bytes record(bound(kCount, sizeof(double)));
    std::vector<std::vector<double>> fields;
    for (int step = 0; step < 8; ++step) fields.push_back(rough<double>(kCount, static_cast<std::uint64_t>(step)));
    const Settings settings{.codec = codec, .accepted = 1e-4, .key_interval = 2};
    long before = 0;
    for (std::size_t step = 0; step < fields.size(); ++step) {
      if (step == 3) before = allocations;
      const auto encoded =
          encode(std::span<const double>(fields[step]), settings, workspace, std::span(record), &writer.reference);
      ASSERT_TRUE(encoded);
      ASSERT_TRUE(decode_from(record, decoded, workspace, &reader.reference));
      if (step == 0) {
        EXPECT_GT(allocations, 0) << "the counter does not count";
      }
    }
    EXPECT_EQ(allocations, before) << named(codec);
  }
}

}  // namespace
}  // namespace forebay::codec::test

#endif
