"""Issue, "Last complete time": forebay keeps the newest time that is complete over all ranks and drains it at least
every T; `forebay status` names it and separates only local from safe; creates on the shared file system are bounded by
wall time / T, not by the number of steps."""

import time

import harness
from harness import FaultyCase, wait_for


class SafeInterval(FaultyCase):
    purge = 1

    def test_the_newest_complete_time_is_safe_within_the_interval_though_the_program_purges(self):
        began = time.monotonic()
        process = self.start(self.solver("-steps", 70, "-delay", 80, "-purge", 1), ["--safe-interval", "1s"])
        self.solvers()
        seen, local, gaps, at_once = set(), [], [], 0
        last = time.monotonic()
        while process.poll() is None:
            complete = self.complete_times_on_case()
            if complete and complete[-1] not in seen:
                gaps.append(time.monotonic() - last)
                last = time.monotonic()
                seen.update(complete)
            at_once = max(at_once, len(self.times_on_case()))
            for run in self.status():
                drain = run["drain"]
                if run["phase"] == "running" and drain["newest_complete"]:
                    local.append((int(drain["newest_complete"]), int(drain["newest_safe"] or 0)))
            time.sleep(0.1)
        self.assertEqual(self.finish(process), 0, self.output)
        wall = time.monotonic() - began
        self.assertGreaterEqual(len(seen), 3, "times reached the case while the program ran")
        self.assertLess(max(gaps), 1 + 2.5, f"{gaps}")
        # One that is safe, the one before until then, and one that is being removed or only partly there.
        self.assertLessEqual(at_once, 3, "times that were made safe pile up on the case")
        self.assertTrue(any(complete > safe for complete, safe in local), "status never showed anything as only local")
        self.assertTrue(any(safe > 0 for _, safe in local), "status never showed a safe time")
        self.assertTrue(all(complete >= safe for complete, safe in local))
        # A safe time has 5 files per rank; at most one per interval, and the last one.
        shared = self.report["shared"]["files"]
        self.assertLessEqual(shared, (wall / 1 + 2) * 5 * self.ranks)
        self.assertLess(shared, 70 * 5 * self.ranks / 3, "creates grow with the steps")
        # What a direct run leaves: the purge reaches the case as well.
        self.assert_all_home()
        self.assert_nothing_left()

    def test_status_says_in_words_what_is_only_local(self):
        process = self.start(self.solver("-steps", 20, "-delay", 100, "-purge", 1))
        wait_for(lambda: any(run["drain"]["newest_complete"] for run in self.status()), what="a complete time")
        self.forebay("status", "--case", self.case, "--pool", self.pool)
        self.assertRegex(self.output, r"only local +last complete time \d+")
        self.assertRegex(self.output, r"safe +no time yet")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()

    def test_the_last_complete_time_follows_the_trap_of_the_late_file(self):
        # functionObjectProperties of a step is written when the next one begins: until then the step is not complete.
        process = self.start(self.solver("-steps", 6, "-delay", 400, "-hasty", "-hang", 4), ["--safe-interval", "1s"])
        wait_for(lambda: any("/3/" in path for path in self.completed()), what="step 3")
        time.sleep(1.5)
        for run in self.status():
            self.assertEqual(run["drain"]["newest_complete"], "2")
        self.kill_tree(process.pid)
        process.wait()


if __name__ == "__main__":
    harness.main()
