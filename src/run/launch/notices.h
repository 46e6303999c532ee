// Warnings to the user of `forebay run` before the program starts, where the line and the case hardly fit each other.
#pragma once

#include <string>
#include <vector>

#include "run/launch/line.h"
#include "run/launch/plan.h"
#include "run/openfoam/openfoam.h"

namespace forebay::launch {

// `directory`: that the program starts in.
std::vector<std::string> notices_of(const LaunchLine& line, const openfoam::CaseFacts& facts, const Plan& plan,
                                    const std::string& directory);

}  // namespace forebay::launch
