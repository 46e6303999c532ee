#include "meshes/mesh/part.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "meshes/mesh/tests/meshes.h"

namespace forebay::mesh::test {
namespace {

// The statements of a part about everything it holds, by global number alone.
struct Global {
  std::map<std::uint64_t, Point> points;
  std::map<std::uint64_t, std::vector<std::uint64_t>> cells, faces;
  std::map<std::uint64_t, std::set<std::uint64_t>> cells_of_face;
  friend bool operator==(const Global&, const Global&) = default;
};

void add_elements(const Part& part, const Elements& elements, std::map<std::uint64_t, std::vector<std::uint64_t>>& to) {
  std::size_t corner = 0, element = 0;
  for (const Stretch& stretch : elements.stretches) {
    for (std::uint64_t i = 0; i < stretch.count; ++i, ++element) {
      std::vector<std::uint64_t> corners;
      for (unsigned c = 0; c < describe(stretch.shape).corners; ++c)
        corners.push_back(part.point_numbers[elements.corners[corner++]]);
      const auto [at, is_new] = to.emplace(elements.numbers[element], corners);
      EXPECT_EQ(at->second, corners) << "number " << elements.numbers[element] << " in two parts";
    }
  }
  EXPECT_EQ(corner, elements.corners.size());
  EXPECT_EQ(element, elements.numbers.size());
}

void add_part(const Part& part, Global& global) {
  for (std::size_t i = 0; i < part.points.size(); ++i) {
    const auto [at, is_new] = global.points.emplace(part.point_numbers[i], part.points[i]);
    EXPECT_EQ(at->second, part.points[i]) << "point " << part.point_numbers[i] << " in two parts";
  }
  add_elements(part, part.cells, global.cells);
  add_elements(part, part.faces, global.faces);
  for (std::size_t i = 0; i < part.sides.size(); ++i)
    if (part.sides[i] != kNone)
      global.cells_of_face[part.faces.numbers[i / 2]].insert(part.cells.numbers[part.sides[i]]);
}

enum class Share { blocks, scattered };
Global in_parts(const Refinement& refinement, std::uint32_t parts, Share share) {
  Global global;
  const auto cells = static_cast<std::uint32_t>(refinement.mesh().cells());
  for (std::uint32_t part = 0; part < parts; ++part) {
    std::vector<std::uint32_t> mine;
    for (std::uint32_t cell = 0; cell < cells; ++cell)
      if ((share == Share::blocks ? cell * parts / cells : cell * 7919 % parts) == part) mine.push_back(cell);
    add_part(need(make_part(refinement, mine)), global);
  }
  return global;
}

TEST(Part, NumbersAndCoordinatesDoNotDependOnTheParts) {
  for (const auto& [name, mesh, volume] : meshes()) {
    SCOPED_TRACE(name);
    const Topology topology = need(number(mesh));
    const Refinement refinement = need(Refinement::make(mesh, topology, 2));
    const Global whole = in_parts(refinement, 1, Share::blocks);
    EXPECT_EQ(whole.cells.size(), refinement.counts().cells);
    for (const std::uint32_t parts : {2U, 3U, 4U, 8U})
      for (const Share share : {Share::blocks, Share::scattered})
        EXPECT_TRUE(in_parts(refinement, parts, share) == whole) << parts << " parts";
  }
}

TEST(Part, OfTheWholeMeshHasItsNumbersAsIndices) {
  for (const auto& [name, mesh, volume] : meshes()) {
    const Topology topology = need(number(mesh));
    const Refinement refinement = need(Refinement::make(mesh, topology, 3));
    const Part part = need(make_part(refinement, all_cells(mesh)));
    const auto counts_up = [](std::span<const std::uint64_t> numbers) {
      for (std::size_t i = 0; i < numbers.size(); ++i)
        if (numbers[i] != i) return false;
      return true;
    };
    EXPECT_TRUE(counts_up(part.point_numbers.all())) << name;
    EXPECT_TRUE(counts_up(part.cells.numbers.all())) << name;
    EXPECT_TRUE(counts_up(part.faces.numbers.all())) << name;
    EXPECT_EQ(part.points.size(), refinement.counts().points);
    EXPECT_EQ(part.cells.numbers.size(), refinement.counts().cells);
    EXPECT_EQ(part.faces.numbers.size(), refinement.counts().faces);
  }
}

// Every face of a cell, by its corners, with the cell; listed as the cell sees it.
using View = std::vector<std::uint32_t>;
std::multimap<View, std::pair<std::uint32_t, View>> views_of(const Part& part) {
  std::multimap<View, std::pair<std::uint32_t, View>> views;
  std::size_t corner = 0;
  std::uint32_t cell = 0;
  for (const Stretch& stretch : part.cells.stretches) {
    for (std::uint64_t i = 0; i < stretch.count; ++i, ++cell, corner += describe(stretch.shape).corners) {
      for (const FaceOfShape& face : describe(stretch.shape).faces) {
        View view;
        for (unsigned c = 0; c < describe(face.shape).corners; ++c)
          view.push_back(part.cells.corners[corner + face.corners[c]]);
        View key = view;
        std::sort(key.begin(), key.end());
        views.emplace(key, std::pair(cell, view));
      }
    }
  }
  return views;
}

bool same_way_round(const View& a, const View& b) {
  View twice = b;
  twice.insert(twice.end(), b.begin(), b.end());
  return std::search(twice.begin(), twice.end(), a.begin(), a.end()) != twice.end();
}

TEST(Part, FacesLieBetweenTheCellsThatTheyName) {
  for (const auto& [name, mesh, volume] : meshes()) {
    SCOPED_TRACE(name);
    const Topology topology = need(number(mesh));
    const Refinement refinement = need(Refinement::make(mesh, topology, 2));
    const Part part = need(make_part(refinement, all_cells(mesh)));
    auto views = views_of(part);
    std::size_t corner = 0, number = 0;
    for (const Stretch& stretch : part.faces.stretches) {
      for (std::uint64_t i = 0; i < stretch.count; ++i, ++number, corner += describe(stretch.shape).corners) {
        const View face(&part.faces.corners[corner], &part.faces.corners[corner] + describe(stretch.shape).corners);
        View key = face;
        std::sort(key.begin(), key.end());
        const bool boundary = number < refinement.counts().boundary_faces;
        ASSERT_EQ(part.sides[2 * number + 1] == kNone, boundary) << "face " << number;
        ASSERT_EQ(views.count(key), boundary ? 1U : 2U) << "face " << number;
        for (auto [at, end] = views.equal_range(key); at != end; ++at) {
          const auto& [cell, view] = at->second;
          ASSERT_TRUE(cell == part.sides[2 * number] || cell == part.sides[2 * number + 1]) << "face " << number;
          EXPECT_EQ(same_way_round(face, view), cell == part.sides[2 * number]) << "face " << number;
        }
        views.erase(key);
      }
    }
    EXPECT_TRUE(views.empty()) << views.size() << " faces of cells are not listed";
  }
}

TEST(Part, WithoutCellsIsEmpty) {
  const Mesh mesh = cavity(1, Shape::prism);
  const Topology topology = need(number(mesh));
  const Part part = need(make_part(need(Refinement::make(mesh, topology, 1)), {}));
  EXPECT_EQ(part.points.size() + part.cells.numbers.size() + part.faces.numbers.size(), 0U);
}

}  // namespace
}  // namespace forebay::mesh::test
