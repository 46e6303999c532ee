// advice: what helps after which message, for people: the commands that messages tell to type, and the table of exit
// statuses. Each has its words here once.
//
// Promises: a command stands in the quotes that mark it (`forebay drain --resume --case 'my case'`) and can be pasted.
// Must not know: any room but base.
#pragma once

#include <string>

namespace forebay::advice {

// Brings home what a run left on the node where it is typed. `case_path` here and below: as it is called now.
std::string resume(const std::string& case_path);
// Shows how far a run is, or what it left.
std::string status(const std::string& case_path);
// Tells what there is of it, and what becomes of each; removes what the case has, too.
std::string clean(const std::string& case_path);
// Lists what is only local, asks, and throws it away; without a case all that is found.
std::string throw_away(const std::string& case_path = {});
// Throws one thing away, and what lies below it: a path in the case.
std::string drop(const std::string& case_path, const std::string& path);

}  // namespace forebay::advice
