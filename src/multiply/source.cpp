#include "multiply/source.h"

#include <array>

#include "mesh/cavity.h"

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

}  // namespace

Result<mesh::Coarse> coarse_mesh(const std::string& source, const std::string& reader, const std::string& groups) {
  if (source.starts_with(kCavity) && !groups.empty())
    return error(Code::bad_input, "a cavity has its groups already, and no array", printable(groups));
  auto coarse = source.starts_with(kCavity) ? cavity(source) : mesh::read_mesh(source, reader, groups);
  if (!coarse) return coarse;
  for (std::string& each : coarse->left_out) each = source + ": " + each;
  return coarse;
}

}  // namespace forebay::multiply
