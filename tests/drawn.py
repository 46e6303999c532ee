"""Which of the ways in, layouts or the like a test takes today, where the seeds of tests/run/drive and tests/run/stress draw all of
them. Each day others are drawn; FOREBAY_TEST_SEED repeats those of a day that a failed test has told."""

import os
import random
import time

SEED = os.environ.get("FOREBAY_TEST_SEED") or str(int(time.time()) // 86400)
print(f"FOREBAY_TEST_SEED={SEED} draws the same again")


def drawn(choices, what, number=1):
    """So many of them for this purpose."""
    return random.Random(f"{SEED} {what}").sample(list(choices), number)
