// The outcome, as a value.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "meshes/mesh/survey.h"

namespace forebay::multiply {

struct Report {
  std::string output, boundary;  // files
  int levels = 0;
  std::uint64_t coarse_cells = 0;
  std::vector<std::string> left_out;  // of the files of the coarse mesh (source.h)
  std::vector<std::string> warnings;  // what of the coarse mesh may be a mistake
  std::uint64_t cells = 0, points = 0, faces = 0, boundary_faces = 0;
  std::uint64_t periodic_pairs = 0;               // of faces
  std::array<std::uint64_t, 6> cells_of_shape{};  // by mesh::Shape
  std::vector<mesh::Survey> by_level;             // of the coarse mesh, refined once, and so on
  std::vector<std::string> face_groups;           // their areas are the surveys'
  std::uint64_t bytes = 0;
  unsigned threads = 1;
  double seconds = 0;  // from the first byte to the last one on the disk

  const mesh::Survey& survey() const { return by_level.back(); }  // of what was written
};

// A table for people, and JSON for programs.
std::string text_of(const Report& report);
std::string json_of(const Report& report);

}  // namespace forebay::multiply
