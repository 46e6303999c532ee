"""Issue, "Last complete time": forebay keeps the newest time that is complete over all ranks and drains it at least
every T; `forebay status` names it and separates only local from safe; creates on the shared file system are bounded by
wall time / T, not by the number of steps."""

import os
import pty
import signal
import subprocess
import time

import harness
from changes import Changes
from harness import FaultyCase, wait_for

LOOK = 0.1
INTERVAL = (
    1.3  # seconds; no multiple of the second after which status is told anew, or it would show the same moment always
)


def read_all(terminal):
    """What was written to a terminal that nobody holds any more."""
    text = b""
    try:
        while piece := os.read(terminal, 1 << 16):
            text += piece
    except OSError:
        pass  # which is how the other side's end is told
    return text.decode().replace("\r\n", "\n")


class SafeInterval(FaultyCase):
    purge = 1

    def make_case(self):
        """On a file system of its own, whose changes can be counted."""
        self.changes = None
        if harness.may_mount():
            shared = os.path.join(self.directory, "shared")
            self.mount(shared, "mode=700")
            self.case = os.path.join(shared, "case")
        super().make_case()
        if self.mounts:
            self.changes = Changes(self.case)
            self.addCleanup(self.changes.close)

    def test_the_newest_complete_time_is_safe_within_the_interval_though_the_program_purges(self):
        process = self.start(
            self.solver("-steps", 70, "-delay", 80, "-purge", 1), ["--safe-interval", f"{INTERVAL * 1000:.0f}ms"]
        )
        self.solvers()
        # Counted in looks, of which a busy machine takes as many fewer as it carries fewer times.
        seen, local, gaps, at_once = set(), [], [0], 0
        while process.poll() is None:
            gaps[-1] += 1
            complete = self.complete_times_on_case()
            if complete and complete[-1] not in seen:
                gaps.append(0)
                seen.update(complete)
            at_once = max(at_once, len(self.times_on_case()))
            for run in self.status():
                drain = run["drain"]
                if run["phase"] == "running" and drain["newest_complete"]:
                    local.append((int(drain["newest_complete"]), int(drain["newest_safe"] or 0)))
            time.sleep(LOOK)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertGreaterEqual(len(seen), 3, "times reached the case while the program ran")
        self.assertLess(max(gaps[:-1]), (INTERVAL + 2.5) / LOOK, f"{gaps}")
        # One that is safe, two before it until everybody knows of it, and one that is being removed or only partly there.
        self.assertLessEqual(at_once, 4, "times that were made safe pile up on the case")
        self.assertTrue(any(complete > safe for complete, safe in local), "status never showed anything as only local")
        self.assertTrue(any(safe > 0 for _, safe in local), "status never showed a safe time")
        self.assertTrue(all(complete >= safe for complete, safe in local))
        # A safe time has 5 files per rank; what was being carried when the last one came may be there, too.
        states = self.report["nodes"][0]["drain"]["safe_times"] + 1
        carried = self.report["shared"]
        self.assertLessEqual(carried["files"] + carried["again"], states * 5 * self.ranks)
        self.assertLess(states, 70, "each step was carried")
        # What a direct run leaves: the purge reaches the case as well.
        self.assert_all_home()
        self.assert_nothing_left()
        self.check_changes(states)

    def check_changes(self, states):
        """Every state that is made safe is created once and removed once: 5 files and 3 directories per rank. Besides,
        the run tells other nodes about itself in its control directory."""
        if self.changes is None:
            self.skipTest("who counts changes on a file system must be root")
        created, removed = self.changes.so_far()
        of_states = states * (5 + 3) * self.ranks
        self.assertLessEqual(created, of_states)
        self.assertLessEqual(removed, of_states)

    def test_status_says_in_words_what_is_only_local_and_watches_until_no_run_is_left(self):
        process = self.start(self.solver("-steps", 40, "-delay", 100, "-purge", 1))
        wait_for(self.status, what="the run")
        watch, terminal = self.watch()
        wait_for(lambda: any(run["drain"]["newest_complete"] for run in self.status()), what="a complete time")
        self.forebay("status", "--case", self.case, "--pool", self.pool)
        self.assertRegex(self.output, r"only local +last complete time \d+")
        self.assertRegex(self.output, r"safe +no time yet")
        # Between the agent's end and the run's the case has a mark, and all is home.
        process.send_signal(signal.SIGSTOP)
        wait_for(self.has_only_its_mark, what="the agent's end")
        time.sleep(2.5)  # two looks
        self.assertIsNone(watch.poll(), "it ended before the run")
        process.send_signal(signal.SIGCONT)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()
        self.assertEqual(watch.wait(10), 0)
        first, *looks = read_all(terminal).split("\033[H\033[2J")
        self.assertEqual(first, "", "each look has the screen to itself")
        self.assertGreaterEqual(len(looks), 3)
        for look in looks[:-1]:
            self.assertIn(f"on {self.case}", look)
        self.assertTrue(any("agent               running" in look for look in looks), looks)
        self.assertEqual(
            looks[-1].strip(), "no run of forebay has anything in this node's pools, or works on this case"
        )

    def has_only_its_mark(self):
        """Whether all of the run is home but its mark still on the case."""
        (run,) = self.status()
        return run["alive"] is None and run["phase"] == "done"

    def test_watching_a_mark_that_was_left_behind_ends(self):
        process = self.start(self.solver("-steps", 10, "-delay", 100), ["--set", "drain.silence=2s"])
        wait_for(self.status, what="the run")
        process.kill()
        wait_for(self.has_only_its_mark, what="the agent's end")
        watch, terminal = self.watch()
        self.assertEqual(watch.wait(10), 0)
        self.assertIn("done on node", read_all(terminal).split("\033[H\033[2J")[-1])

    def newest_complete(self):
        (run,) = self.status()
        return run["drain"]["newest_complete"]

    def watch(self):
        """`forebay status --watch` on a terminal of its own."""
        terminal, its = pty.openpty()
        self.addCleanup(os.close, terminal)
        line = [harness.FOREBAY, "status", "--watch", "--case", self.case, "--pool", self.pool]
        watch = subprocess.Popen(line, env=self.environment(), stdin=its, stdout=its, stderr=its)
        self.started.append(watch)
        os.close(its)
        return watch, terminal

    def test_the_last_complete_time_follows_the_trap_of_the_late_file(self):
        # functionObjectProperties of a step is written when the next one begins: until then the step is not complete.
        process = self.start(self.solver("-steps", 6, "-delay", 400, "-hasty", "-hang", 4), ["--safe-interval", "1s"])
        third = [f"processor{rank}/3/{field}" for rank in range(self.ranks) for field in harness.FIELDS]
        wait_for(lambda: set(third) <= set(self.completed()), what="step 3")
        wait_for(lambda: self.newest_complete() == "2", what="step 2 to be called complete")
        time.sleep(2)  # status is told anew every second
        self.assertEqual(self.newest_complete(), "2")
        self.kill_tree(process.pid)
        process.wait()


if __name__ == "__main__":
    harness.main()
