#include "meshes/multiply/source.h"

#include <fmt/format.h>

#include <array>

#include "meshes/mesh/cavity.h"
#include "meshes/mesh/join.h"

namespace forebay::multiply {
namespace {

using mesh::Shape;

constexpr std::string_view kCavity = "cavity:";
constexpr std::array<std::pair<std::string_view, Shape>, 4> kShapes{{{"tetrahedra", Shape::tetrahedron},
                                                                     {"hexahedra", Shape::hexahedron},
                                                                     {"prisms", Shape::prism},
                                                                     {"pyramids", Shape::pyramid}}};

Result<mesh::Coarse> cavity(const std::string& source) {
  const auto words = split(source, ':');
  const auto edge = words.size() == 3 ? parse_integer(words[2]) : std::nullopt;
  for (const auto& [name, shape] : kShapes) {
    if (!edge || *edge < 0 || *edge >= mesh::kNone || words[1] != name) continue;
    auto mesh = mesh::make_cavity(static_cast<std::uint32_t>(*edge), shape);
    if (!mesh) return forward(mesh);
    return mesh::Coarse{std::move(*mesh), {}};
  }
  return error(Code::bad_input, "not a cavity:", printable(source),
               "write cavity:SHAPES:N, of tetrahedra, hexahedra, prisms or pyramids in N x N x N cubes");
}

Result<mesh::Coarse> one_mesh(const std::string& name, const std::string& reader, const std::string& groups) {
  if (!name.starts_with(kCavity)) return mesh::read_mesh(name, reader, groups);
  if (!groups.empty())
    return error(Code::bad_input, "a cavity has its groups already, and no array", printable(groups));
  return cavity(name);
}

}  // namespace

Result<mesh::Coarse> coarse_mesh(const Sources& sources, const std::string& reader) {
  if (sources.names.size() != sources.joints.size() + 1)
    return error(Code::bad_input,
                 fmt::format("{} meshes need {} joints, not {}", sources.names.size(), sources.names.size() - 1,
                             sources.joints.size()),
                 {}, "give one pair of groups for each mesh and the next");
  mesh::Coarse all;
  std::vector<mesh::Mesh> meshes;
  for (const std::string& name : sources.names) {
    auto one = one_mesh(name, reader, sources.groups);
    if (!one) return forward(one);
    for (const std::string& each : one->left_out) all.left_out.push_back(name + ": " + each);
    meshes.push_back(std::move(one->mesh));
  }
  std::vector<mesh::Joint> joints;
  for (std::size_t i = 0; i < sources.joints.size(); ++i)
    joints.push_back({{i, sources.joints[i].first}, {i + 1, sources.joints[i].second}});
  if (joints.empty()) {
    all.mesh = std::move(meshes[0]);
  } else {
    auto joined = mesh::join(meshes, joints, sources.tolerance);
    if (!joined) return forward(joined);
    all.mesh = std::move(*joined);
  }
  if (!sources.merge) return all;
  const auto gone = mesh::merge(all.mesh, *sources.merge);
  if (!gone) return forward(gone);
  all.left_out.push_back(
      fmt::format("the mesh: {} that lay within {:g} of others", plural(*gone, "point"), *sources.merge));
  return all;
}

}  // namespace forebay::multiply
