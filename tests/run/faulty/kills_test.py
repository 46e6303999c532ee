"""Issue, "Faults": agent killed at random points and resumed; program killed (SIGKILL, SIGTERM, Ctrl-C to run); a stale
pool of a dead run (found, offered for resume). Nothing lost, nothing half-written under a final name."""

import concurrent.futures
import functools
import glob
import json
import os
import pty
import random
import select
import shutil
import signal
import time

import harness
from harness import BUSY, UNDRAINED, FaultyCase, drawn, processes, wait_for


class AgentKilled(FaultyCase):
    def test_a_killed_agent_is_resumed_after_the_program_ended(self):
        seed = int(os.environ.get("FOREBAY_TEST_SEED", time.time_ns() % 1_000_000))
        print(f"seed {seed} (FOREBAY_TEST_SEED)")
        points = random.Random(seed)
        for trial in range(3):
            with self.subTest(seed=seed, trial=trial):
                process = self.start(
                    self.solver("-steps", 8, "-delay", 60, "-append", "log"), ["--set", "drain.settle=50ms"]
                )
                agent = self.agent()
                time.sleep(points.uniform(0.05, 0.8))
                processes.kill(agent)
                status = self.finish(process)
                if status != 0:
                    # Killed before all ranks had started: those say so, and what the others wrote is on the case.
                    files = self.on_case()
                    for path, size in self.completed().items():
                        self.assertEqual(files.get(path), harness.content(path, size), f"{path}: {self.output}")
                    self.clean("--throw-away", "--throw-away")
                else:
                    logs = [f"processor{rank}/log" for rank in range(self.ranks)]
                    for log in logs:
                        with open(os.path.join(self.case, log)) as file:
                            self.assertEqual(file.read(), "".join(f"step {i}\n" for i in range(1, 9)))
                        os.unlink(os.path.join(self.case, log))
                    self.assert_all_home()
                    self.assert_nothing_left()
            self.tearDown()
            self.setUp()

    def test_what_a_killed_agent_had_is_carried_though_the_launcher_kills_the_process_that_started_it(self):
        """Open MPI kills all ranks of a node, and their process groups, a millisecond after it has asked them to end."""
        process = self.start(self.solver("-steps", 400, "-delay", 50))
        self.solvers()
        wait_for(lambda: any("/4/" in path for path in self.completed()), what="step 4")
        agent = self.agent()
        rank = processes.parent_of(processes.parent_of(agent))
        self.assertIn(rank, self.of_this_test("forebay"))
        os.kill(agent, signal.SIGKILL)
        os.killpg(os.getpgid(rank), signal.SIGKILL)
        status = self.finish(process, 30)
        self.assertNotIn(status, (0, harness.UNDRAINED, harness.LOST), self.output)
        files = self.on_case()
        self.assertTrue(self.completed())
        for path, size in self.completed().items():
            self.assertEqual(files.get(path), harness.content(path, size), path)
        self.assert_nothing_left()

    def test_a_rank_that_fails_ends_the_run_also_where_it_is_the_first_of_its_node(self):
        """The launcher sees the process that started the agent, and would wait for the ranks that wait for the failed one."""
        for agent_lives in (True, False):
            with self.subTest(agent_lives=agent_lives):
                process = self.start(self.solver("-steps", 8000, "-delay", 10))
                self.solvers()
                wait_for(lambda: any("/4/" in path for path in self.completed()), what="step 4")
                agent = self.agent()
                first = processes.parent_of(processes.parent_of(agent))
                [program] = set(processes.tree(first)) & set(self.of_this_test("stepFoam"))
                if not agent_lives:
                    os.kill(agent, signal.SIGKILL)
                os.kill(program, signal.SIGKILL)
                self.assertEqual(self.finish(process, 20), 128 + signal.SIGKILL, self.output)
                files = self.on_case()
                self.assertTrue(self.completed())
                for path, size in self.completed().items():
                    self.assertEqual(files.get(path), harness.content(path, size), path)
                self.assert_nothing_left()
            self.tearDown()
            self.setUp()

    def test_an_agent_killed_once_it_empties_its_pool_has_lost_nothing(self):
        for pause in (0, 0.001, 0.004):
            with self.subTest(pause=pause):
                process = self.start(self.solver("-steps", 3, "-append", "log"))
                agent = self.agent()
                [home] = wait_for(self.homes, what="the pool")
                journal = os.path.join(home, "journal")
                wait_for(functools.partial(os.path.exists, journal), what="the journal")
                until = time.monotonic() + 30
                while os.path.exists(journal) and time.monotonic() < until:
                    pass
                time.sleep(pause)
                processes.kill(agent)
                self.assertEqual(self.finish(process), 0, self.output)
                self.assertNotIn("was killed", self.output)
                for rank in range(self.ranks):
                    os.unlink(os.path.join(self.case, f"processor{rank}/log"))
                self.assert_all_home()
                self.assert_nothing_left()
            self.tearDown()
            self.setUp()

    def test_while_the_program_of_a_killed_agent_runs_nothing_takes_its_pool_away(self):
        process = self.start(self.solver("-steps", 12, "-delay", 200))
        agent = self.agent()
        self.solvers()
        wait_for(self.completed, what="the first files")
        os.kill(agent, signal.SIGKILL)
        time.sleep(0.1)
        self.assertNotEqual(self.clean("--throw-away", "--throw-away"), 2)
        self.assertEqual(len(self.homes()), 1, "the pool of a running program was removed")
        self.assertEqual(self.resume(), 0, "waits for the program: " + self.output)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def test_who_resumes_before_the_keeper_of_a_killed_agent_is_believed(self):
        for resumed_by in (1, 3):
            with self.subTest(resumed_by=resumed_by):
                process = self.start(self.solver("-steps", 6, "-delay", 100))
                agent = self.agent()
                self.solvers()
                wait_for(self.completed, what="the first files")
                keeper = processes.parent_of(agent)
                self.assertIn(keeper, self.of_this_test("forebay"))
                os.kill(keeper, signal.SIGSTOP)
                os.kill(agent, signal.SIGKILL)
                with concurrent.futures.ThreadPoolExecutor() as several:
                    ends = list(several.map(lambda _: (self.resume(), self.output), range(resumed_by)))
                self.assertEqual([status for status, _ in ends], resumed_by * [0], ends)
                self.assertEqual(self.homes(), [])
                os.kill(keeper, signal.SIGCONT)
                self.assertEqual(self.finish(process), 0, self.output)
                self.assert_all_home()
                self.assert_nothing_left()
            self.tearDown()
            self.setUp()

    def test_ranks_that_were_paused_go_on_when_the_agent_dies(self):
        process = self.start(self.solver("-steps", 6, "-delay", 100))
        agent = self.agent()
        solvers = self.solvers()
        wait_for(self.completed, what="the first files")
        for pid in solvers:  # as back-pressure does
            os.kill(pid, signal.SIGSTOP)
        os.kill(agent, signal.SIGKILL)
        self.assertEqual(self.finish(process, 30), 0, self.output)
        self.assert_all_home()


class AllKilled(FaultyCase):
    def kill_all(self, process):
        self.kill_tree(process.pid)
        process.wait()
        self.kill_left_overs()
        for name in ("forebay", "forebay-agent", "stepFoam"):
            wait_for(lambda: not self.of_this_test(name), what="the end of " + name)  # noqa: B023
        wait_for(lambda: not any(run["alive"] for run in self.status()), what="the end of the agent")

    def test_a_stale_pool_is_found_offered_and_resumed_and_a_second_run_refused(self):
        process = self.start(self.solver("-steps", 50, "-delay", 60), ["--drain-when", "end"])
        wait_for(lambda: len(self.completed()) > 60, what="some times")
        self.kill_all(process)
        before = self.completed()
        cut = set(self.cut_files())
        self.assertEqual(self.on_case(), {})
        foreign = os.path.join(self.case, "processor0/.fb-0123456789abcdef")  # like a name of ours, but in no journal
        with open(foreign, "w") as file:
            file.write("somebody's")

        [run] = self.status()
        self.assertFalse(run["alive"])
        self.assertEqual(self.forebay("status", "--case", self.case, "--pool", self.pool), 0)
        self.assertIn("forebay drain --resume", self.output)
        self.assertEqual(self.run_forebay(self.solver()), BUSY)
        self.assertIn("left this case unfinished", self.output)
        self.assertIn("forebay drain --resume", self.output)
        self.assertEqual(self.completed(), before, "the refused run started its program")
        self.assertEqual(self.clean(), UNDRAINED)
        self.assertIn("twice", self.output)

        self.assertEqual(self.resume(), 0, self.output)
        with open(foreign) as file:
            self.assertEqual(file.read(), "somebody's")
        os.unlink(foreign)
        files = self.on_case()
        for path, size in before.items():
            self.assertEqual(files.get(path), harness.content(path, size), path)
        self.assert_case_is_whole(allow_cut=cut)
        self.assert_nothing_left()
        self.assertEqual(self.run_forebay(self.solver("-steps", 1, "-from", 1000)), 0, self.output)

    def test_a_pool_that_was_being_emptied_when_all_were_killed_is_no_loss(self):
        self.fault_prefix = self.pool
        # The agent, and then its keeper, which goes on with it: each when it has removed so many entries, of which there
        # are more than twice as many, and what tells of the run is the last.
        process = self.start(self.solver("-steps", 1), ["--set", "drain.silence=2s"], fault="unlink:kill:after=16")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertIn("has not told that its pool is empty", self.output)
        [home] = self.homes()
        with open(home + "/status.json") as file:
            self.assertEqual(json.load(file)["phase"], "removing", "killed too early to tell anything")
        self.assertFalse(os.path.exists(home + "/journal"), "killed too early to tell anything")
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def cut_files(self):
        """Files that the program was writing when it was killed: they are brought home as a direct run leaves them."""
        for home in self.homes():
            for directory, _, names in os.walk(home):
                if "/processor" not in directory or "/keep/" in directory:
                    continue
                for name in names:
                    full = os.path.join(directory, name)
                    path = full[full.rindex("/processor") + 1 :]  # in the tree, or beside it
                    if os.path.islink(full):
                        continue
                    with open(full, "rb") as file:
                        if not harness.is_whole(path, file.read()):
                            yield path

    def test_killed_while_it_drains_nothing_is_half_written_and_resuming_ends_it(self):
        process = self.start(self.solver("-steps", 6, "-delay", 20, "-bytes", 200_000), ["--bandwidth", "4M"])
        wait_for(self.on_case, what="the first files on the case")
        time.sleep(0.3)
        self.kill_all(process)
        for path, data in self.on_case().items():
            if ".fb-" not in path:
                self.assertTrue(harness.is_whole(path, data), path)
        completed = self.completed()
        cut = set(self.cut_files())
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_case_is_whole(allow_cut=cut)
        files = self.on_case()
        for path, size in completed.items():
            self.assertEqual(files.get(path), harness.content(path, size), path)
        self.assert_nothing_left()

    def test_what_is_brought_home_later_is_told_to_the_other_nodes_so_that_the_last_one_removes_the_mark(self):
        mark = os.path.join(self.case, ".forebay")
        # Each file takes a second, so that the drain does not end before it is killed.
        process = self.start(self.solver("-steps", 3), ["--drain-when", "end"], fault="rename:delay=1000ms")
        wait_for(lambda: self.on_case() and glob.glob(f"{mark}/node-*.json"), what="the first files, and a report")
        self.kill_all(process)
        [own] = glob.glob(f"{mark}/node-*.json")
        other = f"{mark}/node-other.json"

        def tell(**changes):
            with open(own) as file:
                report = json.load(file)
            with open(other, "w") as file:
                json.dump({**report, "node": "other", "ranks": [], **changes}, file)

        tell(phase="draining")
        self.assertEqual(self.resume(), UNDRAINED, self.output)
        self.assertIn("all of this node is home, but not of other", self.output)
        self.assert_all_home()
        with open(own) as file:
            self.assertEqual(json.load(file)["phase"], "done")
        self.assertEqual(self.resume(), UNDRAINED, self.output)
        self.assertIn("resume on its nodes", self.output)
        tell(phase="done")
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_nothing_left()


class InterruptedAgain(FaultyCase):
    def start_and_hold_drain(self):
        """Its first files are on the case, and the others come when there is no fault any more."""
        options = ["--drain-when", "end", "--bandwidth", "2M"]
        # Held from the start: a drain of a second may end before it is seen to have begun.
        process = self.start(self.solver("-steps", 6, "-bytes", 50_000), options, fault="rename:delay=1000ms")
        is_begun = lambda: any(path.startswith("processor") for path in self.on_case())  # noqa: E731
        wait_for(is_begun, what="the first files on the case, after the program's end")
        return process

    def test_it_drains_on_in_the_background_and_then_only_its_mark_is_left(self):
        process = self.start_and_hold_drain()
        os.kill(process.pid, signal.SIGTERM)
        wait_for(lambda: not self.of_this_test("mpirun"), what="the launcher's end")
        while process.poll() is None:  # the launcher may not be quite gone
            os.kill(process.pid, signal.SIGTERM)
            time.sleep(0.1)
        self.assertNotEqual(process.returncode, 0)
        self.assertTrue(self.homes(), "ended too late to tell anything")
        mark, copy = os.path.join(self.case, ".forebay"), os.path.join(self.directory, "mark")
        shutil.copytree(mark, copy)
        self.set_fault("")
        self.finish(process)
        self.assertIn("still drains in the background", self.output)
        wait_for(lambda: not self.homes() and not self.of_this_test("forebay-agent"), what="the end of the drain")
        self.assert_all_home()
        self.assertEqual(self.run_forebay(self.solver("-steps", 1)), harness.BUSY, self.output)
        ended = os.path.join(self.directory, "ended")
        shutil.copytree(mark, ended)
        for command in (self.resume, self.clean):
            self.assertEqual(command(), 0, self.output)
            self.assertRegex(self.output, "its mark on the case(:| is) removed")
            self.assert_nothing_left()
            shutil.copytree(ended, mark)
        [told] = glob.glob(os.path.join(mark, "node-*.json"))
        with open(told) as file:
            report = json.load(file)
        report["drain"].update(trouble=harness.POOL_FULL, messages=["a pool ran full"])
        with open(told, "w") as file:
            json.dump(report, file)
        self.assertEqual(self.resume(), harness.POOL_FULL, self.output)
        self.assertIn("! a pool ran full", self.output)
        self.assert_nothing_left()
        shutil.copytree(copy, mark)  # as its nodes had told while they drained
        for command in (self.resume, self.clean):
            self.assertEqual(command(), harness.LOST, self.output)
            self.assertIn("its pool is gone", self.output)
            self.assertTrue(os.path.exists(mark))

    def test_the_mark_of_a_run_that_lives_stays(self):
        process = self.start_and_hold_drain()
        os.kill(process.pid, signal.SIGSTOP)
        self.set_fault("")
        wait_for(lambda: not self.homes() and not self.of_this_test("forebay-agent"), what="the end of the drain")
        self.assertEqual(self.clean(), 0, self.output)
        self.assertTrue(os.path.exists(os.path.join(self.case, ".forebay")), self.output)
        os.kill(process.pid, signal.SIGCONT)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()


class ProgramKilled(FaultyCase):
    purge = 1
    # Longer than the agent's pause between two looks, so that it sees every time before it is purged.
    delay = 400

    def options(self):
        return self.solver("-steps", 40, "-delay", self.delay, "-purge", 1)

    def check_after_kill(self, at_least=None, late=(harness.LATE,)):
        """The last complete time is home, whole over all ranks; nothing that the program completed and kept is lost."""
        files = self.on_case()
        cut = set()
        for path, data in files.items():
            if not harness.is_whole(path, data):
                cut.add(path)
        self.assertLessEqual(len(cut), self.ranks, f"more cut files than ranks: {cut}")
        for path, size in self.completed().items():
            self.assertEqual(files.get(path), harness.content(path, size), path)
        complete = [t for t in self.complete_times_on_case() if not any(f"/{t}/" in path for path in cut)]
        self.assertTrue(complete, f"no complete time on the case: {sorted(files)}\n{self.output}")
        for rank in range(self.ranks):
            for field in harness.FIELDS:
                path = f"processor{rank}/{complete[-1]}/{field}"
                self.assertTrue(harness.is_whole(path, files[path]), path)
        # What is called complete is whole in every file of every rank, the late one too, ...
        last = int(self.report["last_complete"])
        for rank in range(self.ranks):
            for field in [*harness.FIELDS, *late]:
                path = f"processor{rank}/{last}/{field}"
                self.assertIn(path, files, f"of time {last}, which is called complete\n{self.output}")
                self.assertTrue(harness.is_whole(path, files[path]), f"{path} of the last complete time is cut")
        # ... and is the newest that all ranks had left behind. (One that they had not may have been cut by the kill.)
        self.assertGreaterEqual(last, self.newest_followed() if at_least is None else at_least, self.output)
        self.assert_nothing_left()

    def test_one_rank_killed_in_the_middle_of_a_file_leaves_the_last_complete_time(self):
        process = self.start(self.solver("-steps", 40, "-delay", self.delay, "-purge", 1, "-crash", 5))
        self.assertNotEqual(self.finish(process), 0, self.output)
        self.assertEqual(self.report["exit_status"], process.returncode)
        self.check_after_kill()

    def test_a_time_whose_last_file_was_cut_by_the_kill_is_never_called_complete(self):
        # The kernel closes that file like any other, and with it the time has all the files that the one before had.
        process = self.start(
            self.solver(
                "-steps", 40, "-delay", self.delay, "-purge", 1, "-crash", 4, "-crash-file", len(harness.FIELDS)
            )
        )
        self.assertNotEqual(self.finish(process), 0, self.output)
        self.assertLess(int(self.report["last_complete"]), 4)
        self.check_after_kill()

    def test_files_that_are_deleted_at_once_after_closing_leave_a_complete_time(self):
        # The late file of a time is made, closed and purged within a millisecond; the fields were there for a step.
        process = self.start(self.solver("-steps", 40, "-delay", 80, "-purge", 1, "-hasty", "-crash", 12))
        self.assertNotEqual(self.finish(process), 0, self.output)
        self.check_after_kill(at_least=1, late=())

    def test_the_newest_time_that_all_ranks_had_left_is_kept_however_short_the_steps(self):
        # The agent looks every few seconds only: the ranks keep what they purge.
        ways = (
            ("namespace", ()),
            ("redirect", ()),
            ("namespace", ("-absolute",)),
            ("namespace", ("-whole", "-absolute")),
            ("redirect", ("-whole",)),
        )
        for way, purge in drawn(ways, "short steps", 2):
            with self.subTest(way=way, purge=purge):
                solver = self.solver("-steps", 3000, "-delay", 3, "-purge", 1, "-crash", 1000, "-bytes", 30_000, *purge)
                self.assertNotEqual(self.finish(self.start(solver, ["--via", way])), 0, self.output)
                self.check_after_kill()
            self.tearDown()
            self.setUp()

    def test_it_is_kept_when_the_agent_is_killed_long_before_the_program(self):
        self.check_after_agent_killed()

    def test_so_it_is_where_times_are_removed_as_a_whole(self):
        self.check_after_agent_killed("-whole")

    def check_after_agent_killed(self, *purge):
        process = self.start(
            self.solver("-steps", 3000, "-delay", 3, "-purge", 1, "-crash", 1500, "-bytes", 30_000, *purge),
        )
        agent = self.agent()
        self.solvers()
        time.sleep(1)
        self.assertIsNone(process.poll(), "the agent was to be killed in the middle")
        os.kill(agent, signal.SIGKILL)
        self.assertNotEqual(self.finish(process), 0, self.output)
        self.check_after_kill()

    def test_when_the_agent_is_dead_its_keeper_frees_what_ranks_purge(self):
        # Together: of a rank that is far ahead nothing is freed until the others have come as far.
        process = self.start(
            self.solver(
                "-steps", 3000, "-delay", 3, "-purge", 1, "-crash", 2500, "-bytes", 30_000, "-together", self.directory
            )
        )
        agent = self.agent()
        self.solvers()
        time.sleep(1)
        os.kill(agent, signal.SIGSTOP)
        kept = os.path.join(self.homes()[0], "keep/processor0")
        wait_for(lambda: len(os.listdir(kept)) > 20, what="times that nobody frees")
        held = os.listdir(kept)
        os.kill(agent, signal.SIGKILL)
        wait_for(lambda: set(held).isdisjoint(os.listdir(kept)), 6, "what ranks had purged is freed")
        self.assertIsNone(process.poll())
        self.assertNotEqual(self.finish(process), 0, self.output)
        self.check_after_kill()

    def test_a_time_that_was_safe_and_then_purged_stays_when_the_program_crashes(self):
        process = self.start(
            self.solver("-steps", 60, "-delay", self.delay, "-purge", 1, "-crash", 9), ["--safe-interval", "1s"]
        )
        self.assertNotEqual(self.finish(process), 0, self.output)
        self.check_after_kill()

    def test_a_run_that_was_told_to_ignore_its_children_sees_its_program_end(self):
        ignored = functools.partial(signal.signal, signal.SIGCHLD, signal.SIG_IGN)
        process = self.start(self.solver("-steps", 2, "-delay", 60), preexec_fn=ignored)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()

    def test_sigterm_to_run_ends_the_program_and_brings_home_what_there_was(self):
        process = self.start(self.options())
        wait_for(lambda: any("/3/" in path for path in self.completed()), what="step 3")
        os.kill(process.pid, signal.SIGTERM)
        self.assertNotEqual(self.finish(process), 0, self.output)
        self.check_after_kill()

    def test_a_program_that_ignores_sigterm_is_killed_by_its_launcher_and_still_drained(self):
        process = self.start(self.options() + ["-stubborn"])
        wait_for(lambda: any("/3/" in path for path in self.completed()), what="step 3")
        os.kill(process.pid, signal.SIGTERM)
        self.assertNotEqual(self.finish(process), 0, self.output)
        self.check_after_kill()

    def test_control_c_on_the_terminal_ends_the_program_and_brings_home_what_there_was(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.case)
            os.execvpe(harness.FOREBAY, self.line(self.options()), self.environment())
        try:
            wait_for(lambda: any("/3/" in path for path in self.completed()), what="step 3")
            os.write(terminal, b"\x03")
            text, status = b"", None
            until = time.monotonic() + 30
            while status is None and time.monotonic() < until:
                if select.select([terminal], [], [], 0.05)[0]:
                    try:
                        text += os.read(terminal, 4096)
                    except OSError:
                        pass
                ended, found = os.waitpid(pid, os.WNOHANG)
                if ended:
                    status = os.waitstatus_to_exitcode(found)
            self.output = text.decode(errors="replace")
            self.assertIsNotNone(status, text)
            self.assertNotEqual(status, 0, text)
            self.line(self.options())
            self.read_report()
            self.check_after_kill()
        finally:
            os.close(terminal)


if __name__ == "__main__":
    harness.main()
