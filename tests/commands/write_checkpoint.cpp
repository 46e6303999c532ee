// write_checkpoint FILE [VALUE [STEP [TIME [MESH]]]]: a small checkpoint as `forebay inspect` reads it, without MPI;
// VALUE is that of every pressure.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "arrays/array_file/array_file.h"

namespace {

using namespace forebay;

Status write_array(int file, const array_file::Array& array, std::span<const std::byte> data) {
  const auto checks = array_file::whole_checks(array_file::part_checks(0, data), data.size());
  if (!checks) return forward(checks);
  const auto bytes = std::as_bytes(std::span(*checks));
  if (::pwrite(file, data.data(), data.size(), static_cast<off_t>(array.offset)) != static_cast<ssize_t>(data.size()) ||
      ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(array.checks_offset)) !=
          static_cast<ssize_t>(bytes.size()))
    return errno_error("cannot write", array.name);
  return {};
}

Status write_checkpoint(const std::string& path, double value, array_file::Description description) {
  description.arrays = {{"pressure", "cells", array_file::Type::float64}};
  if (auto laid_out = array_file::lay_out(path, description); !laid_out) return forward(laid_out);
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return errno_error("cannot open", path);
  const std::vector<double> pressure(1000, value);
  return write_array(file.get(), *description.array("cells", "pressure"), std::as_bytes(std::span(pressure)));
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const auto word = [&](int which, const char* otherwise) { return count > which ? words[which] : otherwise; };
  const auto written = write_checkpoint(words[1], std::atof(word(2, "1")),
                                        {std::atoll(word(3, "7")),
                                         std::atof(word(4, "0.25")),
                                         "write_checkpoint 1",
                                         word(5, "cube"),
                                         {{"cells", 1000}},
                                         {}});
  if (!written) fmt::print(stderr, "write_checkpoint: {}\n", written.error().text());
  return written ? 0 : 1;
}
