#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <random>
#include <vector>

#include "run/layouts/gzip.h"
#include "run/layouts/tests/group_of_ranks.h"
#include "run/openfoam/openfoam.h"

namespace forebay::layouts {
namespace {

namespace fs = std::filesystem;

class CompressedTest : public GroupOfRanks {
 protected:
  // As OpenFOAM writes it: one member, by zlib's own file functions.
  std::string gzip(std::string_view content) const {
    const std::string path = directory_ + "/gzip";
    const gzFile out = gzopen(path.c_str(), "wb");
    EXPECT_EQ(gzwrite(out, content.data(), static_cast<unsigned>(content.size())), static_cast<int>(content.size()));
    EXPECT_EQ(gzclose(out), Z_OK);
    return *read_file(path);
  }
  // Inflates a file as OpenFOAM reads it.
  std::string gunzip(std::string_view bytes) const {
    const std::string path = directory_ + "/gunzip";
    EXPECT_TRUE(replace_file(path, bytes));
    const gzFile in = gzopen(path.c_str(), "rb");
    std::string content;
    char buffer[10000];
    for (int got = 0; (got = gzread(in, buffer, sizeof buffer)) > 0;) content.append(buffer, static_cast<size_t>(got));
    EXPECT_EQ(gzclose(in), Z_OK);
    return content;
  }
  // The content of a decomposedBlockData file when every block is the whole file of its rank.
  static std::string frame(std::string_view object, std::string_view location, int ranks,
                           const std::vector<std::string>& blocks) {
    std::string text = openfoam::collated_header(object, location, ranks);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      text += fmt::format("\n\n// Processor{}\n\n{}\n({})", i, blocks[i].size(), blocks[i]);
    return text;
  }
  Result<GzipContent> read(std::string_view bytes, std::size_t head_bytes = 100) const {
    const std::string path = directory_ + "/read";
    EXPECT_TRUE(replace_file(path, bytes));
    return read_gzip(path, head_bytes);
  }
};

TEST_F(CompressedTest, AFieldBecomesOneGzipFileAroundWhatTheRanksWrote) {
  const std::vector<std::string> fields{file("volVectorField", "two\n"), file("volVectorField", "three\n")};
  make(2, "U.gz", gzip(fields[0]));
  make(3, "U.gz", gzip(fields[1]));
  const auto unit = collated_time(ranks(2, 3), "3", 4);
  ASSERT_TRUE(unit) << unit.error().text();
  EXPECT_EQ(unit->target, "processors4_2-3/3");
  ASSERT_EQ(unit->files.size(), 1u);
  const OutputFile& out = unit->files[0];
  EXPECT_EQ(out.path, "U.gz");
  EXPECT_EQ(gunzip(content(out)), frame("U", "3", 4, fields));
  // The ranks' bytes are moved as they are.
  ASSERT_EQ(out.pieces.size(), 5u);
  for (const int rank : {2, 3}) {
    const Piece& piece = out.pieces[rank == 2 ? 1 : 3];
    EXPECT_EQ(piece.source, rank_directory(rank) + "/U.gz");
    EXPECT_EQ(piece.offset, 0u);
    EXPECT_EQ(piece.length, fs::file_size(piece.source));
  }
}

TEST_F(CompressedTest, BinaryContentThatLooksLikeMembersAndBlocksIsKept) {
  using namespace std::string_view_literals;
  const std::string field = file("surfaceScalarField", "3\n(\x1f\x8b\x08\0)\n\n// Processor1\n\n2\n(}\n"sv);
  for (const int rank : {0, 1}) make(rank, "phi.gz", gzip(field));
  const auto unit = collated_time(ranks(0, 1), "3", 2);
  ASSERT_TRUE(unit) << unit.error().text();
  EXPECT_EQ(gunzip(content(unit->files[0])), frame("phi", "3", 2, {field, field}));
}

TEST_F(CompressedTest, TheSizeIsCountedWhateverTheTrailerTells) {
  // The file has two members, so that the trailer tells the size of the second only.
  const std::string field = file("volScalarField", std::string(3'000'000, '0'));
  make(0, "p.gz", gzip(field.substr(0, 50)) + gzip(field.substr(50, 1'000'000)) + gzip(field.substr(1'000'050)));
  make(1, "p.gz", gzip(field));
  const auto unit = collated_time(ranks(0, 1), "3", 2);
  ASSERT_TRUE(unit) << unit.error().text();
  EXPECT_TRUE(gunzip(content(unit->files[0])) == frame("p", "3", 2, {field, field}));
}

TEST_F(CompressedTest, CompressedAndPlainFilesOfATimeEachKeepTheirForm) {
  const std::string field = file("volScalarField", "p");
  for (const int rank : {0, 1}) {
    make(rank, "p.gz", gzip(field));
    make(rank, "U", file("volVectorField", "u"));
    make(rank, "uniform/functionObjects/functionObjectProperties.gz", gzip(file("dictionary", "a 1;")));
    make(rank, "uniform/time", file("dictionary", "index 3;"));
  }
  const auto unit = collated_time(ranks(0, 1), "3", 2);
  ASSERT_TRUE(unit) << unit.error().text();
  ASSERT_EQ(unit->files.size(), 4u);
  EXPECT_EQ(unit->files[0].path, "U");
  EXPECT_TRUE(content(unit->files[0]).ends_with("\n\n// Processor1\n\n1\n(u)"));
  EXPECT_EQ(gunzip(content(unit->files[1])), frame("p", "3", 2, {field, field}));
  EXPECT_EQ(content(unit->files[2]), gzip(file("dictionary", "a 1;")));
  EXPECT_EQ(content(unit->files[3]), file("dictionary", "index 3;"));
}

TEST_F(CompressedTest, ListsHaveTheirHeaderInTheFirstBlockOnly) {
  const std::string list = file("scalarField", "\n1\n(1)\n");
  make(0, "lagrangian/cloud/d.gz", gzip(list));
  make(1, "U", file("volVectorField", "u"));
  make(0, "U", file("volVectorField", "u"));
  const auto first = collated_time(ranks(0, 1), "3", 2);
  ASSERT_TRUE(first) << first.error().text();
  const std::string empty = "\n0\n";
  EXPECT_EQ(gunzip(content(first->files[1])), frame("d", "3/lagrangian/cloud", 2, {list, empty}));
  for (const std::size_t length : {1u, 1'000'000u}) {
    std::string values = fmt::format("\n{}\n(", length);
    for (std::size_t i = 0; i < length; ++i) values += fmt::format("{}\n", i * i % 1001);
    make(1, "lagrangian/cloud/d.gz", gzip(file("scalarField", values)));
    const auto both = collated_time(ranks(0, 1), "3", 2);
    ASSERT_TRUE(both) << both.error().text();
    EXPECT_TRUE(gunzip(content(both->files[1])) ==
                frame("d", "3/lagrangian/cloud", 2, {list, values + std::string(openfoam::closing_line)}));
  }
}

TEST_F(CompressedTest, AListThatCannotBeCutIsNamed) {
  const std::string list = file("scalarField", "\n1\n(1)\n");
  make(0, "d.gz", gzip(list));
  make(1, "d.gz", gzip(list.substr(0, 300)) + gzip(list.substr(300)));
  const auto unit = collated_time(ranks(0, 1), "3", 2);
  ASSERT_FALSE(unit);
  EXPECT_TRUE(unit.error().path.ends_with("processor1/3/d.gz")) << unit.error().text();
  EXPECT_EQ(unit.error().errno_value, 0);
}

TEST_F(CompressedTest, DamagedAndForeignFilesAreNotCollated) {
  const std::string whole = gzip(file("volScalarField", std::string(100'000, 'p') + "q"));
  std::string flipped = whole;
  flipped[flipped.size() - 6] = static_cast<char>(~flipped[flipped.size() - 6]);  // in the checksum
  make(0, "p.gz", whole);
  const std::vector<std::string> refused{
      whole.substr(0, whole.size() - 1), whole.substr(0, 20), flipped, whole + "more", whole + '\0',
      file("volScalarField", "p"),       gzip("no header"),   ""};
  for (const std::string& bytes : refused) {
    make(1, "p.gz", bytes);
    const auto unit = collated_time(ranks(0, 1), "3", 2);
    ASSERT_FALSE(unit) << bytes.size();
    EXPECT_TRUE(unit.error().path.ends_with("processor1/3/p.gz")) << unit.error().text();
    EXPECT_EQ(unit.error().errno_value, 0) << unit.error().text();
  }
  // The same on all ranks: one copy tells all, as of any foreign file.
  for (const int rank : {0, 1}) make(rank, "p.gz", flipped);
  const auto unit = collated_time(ranks(0, 1), "3", 2);
  ASSERT_TRUE(unit) << unit.error().text();
  EXPECT_EQ(content(unit->files[0]), flipped);
}

TEST_F(CompressedTest, ABlockThatOpenFoamCannotCountIsRefused) {
  for (const int rank : {0, 1}) make(rank, "p", file("volScalarField", "p"));
  fs::resize_file(rank_directory(1) + "/p", std::uintmax_t{1} << 31);
  const auto unit = collated_time(ranks(0, 1), "3", 2);
  ASSERT_FALSE(unit);
  EXPECT_TRUE(unit.error().path.ends_with("processor1/3/p")) << unit.error().text();
}

TEST_F(CompressedTest, AMemberHoldsItsTextWhateverItsLength) {
  for (const std::size_t length : {0u, 1u, 65'535u, 65'536u, 200'000u}) {
    std::string text(length, 'x');
    for (std::size_t i = 0; i < length; i += 7) text[i] = static_cast<char>(i);
    EXPECT_TRUE(gunzip(gzip_member(text)) == text) << length;
    EXPECT_TRUE(gunzip(gzip("before") + gzip_member(text) + gzip_member("behind")) == "before" + text + "behind");
    const auto found = read(gzip_member(text), 100);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->bytes, length);
    EXPECT_EQ(found->head, text.substr(0, 100));
  }
}

TEST_F(CompressedTest, AFileCutOffAnywhereIsNeverTakenForWhole) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += std::to_string(i * i);
  const std::string whole = gzip(text);
  for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_FALSE(read(whole.substr(0, length))) << length;
  const auto found = read(whole);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->bytes, text.size());
}

TEST_F(CompressedTest, CuttingTheFrontOffKeepsTheRestBitByBit) {
  std::mt19937 random(1);
  int kept = 0;
  for (int round = 0; round < 90; ++round) {
    std::string text;
    const std::size_t length = 1000 + random() % (round % 5 == 0 ? 20'000 : 300'000);
    const unsigned kinds = round % 4 == 0 ? 256 : 10;
    while (text.size() < length) {
      if (random() % 400 == 0 && text.size() > 500) {
        text += text.substr(text.size() - 400, 1 + random() % 300);
      } else {
        text += static_cast<char>(' ' + random() % kinds);
      }
    }
    const std::size_t cut = random() % 1000;
    const std::string path = directory_ + "/cut";
    ASSERT_TRUE(replace_file(path, gzip(text)));
    const auto pieces = cut_gzip(path, cut);
    ASSERT_TRUE(pieces) << pieces.error().text();
    OutputFile out;
    out.pieces = *pieces;
    EXPECT_TRUE(gunzip(gzip("before") + content(out) + gzip("behind")) == "before" + text.substr(cut) + "behind")
        << round;
    const auto whole = read(content(out));
    ASSERT_TRUE(whole) << whole.error().text();
    EXPECT_EQ(whole->bytes, text.size() - cut);
    if (pieces->size() != 3) continue;
    ++kept;
    EXPECT_LT((*pieces)[0].literal.size(), 150'000u);
    EXPECT_EQ((*pieces)[1].source, path);
    EXPECT_GT((*pieces)[1].length, 0u);
  }
  EXPECT_GT(kept, 30);  // at every bit of a byte
}

}  // namespace
}  // namespace forebay::layouts
