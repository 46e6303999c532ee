#include "meshes/mesh/shape.h"

namespace forebay::mesh {
namespace {

using Edge = std::array<std::uint8_t, 2>;
using Place = std::array<std::uint8_t, 3>;

constexpr std::uint8_t mean(std::initializer_list<unsigned> corners) {
  unsigned bits = 0;
  for (const unsigned corner : corners) bits |= 1U << corner;
  return static_cast<std::uint8_t>(bits);
}

constexpr auto tri = Shape::triangle;
constexpr auto quad = Shape::quadrilateral;

constexpr std::array<Edge, 3> triangle_edges{{{0, 1}, {1, 2}, {0, 2}}};
constexpr std::array<Edge, 4> quadrilateral_edges{{{0, 1}, {1, 2}, {2, 3}, {0, 3}}};
constexpr std::array<Edge, 6> tetrahedron_edges{{{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}}};
constexpr std::array<Edge, 8> pyramid_edges{{{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 4}, {1, 4}, {2, 4}, {3, 4}}};
constexpr std::array<Edge, 9> prism_edges{{{0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 5}, {3, 5}, {0, 3}, {1, 4}, {2, 5}}};
constexpr std::array<Edge, 12> hexahedron_edges{
    {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {4, 5}, {5, 6}, {6, 7}, {4, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}};

constexpr std::array<FaceOfShape, 4> tetrahedron_faces{
    {{tri, {0, 2, 1}}, {tri, {0, 1, 3}}, {tri, {1, 2, 3}}, {tri, {0, 3, 2}}}};
constexpr std::array<FaceOfShape, 5> pyramid_faces{
    {{quad, {0, 3, 2, 1}}, {tri, {0, 1, 4}}, {tri, {1, 2, 4}}, {tri, {2, 3, 4}}, {tri, {3, 0, 4}}}};
constexpr std::array<FaceOfShape, 5> prism_faces{
    {{tri, {0, 2, 1}}, {tri, {3, 4, 5}}, {quad, {0, 1, 4, 3}}, {quad, {1, 2, 5, 4}}, {quad, {2, 0, 3, 5}}}};
constexpr std::array<FaceOfShape, 6> hexahedron_faces{{{quad, {0, 3, 2, 1}},
                                                       {quad, {4, 5, 6, 7}},
                                                       {quad, {0, 1, 5, 4}},
                                                       {quad, {1, 2, 6, 5}},
                                                       {quad, {2, 3, 7, 6}},
                                                       {quad, {3, 0, 4, 7}}}};

constexpr std::array<Child, 4> triangle_children{{{tri, {mean({0}), mean({0, 1}), mean({0, 2})}},
                                                  {tri, {mean({0, 1}), mean({1}), mean({1, 2})}},
                                                  {tri, {mean({0, 2}), mean({1, 2}), mean({2})}},
                                                  {tri, {mean({0, 1}), mean({1, 2}), mean({0, 2})}}}};

constexpr std::uint8_t middle = mean({0, 1, 2, 3});
constexpr std::array<Child, 4> quadrilateral_children{{{quad, {mean({0}), mean({0, 1}), middle, mean({0, 3})}},
                                                       {quad, {mean({0, 1}), mean({1}), mean({1, 2}), middle}},
                                                       {quad, {middle, mean({1, 2}), mean({2}), mean({2, 3})}},
                                                       {quad, {mean({0, 3}), middle, mean({2, 3}), mean({3})}}}};

// Bey's rule (doi:10.1007/BF02238487): the octahedron that is left between the four corners is cut along the diagonal
// from the middle of edge 02 to the middle of edge 13. His second and fourth piece of it have negative volume; here
// their first and third corners are exchanged, which makes it positive. The edges that are cut apart stay {02, 13}, so
// every level cuts along the same direction, and no more than three kinds of similar cells come about.
constexpr std::array<Child, 8> tetrahedron_children{
    {{Shape::tetrahedron, {mean({0}), mean({0, 1}), mean({0, 2}), mean({0, 3})}},
     {Shape::tetrahedron, {mean({0, 1}), mean({1}), mean({1, 2}), mean({1, 3})}},
     {Shape::tetrahedron, {mean({0, 2}), mean({1, 2}), mean({2}), mean({2, 3})}},
     {Shape::tetrahedron, {mean({0, 3}), mean({1, 3}), mean({2, 3}), mean({3})}},
     {Shape::tetrahedron, {mean({0, 1}), mean({0, 2}), mean({0, 3}), mean({1, 3})}},
     {Shape::tetrahedron, {mean({1, 2}), mean({0, 2}), mean({0, 1}), mean({1, 3})}},
     {Shape::tetrahedron, {mean({0, 2}), mean({0, 3}), mean({1, 3}), mean({2, 3})}},
     {Shape::tetrahedron, {mean({1, 3}), mean({1, 2}), mean({0, 2}), mean({2, 3})}}}};

// A pyramid at each corner, one of them upside down below the top one, and a tetrahedron below the middle of each side.
// The order of a tetrahedron's corners cuts it, at the next level, along the line between the middles of its two
// horizontal edges, {0, 2} and {1, 3}, so that the pyramid keeps its symmetry.
constexpr std::array<Child, 10> pyramid_children{
    {{Shape::pyramid, {mean({0}), mean({0, 1}), middle, mean({0, 3}), mean({0, 4})}},
     {Shape::pyramid, {mean({0, 1}), mean({1}), mean({1, 2}), middle, mean({1, 4})}},
     {Shape::pyramid, {middle, mean({1, 2}), mean({2}), mean({2, 3}), mean({2, 4})}},
     {Shape::pyramid, {mean({0, 3}), middle, mean({2, 3}), mean({3}), mean({3, 4})}},
     {Shape::pyramid, {mean({0, 4}), mean({1, 4}), mean({2, 4}), mean({3, 4}), mean({4})}},
     {Shape::pyramid, {mean({0, 4}), mean({3, 4}), mean({2, 4}), mean({1, 4}), middle}},
     {Shape::tetrahedron, {mean({0, 1}), mean({1, 4}), middle, mean({0, 4})}},
     {Shape::tetrahedron, {mean({1, 2}), mean({2, 4}), middle, mean({1, 4})}},
     {Shape::tetrahedron, {mean({2, 3}), mean({3, 4}), middle, mean({2, 4})}},
     {Shape::tetrahedron, {mean({0, 3}), mean({0, 4}), middle, mean({3, 4})}}}};

// The children of a face, drawn out into a lower and an upper layer.
template <std::size_t n>
constexpr std::array<Child, 2 * n> drawn_out(const std::array<Child, n>& flat, Shape shape, unsigned corners) {
  std::array<Child, 2 * n> children{};
  for (std::size_t i = 0; i < n; ++i) {
    children[i].shape = children[n + i].shape = shape;
    for (unsigned c = 0; c < corners; ++c) {
      const unsigned bottom = flat[i].means[c];
      const unsigned top = bottom << corners;
      children[i].means[c] = static_cast<std::uint8_t>(bottom);
      children[i].means[c + corners] = children[n + i].means[c] = static_cast<std::uint8_t>(bottom | top);
      children[n + i].means[c + corners] = static_cast<std::uint8_t>(top);
    }
  }
  return children;
}
constexpr auto prism_children = drawn_out(triangle_children, Shape::prism, 3);
constexpr auto hexahedron_children = drawn_out(quadrilateral_children, Shape::hexahedron, 4);

constexpr std::array<Place, 3> triangle_reference{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
constexpr std::array<Place, 4> tetrahedron_reference{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr std::array<Place, 5> pyramid_reference{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr std::array<Place, 6> prism_reference{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}}};
constexpr std::array<Place, 8> hexahedron_reference{
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};
constexpr std::span quadrilateral_reference = std::span(hexahedron_reference).first<4>();

constexpr std::array<Spike, 4> tetrahedron_spikes{{{0, 1, 2, 3}, {1, 2, 0, 3}, {2, 0, 1, 3}, {3, 0, 2, 1}}};
constexpr std::array<Spike, 4> pyramid_spikes{{{0, 1, 3, 4}, {1, 2, 0, 4}, {2, 3, 1, 4}, {3, 0, 2, 4}}};
constexpr std::array<Spike, 6> prism_spikes{
    {{0, 1, 2, 3}, {1, 2, 0, 4}, {2, 0, 1, 5}, {3, 5, 4, 0}, {4, 3, 5, 1}, {5, 4, 3, 2}}};
constexpr std::array<Spike, 8> hexahedron_spikes{
    {{0, 1, 3, 4}, {1, 2, 0, 5}, {2, 3, 1, 6}, {3, 0, 2, 7}, {4, 7, 5, 0}, {5, 4, 6, 1}, {6, 5, 7, 2}, {7, 6, 4, 3}}};

constexpr double kRootHalf = 0.70710678118654752440;    // edges of 60 degrees in a tetrahedron, and at a pyramid's base
constexpr double kRootThree4 = 0.86602540378443864676;  // sine of 60 degrees

const std::array<Description, 6> descriptions{{
    {"triangle", 3, triangle_edges, {}, triangle_children, triangle_reference, {}, 1},
    {"quadrilateral", 4, quadrilateral_edges, {}, quadrilateral_children, quadrilateral_reference, {}, 1},
    {"tetrahedron", 4, tetrahedron_edges, tetrahedron_faces, tetrahedron_children, tetrahedron_reference,
     tetrahedron_spikes, kRootHalf},
    {"pyramid", 5, pyramid_edges, pyramid_faces, pyramid_children, pyramid_reference, pyramid_spikes, kRootHalf},
    {"prism", 6, prism_edges, prism_faces, prism_children, prism_reference, prism_spikes, kRootThree4},
    {"hexahedron", 8, hexahedron_edges, hexahedron_faces, hexahedron_children, hexahedron_reference, hexahedron_spikes,
     1},
}};

}  // namespace

const Description& describe(Shape shape) {
  return descriptions[static_cast<std::size_t>(shape)];
}

}  // namespace forebay::mesh
