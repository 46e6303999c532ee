#include "arrays/array_file/pieces.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

namespace forebay::array_file {
namespace {

std::vector<std::byte> some_bytes(std::size_t count) {
  std::mt19937 random(3);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Pieces, HaveTheChecksumsOfZlibHoweverTheyWereCut) {
  const auto bytes = some_bytes(2 * kPieceBytes + 12345);
  std::vector<std::uint32_t> expected;
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const auto length = static_cast<unsigned>(std::min<std::size_t>(kPieceBytes, bytes.size() - at));
    expected.push_back(
        static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const unsigned char*>(bytes.data() + at), length)));
  }
  for (const std::size_t block : {std::size_t{1} << 24, kPieceBytes, std::size_t{1'000'001}, std::size_t{777}}) {
    std::vector<PartCheck> parts;
    for (std::size_t at = 0; at < bytes.size(); at += block) {
      const auto mine = part_checks(at, std::span(bytes).subspan(at, std::min(block, bytes.size() - at)));
      parts.insert(parts.begin(), mine.begin(), mine.end());  // not in order
    }
    const auto whole = whole_checks(std::move(parts), bytes.size());
    ASSERT_TRUE(whole) << whole.error().text();
    EXPECT_EQ(*whole, expected) << "blocks of " << block;
  }
}

TEST(Pieces, AreNotBelievedWithAHole) {
  const auto bytes = some_bytes(1000);
  auto parts = part_checks(0, std::span(bytes).first(400));
  const auto rest = part_checks(500, std::span(bytes).subspan(500));
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_FALSE(whole_checks(parts, 1000));
  EXPECT_FALSE(whole_checks({}, 1000));
  EXPECT_TRUE(whole_checks({}, 0));
}

}  // namespace
}  // namespace forebay::array_file
