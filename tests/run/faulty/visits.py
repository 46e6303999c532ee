"""How often anyone opens a directory or a file in it: seen by inotify."""

import ctypes
import os
import struct
import time

from harness import unread

OPEN = 0x20
CLOEXEC, NONBLOCK = os.O_CLOEXEC, os.O_NONBLOCK
HEADER = struct.Struct("iIII")  # watch, mask, cookie, length of the name that follows


class Visits:
    """Counts from when it is made; entries of subdirectories do not count."""

    def __init__(self, directory):
        libc = ctypes.CDLL(None, use_errno=True)
        self.events = libc.inotify_init1(CLOEXEC | NONBLOCK)
        if self.events < 0 or libc.inotify_add_watch(self.events, os.fsencode(directory), OPEN) < 0:
            raise OSError(ctypes.get_errno(), "cannot watch", directory)

    def within(self, seconds):
        """How many from now on. (Of what nobody has read yet the kernel keeps one where the next is like it.)"""
        count, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.02)
            count += self._waiting()
        return count

    def _waiting(self):
        count = 0
        for events in unread(self.events):
            at = 0
            while at < len(events):
                _, mask, _, length = HEADER.unpack_from(events, at)
                at += HEADER.size + length
                count += mask & OPEN != 0
        return count

    def close(self):
        os.close(self.events)
