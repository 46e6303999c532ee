// Launch lines: where the program begins in `mpirun -n 4 simpleFoam -parallel`, so that `forebay exec` can go before
// it. Pure text; nothing is run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::launch {

struct LaunchLine {
  std::vector<std::string> words;     // with `forebay exec ... --` before every program
  std::vector<std::string> launcher;  // its name and its options, of all ":"-separated parts; empty where there is none
  std::optional<int> ranks;           // sum over the parts, where the line tells
  std::vector<std::string> programs;

  // A launcher starts the program; false: it is run as it is, once.
  bool launched() const { return !launcher.empty(); }
};

// `command` is what the user wrote behind `--`; `exec` the words to insert. Known launchers: mpirun, mpiexec (Open MPI,
// MPICH and their variants), srun; also behind what starts another program, as in `env A=1 mpirun ...`. Where an option
// or a launcher is not known, so that the beginning of the program is uncertain, the error says so and shows the line
// to use: one with `forebay exec --` written by hand, which is then left alone. Any other first word is a program that
// is run once.
Result<LaunchLine> insert_exec(const std::vector<std::string>& command, const std::vector<std::string>& exec);

// The words as a person would type them, quoted where needed.
std::string quoted(const std::vector<std::string>& words);

}  // namespace forebay::launch
