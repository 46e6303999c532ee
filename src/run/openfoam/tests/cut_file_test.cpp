#include "run/openfoam/cut_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "run/openfoam/case_times.h"
#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

class CutFile : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/forebay-cut-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string put(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string directory_;
};

std::string field(const std::string& values = "uniform 0;\n") {
  return "FoamFile\n{\n    version     2.0;\n    format      ascii;\n    class       volScalarField;\n"
         "    object      p;\n}\n\ninternalField " +
         values + "\n" + std::string(closing_line).substr(2);
}

std::string collated(int blocks) {
  std::string text = collated_header("p", "0.1", blocks);
  for (int block = 0; block < blocks; ++block) {
    const std::string content = block == 0 ? field() : "internalField uniform 0;\n";
    text += block_prefix(block, content.size()) + content + block_suffix();
  }
  return text;
}

std::string compressed(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

// Whether the file's end by itself tells that it is cut.
bool is_cut(const std::string& path, int blocks = 0) {
  const Ending ending = ending_of(path, blocks);
  return ending != Ending::closed && ending != Ending::plain;
}

TEST_F(CutFile, AWholeFieldIsNot) {
  EXPECT_FALSE(is_cut(put("p", field())));
  EXPECT_FALSE(is_cut(put("q", field() + "\n\n")));
}

TEST_F(CutFile, AFieldWithoutItsClosingLineIsWhereverItEnds) {
  const std::string whole = field(std::string(20'000, '1') + ";\n");
  for (const std::size_t size : {std::size_t{0}, std::size_t{12}, std::size_t{80}, whole.size() / 2, whole.size() - 6})
    EXPECT_TRUE(is_cut(put("p", whole.substr(0, size)))) << size;
}

TEST_F(CutFile, OtherProgramsFilesAreOnlyWhenTheyAreEmpty) {
  EXPECT_FALSE(is_cut(put("probes.dat", "# x y\n1 2")));
  EXPECT_TRUE(is_cut(put("empty", "")));
  EXPECT_TRUE(is_cut(directory_ + "/missing"));
}

TEST_F(CutFile, ACompressedFieldIsWhereItsStreamDoesNotEnd) {
  const std::string whole = compressed(field(std::string(20'000, '1') + ";\n"));
  EXPECT_FALSE(is_cut(put("p.gz", whole)));
  for (const std::size_t size : {std::size_t{5}, whole.size() / 2, whole.size() - 1})
    EXPECT_TRUE(is_cut(put("p.gz", whole.substr(0, size)))) << size;
  EXPECT_TRUE(is_cut(put("q.gz", compressed(field().substr(0, 150)))));
  EXPECT_FALSE(is_cut(put("r.gz", compressed(field(std::string(20'000, '1') + ";\n")) + compressed("\n"))));
}

TEST_F(CutFile, ACollatedFileNeedsAllItsBlocks) {
  const std::string whole = collated(3);
  EXPECT_FALSE(is_cut(put("p", whole), 3));
  EXPECT_FALSE(is_cut(put("p", whole)));
  EXPECT_TRUE(is_cut(put("p", whole), 4));
  for (const std::size_t size : {whole.size() - 1, whole.size() - 30, whole.size() / 2})
    EXPECT_TRUE(is_cut(put("p", whole.substr(0, size)), 3)) << size;
}

TEST_F(CutFile, TimesOfACaseAreFoundInRanksDirectoriesAndGroups) {
  put("case/system/controlDict", "startFrom startTime;\nstartTime 0;\n");
  put("case/0/U", field());  // of the case in one piece: left out
  put("case/processors2/0.1/U", collated(2));
  put("case/processor1/0.1/U", field());
  put("case/processor0/0.2/uniform/time", field());
  std::filesystem::create_directory_symlink("uniform", directory_ + "/case/processor0/0.2/linked");
  std::filesystem::create_directory_symlink("/", directory_ + "/case/processor0/0.2/out");
  const auto found = times_of_case(directory_ + "/case");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(found->times.at("0.1"), (RankNames{{0, {"U"}}, {1, {"U"}}}));
  EXPECT_EQ(found->times.at("0.2"), (RankNames{{0, {"linked/time", "out", "uniform/time"}}, {1, {}}}));
  EXPECT_EQ(found->start, "0.1");  // the oldest, since there is no time 0
  put("case/processor1/0.1/U", field().substr(0, 150));
  const auto any = [](const std::string&) { return true; };
  EXPECT_EQ(endings_of(directory_ + "/case", *found, "0.1", any),
            (std::map<int, Endings>{{0, {{"U", Ending::plain}}}, {1, {{"U", Ending::unclosed}}}}));
  EXPECT_TRUE(
      endings_of(directory_ + "/case", *found, "0.1", [](const std::string& name) { return name == "p"; }).empty());
  EXPECT_EQ(directories_of_time(directory_ + "/case", *found, "0.1"),
            (std::vector<std::string>{"processors2/0.1", "processor1/0.1"}));
}

TEST(Habits, AClosingLineIsMissedWhereAnotherFileOfTheNameHasOne) {
  Habits habits;
  EXPECT_FALSE(habits.is_cut("U", Ending::unclosed)) << "nothing is known";
  EXPECT_FALSE(habits.add("1", {{"U", Ending::unclosed}, {"p", Ending::closed}}));
  EXPECT_TRUE(habits.is_cut("U", Ending::unclosed)) << "one time only, whose other files have closing lines";
  EXPECT_TRUE(habits.add("2", {{"U", Ending::unclosed}, {"p", Ending::closed}})) << "the first time's U";
  EXPECT_FALSE(habits.is_cut("U", Ending::unclosed));
  EXPECT_TRUE(habits.is_cut("p", Ending::unclosed));
  EXPECT_FALSE(habits.is_cut("p", Ending::closed));
  EXPECT_TRUE(habits.add("3", {{"U", Ending::closed}}));
  EXPECT_TRUE(habits.is_cut("U", Ending::unclosed));
}

TEST(Habits, WithoutAnyClosingLineNoneIsMissed) {
  Habits habits;
  habits.add("1", {{"U", Ending::unclosed}, {"points", Ending::plain}});
  EXPECT_FALSE(habits.is_cut("U", Ending::unclosed));
  EXPECT_TRUE(habits.is_cut("U", Ending::empty));
  EXPECT_TRUE(habits.is_cut("U", Ending::torn));
}

TEST(Habits, AMarkerIsEmptyInEveryTime) {
  Habits habits;
  habits.add("1", {{"done", Ending::empty}, {"p", Ending::empty}});
  EXPECT_TRUE(habits.is_cut("done", Ending::empty));
  habits.add("1", {{"done", Ending::empty}});
  EXPECT_TRUE(habits.is_cut("done", Ending::empty)) << "the same time on another rank";
  EXPECT_TRUE(habits.add("2", {{"done", Ending::empty}, {"p", Ending::plain}}));
  EXPECT_FALSE(habits.is_cut("done", Ending::empty));
  EXPECT_TRUE(habits.is_cut("p", Ending::empty));
}

TEST(StartTime, IsWhatControlDictSays) {
  const std::vector<std::string> times{"0", "0.1", "10", "9"};
  EXPECT_EQ(start_time("latestTime", "", times), "10");
  EXPECT_EQ(start_time("", "", times), "10");
  EXPECT_EQ(start_time("firstTime", "5", times), "0");
  EXPECT_EQ(start_time("startTime", "0.10", times), "0.1");
  EXPECT_EQ(start_time("startTime", "3", times), std::nullopt);
  EXPECT_EQ(start_time("latestTime", "", {}), std::nullopt);
}

}  // namespace
}  // namespace forebay::openfoam
