// carry: brings a staged image to the file that it belongs to, and gives files of arrays their names.
//
// Promises: a file under its name is whole and on the disk; what was there before stays until then.
// Must not know: MPI. Nodes tell each other through files beside the one that they write.
#pragma once

#include <atomic>
#include <stop_token>
#include <string>

#include "arrays/carry/publish.h"
#include "arrays/slots/slots.h"

namespace forebay::carry {

// The work of one node for one checkpoint. Idempotent: after a crash it is done again from the beginning. The node with
// rank 0 also writes what the file has besides its arrays, waits for the others, and gives the file its name. An image
// that has changed since it was staged is Code::lost, and gets no file. `stop` ends the waiting, not the carrying. The
// other nodes tell it when their part is on the disk, and do nothing more when they have told. It forgets what they
// told before it gives the name; one that is called just then tells again, in vain, and removes that
// (slots::clear_away) when it finds the file under its name.
Status carry_image(const slots::StagedRecord& record, const std::string& image, const std::atomic<bool>& stop);

// The stretches of a file that array_file::lay_out() has made, besides its arrays and their checksums, for a record of
// it.
Result<std::vector<slots::Stretch>> layout_of(int file, const std::string& path_for_errors,
                                              const array_file::Description& description);

// Between a thread that carries and whoever waits for it.
struct Background {
  std::atomic<bool> stop = false;   // as above
  std::stop_source no_more_tries;   // the next failure is the last one, and so is one that is over
  std::atomic<bool> again = false;  // begun more than once, so what this node told may have been told twice
};
// The same, and after a failure that may pass once more: 0.2 s later, then twice as long each time, 20 s at most. Not
// where the node with rank 0 has forgotten what others told: they would have to carry their parts again.
Status carry_until_done(const slots::StagedRecord& record, const std::string& image, Background& background);

// The kind of file that stands under the name of a record's file.
enum class Standing {
  older,          // nothing, or what this one is to replace
  same_or_later,  // this one, or one that its program staged later: the record has served
  foreign,        // what somebody else wrote after it was staged: not to be replaced
};
// By the sidecar; where that is not of the record's program, by the file's time against the record's, so that the
// clocks of node and file server matter.
Standing what_stands(const slots::StagedRecord& record);

}  // namespace forebay::carry
