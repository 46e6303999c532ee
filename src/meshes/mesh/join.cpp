#include "meshes/mesh/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "meshes/mesh/nearby.h"
#include "meshes/mesh/vector.h"

namespace forebay::mesh {
namespace {

std::vector<std::uint32_t> points_of(const FaceGroup& group) {
  std::vector<std::uint32_t> points;
  for (const FaceCorners& face : group.faces) points.insert(points.end(), face.begin(), face.end());
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::erase(points, kNone);
  return points;
}

template <class Number>
void follow(FaceCorners& face, const Number& number) {
  for (std::uint32_t& corner : face)
    if (corner != kNone) corner = number(corner);
}

std::vector<FaceCorners> sorted_faces(std::vector<FaceCorners> faces, const Sets& merged) {
  for (FaceCorners& face : faces) {
    follow(face, merged);
    std::sort(face.begin(), face.end());
  }
  std::sort(faces.begin(), faces.end());
  return faces;
}

// Takes away the points that became others, and gives all that are left the numbers without gaps.
void drop_points(Mesh& mesh, const Sets& merged) {
  std::vector<std::uint32_t> numbers(mesh.points.size());
  std::uint32_t kept = 0;
  for (std::uint32_t point = 0; point < numbers.size(); ++point) {
    const std::uint32_t stands = merged(point);
    if (stands != point) {
      numbers[point] = numbers[stands];  // lower, so known
      continue;
    }
    mesh.points[kept] = mesh.points[point];
    numbers[point] = kept++;
  }
  mesh.points.resize(kept);
  const auto number_of = [&numbers](std::uint32_t point) { return numbers[point]; };
  for (std::uint32_t& corner : mesh.corners) corner = numbers[corner];
  for (FaceGroup& group : mesh.face_groups)
    for (FaceCorners& face : group.faces) follow(face, number_of);
  for (PeriodicFaces& pair : mesh.periodic) {
    follow(pair.face, number_of);
    follow(pair.image, number_of);
  }
}

class Joiner {
 public:
  Joiner(std::span<const Mesh> meshes, double tolerance) : tolerance_(tolerance) {
    for (const Mesh& mesh : meshes) append(mesh);
    merged_ = Sets(whole_.points.size());
  }

  Status close(const Joint& joint) {
    auto one = find(joint.one), other = find(joint.other);
    if (!one) return forward(one);
    if (!other) return forward(other);
    if (joint.one.mesh > joint.other.mesh) std::swap(one, other);
    FaceGroup &stays = groups_[*one].group, &goes = groups_[*other].group;
    const Nearby nearby(whole_.points, points_of(stays), tolerance_);
    for (const std::uint32_t point : points_of(stays))
      if (find(nearby, point).size() > 1) return too_near(stays, point);
    for (const std::uint32_t point : points_of(goes)) {
      const auto met = find(nearby, point);
      if (met.size() > 1) return too_near(stays, point);
      if (met.empty())
        return error(Code::bad_input,
                     fmt::format("the point at {} of group \"{}\" meets none of group \"{}\"", at(whole_.points[point]),
                                 printable(goes.name), printable(stays.name)));
      merged_.merge(point, met.front());
    }
    if (sorted_faces(stays.faces, merged_) != sorted_faces(goes.faces, merged_))
      return error(Code::bad_input, fmt::format("the faces of groups \"{}\" and \"{}\" do not meet one by one",
                                                printable(stays.name), printable(goes.name)));
    groups_[*one].joined = groups_[*other].joined = true;
    return {};
  }

  Mesh result() && {
    for (Group& each : groups_)
      if (!each.joined) add(whole_.face_groups, each.group, &FaceGroup::faces);
    drop_points(whole_, merged_);
    return std::move(whole_);
  }

 private:
  struct Group {
    std::size_t mesh;
    FaceGroup group;
    bool joined = false;
  };

  template <class Named, class List>
  static void add(std::vector<Named>& groups, Named& more, List list) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Named& g) { return g.name == more.name; });
    if (same == groups.end()) return groups.push_back(std::move(more));
    (*same.*list).insert((*same.*list).end(), (more.*list).begin(), (more.*list).end());
  }

  void append(const Mesh& mesh) {
    const auto first_point = static_cast<std::uint32_t>(whole_.points.size());
    const auto first_cell = static_cast<std::uint32_t>(whole_.cells());
    const auto shifted = [first_point](std::uint32_t point) { return point + first_point; };
    whole_.points.insert(whole_.points.end(), mesh.points.begin(), mesh.points.end());
    for (std::size_t cell = 0; cell < mesh.cells(); ++cell) {
      whole_.add(mesh.shapes[cell], mesh.cell(cell));
      for (std::size_t i = whole_.first[whole_.cells() - 1]; i < whole_.corners.size(); ++i)
        whole_.corners[i] += first_point;
    }
    for (FaceGroup group : mesh.face_groups) {
      for (FaceCorners& face : group.faces) follow(face, shifted);
      groups_.push_back({meshes_, std::move(group)});
    }
    for (CellGroup group : mesh.cell_groups) {
      for (std::uint32_t& cell : group.cells) cell += first_cell;
      add(whole_.cell_groups, group, &CellGroup::cells);
    }
    for (PeriodicFaces pair : mesh.periodic) {
      follow(pair.face, shifted);
      follow(pair.image, shifted);
      whole_.periodic.push_back(pair);
    }
    ++meshes_;
  }

  Result<std::size_t> find(const Side& side) const {
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (groups_[i].mesh == side.mesh && groups_[i].group.name == side.group && !groups_[i].joined) return i;
    return error(Code::bad_input, fmt::format("mesh {} has no group of faces \"{}\" that could be joined", side.mesh,
                                              printable(side.group)));
  }

  tl::unexpected<Error> too_near(const FaceGroup& group, std::uint32_t point) const {
    return error(Code::bad_input,
                 fmt::format("two points of group \"{}\" lie within the tolerance of {:g} at {}", printable(group.name),
                             tolerance_, at(whole_.points[point])),
                 {}, "choose a smaller one");
  }

  // The points of the side near a point; those that are one already count once.
  std::vector<std::uint32_t> find(const Nearby& nearby, std::uint32_t point) const {
    std::vector<std::uint32_t> found = nearby.find(whole_.points[point]);
    for (std::uint32_t& each : found) each = merged_(each);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  double tolerance_;
  Mesh whole_;
  std::size_t meshes_ = 0;
  std::vector<Group> groups_;
  Sets merged_{0};
};

Status check(double tolerance) {
  if (tolerance >= 0 && std::isfinite(tolerance)) return {};
  return error(Code::bad_input, fmt::format("a tolerance of {:g} is none", tolerance));
}

// No edge may become a point.
Status check_edges(const Mesh& mesh, double tolerance) {
  for (std::size_t cell = 0; cell < mesh.cells(); ++cell) {
    const auto corners = mesh.cell(cell);
    for (const auto& edge : describe(mesh.shapes[cell]).edges) {
      const Point &a = mesh.points[corners[edge[0]]], &b = mesh.points[corners[edge[1]]];
      if (length(a - b) <= tolerance)
        return error(Code::bad_input,
                     fmt::format("an edge of cell {} at {} has a length of {:g}, no more than the tolerance of "
                                 "{:g} within which points are to be one",
                                 cell, at(a), length(a - b), tolerance),
                     {}, "choose a smaller one");
    }
  }
  return {};
}

}  // namespace

Result<std::size_t> merge(Mesh& mesh, double tolerance) {
  if (auto ok = check(tolerance); !ok) return forward(ok);
  if (auto ok = validate(mesh); !ok) return forward(ok);
  if (auto ok = check_edges(mesh, tolerance); !ok) return forward(ok);
  std::vector<std::uint32_t> all(mesh.points.size());
  std::iota(all.begin(), all.end(), 0U);
  const Nearby nearby(mesh.points, all, tolerance);
  Sets merged(mesh.points.size());
  for (const std::uint32_t point : all)
    for (const std::uint32_t other : nearby.find(mesh.points[point])) merged.merge(point, other);
  const std::size_t before = mesh.points.size();
  drop_points(mesh, merged);
  if (auto ok = validate(mesh); !ok)
    return error(Code::bad_input, ok.error().what + fmt::format(" where points within {:g} are one", tolerance), {},
                 "choose a smaller tolerance");
  return before - mesh.points.size();
}

Result<Mesh> join(std::span<const Mesh> meshes, std::span<const Joint> joints, double tolerance) {
  if (auto ok = check(tolerance); !ok) return forward(ok);
  for (const Mesh& mesh : meshes)
    if (auto valid = validate(mesh); !valid) return forward(valid);
  Joiner joiner(meshes, tolerance);
  for (const Joint& joint : joints)
    if (auto closed = joiner.close(joint); !closed) return forward(closed);
  return std::move(joiner).result();
}

}  // namespace forebay::mesh
