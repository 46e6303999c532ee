#include "meshes/multiply/multiply.h"

#include <unistd.h>

#include "base/tests/scratch.h"
#include "meshes/mesh/join.h"
#include "meshes/mesh/part.h"
#include "meshes/multiply/tests/contents.h"
#include "meshes/multiply/vtk.h"

namespace forebay::multiply::test {
namespace {

using mesh::Mesh;
using mesh::Point;
using mesh::Shape;
using mesh::test::cavity;
using mesh::test::meshes;

void silent(std::uint64_t, std::uint64_t) {}

Request request_of(const std::string& output, int levels, unsigned threads = 2) {
  Request request;
  request.output = output;
  request.levels = levels;
  request.threads = threads;
  return request;
}

// The refined mesh in memory, where index is number.
mesh::Part whole(const Mesh& coarse, int levels) {
  const mesh::Topology topology = need(number(coarse));
  const mesh::Refinement refinement = need(mesh::Refinement::make(coarse, topology, levels));
  return need(make_part(refinement, mesh::all_cells(coarse)));
}

void expect_cells(const Contents& file, const mesh::Part& part) {
  const auto points = file.array<Point>("points", "Points");
  EXPECT_TRUE(std::equal(points.begin(), points.end(), part.points.all().begin(), part.points.all().end()));
  const std::vector<std::uint64_t> corners(part.cells.corners.all().begin(), part.cells.corners.all().end());
  std::vector<std::uint64_t> ends;
  std::vector<std::uint8_t> types;
  for (const mesh::Stretch& stretch : part.cells.stretches) {
    for (std::uint64_t i = 0; i < stretch.count; ++i)
      ends.push_back((ends.empty() ? 0 : ends.back()) + describe(stretch.shape).corners);
    types.insert(types.end(), stretch.count, vtk_type(stretch.shape));
  }
  EXPECT_EQ(file.array<std::uint64_t>("corners", "Connectivity"), corners);
  EXPECT_EQ(file.array<std::uint64_t>("cells", "Offsets"), ends);
  EXPECT_EQ(file.array<std::uint8_t>("cells", "Types"), types);
}

// The boundary comes first among faces, so a face's place in the file is its number.
void expect_faces(const Contents& file, const mesh::Part& part, std::uint64_t faces) {
  const auto numbers = file.array<std::uint64_t>("points", "point"), cells = file.array<std::uint64_t>("cells", "cell");
  const auto points = file.array<Point>("points", "Points");
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(points[i], part.points[numbers[i]]) << "point " << i;
  const auto corners = file.array<std::uint64_t>("corners", "Connectivity");
  for (std::size_t i = 0; i < corners.size(); ++i)
    ASSERT_EQ(numbers.at(corners[i]), part.faces.corners[i]) << "corner " << i;
  ASSERT_EQ(cells.size(), faces);
  for (std::size_t face = 0; face < faces; ++face) ASSERT_EQ(cells[face], part.sides[2 * face]) << "face " << face;
  const auto ends = file.array<std::uint64_t>("cells", "Offsets");
  const auto types = file.array<std::uint8_t>("cells", "Types");
  EXPECT_EQ(ends.back(), corners.size());
  std::uint64_t before = 0;
  for (std::size_t face = 0; face < faces; before = ends[face++])
    ASSERT_EQ(types[face], vtk_type(ends[face] - before == 3 ? Shape::triangle : Shape::quadrilateral)) << face;
}

TEST(Multiply, WritesTheRefinedMeshOfEveryShapeAndItsBoundary) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "m.vtkhdf");
  for (const auto& [name, coarse, volume] : meshes()) {
    for (const int levels : {0, 1, 2}) {
      SCOPED_TRACE(name + ", " + std::to_string(levels) + " levels");
      Request request = request_of(path, levels);
      request.force = true;
      const Report report = need(multiply(request, coarse, silent));
      const mesh::Part part = whole(coarse, levels);
      expect_cells(Contents(path), part);
      expect_faces(Contents(report.boundary), part, report.boundary_faces);
      EXPECT_EQ(report.cells, part.cells.numbers.size());
      EXPECT_EQ(report.faces, part.faces.numbers.size());
      EXPECT_NEAR(report.survey().volume, volume, 1e-12);
    }
  }
}

TEST(Multiply, LooksAtTheCoarseMeshBeforeAnythingIsWritten) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "m.vtkhdf");
  const std::array meshes{cavity(2, Shape::hexahedron), cavity(2, Shape::tetrahedron)};
  Mesh torn = need(mesh::join(std::array{meshes[0], meshes[0]}, {}, 0));
  for (std::size_t i = torn.points.size() / 2; i < torn.points.size(); ++i) torn.points[i][0] += 1;
  const Report report = need(multiply(request_of(path, 1), torn, silent));
  ASSERT_EQ(report.warnings.size(), 2U);
  EXPECT_NE(text_of(report).find("  ! 2 bodies"), std::string::npos) << text_of(report);
  EXPECT_NE(json_of(report).find("corner on corner"), std::string::npos) << json_of(report);

  Mesh mixed = need(mesh::join(meshes, {}, 0));
  for (std::size_t i = meshes[0].points.size(); i < mixed.points.size(); ++i) mixed.points[i][0] += 1;
  const std::string other = join(scratch.path(), "other.vtkhdf");
  const auto refused = multiply(request_of(other, 1), mixed, silent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::bad_input);
  EXPECT_EQ(list_directory(scratch.path())->size(), 2U);
}

TEST(Multiply, BringsGroupsAlong) {
  const Scratch scratch;
  Mesh coarse = cavity(2, Shape::hexahedron);
  coarse.cell_groups = {{"upper/half", {4, 5, 6, 7}}};
  const std::string path = join(scratch.path(), "m.vtkhdf");
  const Report report = need(multiply(request_of(path, 1), coarse, silent));
  const auto upper = Contents(path).array<std::uint8_t>("cells", "group_upper_half");
  const std::vector<std::uint8_t> lower_and_upper = [] {
    std::vector<std::uint8_t> values(64, 0);
    std::fill(values.begin() + 32, values.end(), 1);
    return values;
  }();
  EXPECT_EQ(upper, lower_and_upper);
  const Contents boundary(report.boundary);
  const auto lid = boundary.array<std::uint8_t>("cells", "group_lid");
  const auto walls = boundary.array<std::uint8_t>("cells", "group_walls");
  ASSERT_EQ(lid.size(), 96U);
  EXPECT_EQ(std::count(lid.begin(), lid.end(), 1), 16);
  const auto points = boundary.array<Point>("points", "Points");
  const auto corners = boundary.array<std::uint64_t>("corners", "Connectivity");
  for (std::size_t face = 0; face < lid.size(); ++face) {
    bool on_top = true;
    for (std::size_t c = 0; c < 4; ++c) on_top = on_top && points[corners[4 * face + c]][2] == 1;
    EXPECT_EQ(lid[face], on_top ? 1 : 0) << "face " << face;
    EXPECT_EQ(walls[face], on_top ? 0 : 1) << "face " << face;
  }
}

TEST(Multiply, HasFacesOfGroupsInsideTheMeshAmongThoseOfTheBoundary) {
  const Scratch scratch;
  Mesh coarse = cavity(2, Shape::hexahedron);
  const auto cell = coarse.cell(0);
  mesh::FaceCorners face{};
  for (const mesh::FaceOfShape& each : describe(Shape::hexahedron).faces) {
    // The face of cell 0 towards cell 4, above it.
    if (std::all_of(each.corners.begin(), each.corners.end(),
                    [&](std::uint8_t c) { return coarse.points[cell[c]][2] == 0.5; }))
      for (std::size_t c = 0; c < face.size(); ++c) face[c] = cell[each.corners[c]];
  }
  coarse.face_groups.push_back({"sheet", {face}});
  const Report report = need(multiply(request_of(join(scratch.path(), "m.vtkhdf"), 2), coarse, silent));
  const auto sheet = Contents(report.boundary).array<std::uint8_t>("cells", "group_sheet");
  EXPECT_EQ(sheet.size(), 24U * 16 + 16);
  EXPECT_EQ(std::count(sheet.begin(), sheet.end(), 1), 16);
  EXPECT_DOUBLE_EQ(report.survey().group_areas.back(), 0.25);
}

TEST(Multiply, TellsEachPeriodicFaceTheOneBehindIt) {
  const Scratch scratch;
  for (const Shape shape : {Shape::tetrahedron, Shape::pyramid, Shape::prism, Shape::hexahedron}) {
    SCOPED_TRACE(describe(shape).name);
    Request request = request_of(join(scratch.path(), "m.vtkhdf"), 2);
    request.force = true;
    const Mesh coarse = mesh::test::periodic(shape);
    const Report report = need(multiply(request, coarse, silent));
    EXPECT_EQ(report.periodic_pairs, 16 * coarse.periodic.size());
    const Contents file(report.boundary);
    const auto behind = file.array<std::int64_t>("cells", "periodic");
    const auto corner_behind = file.array<std::array<std::uint8_t, 4>>("cells", "periodic_corners");
    const auto ends = file.array<std::uint64_t>("cells", "Offsets");
    const auto corners = file.array<std::uint64_t>("corners", "Connectivity");
    const auto points = file.array<Point>("points", "Points");
    const auto first = [&](std::size_t face) { return face == 0 ? 0 : ends[face - 1]; };
    std::size_t pairs = 0;
    for (std::size_t face = 0; face < behind.size(); ++face) {
      const std::size_t width = ends[face] - first(face);
      for (std::size_t c = 0; c < 4; ++c) {
        if (behind[face] < 0 || c >= width) {
          ASSERT_EQ(corner_behind[face][c], 255);
          continue;
        }
        const Point here = points[corners[first(face) + c]];
        const Point there = points[corners[first(static_cast<std::size_t>(behind[face])) + corner_behind[face][c]]];
        ASSERT_EQ((Point{here[0] + 1, here[1], here[2]}), there) << "corner " << c << " of face " << face;
      }
      pairs += behind[face] >= 0 ? 1 : 0;
    }
    EXPECT_EQ(pairs, report.periodic_pairs);
  }
}

TEST(Multiply, MakesTheSameBytesWithAnyNumberOfThreads) {
  const Scratch scratch;
  const std::string path = join(scratch.path(), "m.vtkhdf");
  std::vector<std::string> first;
  double volume = 0;
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    Request request = request_of(path, 4, threads);
    request.force = true;
    request.parts = 5;
    request.partition = join(scratch.path(), "parts.txt");
    const Report report = need(multiply(request, cavity(3, Shape::tetrahedron), silent));
    std::vector<std::string> files;
    for (const std::string& each : {path, report.boundary, request.partition}) files.push_back(need(read_file(each)));
    if (first.empty()) {
      first = files;
      volume = report.survey().volume;
    }
    EXPECT_TRUE(files == first) << threads << " threads";
    EXPECT_EQ(report.survey().volume, volume) << threads << " threads";
  }
}

TEST(Multiply, TellsEachCellItsPartAndTheFileTheCoarseOnes) {
  const Scratch scratch;
  Request request = request_of(join(scratch.path(), "m.vtkhdf"), 1);
  request.parts = 4;
  request.partition = join(scratch.path(), "parts.txt");
  const Mesh coarse = cavity(2, Shape::pyramid);
  need(multiply(request, coarse, silent));
  const mesh::Partition partition = need(mesh::read_partition(request.partition, coarse.cells()));
  std::vector<std::int32_t> expected;
  for (const std::uint32_t part : partition.part) expected.insert(expected.end(), 10, static_cast<std::int32_t>(part));
  EXPECT_EQ(Contents(request.output).array<std::int32_t>("cells", "part"), expected);
}

TEST(Multiply, TakesThePartOfEachCoarseCellFromAFile) {
  const Scratch scratch;
  Request request = request_of(join(scratch.path(), "m.vtkhdf"), 1);
  request.parts_from = join(scratch.path(), "parts.txt");
  ASSERT_TRUE(replace_file(request.parts_from, "2\n0\n"));
  need(multiply(request, cavity(1, Shape::prism), silent));
  std::vector<std::int32_t> expected(16, 0);
  std::fill_n(expected.begin(), 8, 2);
  EXPECT_EQ(Contents(request.output).array<std::int32_t>("cells", "part"), expected);

  request.force = true;
  const auto of_another = multiply(request, cavity(2, Shape::prism), silent);
  ASSERT_FALSE(of_another);
  EXPECT_NE(of_another.error().what.find("2 lines for a mesh of 16 cells"), std::string::npos);
  request.parts = 2;
  EXPECT_FALSE(multiply(request, cavity(1, Shape::prism), silent)) << "either a number of parts or a file";
}

TEST(Multiply, GoesBeyondTheLevelsOfOneRefinement) {
  const Scratch scratch;
  Mesh coarse;
  coarse.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  coarse.add(Shape::tetrahedron, std::vector<std::uint32_t>{0, 1, 2, 3});
  coarse.face_groups = {{"floor", {{0, 1, 2, mesh::kNone}}}};
  Request request = request_of(join(scratch.path(), "m.vtkhdf"), 7);
  request.parts = 1;
  const Report report = need(multiply(request, coarse, silent));
  EXPECT_EQ(report.cells, std::uint64_t{1} << 21);
  EXPECT_EQ(report.coarse_cells, 1U);
  ASSERT_EQ(report.by_level.size(), 8U) << "those of both refinements";
  for (int level = 0; level <= 7; ++level)
    EXPECT_EQ(report.by_level[static_cast<std::size_t>(level)].cells, std::uint64_t{1} << (3 * level));
  EXPECT_NEAR(report.survey().volume, 1.0 / 6, 1e-12);
  EXPECT_NEAR(report.survey().group_areas.at(0), 0.5, 1e-12);
}

TEST(Multiply, RefusesWhatIsThereUnlessItIsToBeReplaced) {
  const Scratch scratch;
  Request request = request_of(join(scratch.path(), "m.vtkhdf"), 0);
  request.parts = 2;
  request.partition = join(scratch.path(), "parts.txt");
  const Mesh coarse = cavity(1, Shape::tetrahedron);
  for (const std::string& taken : {request.output, join(scratch.path(), "m-boundary.vtkhdf"), request.partition}) {
    ASSERT_TRUE(replace_file(taken, "precious"));
    const auto report = multiply(request, coarse, silent);
    ASSERT_FALSE(report) << taken;
    EXPECT_EQ(report.error().what, "exists already:");
    EXPECT_EQ(report.error().path, taken);
    EXPECT_EQ(need(read_file(taken)), "precious");
    EXPECT_EQ(need(list_directory(scratch.path())).size(), 1U) << "nothing else was made";
    ::unlink(taken.c_str());
  }
  ASSERT_TRUE(replace_file(request.output, "replaceable"));
  request.force = true;
  ASSERT_TRUE(multiply(request, coarse, silent));
  EXPECT_EQ(Contents(request.output).array<std::uint8_t>("cells", "Types").size(), 6U);
}

TEST(Multiply, RefusesWhatThereIsNoRoomForBeforeItMakesAnything) {
  const Scratch scratch;
  for (const int levels : {14, 20}) {
    const auto report = multiply(request_of(join(scratch.path(), "m.vtkhdf"), levels), cavity(2, Shape::prism), silent);
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().what.find("no room in"), std::string::npos) << report.error().text();
    EXPECT_EQ(report.error().path, scratch.path());
    EXPECT_TRUE(need(list_directory(scratch.path())).empty());
  }
}

TEST(Multiply, RefusesCellsThatComeOutInsideOutAndLeavesNothing) {
  const Scratch scratch;
  const auto report = multiply(request_of(join(scratch.path(), "m.vtkhdf"), 2), mesh::test::twisted(), silent);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::bad_input);
  EXPECT_NE(report.error().what.find("inside out"), std::string::npos) << report.error().text();
  EXPECT_TRUE(need(list_directory(scratch.path())).empty());
}

TEST(Multiply, RefusesWhatMakesNoSense) {
  const Scratch scratch;
  const Mesh coarse = cavity(1, Shape::hexahedron);
  const std::string path = join(scratch.path(), "m.vtkhdf");
  Request partition_of_nothing = request_of(path, 1);
  partition_of_nothing.partition = join(scratch.path(), "parts.txt");
  for (const Request& wrong : {request_of(path, -1), request_of(path, 21), request_of(join(scratch.path(), "m.vtk"), 1),
                               request_of(join(scratch.path(), ".vtkhdf"), 1), partition_of_nothing,
                               request_of(join(scratch.path(), "none/m.vtkhdf"), 1)}) {
    EXPECT_FALSE(multiply(wrong, coarse, silent)) << wrong.output << " " << wrong.levels;
    EXPECT_TRUE(need(list_directory(scratch.path())).empty());
  }
}

TEST(Multiply, RefusesAPartitionThatWouldTakeTheNameOfAnotherFile) {
  const Scratch scratch;
  Request request = request_of(join(scratch.path(), "m.vtkhdf"), 1);
  request.parts = 2;
  request.force = true;
  for (const std::string taken : {"m.vtkhdf", "m-boundary.vtkhdf", "./m.vtkhdf"}) {
    request.partition = scratch.path() + "/" + taken;
    const auto report = multiply(request, cavity(1, Shape::prism), silent);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().what, "the file for the partition is the one for cells or faces:");
    EXPECT_TRUE(need(list_directory(scratch.path())).empty());
  }
}

TEST(CoarseMesh, IsACavityOrAFile) {
  const auto of = [](const std::string& name) { return coarse_mesh({.names = {name}}, ""); };
  EXPECT_EQ(need(of("cavity:prisms:2")).mesh.cells(), 16U);
  for (const std::string wrong : {"cavity:prisms", "cavity:cubes:2", "cavity:prisms:0", "cavity:prisms:401",
                                  "cavity:prisms:-1", "cavity:prisms:2:2", "cavity:prisms:x"}) {
    const auto mesh = of(wrong);
    ASSERT_FALSE(mesh) << wrong;
    EXPECT_EQ(mesh.error().code, Code::bad_input);
  }
  EXPECT_FALSE(coarse_mesh({.names = {"cavity:prisms:2"}, .groups = "zone"}, "")) << "a cavity has no arrays";
  EXPECT_EQ(of("/nowhere/x.msh").error().errno_value, ENOENT);
}

TEST(CoarseMesh, NeedsAJointForEachMeshAndTheNext) {
  const std::vector<std::string> two = {"cavity:prisms:1", "cavity:prisms:1"};
  for (const Sources& wrong : {Sources{.names = two}, Sources{.names = {two[0]}, .joints = {{"lid", "lid"}}}}) {
    const auto mesh = coarse_mesh(wrong, "");
    ASSERT_FALSE(mesh);
    EXPECT_NE(mesh.error().what.find("joints"), std::string::npos) << mesh.error().text();
  }
  // Two cavities lie in the same place, so their lids do, too.
  const mesh::Mesh joined = need(coarse_mesh({.names = two, .joints = {{"lid", "lid"}}}, "")).mesh;
  EXPECT_EQ(joined.cells(), 4U);
  EXPECT_EQ(joined.points.size(), 12U);
}

}  // namespace
}  // namespace forebay::multiply::test
