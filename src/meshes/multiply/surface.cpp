#include "meshes/multiply/surface.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "meshes/mesh/periodic.h"
#include "meshes/mesh/stream.h"
#include "meshes/multiply/fine.h"
#include "meshes/multiply/vtk.h"

namespace forebay::multiply {
namespace {

namespace grid = array_file::grid;
using mesh::Point;

constexpr const char* kPointNumber = "point";
constexpr const char* kCellNumber = "cell";
constexpr const char* kPeriodic = "periodic";
constexpr const char* kPeriodicCorners = "periodic_corners";
constexpr std::uint8_t kNoCorner = 255;

void make_set(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

std::uint64_t place_in(const std::vector<std::uint32_t>& set, std::uint32_t number) {
  return static_cast<std::uint64_t>(std::lower_bound(set.begin(), set.end(), number) - set.begin());
}

std::vector<std::uint32_t> faces_of_interest(const mesh::Topology& topology) {
  std::vector<std::uint32_t> faces(topology.boundary_faces);
  std::iota(faces.begin(), faces.end(), 0U);
  for (const auto& group : topology.face_groups) faces.insert(faces.end(), group.begin(), group.end());
  make_set(faces);
  return faces;
}

// Points that follow each other in both numberings.
class PointColumns {
 public:
  explicit PointColumns(GridFile& file)
      : places_(file, file.array(grid::kPoints, grid::kPlaces)),
        numbers_(file, file.array(grid::kPoints, kPointNumber)) {}

  Status add(std::uint64_t first, std::span<const Point> points) {
    own_numbers_.resize(points.size());
    std::iota(own_numbers_.begin(), own_numbers_.end(), first);
    if (auto ok = places_.add(points); !ok) return ok;
    return numbers_.add(std::span<const std::uint64_t>(own_numbers_));
  }
  Status flush() {
    if (auto ok = places_.flush(); !ok) return ok;
    return numbers_.flush();
  }

 private:
  Column places_, numbers_;
  std::vector<std::uint64_t> own_numbers_;
};

}  // namespace

Surface::Surface(const mesh::Refinement& refinement) : refinement_(refinement) {
  const mesh::Topology& topology = refinement.topology();
  const auto faces = faces_of_interest(topology);
  for (const std::uint32_t number : faces) {
    const mesh::Topology::Face& face = topology.faces[number];
    const mesh::Description& about = describe(face.shape);
    points_.insert(points_.end(), face.corners.begin(), face.corners.begin() + about.corners);
    edges_.insert(edges_.end(), face.outline.edges.begin(), face.outline.edges.begin() + about.corners);
    corner_count_ += std::uint64_t{refinement.faces_on_face()} * about.corners;
  }
  make_set(points_);
  make_set(edges_);
  point_count_ = points_.size() + edges_.size() * refinement.points_in_edge();
  for (const std::uint32_t number : faces) {
    faces_.push_back({number, point_count_});
    point_count_ += refinement.pattern(topology.faces[number].shape).inner_points();
  }
}

array_file::Description Surface::description() const {
  using array_file::Type;
  auto description = grid::describe(point_count_, faces_.size() * refinement_.faces_on_face(), corner_count_);
  description.arrays.push_back({kPointNumber, grid::kPoints, Type::uint64});
  description.arrays.push_back({kCellNumber, grid::kCells, Type::uint64});
  for (const mesh::FaceGroup& group : refinement_.mesh().face_groups)
    description.arrays.push_back({data_name_of(group.name), grid::kCells, Type::uint8});
  if (!refinement_.mesh().periodic.empty()) {
    description.arrays.push_back({kPeriodic, grid::kCells, Type::int64});
    description.arrays.push_back({kPeriodicCorners, grid::kCells, Type::uint8, mesh::kFaceCorners});
  }
  return description;
}

Status Surface::write(GridFile& file) const {
  if (auto ok = write_points(file); !ok) return ok;
  if (auto ok = write_faces(file); !ok) return ok;
  if (auto ok = write_groups(file); !ok) return ok;
  return refinement_.mesh().periodic.empty() ? Status{} : write_periodic(file);
}

Status Surface::write_points(GridFile& file) const {
  PointColumns columns(file);
  for (const std::uint32_t point : points_) {
    if (auto ok = columns.add(point, std::span(&refinement_.mesh().points[point], 1)); !ok) return ok;
  }
  std::vector<Point> places(refinement_.points_in_edge());
  for (const std::uint32_t edge : edges_) {
    refinement_.place_in_edge(edge, 0, places);
    if (auto ok = columns.add(refinement_.points_of_edge(edge), places); !ok) return ok;
  }
  for (const CoarseFace& face : faces_) {
    places.resize(refinement_.pattern(refinement_.topology().faces[face.number].shape).inner_points());
    refinement_.place_in_face(face.number, 0, places);
    if (auto ok = columns.add(refinement_.points_of_face(face.number), places); !ok) return ok;
  }
  return columns.flush();
}

mesh::Firsts<std::uint64_t> Surface::firsts_of(const CoarseFace& face) const {
  const mesh::Topology::Face& about = refinement_.topology().faces[face.number];
  mesh::Firsts<std::uint64_t> firsts{};
  for (unsigned i = 0; i < describe(about.shape).corners; ++i) {
    firsts.corners[i] = place_in(points_, about.corners[i]);
    firsts.edges[i] = points_.size() + place_in(edges_, about.outline.edges[i]) * refinement_.points_in_edge();
  }
  firsts.inside = face.first_inner_point;
  return firsts;
}

Status Surface::write_faces(GridFile& file) const {
  Column connectivity(file, file.array(grid::kCorners, grid::kConnectivity));
  Column ends(file, file.array(grid::kCells, grid::kEnds)), types(file, file.array(grid::kCells, grid::kTypes));
  Column cells(file, file.array(grid::kCells, kCellNumber));
  std::vector<std::uint64_t> numbers, corners, end(refinement_.faces_on_face()), cell(end.size());
  std::vector<std::uint8_t> type(end.size());
  std::uint64_t corners_before = 0;
  for (const CoarseFace& face : faces_) {
    const mesh::Shape shape = refinement_.topology().faces[face.number].shape;
    const mesh::Block& block = refinement_.pattern(shape).cells.front();
    numbers.resize(refinement_.pattern(shape).points);
    number_face(refinement_, face.number, firsts_of(face), numbers.data());
    corners.resize(block.corners.size());
    std::transform(block.corners.begin(), block.corners.end(), corners.begin(),
                   [&](std::uint32_t point) { return numbers[point]; });
    for (std::uint64_t& each : end) each = corners_before += describe(shape).corners;
    std::fill(type.begin(), type.end(), vtk_type(shape));
    const auto sides = sides_of(refinement_, face.number);
    for (std::size_t i = 0; i < cell.size(); ++i) cell[i] = sides[2 * i];
    for (const Status& ok :
         {connectivity.add(std::span<const std::uint64_t>(corners)), ends.add(std::span<const std::uint64_t>(end)),
          types.add(std::span<const std::uint8_t>(type)), cells.add(std::span<const std::uint64_t>(cell))}) {
      if (!ok) return ok;
    }
  }
  for (Column* each : {&connectivity, &ends, &types, &cells}) {
    if (auto ok = each->flush(); !ok) return ok;
  }
  return {};
}

Status Surface::write_groups(GridFile& file) const {
  const mesh::Mesh& mesh = refinement_.mesh();
  for (std::size_t g = 0; g < mesh.face_groups.size(); ++g) {
    const auto& members = refinement_.topology().face_groups[g];
    Column column(file, file.array(grid::kCells, data_name_of(mesh.face_groups[g].name)));
    for (const CoarseFace& face : faces_) {
      const bool member = std::binary_search(members.begin(), members.end(), face.number);
      const std::vector<std::uint8_t> values(refinement_.faces_on_face(), member ? 1 : 0);
      if (auto ok = column.add(std::span(values)); !ok) return ok;
    }
    if (auto ok = column.flush(); !ok) return ok;
  }
  return {};
}

std::uint64_t Surface::first_of(std::uint32_t coarse_face) const {
  const auto at = std::lower_bound(faces_.begin(), faces_.end(), coarse_face,
                                   [](const CoarseFace& face, std::uint32_t number) { return face.number < number; });
  return static_cast<std::uint64_t>(at - faces_.begin()) * refinement_.faces_on_face();
}

Status Surface::write_periodic(GridFile& file) const {
  std::map<std::uint32_t, mesh::Topology::Periodic> pairs;
  for (const auto& pair : refinement_.topology().periodic) pairs[pair.face] = pair;
  Column behind(file, file.array(grid::kCells, kPeriodic)), corners(file, file.array(grid::kCells, kPeriodicCorners));
  for (const CoarseFace& face : faces_) {
    std::vector<std::int64_t> faces(refinement_.faces_on_face(), -1);
    std::vector<std::uint8_t> corner(faces.size() * mesh::kFaceCorners, kNoCorner);
    if (const auto pair = pairs.find(face.number); pair != pairs.end()) {
      const auto first = static_cast<std::int64_t>(first_of(pair->second.image));
      const unsigned width = describe(refinement_.topology().faces[face.number].shape).corners;
      for (const mesh::SmallPair& small : small_pairs(refinement_, pair->second)) {
        faces[small.face] = first + small.image;
        std::copy_n(small.corners.begin(), width, &corner[std::size_t{small.face} * mesh::kFaceCorners]);
      }
    }
    if (auto ok = behind.add(std::span<const std::int64_t>(faces)); !ok) return ok;
    if (auto ok = corners.add(std::span<const std::uint8_t>(corner)); !ok) return ok;
  }
  if (auto ok = behind.flush(); !ok) return ok;
  return corners.flush();
}

}  // namespace forebay::multiply
