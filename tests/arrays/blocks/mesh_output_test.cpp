#include "arrays/blocks/mesh_output.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <numeric>

#include "arrays/array_file/inspect.h"
#include "row_of_cubes.h"
#include "shared_scratch.h"

namespace forebay::blocks {
namespace {

constexpr std::uint64_t kPairs = 400;

Status write_one(const Team& team, Method method, const SharedScratch& scratch, const BlockRequest& blocks) {
  const RowOfCubes row(team, kPairs, blocks);
  const auto files = must(Checkpoints::open(team, scratch.path(), options_of(method, scratch)));
  const auto output = must(MeshOutput::make(*files, "flow", row.mesh()));
  if (auto ok = output->write({7, 0.25, "test", "row"}, row.fields()); !ok) return ok;
  return output->settle();
}

template <class T>
std::vector<T> values_of(const std::string& file, const array_file::Description& description, std::string_view location,
                         std::string_view name) {
  const array_file::Array& array = *description.array(location, name);
  std::vector<T> values(array.bytes() / sizeof(T));
  std::memcpy(values.data(), file.data() + array.offset, array.bytes());
  return values;
}

TEST(MeshOutput, HasTheSameBytesByEveryMethodOnAnyRanksAndNodesAndBlocks) {
  const SharedScratch scratch;
  std::string expected;
  for (const Method method : kMethods) {
    for (const int ranks : {all_ranks(), 1}) {
      for (const int most_per_node : {0, 2}) {
        const auto team = team_of(ranks, most_per_node);
        if (!team) continue;
        SCOPED_TRACE(testing::Message() << name_of(method) << ", " << ranks << " ranks, nodes of " << most_per_node);
        const auto written = write_one(*team, method, scratch, {0, 8, 1, most_per_node});
        ASSERT_TRUE(written) << written.error().text();
        if (team->rank() != 0) continue;
        const std::string bytes = must(read_file(scratch.in("flow-000007.vtkhdf")));
        if (expected.empty()) expected = bytes;
        EXPECT_TRUE(bytes == expected) << "differs from the first file";
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(MeshOutput, HoldsEveryVertexAndCellInTheOrderOfItsNumber) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  must(write_one(*team, Method::mpi_collective, scratch, {0, 8, 1, 0}));
  if (team->rank() != 0) return;
  const auto description = must(array_file::describe(scratch.in("flow-000007.vtkhdf")));
  const std::string file = must(read_file(scratch.in("flow-000007.vtkhdf")));
  EXPECT_TRUE(must(array_file::verify(scratch.in("flow-000007.vtkhdf"), description)).empty());
  std::vector<double> places, pressure;
  std::vector<std::int64_t> corners, ends;
  std::vector<std::uint8_t> types;
  for (std::uint64_t number = 1; number <= 8 * kPairs + 4; ++number) {
    const auto place = place_of(number);
    places.insert(places.end(), place.begin(), place.end());
  }
  for (std::uint64_t number = 1; number <= 3 * kPairs; ++number) {
    const Cell cell = cell_of(number);
    for (const std::uint64_t vertex : cell.vertices) corners.push_back(static_cast<std::int64_t>(vertex - 1));
    ends.push_back(static_cast<std::int64_t>(corners.size()));
    types.push_back(cell.type);
    pressure.push_back(1.0 / static_cast<double>(number));
  }
  EXPECT_EQ(values_of<double>(file, description, "points", "Points"), places);
  EXPECT_EQ(values_of<std::int64_t>(file, description, "corners", "Connectivity"), corners);
  EXPECT_EQ(values_of<std::int64_t>(file, description, "cells", "Offsets"), ends);
  EXPECT_EQ(values_of<std::uint8_t>(file, description, "cells", "Types"), types);
  EXPECT_EQ(values_of<double>(file, description, "cells", "pressure"), pressure);
}

TEST(MeshOutput, ListsItsStepsWithTheirTimesAndGoesOnAfterARestart) {
  const SharedScratch scratch;
  for (const Method method : {Method::stdio, Method::staged}) {
    const auto team = team_of(all_ranks());
    const RowOfCubes row(*team, 10);
    const auto files = must(Checkpoints::open(*team, scratch.path(), options_of(method, scratch)));
    const std::string name = std::string(name_of(method));
    for (const auto& steps : {std::vector<std::int64_t>{0, 10, 20}, {20, 30}}) {
      const auto output = must(MeshOutput::make(*files, name, row.mesh()));
      for (const std::int64_t step : steps)
        must(output->write({step, static_cast<double>(step) / 8, "test", "row"}, row.fields()));
      must(output->settle());
    }
    if (team->rank() != 0) continue;
    const std::string list = must(read_file(scratch.in(name + ".vtkhdf.series")));
    for (const auto& [file, time] : {std::pair{"-000000.vtkhdf", "0.0"},
                                     {"-000010.vtkhdf", "1.25"},
                                     {"-000020.vtkhdf", "2.5"},
                                     {"-000030.vtkhdf", "3.75"}}) {
      const std::string entry = "\"name\": \"" + name + file + "\",\n      \"time\": " + time + "\n";
      EXPECT_NE(list.find(entry), std::string::npos) << entry << list;
      EXPECT_EQ(list.find(entry), list.rfind(entry)) << "twice: " << list;
      EXPECT_TRUE(array_file::describe(scratch.in(name + file)));
    }
  }
}

TEST(MeshOutput, ListsTheStepsOfAProgramThatWasKilledBeforeItCould) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  const RowOfCubes row(*team, 4);
  {
    const auto files = must(Checkpoints::open(*team, scratch.path(), options_of(Method::staged, scratch)));
    for (const char* name : {"flow", "flow-2"}) {
      const auto output = must(MeshOutput::make(*files, name, row.mesh()));
      must(output->write({10, 0.5, "test", "row"}, row.fields()));
    }
  }
  if (team->rank() == 0) must(replace_file(scratch.in("flow-000011.vtkhdf"), "no step"));
  MPI_Barrier(team->all());
  const auto files = must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)));
  must(must(MeshOutput::make(*files, "flow", row.mesh()))->write({20, 1, "test", "row"}, row.fields()));
  if (team->rank() != 0) return;
  const auto series = must(carry::Series::read(scratch.in("flow.vtkhdf.series")));
  EXPECT_TRUE(series.has("flow-000010.vtkhdf"));
  EXPECT_TRUE(series.has("flow-000020.vtkhdf"));
  EXPECT_FALSE(series.has("flow-000011.vtkhdf")) << "it is none";
  EXPECT_FALSE(series.has("flow-2-000010.vtkhdf")) << "it is of another series";
}

TEST(MeshOutput, CorrectsItsListAlsoWhereNothingIsWritten) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  const RowOfCubes row(*team, 4);
  for (const Method method : {Method::stdio, Method::staged}) {
    const auto files = must(Checkpoints::open(*team, scratch.path(), options_of(method, scratch)));
    const std::string name(name_of(method));
    const auto in = [&](const char* ending) { return scratch.in(name + ending); };
    const auto first = must(MeshOutput::make(*files, name, row.mesh()));
    for (const std::int64_t step : {1, 2}) must(first->write({step, 0.5, "test", "row"}, row.fields()));
    must(first->settle());
    if (team->rank() == 0) {
      // Step 1 is gone, step 3 was never named.
      ASSERT_EQ(std::rename(in("-000001.vtkhdf").c_str(), in("-000003.vtkhdf").c_str()), 0);
    }
    MPI_Barrier(team->all());
    must(must(MeshOutput::make(*files, name, row.mesh()))->settle());
    if (team->rank() != 0) continue;
    const auto series = must(carry::Series::read(in(".vtkhdf.series")));
    EXPECT_FALSE(series.has(name + "-000001.vtkhdf"));
    EXPECT_TRUE(series.has(name + "-000002.vtkhdf"));
    EXPECT_TRUE(series.has(name + "-000003.vtkhdf"));
  }
}

TEST(MeshOutput, LeavesNoListOfNothing) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  const RowOfCubes row(*team, 4);
  const auto files = must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)));
  must(must(MeshOutput::make(*files, "flow", row.mesh()))->settle());
  EXPECT_FALSE(read_file(scratch.in("flow.vtkhdf.series")));
}

TEST(MeshOutput, RefusesWhatDoesNotFitTogetherOnEveryRank) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  const RowOfCubes row(*team, 40);
  const auto files = must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)));
  const bool last = team->rank() == team->ranks() - 1;
  MeshToWrite few_types = row.mesh(), few_places = row.mesh(), few_vertices = row.mesh(), beyond = row.mesh();
  std::vector<std::uint64_t> wrong(beyond.vertices.begin(), beyond.vertices.end());
  if (last) {
    few_types.types = few_types.types.subspan(1);
    few_places.places = few_places.places.subspan(3);
    few_vertices.vertices = few_vertices.vertices.subspan(1);
    wrong.front() = 8 * 40 + 5;
  }
  beyond.vertices = wrong;
  for (const MeshToWrite& mesh : {few_types, few_places, few_vertices, beyond}) {
    const auto output = MeshOutput::make(*files, "flow", mesh);
    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().code, Code::bad_input);
  }
  const auto output = must(MeshOutput::make(*files, "flow", row.mesh()));
  auto fields = row.fields();
  fields[0].location = "edges";
  EXPECT_FALSE(output->write({0, 0, "test", "row"}, fields));
  EXPECT_FALSE(read_file(scratch.in("flow-000000.vtkhdf"))) << "there is a file after all";
}

TEST(MeshOutput, RefusesANameThatItsListCouldNotNameOnEveryRank) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  const RowOfCubes row(*team, 4);
  const auto files = must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)));
  const bool last = team->rank() == team->ranks() - 1;
  for (const std::string name : {"", "steps/flow", "/"}) {
    const auto output = MeshOutput::make(*files, last ? name : "flow", row.mesh());
    ASSERT_FALSE(output) << name;
    EXPECT_EQ(output.error().code, Code::bad_input);
    EXPECT_EQ(output.error().what, "not a name for the files of a mesh:");
  }
}

TEST(MeshOutput, NamesTheCellThatVtkDoesNotKnowOnEveryRank) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  const RowOfCubes row(*team, 40);
  const auto files = must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)));
  const MeshToWrite good = row.mesh();
  const bool last = team->rank() == team->ranks() - 1;
  const std::size_t wrong = good.types.size() / 2;
  const std::uint64_t number = over_all(team->all(), last ? row.cells()[wrong] : 0, MPI_MAX);
  const auto first_vertex = std::accumulate(good.lengths.begin(), good.lengths.begin() + std::ptrdiff_t(wrong), 0UL);
  struct Wrong {
    std::uint8_t type;
    std::uint64_t vertex;
    std::string words;
  };
  for (const auto& [type, vertex, words] :
       {Wrong{0, 1, " has type 0, which is no shape of VTK"}, Wrong{99, 1, " has type 99, which is no shape of VTK"},
        Wrong{10, 1, " is a tetrahedron (type 10) with "}, Wrong{42, 1, " is a polyhedron"},
        Wrong{7, 0, " has vertex 0 of 324"}, Wrong{7, 325, " has vertex 325 of 324"},
        Wrong{7, static_cast<std::uint64_t>(-2), " has vertex -2 of 324"}}) {
    std::vector<std::uint8_t> types(good.types.begin(), good.types.end());
    std::vector<std::uint64_t> vertices(good.vertices.begin(), good.vertices.end());
    if (last) {
      types[wrong] = type;
      vertices[first_vertex] = vertex;
    }
    MeshToWrite mesh = good;
    mesh.types = types;
    mesh.vertices = vertices;
    const auto output = MeshOutput::make(*files, "flow", mesh);
    ASSERT_FALSE(output) << words;
    const std::string expected = fmt::format("cell {} of rank {}{}", number, team->ranks() - 1, words);
    EXPECT_EQ(output.error().what.substr(0, expected.size()), expected);
    EXPECT_EQ(output.error().code, Code::bad_input);
    EXPECT_TRUE(same_on_all(team->all(), checksum(output.error().text())));
  }
}

TEST(MeshOutput, KeepsAwayFromAListThatIsNone) {
  const SharedScratch scratch;
  const auto team = team_of(all_ranks());
  const RowOfCubes row(*team, 4);
  const auto files = must(Checkpoints::open(*team, scratch.path(), options_of(Method::stdio, scratch)));
  for (const std::string list : {"{\"files\": 7}", "{\"files\": [{\"name\": \"flow-0", ""}) {
    if (team->rank() == 0) must(replace_file(scratch.in("flow.vtkhdf.series"), list));
    MPI_Barrier(team->all());
    const auto output = MeshOutput::make(*files, "flow", row.mesh());
    ASSERT_FALSE(output) << list;
    EXPECT_EQ(output.error().code, Code::lost) << "a damaged file, and none of another version";
    MPI_Barrier(team->all());
  }
}

}  // namespace
}  // namespace forebay::blocks
