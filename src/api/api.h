// api: what the public libraries share: statuses, the last error of a thread, options by key, structs that begin with
// their size, the version. It is part of libforebay; libforebay_arrays finds it there.
//
// Promises: no exception passes, lack of memory becomes a status. Must not know: what the options are for.
#pragma once

#include "api/failure.h"
#include "api/options.h"
#include "api/report.h"
#include "api/sized.h"
