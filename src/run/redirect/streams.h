// The failed writes that a stream of C remembers.
#pragma once

#include <stdio.h>

namespace forebay::redirect {

// To be called before the stream's mark of an error goes: notes it (errors.h).
void note_end_of_stream(FILE* stream);

}  // namespace forebay::redirect
