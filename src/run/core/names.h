// Sets of names of files, relative to the directory of an output time.
#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace forebay::core {

using Names = std::set<std::string>;

// OpenFOAM writes the one with each output time that is a state, and the other with its states only.
inline const std::string state_file = "uniform/time",
                         properties_file = "uniform/functionObjects/functionObjectProperties";

inline Names intersection(const Names& a, const Names& b) {
  Names both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

// Files of particle clouds are only where particles are.
inline bool is_of_cloud(const std::string& name) {
  return name.starts_with("lagrangian/");
}

inline bool is_of_mesh(const std::string& name) {
  return name.starts_with("polyMesh/");
}

inline Names without_clouds(Names names) {
  std::erase_if(names, is_of_cloud);
  return names;
}

}  // namespace forebay::core
