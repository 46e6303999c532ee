#include "base/startup.h"
#include "run/cli/commands.h"

int main(int argc, char** argv) {
  return forebay::with_own_surroundings([&] { return forebay::cli::forebay(argc, argv); });
}
