// The contract's names as strings, for the agent's side.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace forebay::contract {

bool is_time_name(std::string_view name);
double value_of(std::string_view name);

// The name of a rank's directory in the case and in the tree: "processor3".
std::string name_of_rank(int rank);
// Directories that OpenFOAM's collated file handler writes the times of groups of ranks to, by the first rank of each:
// {0: "processors4_0-1", 2: "processors4_2-3"}. Empty: each rank writes to its own directory.
using WrittenGroups = std::map<int, std::string>;
// Its times are its own: where groups are written, it is the first rank of one.
bool has_times(int rank, const WrittenGroups& groups);
// The directory of the case that a rank's times lie in; empty for the case in one piece (-1).
std::string holder_of_times(int rank, const WrittenGroups& groups);
// The name of the directory where a rank's times are kept.
std::string name_of_kept(int rank, const WrittenGroups& groups);

// The file below a time's directory that is kept under a name with this ending, its separator included (kept_name.h).
std::string file_of_kept_name(std::string_view name);

// A path as an element of a list.
std::string list_word(std::string_view path);

}  // namespace forebay::contract
