"""What is created and removed on a file system, by whomever: seen by fanotify, which needs root."""

import collections
import ctypes
import os
import struct

from harness import unread

CREATE, DELETE, ON_DIRECTORIES = 0x100, 0x200, 0x40000000
CLOEXEC, NONBLOCK, UNLIMITED_QUEUE, WITH_NAMES = 0x1, 0x2, 0x10, 0xC00
ADD, FILE_SYSTEM = 0x1, 0x100
METADATA = struct.Struct("IBBHQii")


class Changes:
    """Counts on the file system that `path` lies on, from when it is made."""

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        # With names, since events of one directory would otherwise become one.
        self.events = libc.fanotify_init(CLOEXEC | NONBLOCK | UNLIMITED_QUEUE | WITH_NAMES, os.O_RDONLY)
        mask = ctypes.c_uint64(CREATE | DELETE | ON_DIRECTORIES)
        if self.events < 0 or libc.fanotify_mark(self.events, ADD | FILE_SYSTEM, mask, -1, os.fsencode(path)) < 0:
            raise OSError(ctypes.get_errno(), "no fanotify here", path)

    def so_far(self):
        """The numbers of entries that were created and removed, directories included."""
        counts = collections.Counter()
        for events in unread(self.events):
            at = 0
            while at < len(events):
                size, _, _, _, mask, _, _ = METADATA.unpack_from(events, at)
                counts.update(each for each in (CREATE, DELETE) if mask & each)
                at += size
        return counts[CREATE], counts[DELETE]

    def close(self):
        os.close(self.events)
