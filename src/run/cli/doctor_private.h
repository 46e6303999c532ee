// Doctor's report as a file that may be given away: without names of people, hosts and places.
#pragma once

#include <string>
#include <vector>

#include "run/cli/doctor_report.h"

namespace forebay::cli {

// Texts that belong to the user, and what stands for them.
struct PrivateWords {
  std::vector<std::string> paths;  // the case's, the home's, ...
  std::vector<std::string> names;  // of the user and of the host
};
// The words of this process: its user, its host, its directories; and those that the report names.
PrivateWords private_words(const DoctorReport& report);

// Other absolute paths go as well, but those that every system has.
std::string without_private(std::string text, const PrivateWords& words);

// `environment`: as environ has it. Values only of variables that say nothing about a person or a place.
std::string anonymous_json(const DoctorReport& report, const PrivateWords& words,
                           const std::vector<std::string>& environment);

// Mode 0600; nothing is replaced, and no link followed.
Status write_new_file(const std::string& path, const std::string& text);

}  // namespace forebay::cli
