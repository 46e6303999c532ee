#include "cli/elsewhere.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "cli/commands.h"

namespace forebay::cli {

int carry_out_elsewhere() {
  const auto command = real_path("/proc/self/exe");
  if (!command) return failed(command.error());
  // What a process was started with tells no size beforehand.
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string arguments{std::istreambuf_iterator<char>(file), {}};
  std::vector<char*> words;
  for (std::size_t at = 0; at < arguments.size(); at = arguments.find('\0', at) + 1)
    words.push_back(arguments.data() + at);
  words.push_back(nullptr);
  // In a build tree, and installed.
  const std::string here{parent_of(*command)};
  for (const std::string& directory : {here, join(std::string(parent_of(here)), "libexec")})
    ::execv(join(directory, "forebay-files").c_str(), words.data());
  return failed({Code::bad_input, "cannot start forebay-files beside", *command, errno,
                 "it is not built where HDF5 and libdeflate are missing: install both, and build again"});
}

}  // namespace forebay::cli
