// base: what every room stands on: errors as values, file helpers, checksums, text, the clock.
//
// Promises: no function here throws; each failure is an Error that says what was tried, on which path, the errno text
// and, where there is something to do, what to do. Every function may be called from any thread. The only
// global state are the files that a forked child closes (own_file.h).
// Must not know: cases, pools, ranks, or any other room.
#pragma once

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/mapped_file.h"
#include "base/own_file.h"
#include "base/priority.h"
#include "base/text.h"
