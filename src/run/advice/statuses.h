// The exit statuses of `forebay run` and of the commands about runs: what each means, and what to do. One table, from
// which docs/exit-codes.md, the summary of a run and `forebay drain --resume` take their words.
#pragma once

#include <string>

#include "base/error.h"

namespace forebay::advice {

// The table of docs/exit-codes.md.
std::string statuses_as_markdown();

// The advice after a run, or a resume, that ended with this trouble: one line with the command, for people. Empty where
// the trouble's own message has all there is to say. Throwing away is never the only way.
std::string what_helps(Code trouble, const std::string& case_path);

}  // namespace forebay::advice
