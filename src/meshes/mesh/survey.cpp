#include "meshes/mesh/survey.h"

#include <algorithm>

#include "meshes/mesh/quality.h"

namespace forebay::mesh {
namespace {

// The points of one coarse cell or face after the other, in the order of its pattern.
class Places {
 public:
  explicit Places(const Refinement& refinement) : refinement_(refinement), topology_(refinement.topology()) {}

  std::span<const Point> of_cell(std::uint32_t cell) {
    const Shape shape = refinement_.mesh().shapes[cell];
    const Topology::Cell& links = topology_.cells[cell];
    auto firsts = begin(shape, refinement_.mesh().cell(cell), links.outline);
    for (std::size_t f = 0; f < describe(shape).faces.size(); ++f) {
      firsts.faces[f] = used();
      const Shape face = describe(shape).faces[f].shape;
      refinement_.place_in_face(links.faces[f], 0, room(refinement_.pattern(face).inner_points()));
    }
    firsts.inside = used();
    refinement_.place_in_cell(cell, 0, room(refinement_.pattern(shape).inner_points()));
    number_cell(refinement_, cell, firsts, numbers_.data());
    return in_order();
  }
  std::span<const Point> of_face(std::uint32_t face) {
    const Topology::Face& about = topology_.faces[face];
    auto firsts = begin(about.shape, about.corners, about.outline);
    firsts.inside = used();
    refinement_.place_in_face(face, 0, room(refinement_.pattern(about.shape).inner_points()));
    number_face(refinement_, face, firsts, numbers_.data());
    return in_order();
  }

 private:
  std::uint32_t used() const { return static_cast<std::uint32_t>(places_.size()); }
  std::span<Point> room(std::size_t count) {
    places_.resize(places_.size() + count);
    return std::span(places_).last(count);
  }
  Firsts<std::uint32_t> begin(Shape shape, std::span<const std::uint32_t> corners, const Topology::Outline& outline) {
    const Description& about = describe(shape);
    Firsts<std::uint32_t> firsts{};
    places_.clear();
    numbers_.resize(refinement_.pattern(shape).points);
    for (std::size_t c = 0; c < about.corners; ++c) {
      firsts.corners[c] = used();
      places_.push_back(refinement_.mesh().points[corners[c]]);
    }
    for (std::size_t e = 0; e < about.edges.size(); ++e) {
      firsts.edges[e] = used();
      refinement_.place_in_edge(outline.edges[e], 0, room(refinement_.points_in_edge()));
    }
    return firsts;
  }
  std::span<const Point> in_order() {
    ordered_.resize(numbers_.size());
    for (std::size_t i = 0; i < numbers_.size(); ++i) ordered_[i] = places_[numbers_[i]];
    return ordered_;
  }

  const Refinement& refinement_;
  const Topology& topology_;
  std::vector<Point> places_;  // entity by entity, each in its own order
  std::vector<std::uint32_t> numbers_;
  std::vector<Point> ordered_;
};

template <class Visit>
void for_each_element(const Block& block, std::span<const Point> points, Visit visit) {
  const std::size_t width = describe(block.shape).corners;
  std::array<Point, kMostCorners> corners{};
  for (std::size_t first = 0; first < block.corners.size(); first += width) {
    for (std::size_t c = 0; c < width; ++c) corners[c] = points[block.corners[first + c]];
    visit(std::span<const Point>(corners).first(width));
  }
}

void count_cell(Survey& survey, double volume, double quality) {
  ++survey.cells;
  if (!(volume > 0) || !(quality > 0)) ++survey.inverted;
  survey.volume += volume;
  survey.least_volume = std::min(survey.least_volume, volume);
  survey.least_quality = std::min(survey.least_quality, quality);
  survey.quality_sum += quality;
  const double bin = std::clamp(quality * Survey::kBins, 0.0, Survey::kBins - 1.0);
  ++survey.histogram[static_cast<std::size_t>(bin)];
}

template <std::size_t width>
void place_corners(ManyCells& cells, const std::uint32_t* corner, std::size_t count, std::span<const Point> points) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < width; ++c) {
      const Point& point = points[corner[i * width + c]];
      for (std::size_t d = 0; d < 3; ++d) cells.corners[c][d][i] = point[d];
    }
  }
}

void place_corners(ManyCells& cells, Shape shape, const std::uint32_t* corner, std::size_t count,
                   std::span<const Point> points) {
  switch (describe(shape).corners) {
    case 4:
      return place_corners<4>(cells, corner, count, points);
    case 5:
      return place_corners<5>(cells, corner, count, points);
    case 6:
      return place_corners<6>(cells, corner, count, points);
    default:
      return place_corners<8>(cells, corner, count, points);
  }
}

void count_cells(Survey& survey, const Block& block, std::span<const Point> points, ManyCells& some) {
  const std::size_t width = describe(block.shape).corners;
  for (std::size_t first = 0; first < block.count(); first += ManyCells::kMost) {
    const std::size_t count = std::min(ManyCells::kMost, block.count() - first);
    place_corners(some, block.shape, &block.corners[first * width], count, points);
    measure(block.shape, some, count);
    for (std::size_t i = 0; i < count; ++i) count_cell(survey, some.volumes[i], some.qualities[i]);
  }
}

}  // namespace

Survey survey(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells) {
  const Topology& topology = refinement.topology();
  Places places(refinement);
  ManyCells some;
  Survey all;
  for (const std::uint32_t cell : coarse_cells) {
    Survey of_cell;  // each added up by itself first, which keeps the sum of many small volumes exact enough
    const std::span<const Point> points = places.of_cell(cell);
    for (const Block& block : refinement.pattern(refinement.mesh().shapes[cell]).cells)
      count_cells(of_cell, block, points, some);
    all += of_cell;
  }
  for (const std::vector<std::uint32_t>& group : topology.face_groups) {
    double sum = 0;
    for (const std::uint32_t face : group) {
      if (!std::binary_search(coarse_cells.begin(), coarse_cells.end(), topology.faces[face].cells[0])) continue;
      const std::span<const Point> points = places.of_face(face);
      double on_face = 0;
      for (const Block& block : refinement.pattern(topology.faces[face].shape).cells)
        for_each_element(block, points, [&](std::span<const Point> corners) { on_face += area(block.shape, corners); });
      sum += on_face;
    }
    all.group_areas.push_back(sum);
  }
  return all;
}

Survey& operator+=(Survey& sum, const Survey& part) {
  sum.cells += part.cells;
  sum.inverted += part.inverted;
  sum.volume += part.volume;
  sum.least_volume = std::min(sum.least_volume, part.least_volume);
  sum.least_quality = std::min(sum.least_quality, part.least_quality);
  sum.quality_sum += part.quality_sum;
  for (std::size_t i = 0; i < Survey::kBins; ++i) sum.histogram[i] += part.histogram[i];
  sum.group_areas.resize(std::max(sum.group_areas.size(), part.group_areas.size()));
  for (std::size_t i = 0; i < part.group_areas.size(); ++i) sum.group_areas[i] += part.group_areas[i];
  return sum;
}

}  // namespace forebay::mesh
