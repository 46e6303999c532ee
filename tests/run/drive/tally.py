"""Outcomes of seeds, beside what is expected of them."""

import collections

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"
MOST_LINES = 8  # of what is wrong with one seed


def expected_failures(lines):
    """Seed -> (whether it fails each time, why). Lines "SEED: reason" or "SEED sometimes: reason"; "#" begins a comment."""
    found = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        head, _, reason = line.partition(":")
        seed, *mark = head.split()
        if mark not in ([], ["sometimes"]) or not reason.strip() or int(seed) in found:
            raise ValueError(f"among the expected failures: {line!r}")
        found[int(seed)] = (not mark, reason.strip())
    return found


class Tally:
    def __init__(self, expected, tell=print, each=False):
        self.expected, self.tell, self.each = expected, tell, each
        self.counts = collections.Counter()
        self.unexpected, self.pass_now = [], []

    def add(self, plan, outcome, wrong=(), seconds=0):
        self.counts[outcome] += 1
        seed, known = plan.seed, self.expected.get(plan.seed)
        if outcome == PASSED and self.each:
            self.tell(f"seed {seed}: passed, {seconds:.1f} s: {plan.describe()}")
        if outcome == NOT_RUN:
            self.tell(f"seed {seed}: not run: {wrong[0]}")
        elif outcome == PASSED and known and known[0]:
            self.pass_now.append(seed)
            self.tell(f"seed {seed} passes, and is expected to fail: {known[1]}")
        elif outcome == FAILED:
            if not known:
                self.unexpected.append(seed)
            verdict = "fails as expected" if known else "FAILED"
            self.tell(f"seed {seed}: {verdict}, {seconds:.1f} s: {plan.describe()}")
            for line in wrong[:MOST_LINES]:
                self.tell(f"    {line}")
            if len(wrong) > MOST_LINES:
                self.tell(f"    and {len(wrong) - MOST_LINES} more")
            if known:
                self.tell(f"    expected: {known[1]}")

    def summary(self):
        """Tells it; whether all went as expected. One that passes and was expected to fail is only told of."""
        failed = sorted(self.unexpected)
        self.tell(
            f"{self.counts[PASSED]} passed, {self.counts[FAILED] - len(failed)} failed as expected, "
            f"{len(failed)} failed, {self.counts[NOT_RUN]} were not run"
        )
        if self.pass_now:
            self.tell(f"to be taken from expected_failures.txt, since they pass: {sorted(self.pass_now)}")
        if failed:
            self.tell(f"failed: {','.join(map(str, failed))}")
        return not failed
