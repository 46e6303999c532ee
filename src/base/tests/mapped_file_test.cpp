#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/base.h"

namespace forebay {
namespace {

Descriptor file_of(std::size_t bytes) {
  Descriptor file(::memfd_create("forebay-test", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  return file;
}

TEST(MappedFile, IsSharedAndAlignedToHugePagesWhereLarge) {
  for (const std::size_t bytes : {std::size_t{5000}, kHugePage, 3 * kHugePage + 5000}) {
    const Descriptor file = file_of(bytes);
    const auto one = MappedFile::of(file.get(), 0, bytes, PROT_READ | PROT_WRITE, "one");
    const auto other = MappedFile::of(file.get(), 0, bytes, PROT_READ, "other");
    ASSERT_TRUE(one && other);
    ASSERT_EQ(one->bytes().size(), bytes);
    one->bytes().back() = std::byte{42};
    EXPECT_EQ(other->bytes().back(), std::byte{42});
    if (bytes >= kHugePage) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one->bytes().data()) % kHugePage, 0);
    }
  }
}

TEST(MappedFile, OfAPartIsAlignedAsThePartIs) {
  const std::size_t offset = kHugePage + 8192, bytes = 2 * kHugePage;
  const Descriptor file = file_of(offset + bytes);
  const auto whole = MappedFile::of(file.get(), 0, offset + bytes, PROT_READ | PROT_WRITE, "whole");
  const auto part = MappedFile::of(file.get(), offset, bytes, PROT_READ, "part");
  ASSERT_TRUE(whole && part);
  whole->bytes()[offset] = std::byte{42};
  EXPECT_EQ(part->bytes()[0], std::byte{42});
  EXPECT_EQ((reinterpret_cast<std::uintptr_t>(part->bytes().data()) - offset) % kHugePage, 0);
}

TEST(MappedFile, NothingOfAFileIsNothing) {
  const auto mapped = MappedFile::of(-1, 0, 0, PROT_READ, "nothing");
  ASSERT_TRUE(mapped);
  EXPECT_TRUE(mapped->bytes().empty());
}

TEST(MappedFile, WhatCannotBeMappedIsAnError) {
  for (const std::size_t bytes : {std::size_t{1}, 2 * kHugePage}) {
    const auto mapped = MappedFile::of(-1, 0, bytes, PROT_READ, "somewhere");
    ASSERT_FALSE(mapped);
    EXPECT_EQ(mapped.error().text(), "cannot map somewhere: Bad file descriptor");
  }
}

}  // namespace
}  // namespace forebay
