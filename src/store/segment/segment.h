// segment: large pieces of memory of a medium, and records in them that survive what the medium survives.
//
// Promises: a record is acknowledged (commit returns 0) only after its payload and then its header were flushed and
// fenced. So whatever a crash leaves, a header that is found and fits stands before a whole payload of this generation
// of this segment of this store. Reopening reads headers, never payloads, and never believes what it reads: damage is
// reported with its place. Writing a record makes no system call (on media that need none), takes no lock and allocates
// nothing. The formats are in docs/format.md, "Store of a trajectory". Must not know: fields, codecs, schedules, or who
// moves a segment to which tier.
#pragma once

#include "store/segment/arrive.h"
#include "store/segment/check.h"
#include "store/segment/copy.h"
#include "store/segment/device_tier.h"
#include "store/segment/find_records.h"
#include "store/segment/format.h"
#include "store/segment/medium.h"
#include "store/segment/stream_file.h"
#include "store/segment/writer.h"
