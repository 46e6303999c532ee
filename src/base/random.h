// Numbers that nobody else has, for names and identities. They are no secrets.
#pragma once

#include <cstdint>

namespace forebay {

// The kernel gives the number, since std::random_device would ask for the glibc of the machine that built it.
std::uint64_t random_number();

}  // namespace forebay
