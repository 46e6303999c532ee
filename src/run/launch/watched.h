// How a case's files are shown to the program, before it begins and while it works.
#pragma once

#include <string>

#include "base/base.h"
#include "run/control/control.h"
#include "run/launch/plan.h"
#include "run/launch/pool_run.h"

namespace forebay::launch {

// Copied, rather than linked.
bool is_copied(const Plan& plan, const std::string& path);
// On a noexec mount a program can be started through a link to the case only.
bool runs_programs(const std::string& directory);

// The case itself, system, constant, and what stage.watch names.
control::Watched watched_by(const PoolRun& run);
// No time is watched, nor a directory of a rank.
Status check_watched_directories(const Plan& plan);

}  // namespace forebay::launch
