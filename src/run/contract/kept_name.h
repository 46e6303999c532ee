// How what a rank has purged is called, in the directory of its kept times. A time that is removed as a whole lies
// there as the directory "0.1,17,9,3,0,1732871234000000000": the time, then the numbers of its line (pages.h) as the
// page forgets them: sequence, state, mesh, flags, and when it was begun. Where the program removes file by file no
// directory is made, since a pool that is full makes none: "uniform/time" of it lies as
// "0.1,17,9,3,0,1732871234000000000%uniform%stime".
#pragma once

namespace forebay::contract {

inline constexpr char kept_number = ',';  // before each number
inline constexpr int kept_numbers = 5;
inline constexpr char kept_separator = '%';                        // before a file's name below its time
inline constexpr char kept_slash[] = "%s", kept_percent[] = "%p";  // in that

}  // namespace forebay::contract
