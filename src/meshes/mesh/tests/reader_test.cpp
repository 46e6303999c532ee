#include "meshes/mesh/reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "meshes/mesh/part.h"
#include "meshes/mesh/quality.h"
#include "meshes/mesh/survey.h"
#include "meshes/mesh/tests/meshes.h"
#include "meshes/mesh/tests/scratch_file.h"

namespace forebay::mesh::test {
namespace {

// Two tetrahedra on a common face, a group of one face and a group of both; point 6 belongs to nothing. Gmsh 4.1.
const std::string kGmsh = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 1 "lid"
3 2 "fluid"
$EndPhysicalNames
$Entities
0 0 1 1
1 0 0 0 1 1 1 1 1 0
1 0 0 0 1 1 1 1 2 1 1
$EndEntities
$Nodes
1 6 1 6
3 1 0 6
1
2
3
4
5
6
0 0 0
1 0 0
0 1 0
0 0 1
1 1 1
9 9 9
$EndNodes
$Elements
2 3 1 3
2 1 2 1
1 1 3 2
3 1 4 2
2 1 2 3 4
3 2 3 4 5
$EndElements
)";

// A cube whose face at x = 1 is the copy of the one at x = 0.
const std::string kPeriodic = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$Entities
0 0 2 1
1 0 0 0 0 1 1 0 0
2 1 0 0 1 1 1 0 0
1 0 0 0 1 1 1 0 0
$EndEntities
$Nodes
1 8 1 8
3 1 0 8
1
2
3
4
5
6
7
8
0 0 0
1 0 0
1 1 0
0 1 0
0 0 1
1 0 1
1 1 1
0 1 1
$EndNodes
$Elements
3 3 1 3
2 1 3 1
1 1 4 8 5
2 2 3 1
2 2 3 7 6
3 1 5 1
3 1 2 3 4 5 6 7 8
$EndElements
$Periodic
1
2 2 1
0
4
2 1
3 4
7 8
6 5
$EndPeriodic
)";

const std::string kVtu = R"(<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>
<Piece NumberOfPoints="6" NumberOfCells="1">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0  0 1 0  1 0 0  0 0 2  0 1 2  1 0 2
</DataArray></Points>
<Cells><DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 3 4 5</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">6</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">13</DataArray></Cells>
</Piece></UnstructuredGrid></VTKFile>
)";

// A cube, a pyramid on top of it, a prism and a tetrahedron beside them, and two of their faces, in a jumble.
const std::string kMixedVtu = R"(<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>
<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">4</DataArray></FieldData>
<Piece NumberOfPoints="12" NumberOfCells="6">
<PointData><DataArray type="Float32" Name="T" format="ascii">0 0 0 0 0 0 0 0 0 0 0 0</DataArray></PointData>
<CellData>
<DataArray type="Int32" Name="CellEntityIds" format="ascii">7 1 1 8 2 0</DataArray>
<DataArray type="UInt8" Name="group_far side" NumberOfComponents="1" format="ascii">0 0 0 1 1 0</DataArray>
<DataArray type="Int64" Name="zone" format="ascii">0 5 5 0 5 6</DataArray>
<DataArray type="Float64" Name="p" format="ascii">1 1 1 1 1 1</DataArray>
</CellData>
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0  1 0 0  1 1 0  0 1 0  0 0 1  1 0 1  1 1 1  0 1 1  0.5 0.5 2  2 0 0  2 1 0  2 0.5 1.5
</DataArray></Points>
<Cells><DataArray type="Int64" Name="connectivity" format="ascii">
0 3 2 1  0 1 2 3 4 5 6 7  4 5 6 7 8  1 9 5  1 9 5 2 10 6  5 6 8 11</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">4 12 17 20 26 30</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">9 12 14 5 13 10</DataArray></Cells>
</Piece></UnstructuredGrid></VTKFile>
)";

// A file as Gmsh writes it.
const std::string kVtk = R"(# vtk DataFile Version 2.0
a cube, Created by Gmsh
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 8 double
0 0 0  1 0 0  1 1 0  0 1 0  0 0 1  1 0 1  1 1 1  0 1 1

CELLS 3 17
1 0
8 0 1 2 3 4 5 6 7
4 4 5 6 7

CELL_TYPES 3
1
12
9

CELL_DATA 3
SCALARS CellEntityIds int 1
LOOKUP_TABLE default
3
1
6
)";

const std::string kMedit = R"(MeshVersionFormatted 2
Dimension 3
Vertices
4
0 0 0 0
1 0 0 0
0 1 0 0
0 0 1 0
Triangles
2
1 3 2 5
1 2 4 0
Tetrahedra
1
1 2 3 4 9
End
)";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

// Debian's has meshio: then no other one along PATH is asked for it before each mesh.
[[maybe_unused]] const int named = ::setenv("FOREBAY_PYTHON", "/usr/bin/python3", 1);

Result<Coarse> read(const std::string& content, const std::string& ending, const std::string& groups = {}) {
  const ScratchFile file(ending);
  file.write(content);
  return read_mesh(file.path(), READ_MESH, groups);
}

using Members = std::map<std::string, std::vector<std::uint32_t>>;
Members cell_groups(const Mesh& mesh) {
  Members groups;
  for (const CellGroup& group : mesh.cell_groups) groups[group.name] = group.cells;
  return groups;
}
std::map<std::string, std::vector<FaceCorners>> face_groups(const Mesh& mesh) {
  std::map<std::string, std::vector<FaceCorners>> groups;
  for (const FaceGroup& group : mesh.face_groups) groups[group.name] = group.faces;
  return groups;
}

TEST(Reader, BringsCellsAndGroupsOfGmsh) {
  const auto [mesh, left_out] = need(read(kGmsh, ".msh"));
  EXPECT_TRUE(left_out.empty()) << left_out.front();
  EXPECT_EQ(mesh.points.size(), 5U) << "without the point of no cell";
  EXPECT_EQ(mesh.shapes, (std::vector{Shape::tetrahedron, Shape::tetrahedron}));
  ASSERT_EQ(mesh.face_groups.size(), 1U);
  EXPECT_EQ(mesh.face_groups[0].name, "lid");
  ASSERT_EQ(mesh.cell_groups.size(), 1U);
  EXPECT_EQ(mesh.cell_groups[0].name, "fluid");
  EXPECT_EQ(mesh.cell_groups[0].cells, (std::vector<std::uint32_t>{0, 1}));
  const Topology topology = need(number(mesh));
  EXPECT_EQ(topology.face_groups[0].size(), 1U);
  EXPECT_EQ(topology.boundary_faces, 6U);
}

TEST(Reader, BringsPeriodicFacesOfGmsh) {
  const Mesh mesh = need(read(kPeriodic, ".msh")).mesh;
  ASSERT_EQ(mesh.periodic.size(), 1U);
  const auto& [face, image] = mesh.periodic[0];
  for (std::size_t corner = 0; corner < 4; ++corner) {
    const Point &here = mesh.points.at(face[corner]), &there = mesh.points.at(image[corner]);
    EXPECT_EQ(here, (Point{1, there[1], there[2]}));
    EXPECT_EQ(there[0], 0);
  }
  EXPECT_EQ(need(number(mesh)).boundary_faces, 6U) << "both stay faces of the boundary";
}

TEST(Reader, TakesPrismsFromEitherTriangle) {
  for (const std::string order : {"0 1 2 3 4 5", "3 4 5 0 1 2"}) {
    const Mesh mesh = need(read(with(kVtu, "0 1 2 3 4 5", order), ".vtu")).mesh;
    std::vector<Point> corners;
    for (const std::uint32_t point : mesh.cell(0)) corners.push_back(mesh.points[point]);
    EXPECT_DOUBLE_EQ(volume(Shape::prism, corners), 1) << order;
  }
}

TEST(Reader, TakesAKnownArrayOfVtuForGroupsAndSaysWhatItLeavesOut) {
  const auto [mesh, left_out] = need(read(kMixedVtu, ".vtu"));
  EXPECT_EQ(mesh.shapes, (std::vector{Shape::hexahedron, Shape::pyramid, Shape::prism, Shape::tetrahedron}));
  EXPECT_EQ(cell_groups(mesh), (Members{{"1", {0, 1}}, {"2", {2}}, {"far side", {2}}})) << "0 is no group";
  const std::vector<FaceCorners> below = {{0, 3, 2, 1}}, beside = {{1, 9, 5, kNone}};
  EXPECT_EQ(face_groups(mesh),
            (std::map<std::string, std::vector<FaceCorners>>{{"7", below}, {"8", beside}, {"far side", beside}}));
  EXPECT_EQ(left_out, (std::vector<std::string>{"cell data p", "cell data zone (--groups zone takes it as groups)",
                                                "point data T", "field data TimeValue"}));
  const Topology topology = need(number(mesh));
  const Survey found = survey(need(Refinement::make(mesh, topology, 1)), all_cells(mesh));
  EXPECT_NEAR(found.volume, 1 + 1.0 / 3 + 0.5 + 1.25 / 6, 1e-14);
  EXPECT_EQ(found.group_areas, (std::vector<double>{1, 0.5, 0.5}));
}

TEST(Reader, TakesTheArrayThatItIsToldForGroups) {
  const auto [mesh, left_out] = need(read(kMixedVtu, ".vtu", "zone"));
  EXPECT_EQ(cell_groups(mesh), (Members{{"5", {0, 1, 2}}, {"6", {3}}, {"far side", {2}}}));
  EXPECT_EQ(left_out.front(), "cell data CellEntityIds (--groups CellEntityIds takes it as groups)");
  for (const std::string wrong : {"p", "nothing"}) {
    const auto refused = read(kMixedVtu, ".vtu", wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().text().find("there is: CellEntityIds, group_far side, zone"), std::string::npos)
        << refused.error().text();
  }
}

TEST(Reader, BringsGroupsOfLegacyVtkAndOfMedit) {
  const Coarse vtk = need(read(kVtk, ".vtk")), medit = need(read(kMedit, ".mesh"));
  EXPECT_EQ(cell_groups(vtk.mesh), (Members{{"1", {0}}}));
  EXPECT_EQ(face_groups(vtk.mesh).at("6"), (std::vector<FaceCorners>{{4, 5, 6, 7}}));
  EXPECT_EQ(cell_groups(medit.mesh), (Members{{"9", {0}}}));
  EXPECT_EQ(face_groups(medit.mesh).at("5"), (std::vector<FaceCorners>{{0, 2, 1, kNone}}));
  EXPECT_EQ(medit.mesh.face_groups.size(), 1U);
}

TEST(Reader, SaysWhichGroupsOfGmshItLeavesOut) {
  const std::string names = with(kGmsh, "2\n2 1 \"lid\"", "3\n1 4 \"seam\"\n2 1 \"lid\"");
  EXPECT_EQ(need(read(names, ".msh")).left_out, std::vector<std::string>{"group of edges or points seam"});
}

void expect_refused(const std::string& content, const std::string& ending, const std::string& because) {
  const auto mesh = read(content, ending);
  ASSERT_FALSE(mesh) << "expected: " << because;
  EXPECT_EQ(mesh.error().code, Code::bad_input);
  EXPECT_NE(mesh.error().text().find(because), std::string::npos) << mesh.error().text();
  EXPECT_NE(mesh.error().text().find("forebay-mesh-"), std::string::npos) << "names the file";
}

TEST(Reader, RefusesWhatIsDamaged) {
  expect_refused(with(kGmsh, "1 6 1 6", "1 600000000000 1 600000000000"), ".msh", "cannot read the mesh");
  expect_refused(with(kGmsh, "3 1 0 6", "3 1 0 600000000000"), ".msh", "announces more than it holds");
  expect_refused(with(kGmsh, "3 2 3 4 5", "3 2 3 4 7"), ".msh", "cannot read the mesh");
  expect_refused(kGmsh.substr(0, kGmsh.find("$Elements")), ".msh", "the mesh");
  expect_refused(kGmsh.substr(0, kGmsh.find("$EndElements")), ".msh", "not closed");
  expect_refused(kGmsh.substr(0, kGmsh.find("0 1 0")), ".msh", "cannot read the mesh");
  expect_refused("", ".msh", "cannot read the mesh");
  expect_refused(with(kPeriodic, "0\n4\n2 1\n", "0\n3\n"), ".msh", "a corner without a counterpart");
  expect_refused(with(kVtu, "0 1 2 3 4 5", "0 1 2 3 4 99"), ".vtu", "none of its points, which number 6");
  expect_refused(with(kVtu, "NumberOfPoints=\"6\"", "NumberOfPoints=\"60000\""), ".vtu", "cannot read the mesh");
  expect_refused(kVtu.substr(0, 400), ".vtu", "cannot read the mesh");
  const std::size_t piece = kVtu.find("<Piece"), end = kVtu.find("</UnstructuredGrid>");
  const std::string twice = kVtu.substr(0, end) + kVtu.substr(piece, end - piece) + kVtu.substr(end);
  expect_refused(twice, ".vtu", "several pieces");
}

TEST(Reader, RefusesCellsThatItCannotRefine) {
  expect_refused(with(kVtu, ">13<", ">18<"), ".vtu", "cannot handle (type 18)");
  expect_refused(with(kGmsh, "2 1 2 1\n1 1 3 2", "2 1 9 1\n1 1 3 2 4 5 6"), ".msh", "type triangle6 are not known");
  expect_refused(with(kGmsh, "1 2 3 4\n", "2 1 3 4\n"), ".msh", "flat or inside out");
}

// A message says what the file is, what was expected and what to do, in one line, and names the file.
void expect_told(const Result<Coarse>& mesh, const std::string& what, const std::string& advice) {
  ASSERT_FALSE(mesh) << "expected: " << what;
  const std::string text = mesh.error().text();
  EXPECT_EQ(mesh.error().code, Code::bad_input);
  for (const char* part : {"forebay-mesh-", "it is ", what.c_str(), "; expected ", advice.c_str()})
    EXPECT_NE(text.find(part), std::string::npos) << "expected: " << part << "\n" << text;
  for (const char* internal : {"Error", "SystemExit", "Traceback", "NoneType", "\n"})
    EXPECT_EQ(text.find(internal), std::string::npos) << text;
}

TEST(Reader, SaysOfFilesThatAreNoMeshWhatTheyAreAndWhatToDo) {
  const std::string vtk_file = R"(<?xml version="1.0"?>
<VTKFile type="%" version="0.1">)";
  const std::string partitioned =
      with(kGmsh, "$Nodes", "$PartitionedEntities\n1\n0\n0 0 0 0\n$EndPartitionedEntities\n$Nodes");
  struct Foreign {
    std::string content, ending, what, advice;
  };
  const std::vector<Foreign> all = {
      {with(with(kGmsh, "2 3 1 3", "1 1 1 1"), "3 1 4 2\n2 1 2 3 4\n3 2 3 4 5\n", ""), ".msh",
       "a Gmsh file of version 4.1: it has faces and no cells", "mesh the volume"},
      {partitioned, ".msh", "a Gmsh file of version 4.1: it is partitioned", "gmsh.model.mesh.unpartition()"},
      {"$NOD\n1\n1 0 0 0\n$ENDNOD\n$ELM\n0\n$ENDELM\n", ".msh", "a Gmsh file of version 1", "save it in version 4.1"},
      {"(0 \"fluent\")\n(2 3)\n(10 (0 1 8 0 3))\n", ".msh", "a mesh of Ansys Fluent", "fluentMeshToFoam"},
      {"(2 3)\n(10 (0 1 8 0 3))\n", ".cas", "a mesh of Ansys Fluent", "fluentMeshToFoam"},
      {"hello\n", ".msh", "a file that ends in .msh: it is damaged, or of another format", "write it as Gmsh"},
      {"MFEM mesh v1.0\n\ndimension\n3\n", ".mesh", "a mesh of MFEM", "PrintVTU"},
      {"    -1\n  2411\n         1         1\n    -1\n", ".unv", "a UNV file", "gmsh FILE -save"},
      {"CEND\nBEGIN BULK\nGRID,1,,0.,0.,0.\nENDDATA\n", ".bdf", "ends in .bdf: it has neither faces nor cells",
       "gmsh FILE"},
      {"GRID,1,,0.,0.,0.\n", ".bdf", "\"BEGIN BULK\" statement not found", "gmsh FILE -save"},
      {"FoamFile { class faceList; }\n", ".faces", "a file of an OpenFOAM case", "foamToVTK"},
      {"", ".foam", "an OpenFOAM case", "foamToVTK"},
      {"", ".vtu", "an empty file", "write it anew"},
      {with(with(kVtu, "NumberOfCells=\"1\"", "NumberOfCells=\"0\""), "0 1 2 3 4 5", ""), ".vtu",
       "a VTK file of the type UnstructuredGrid: it has no cells", "write it as Gmsh"},
      {with(vtk_file, "%", "PolyData"), ".vtu", "a VTK file of the type PolyData", "write it as Gmsh"},
      {with(vtk_file, "%", "PUnstructuredGrid"), ".pvtu", "a VTK file of the type PUnstructuredGrid",
       "write it as Gmsh"},
      {"solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid "
       "s\n",
       ".stl", "ends in .stl: it has faces and no cells", "mesh the volume"},
      {"NDIME= 2\nNELEM= 1\n5 0 1 2 0\nNPOIN= 3\n0 0 0\n1 0 1\n0 1 2\nNMARK= 0\n", ".su2",
       "its points do not have three coordinates", "mesh the volume"},
      {with(kGmsh, "2 1 2 1\n1 1 3 2", "2 1 9 1\n1 1 3 2 4 5 6"), ".msh", "cells of type triangle6", "the first order"},
      {"no hdf", ".med", "a file that ends in .med", "write it as Gmsh"},
  };
  for (const Foreign& each : all) {
    SCOPED_TRACE(each.what);
    expect_told(read(each.content, each.ending), each.what, each.advice);
  }
}

TEST(Reader, SaysOfDirectoriesWhatTheyAre) {
  const ScratchFile name("-case");
  const std::string directory = name.path() + ".d", mesh = directory + "/constant/polyMesh";
  ASSERT_TRUE(make_private_directory(directory));
  expect_told(read_mesh(directory, READ_MESH), "a directory", "write it as Gmsh");
  ASSERT_TRUE(make_private_directory(mesh));
  ASSERT_TRUE(replace_file(mesh + "/owner", ""));
  for (const std::string& each : {directory, directory + "/constant", mesh})
    expect_told(read_mesh(each, READ_MESH), "an OpenFOAM case", "foamToVTK writes its mesh as VTU");
  std::filesystem::rename(mesh + "/owner", mesh + "/faces.gz");
  expect_told(read_mesh(mesh, READ_MESH), "an OpenFOAM case", "foamToVTK writes its mesh as VTU");
  std::filesystem::remove_all(directory);
}

// A module that is not there, as another directory of Python's has it.
TEST(Reader, SaysWhichPackageOfPythonIsMissing) {
  const ScratchFile name;
  const std::string directory = name.path() + ".d";
  ASSERT_TRUE(make_private_directory(directory));
  for (const char* module : {"h5py", "netCDF4", "meshio"})
    ASSERT_TRUE(replace_file(directory + "/" + module + ".py",
                             "raise ModuleNotFoundError(name='" + std::string(module) + "')\n"));
  ::setenv("PYTHONPATH", directory.c_str(), 1);
  const auto without_meshio = read(kVtu, ".vtu");
  ASSERT_EQ(::unlink((directory + "/meshio.py").c_str()), 0);
  const auto without_h5py = read("\x89HDF\r\n", ".med"), without_netcdf = read("CDF\x01", ".e");
  ::unsetenv("PYTHONPATH");
  std::filesystem::remove_all(directory);
  for (const auto& [told, package] :
       {std::pair(&without_meshio, "meshio"), {&without_h5py, "h5py"}, {&without_netcdf, "netcdf4"}}) {
    ASSERT_FALSE(*told) << package;
    EXPECT_NE(told->error().text().find(std::string("; install python3-") + package), std::string::npos)
        << told->error().text();
  }
}

TEST(Reader, RefusesFacesOfNoCellWithTheirGroup) {
  expect_refused(with(kGmsh, "1 1 3 2\n", "1 1 3 6\n"), ".msh", "group lid has a face that no cell has");
}

TEST(Reader, SaysWhatIsNoFile) {
  const auto mesh = read_mesh("/nowhere/cavity.msh", READ_MESH);
  ASSERT_FALSE(mesh);
  EXPECT_NE(mesh.error().text().find("/nowhere/cavity.msh"), std::string::npos);
  EXPECT_EQ(mesh.error().errno_value, ENOENT);
}

}  // namespace
}  // namespace forebay::mesh::test
