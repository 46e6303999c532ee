#include "meshes/mesh/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace forebay::mesh {
namespace {

FaceCorners sorted(FaceCorners corners) {
  std::sort(corners.begin(), corners.end());
  return corners;
}

// One cell's view of one edge.
struct EdgeView {
  std::array<std::uint32_t, 2> points;
  std::uint32_t cell;
  std::uint8_t place;
  bool backwards;
};

void number_edges(const Mesh& mesh, Topology& topology) {
  std::vector<EdgeView> views;
  for (std::uint32_t cell = 0; cell < mesh.cells(); ++cell) {
    const auto corners = mesh.cell(cell);
    const auto& edges = describe(mesh.shapes[cell]).edges;
    for (std::uint8_t place = 0; place < edges.size(); ++place) {
      const std::uint32_t a = corners[edges[place][0]], b = corners[edges[place][1]];
      views.push_back({{std::min(a, b), std::max(a, b)}, cell, place, a > b});
    }
  }
  std::sort(views.begin(), views.end(), [](const EdgeView& a, const EdgeView& b) {
    return std::tie(a.points, a.cell, a.place) < std::tie(b.points, b.cell, b.place);
  });
  for (const EdgeView& view : views) {
    if (topology.edges.empty() || topology.edges.back() != view.points) {
      topology.edges.push_back(view.points);
      topology.edge_owner.push_back(view.cell);
    }
    Topology::Outline& outline = topology.cells[view.cell].outline;
    outline.edges[view.place] = static_cast<std::uint32_t>(topology.edges.size() - 1);
    if (view.backwards) outline.backwards = static_cast<std::uint16_t>(outline.backwards | 1U << view.place);
  }
}

// The edges of a cell's face are among those of the cell.
Topology::Outline outline_of_face(Shape cell, const Topology::Outline& around, unsigned place) {
  const FaceOfShape& face = describe(cell).faces[place];
  Topology::Outline outline{};
  for (unsigned i = 0; i < describe(face.shape).edges.size(); ++i) {
    const auto& [a, b] = describe(face.shape).edges[i];
    const std::array<std::uint8_t, 2> ends{face.corners[a], face.corners[b]}, swapped{ends[1], ends[0]};
    const auto& edges = describe(cell).edges;
    unsigned e = 0;
    while (edges[e] != ends && edges[e] != swapped) ++e;
    outline.edges[i] = around.edges[e];
    const bool backwards = (around.backwards >> e & 1U) != (edges[e] == swapped ? 1U : 0U);
    if (backwards) outline.backwards = static_cast<std::uint16_t>(outline.backwards | 1U << i);
  }
  return outline;
}

// One cell's view of one face.
struct FaceView {
  FaceCorners key;
  std::uint32_t cell;
  std::uint8_t place;
};

std::vector<FaceView> all_views(const Mesh& mesh) {
  std::vector<FaceView> views;
  for (std::uint32_t cell = 0; cell < mesh.cells(); ++cell) {
    const auto corners = mesh.cell(cell);
    const auto& faces = describe(mesh.shapes[cell]).faces;
    for (std::uint8_t place = 0; place < faces.size(); ++place) {
      FaceView view{{kNone, kNone, kNone, kNone}, cell, place};
      for (unsigned i = 0; i < describe(faces[place].shape).corners; ++i)
        view.key[i] = corners[faces[place].corners[i]];
      view.key = sorted(view.key);
      views.push_back(view);
    }
  }
  std::sort(views.begin(), views.end(), [](const FaceView& a, const FaceView& b) {
    return std::tie(a.key, a.cell, a.place) < std::tie(b.key, b.cell, b.place);
  });
  return views;
}

FaceCorners listed_by(const Mesh& mesh, std::uint32_t cell, unsigned place) {
  const FaceOfShape& face = describe(mesh.shapes[cell]).faces[place];
  FaceCorners listed{kNone, kNone, kNone, kNone};
  for (unsigned i = 0; i < describe(face.shape).corners; ++i) listed[i] = mesh.cell(cell)[face.corners[i]];
  return listed;
}

// How `view` must be turned to become `list`.
std::optional<std::uint8_t> turn_between(Shape shape, const FaceCorners& list, const FaceCorners& view) {
  const unsigned corners = describe(shape).corners;
  for (std::uint8_t turn = 0; turn < 2 * corners; ++turn) {
    const auto places = turned(corners, turn);
    unsigned i = 0;
    while (i < corners && view[places[i]] == list[i]) ++i;
    if (i == corners) return turn;
  }
  return std::nullopt;
}

Result<std::vector<Topology::Face>> pair_views(const Mesh& mesh) {
  const std::vector<FaceView> views = all_views(mesh);
  std::vector<Topology::Face> faces;
  for (std::size_t i = 0; i < views.size();) {
    std::size_t end = i + 1;
    while (end < views.size() && views[end].key == views[i].key) ++end;
    if (end - i > 2)
      return error(Code::bad_input, fmt::format("cells {}, {} and {} share one face, which only two can", views[i].cell,
                                                views[i + 1].cell, views[i + 2].cell));
    const Shape shape = views[i].key[3] == kNone ? Shape::triangle : Shape::quadrilateral;
    Topology::Face face{
        shape, listed_by(mesh, views[i].cell, views[i].place), {views[i].cell, kNone}, {views[i].place, 0}, {}};
    if (end - i == 2) {
      face.cells[1] = views[i + 1].cell;
      face.places[1] = views[i + 1].place;
      const auto turn = turn_between(shape, face.corners, listed_by(mesh, face.cells[1], face.places[1]));
      // Seen from the other side the list runs backwards; otherwise both cells lie on the same side.
      if (!turn || *turn < describe(shape).corners)
        return error(Code::bad_input, fmt::format("cells {} and {} share a face but overlap, or list its corners "
                                                  "crosswise",
                                                  face.cells[0], face.cells[1]));
    }
    faces.push_back(face);
    i = end;
  }
  return faces;
}

Status number_faces(const Mesh& mesh, Topology& topology) {
  auto faces = pair_views(mesh);
  if (!faces) return forward(faces);
  topology.faces = std::move(*faces);
  std::sort(topology.faces.begin(), topology.faces.end(), [](const Topology::Face& a, const Topology::Face& b) {
    return std::tuple(a.cells[1] != kNone, a.cells[0], a.places[0]) <
           std::tuple(b.cells[1] != kNone, b.cells[0], b.places[0]);
  });
  for (std::uint32_t number = 0; number < topology.faces.size(); ++number) {
    Topology::Face& face = topology.faces[number];
    face.outline = outline_of_face(mesh.shapes[face.cells[0]], topology.cells[face.cells[0]].outline, face.places[0]);
    if (face.cells[1] == kNone) ++topology.boundary_faces;
    for (unsigned side = 0; side < 2 && face.cells[side] != kNone; ++side) {
      Topology::Cell& cell = topology.cells[face.cells[side]];
      cell.faces[face.places[side]] = number;
      cell.turns[face.places[side]] =
          turn_between(face.shape, face.corners, listed_by(mesh, face.cells[side], face.places[side])).value();
    }
  }
  return {};
}

void find_owners_of_points(const Mesh& mesh, Topology& topology) {
  topology.point_owner.assign(mesh.points.size(), kNone);
  for (std::uint32_t cell = 0; cell < mesh.cells(); ++cell)
    for (const std::uint32_t point : mesh.cell(cell))
      topology.point_owner[point] = std::min(topology.point_owner[point], cell);
}

// Finds faces by their corners.
class FaceIndex {
 public:
  explicit FaceIndex(const Topology& topology) {
    for (std::uint32_t number = 0; number < topology.faces.size(); ++number)
      faces_.emplace_back(sorted(topology.faces[number].corners), number);
    std::sort(faces_.begin(), faces_.end());
  }
  std::optional<std::uint32_t> find(const FaceCorners& corners) const {
    const std::pair<FaceCorners, std::uint32_t> wanted{sorted(corners), 0};
    const auto found = std::lower_bound(faces_.begin(), faces_.end(), wanted);
    if (found == faces_.end() || found->first != wanted.first) return std::nullopt;
    return found->second;
  }

 private:
  std::vector<std::pair<FaceCorners, std::uint32_t>> faces_;
};

tl::unexpected<Error> no_face(const std::string& of, const FaceCorners& corners) {
  return error(Code::bad_input, fmt::format("{} has a face with the corners {}, {} and {}, but no cell has such a face",
                                            of, corners[0], corners[1], corners[2]));
}

Status find_groups(const Mesh& mesh, const FaceIndex& index, Topology& topology) {
  for (const FaceGroup& group : mesh.face_groups) {
    std::vector<std::uint32_t> faces;
    for (const FaceCorners& corners : group.faces) {
      const auto face = index.find(corners);
      if (!face) return no_face("group \"" + printable(group.name) + "\"", corners);
      faces.push_back(*face);
    }
    std::sort(faces.begin(), faces.end());
    faces.erase(std::unique(faces.begin(), faces.end()), faces.end());
    topology.face_groups.push_back(std::move(faces));
  }
  for (const CellGroup& group : mesh.cell_groups)
    for (const std::uint32_t cell : group.cells)
      if (cell >= mesh.cells())
        return error(Code::bad_input, fmt::format("group \"{}\" has a cell {}, but the mesh has {}",
                                                  printable(group.name), cell, plural(mesh.cells(), "cell")));
  return {};
}

Status find_periodic(const Mesh& mesh, const FaceIndex& index, Topology& topology) {
  std::set<std::uint32_t> copies;
  for (const PeriodicFaces& pair : mesh.periodic) {
    const auto face = index.find(pair.face), image = index.find(pair.image);
    if (!face || !image) return no_face("the list of periodic faces", face ? pair.image : pair.face);
    const Shape shape = topology.faces[*face].shape;
    // The face's corners in its own order, and the image's that belong to them.
    FaceCorners behind{kNone, kNone, kNone, kNone};
    for (unsigned i = 0; i < describe(shape).corners; ++i) {
      const auto at = std::find(pair.face.begin(), pair.face.end(), topology.faces[*face].corners[i]);
      behind[i] = pair.image[static_cast<std::size_t>(at - pair.face.begin())];
    }
    const auto turn = topology.faces[*image].shape == shape
                          ? turn_between(shape, behind, topology.faces[*image].corners)
                          : std::nullopt;
    if (!turn || std::max(*face, *image) >= topology.boundary_faces)
      return error(Code::bad_input, fmt::format("periodic faces {} and {} do not fit each other, or do not lie at the "
                                                "boundary",
                                                *face, *image));
    if (!copies.insert(*face).second)
      return error(Code::bad_input, fmt::format("periodic face {} is a copy of two others", *face));
    topology.periodic.push_back({*face, *image, *turn});
  }
  return {};
}

}  // namespace

Result<Topology> number(const Mesh& mesh) {
  if (auto valid = validate(mesh); !valid) return forward(valid);
  Topology topology;
  topology.cells.resize(mesh.cells());
  number_edges(mesh, topology);
  if (auto numbered = number_faces(mesh, topology); !numbered) return forward(numbered);
  find_owners_of_points(mesh, topology);
  if (!mesh.face_groups.empty() || !mesh.cell_groups.empty() || !mesh.periodic.empty()) {
    const FaceIndex index(topology);
    if (auto found = find_groups(mesh, index, topology); !found) return forward(found);
    if (auto found = find_periodic(mesh, index, topology); !found) return forward(found);
  }
  return topology;
}

}  // namespace forebay::mesh
