// What must hold, judged by the record of what was really written. Each throws Broken.
//   a  after a kill, with the same nodes, resume finds the newest full state that all ranks had left, or a newer one
//   b  what was told as safe is on the case, or a newer one is; while nothing fails what is wanted becomes safe in time
//   c  what is called restartable, taken, safe or found is of one output, whole, with its bytes, its mesh and all
//   needed names d  nothing that the program has, and no file of somebody else, is removed from the case e  kept/ is
//   bounded f  under a final name there is only what was closed so g  a clean end leaves what a direct run leaves
#pragma once

#include "run.h"

namespace forebay::simulator {

// The newest full state that all ranks have finished and left; what a failed write or an unseen removal spoilt is left
// out.
std::optional<int> promised_output(const Run& run);
// Where there is no start time, what a state must have is a guess. The newest full state is to be kept all the same.
std::optional<int> newest_full_output(const Run& run);
// Nodes may be more restartable states apart than a node keeps: then only safe states are sure.
bool may_be_too_far(const Run& run);
// All nodes have carried what the program left, and it left this output and its mesh as they are.
bool is_drained(const Run& run, int output);
// The output that a state is; -1: of none.
int output_of_state(const Run& run, const std::optional<StateId>& state);

// c, for what a look calls restartable. `known`: since before the look the agent knew what the run writes, or nothing
// changed. `had_states`: before the look the program had begun a state.
void judge_restartable(Run& run, const core::States& states, bool known, bool had_states);
void judge_on_case(Run& run, const StateId& state);
// It has the names that a program looks for.
void judge_named(const Run& run, const StateId& state);
// b, for what a resume puts in the place of a record that the case has.
void judge_record(const Run& run, Rank rank, const StateId& state, const Record& record);
void judge_told_safe(Run& run, const StateId& state);
void judge_fresh(Run& run, const core::Ledger& ledger);
void judge_kept(const Run& run, const core::States& states, const std::vector<core::Action>& actions);
// g, for each file of which the agent believes that the case has it.
void judge_carried(const Run& run, const Node& node);
void judge_clean_end(Run& run);

}  // namespace forebay::simulator
