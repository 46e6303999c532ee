// How much work in the background may take from the program it serves.
#pragma once

namespace forebay {

// The calling thread, and those that it starts from here on, give way to everything else on the node: niceness 19, and
// the disk only while nobody else wants it. Niceness cannot be taken back without root.
void give_way();

}  // namespace forebay
