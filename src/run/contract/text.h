// The contract's names as strings, for the agent's side.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace forebay::contract {

bool is_time_name(std::string_view name);
double value_of(std::string_view name);

// Of a file of a time, "0.1" and "uniform/time".
std::string flat_name(std::string_view time, std::string_view file);
// The two again; nullopt where the name is no flat one.
std::optional<std::pair<std::string, std::string>> parts_of_flat(std::string_view name);

// The name of a rank's directory in the case and in the tree: "processor3".
std::string name_of_rank(int rank);
// The name of the directory where a rank's times are kept. -1: the case in one piece.
std::string name_of_kept(int rank);

// A path as an element of a list.
std::string list_word(std::string_view path);

}  // namespace forebay::contract
