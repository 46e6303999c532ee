#include "multiply/source.h"

#include <array>
#include <utility>

#include "mesh/cavity.h"
#include "mesh/reader.h"

namespace forebay::multiply {
namespace {

using mesh::Shape;

constexpr std::string_view kCavity = "cavity:";
constexpr std::array<std::pair<std::string_view, Shape>, 4> kShapes{{{"tetrahedra", Shape::tetrahedron},
                                                                     {"hexahedra", Shape::hexahedron},
                                                                     {"prisms", Shape::prism},
                                                                     {"pyramids", Shape::pyramid}}};

Result<mesh::Mesh> cavity(const std::string& source) {
  const auto words = split(source, ':');
  const auto edge = words.size() == 3 ? parse_integer(words[2]) : std::nullopt;
  for (const auto& [name, shape] : kShapes) {
    if (edge && *edge >= 0 && *edge < mesh::kNone && words[1] == name)
      return mesh::make_cavity(static_cast<std::uint32_t>(*edge), shape);
  }
  return error(Code::bad_input, "not a cavity:", printable(source),
               "write cavity:SHAPES:N, of tetrahedra, hexahedra, prisms or pyramids in N x N x N cubes");
}

}  // namespace

Result<mesh::Mesh> coarse_mesh(const std::string& source, const std::string& reader) {
  return source.starts_with(kCavity) ? cavity(source) : mesh::read_mesh(source, reader);
}

}  // namespace forebay::multiply
