"""Who tells `forebay run` to end while it drains, without a launcher: one signal has what is restartable brought home, a
second ends it at once, and an agent that is stopped is not waited for. What is left comes home by `drain --resume`."""

import json
import os
import pty
import signal
import time

import harness
from harness import UNDRAINED, FaultyCase, wait_for

WAYS = ("namespace", "redirect", "path")
STEPS = 4
LAST = str(STEPS)


def ended(pid):
    found, status = os.waitpid(pid, os.WNOHANG)
    return found and (found, status)


class Leaving(FaultyCase):
    ranks = 0

    def start_draining(self, *options, fault=None):
        """Returns when the program has ended and the first files are on the case."""
        solver = self.solver("-steps", STEPS, "-bytes", 200_000)
        process = self.start(solver, ["--drain-when", "end", "--bandwidth", "1M", *options], fault)
        wait_for(lambda: self.of_this_test("forebay-agent") and self.phase() == "draining", what="the drain")
        return process

    def phase(self):
        for home in self.homes():
            try:
                with open(os.path.join(home, "status.json")) as file:
                    return json.load(file)["phase"]
            except (OSError, ValueError):
                pass
        return None

    def finish_within(self, process, seconds):
        began = time.monotonic()
        self.assertEqual(self.finish(process, 60), UNDRAINED, self.output)
        self.assertLess(time.monotonic() - began, seconds, self.output)

    def times_here(self):
        return sorted(name for name in os.listdir(self.case) if name.isdigit())

    def assert_resumed(self):
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()
        for name in os.listdir(self.records):
            os.remove(os.path.join(self.records, name))
        for each in self.times_here():
            os.rename(os.path.join(self.case, each), os.path.join(self.directory, f"{each}-{time.monotonic()}"))

    def assert_restartable_is_home(self):
        files = self.on_case()
        written = self.completed()
        last = {path for path in written if path.startswith(LAST + "/")}
        self.assertTrue(last)
        self.assertEqual(sorted(last - set(files)), [], self.output)
        self.assertLess(len(files), len(written), "all was carried")
        self.assert_case_is_whole()

    def test_one_signal_brings_home_what_is_restartable(self):
        for way, number in zip(WAYS, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP), strict=True):
            process = self.start_draining("--via", way)
            os.kill(process.pid, number)
            self.finish_within(process, 8)
            self.assert_restartable_is_home()
            self.assertIn("told to end before this was carried", self.output)
            self.assert_resumed()

    def test_control_c_on_a_terminal_does_so_too(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.case)
            solver = self.solver("-steps", STEPS, "-bytes", 200_000)
            line = self.line(solver, ["--quiet", "--drain-when", "end", "--bandwidth", "1M"])
            os.execvpe(harness.FOREBAY, line, self.environment())
        try:
            wait_for(lambda: self.phase() == "draining", what="the drain")
            time.sleep(0.3)  # one that comes with the program's end may be meant for the program
            os.write(terminal, b"\x03")
            _, status = wait_for(lambda: ended(pid), 15, "the run's end")
        finally:
            os.close(terminal)
        self.output = ""
        self.assertEqual(os.waitstatus_to_exitcode(status), UNDRAINED)
        self.assert_restartable_is_home()
        self.assert_resumed()

    def test_a_second_signal_ends_it_at_once(self):
        process = self.start_draining(fault="")
        self.set_fault("rename:delay=1500ms")  # it takes seconds for what is restartable
        os.kill(process.pid, signal.SIGTERM)
        wait_for(lambda: os.path.exists(os.path.join(self.homes()[0], "leave")), what="the agent's being told")
        os.kill(process.pid, signal.SIGINT)
        self.finish_within(process, 2)
        self.assertTrue(self.of_this_test("forebay-agent"), "it was waited for")
        self.set_fault("")
        self.assert_resumed()

    def test_an_agent_that_is_stopped_is_not_waited_for(self):
        for stopped_early in (False, True):
            if stopped_early:
                process = self.start(["sh", "-c", f"echo 1 > 1; {self.until_told()}"], ["--set", "drain.silence=2s"])
                wait_for(lambda: self.phase() == "running", what="the program")
            else:
                process = self.start_draining("--set", "drain.silence=2s")
            agent = self.agent()
            os.kill(agent, signal.SIGSTOP)
            if stopped_early:
                self.tell()
            self.finish_within(process, 8)
            self.assertIn(f"process {agent}", self.output)
            os.kill(agent, signal.SIGCONT)
            self.assertEqual(self.resume(), 0, self.output)
            self.assert_nothing_left()

    def test_a_signal_does_not_wait_for_one_that_is_stopped_either(self):
        process = self.start_draining()
        agent = self.agent()
        os.kill(agent, signal.SIGSTOP)
        for number in (signal.SIGINT, signal.SIGINT):
            os.kill(process.pid, number)
            time.sleep(0.5)
        self.finish_within(process, 2)
        os.kill(agent, signal.SIGCONT)
        self.assert_resumed()


if __name__ == "__main__":
    harness.main()
