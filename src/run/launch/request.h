// The user's request to a run that goes on, from any host that has the case: so far, that its OpenFOAM program ends
// well. The request lies in the control directory, in a file that `forebay run` makes empty and that is rewritten in
// place: a client of NFS sees new bytes under an old name at once, but not a new name. Every node's agent takes it and
// answers in its report. A command that waits for the end of the run reads of it in another file there, then takes the
// request back.
#pragma once

#include <optional>
#include <string>

#include "base/base.h"
#include "base/clock.h"
#include "run/drain/drain.h"

namespace forebay::launch {

inline constexpr const char *request_name = "request.json", *end_name = "end.json";
// The file of an OpenFOAM case that the request changes.
inline constexpr const char* control_dict = "system/controlDict";

struct StopRequest {
  std::string name, run;
  bool now = false;    // false: with the next time that is written anyway
  bool waits = false;  // for the end of the run
};
std::string to_json(const StopRequest& request);
Result<StopRequest> stop_request_from_json(const std::string& text);

// As it was found by an agent, and the case's controlDict then.
struct Asked {
  StopRequest request;
  Result<drain::CaseFile> control;
};
// In the directory that `control_directory` is; nullopt: nothing is asked, or it is just being written.
std::optional<StopRequest> request_in(int control_directory);
Asked with_control_dict(StopRequest request, int control_directory);

// The end of a run, for a command that waits for it.
struct RunEnd {
  std::string run;
  int exit_status = 0;
  std::string last_safe;  // empty: no time
};
std::string to_json(const RunEnd& end);

// For who asks. `case_path`: as this host has it.
Status put_request(const std::string& case_path, const StopRequest& request);
void take_back_request(const std::string& case_path);
std::optional<RunEnd> read_end(const std::string& case_path);
// Tells the end where a command waits for it. That has a moment to read it before the control directory goes.
void tell_end(const std::string& case_path, const RunEnd& end, Clock& clock);

}  // namespace forebay::launch
