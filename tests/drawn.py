"""Which of the ways in, layouts or the like a test takes today, where the seeds of tests/run/drive and tests/run/stress draw all of
them. Each day others are drawn; FOREBAY_TEST_SEED repeats those of a day that a failed test has told."""

import functools
import os
import random
import sys
import time


@functools.cache
def seed():
    found = os.environ.get("FOREBAY_TEST_SEED") or str(int(time.time()) // 86400)
    print(f"FOREBAY_TEST_SEED={found} draws the same again", file=sys.stderr)
    return found


def drawn(choices, what, number=1):
    """So many of them for this purpose."""
    return random.Random(f"{seed()} {what}").sample(list(choices), number)
