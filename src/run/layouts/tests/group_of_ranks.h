// Times of several ranks in a directory of their own, for the tests of the collated layout.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "run/layouts/layouts.h"
#include "run/openfoam/openfoam.h"

namespace forebay::layouts {

inline std::string header(std::string_view class_name, std::string_view format = "binary") {
  return fmt::format(
      "FoamFile\n{{\n    version     2.0;\n    format      {};\n    class       {};\n    arch        "
      "\"LSB;label=32;scalar=64\";\n    location    \"3\";\n    object      X;\n}}\n"
      "// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //\n\n",
      format, class_name);
}
inline std::string file(std::string_view class_name, std::string_view body) {
  return header(class_name) + std::string(body) + std::string(openfoam::closing_line);
}

class GroupOfRanks : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-layouts-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void make(int rank, const std::string& path, std::string_view content) {
    const std::string whole = join(rank_directory(rank), path);
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    ASSERT_TRUE(replace_file(whole, content));
  }
  std::string rank_directory(int rank) const { return fmt::format("{}/processor{}/3", directory_, rank); }
  std::vector<RankTime> ranks(int first, int last) const {
    std::vector<RankTime> found;
    for (int rank = first; rank <= last; ++rank) {
      RankTime time{rank, rank_directory(rank), {}};
      for (const auto& entry : std::filesystem::recursive_directory_iterator(time.directory))
        if (!entry.is_directory()) time.files.push_back(entry.path().lexically_relative(time.directory));
      std::ranges::sort(time.files);
      found.push_back(time);
    }
    return found;
  }
  static std::string content(const OutputFile& file) {
    std::string bytes;
    for (const Piece& piece : file.pieces)
      bytes += piece.source.empty() ? piece.literal : read_file(piece.source)->substr(piece.offset, piece.length);
    return bytes;
  }
  static std::string blocks(const OutputFile& file) {
    const std::string whole = content(file);
    const auto outer = openfoam::parse_header(whole);
    EXPECT_TRUE(outer) << whole;
    EXPECT_EQ(outer->class_name, "decomposedBlockData");
    // parse_header takes the first of the two newlines of a block's prefix for the header's blank line.
    return whole.substr(outer->end);
  }
  std::string directory_;
};

}  // namespace forebay::layouts
