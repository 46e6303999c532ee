#include "meshes/mesh/conformity.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "meshes/mesh/nearby.h"
#include "meshes/mesh/overlap.h"
#include "meshes/mesh/vector.h"

namespace forebay::mesh {
namespace {

constexpr std::size_t kNamed = 3;       // places of a kind
constexpr double kOnePoint = 1e-9;      // of the mesh's extent: points that lie so near are one
constexpr double kOfShortest = 1e-3;    // of the shortest edge, where that is less
constexpr double kOneDirection = 1e-6;  // two edges that leave a point at such an angle lie on each other
constexpr std::string_view kAdvice =
    "mesh both sides of it alike; where points that are to be one lie apart, --merge TOLERANCE joins them";

// How many there are of something, or at least are where nobody counted on, and the first few places.
class Places {
 public:
  void add(const Point& place) {
    if (count_++ < kNamed) text_ += (text_.empty() ? "" : ", ") + at(place);
  }
  void more() { all_ = false; }
  std::size_t count() const { return count_; }
  std::string number() const { return fmt::format("{}{}", all_ ? "" : "at least ", count_); }
  std::string text() const { return text_ + (count_ > kNamed ? ", ..." : ""); }

 private:
  std::size_t count_ = 0;
  bool all_ = true;
  std::string text_;
};

// A face at the boundary with the points that stand for its corners.
struct Outer {
  FaceCorners corners;
  std::span<const std::uint32_t> points() const {
    return std::span(corners).first(corners[3] == kNone ? kFaceCorners - 1 : kFaceCorners);
  }
};

class Boundary {
 public:
  Boundary(const Mesh& mesh, const Topology& topology) : mesh_(mesh), one_(mesh.points.size()) {
    for (std::uint32_t face = 0; face < topology.boundary_faces; ++face)
      faces_.push_back({topology.faces[face].corners});
    find_equal_points();
    for (Outer& face : faces_)
      for (std::uint32_t& corner : face.corners)
        if (corner != kNone) corner = one_(corner);
  }

  // Takes those that lie corner on corner away from the others.
  Places take_coinciding() {
    std::vector<std::pair<FaceCorners, std::uint32_t>> keys;
    for (std::uint32_t i = 0; i < faces_.size(); ++i) {
      keys.emplace_back(faces_[i].corners, i);
      std::sort(keys.back().first.begin(), keys.back().first.end());
    }
    std::sort(keys.begin(), keys.end());
    Places places;
    std::vector<bool> gone(faces_.size());
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i].first != keys[i - 1].first) continue;
      places.add(middle_of(faces_[keys[i].second]));
      gone[keys[i].second] = gone[keys[i - 1].second] = true;
    }
    std::vector<Outer> others;
    for (std::size_t i = 0; i < faces_.size(); ++i)
      if (!gone[i]) others.push_back(faces_[i]);
    faces_ = std::move(others);
    return places;
  }

  // Quadrilaterals with a triangle on three of their corners.
  Places halves() const {
    using Three = std::array<std::uint32_t, 3>;
    std::vector<std::pair<Three, std::uint32_t>> of_quadrilaterals;
    for (std::uint32_t i = 0; i < faces_.size(); ++i) {
      if (faces_[i].points().size() == 3) continue;
      for (unsigned without = 0; without < kFaceCorners; ++without)
        of_quadrilaterals.emplace_back(three(faces_[i].corners, without), i);
    }
    std::sort(of_quadrilaterals.begin(), of_quadrilaterals.end());
    Places places;
    for (const Outer& face : faces_) {
      if (of_quadrilaterals.empty() || face.points().size() != 3) continue;
      const std::pair wanted(three(face.corners, 3), 0U);
      const auto found = std::lower_bound(of_quadrilaterals.begin(), of_quadrilaterals.end(), wanted);
      if (found != of_quadrilaterals.end() && found->first == wanted.first) places.add(middle_of(face));
    }
    return places;
  }

  // Ends of edges that lie on longer ones, which leave the same point.
  Places hanging() const {
    std::vector<std::array<std::uint32_t, 2>> edges;
    for (const Outer& face : faces_) {
      const auto points = face.points();
      for (std::size_t i = 0; i < points.size(); ++i) {
        const std::uint32_t a = points[i], b = points[(i + 1) % points.size()];
        if (a != b) edges.insert(edges.end(), {{a, b}, {b, a}});
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::vector<std::uint32_t> ends;
    for (std::size_t first = 0, end = 0; first < edges.size(); first = end) {
      while (end < edges.size() && edges[end][0] == edges[first][0]) ++end;
      add_hanging(std::span(edges).subspan(first, end - first), ends);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    Places places;
    for (const std::uint32_t point : ends) places.add(mesh_.points[point]);
    return places;
  }

  // Plane faces that overlap with others, which are seen from the other side.
  Places overlapping() const {
    std::vector<Polygon> polygons;
    for (const Outer& face : faces_) {
      Polygon polygon;
      for (const std::uint32_t point : face.points()) polygon.corners[polygon.count++] = mesh_.points[point];
      polygons.push_back(polygon);
    }
    const Overlaps overlaps = overlapping_faces(polygons);
    Places places;
    for (const std::uint32_t face : overlaps.faces) places.add(middle_of(faces_[face]));
    if (!overlaps.all) places.more();
    return places;
  }

 private:
  static std::array<std::uint32_t, 3> three(const FaceCorners& corners, unsigned without) {
    std::array<std::uint32_t, 3> three{};
    for (unsigned i = 0, to = 0; i < kFaceCorners; ++i)
      if (i != without) three[to++] = corners[i];
    std::sort(three.begin(), three.end());
    return three;
  }

  void find_equal_points() {
    std::vector<std::uint32_t> points;
    double shortest = std::numeric_limits<double>::infinity(), extent = 0;
    for (const Outer& face : faces_) {
      const auto corners = face.points();
      points.insert(points.end(), corners.begin(), corners.end());
      for (std::size_t i = 0; i < corners.size(); ++i)
        shortest =
            std::min(shortest, length(mesh_.points[corners[i]] - mesh_.points[corners[(i + 1) % corners.size()]]));
    }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    for (const std::uint32_t point : points)
      extent = std::max(extent, length(mesh_.points[point] - mesh_.points[points.front()]));
    const Nearby nearby(mesh_.points, points, std::min(extent * kOnePoint, shortest * kOfShortest));
    for (const std::uint32_t point : points)
      for (const std::uint32_t other : nearby.find(mesh_.points[point])) one_.merge(point, other);
  }

  Point middle_of(const Outer& face) const {
    Point middle{};
    for (const std::uint32_t point : face.points())
      for (std::size_t axis = 0; axis < 3; ++axis)
        middle[axis] += mesh_.points[point][axis] / static_cast<double>(face.points().size());
    return middle;
  }

  // Takes edges that leave one point. They are sorted by how far they go in some direction that no mesh prefers: those
  // that lie on each other are neighbours then.
  void add_hanging(std::span<const std::array<std::uint32_t, 2>> edges, std::vector<std::uint32_t>& ends) const {
    constexpr Point kDirection{0.2672612419124244, 0.5345224838248488, 0.8017837257372732};
    struct Way {
      double along;
      Point direction;
      double length;
      std::uint32_t to;
    };
    std::vector<Way> ways;
    for (const auto& [from, to] : edges) {
      const Point way = mesh_.points[to] - mesh_.points[from];
      const double far = length(way);
      const Point direction{way[0] / far, way[1] / far, way[2] / far};
      ways.push_back({dot(direction, kDirection), direction, far, to});
    }
    std::sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.along < b.along; });
    for (std::size_t i = 0; i < ways.size(); ++i)
      for (std::size_t j = i + 1; j < ways.size() && ways[j].along - ways[i].along <= kOneDirection; ++j)
        if (length(ways[i].direction - ways[j].direction) <= kOneDirection)
          ends.push_back(ways[i].length < ways[j].length ? ways[i].to : ways[j].to);
  }

  const Mesh& mesh_;
  Sets one_;
  std::vector<Outer> faces_;
};

// The result is "" where there is one.
std::string bodies(const Mesh& mesh, const Topology& topology) {
  Sets sets(mesh.cells());
  for (const Topology::Face& face : topology.faces)
    if (face.cells[1] != kNone) sets.merge(face.cells[0], face.cells[1]);
  std::vector<std::pair<std::size_t, std::uint32_t>> found;  // how many cells, and the first one
  std::vector<std::uint32_t> number(mesh.cells());
  for (std::uint32_t cell = 0; cell < mesh.cells(); ++cell) {
    const std::uint32_t first = sets(cell);
    if (first == cell) {
      number[cell] = static_cast<std::uint32_t>(found.size());
      found.emplace_back(0, cell);
    }
    ++found[number[first]].first;
  }
  if (found.size() == 1) return {};
  const auto named = std::min(found.size(), kNamed + 1);
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(named), found.end(), std::greater<>());
  std::string text = fmt::format("{} bodies that have no face in common:", found.size());
  for (std::size_t i = 0; i < named; ++i)
    text += fmt::format("{} {} near {}", i == 0 ? "" : ",", plural(found[i].first, "cell"),
                        at(mesh.points[mesh.cell(found[i].second)[0]]));
  return text + (found.size() > named ? ", ..." : "");
}

Status refuse(const Places& places, std::string_view what) {
  if (places.count() == 0) return {};
  return error(Code::bad_input,
               fmt::format("the mesh does not conform: {} {} {}", places.number(), what, places.text()), {}, kAdvice);
}

}  // namespace

Result<std::vector<std::string>> conformity(const Mesh& mesh, const Topology& topology) {
  std::vector<std::string> warnings;
  Boundary boundary(mesh, topology);
  const Places coinciding = boundary.take_coinciding();
  if (auto ok = refuse(boundary.halves(), "triangles lie on half a quadrilateral, at"); !ok) return forward(ok);
  if (auto ok = refuse(boundary.hanging(), "points hang on an edge, at"); !ok) return forward(ok);
  if (auto ok = refuse(boundary.overlapping(), "faces lie on others, but not corner on corner, at"); !ok)
    return forward(ok);
  if (std::string several = bodies(mesh, topology); !several.empty()) warnings.push_back(std::move(several));
  if (coinciding.count() > 0)
    warnings.push_back(
        fmt::format("{} at the boundary on top of others, corner on corner, at {}; unless the "
                    "mesh is to be open there, join their points with --merge TOLERANCE",
                    plural(coinciding.count(), "face"), coinciding.text()));
  return warnings;
}

}  // namespace forebay::mesh
