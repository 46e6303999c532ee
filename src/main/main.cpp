#include "run/cli/commands.h"

int main(int argc, char** argv) {
  return forebay::cli::forebay(argc, argv);
}
