"""Proves: what is measured, how long that takes and what it says, without measuring anything."""

import json
import os
import sys
import tempfile
import threading
import time
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tests"))

from html_page import Page  # noqa: E402
from measure import program  # noqa: E402
from measure.report import Report  # noqa: E402

from run import io as bench_io  # noqa: E402
from run.predict import machine  # noqa: E402
from run.probe import curves, grid, medium, nodes, told  # noqa: E402
from run.probe.grid import MIB, Cell, Files  # noqa: E402
from run.probe.medium import Figures, Plan  # noqa: E402
from run.probe.place import Place, place_of  # noqa: E402

GB = 1e9


def place(kind="tmpfs", cores=4, cache=32 * MIB, remote=()):
    return Place(Path("/m"), kind, tuple(range(cores)), remote, cache, 2, 64 << 30, 32 << 30)


def figures(rates, creates=((1, 1000.0),), total=128 * MIB, **more):
    """Of writing new files by the path, by writers. All is done to a file as fast as it is made."""
    found = Figures(place(**more), total)
    found.cells = {Cell("write", "file", "fresh", MIB, many): list(each) for many, each in rates.items()}
    found.files = {Files(many): {phase: [rate] for phase in medium.PHASES} for many, rate in creates}
    return found


class Grid(unittest.TestCase):
    def test_a_cell_has_time_on_any_socket(self):
        for cores in (1, 2, 24, 64, 128):
            for quick, (rounds, limit, longest, _) in ((False, bench_io.FULL), (True, bench_io.QUICK)):
                transfers = (256, 4096, MIB) if quick else grid.TRANSFERS
                cells = grid.cells_of(transfers, grid.writers_of(cores, quick), cores, True)
                files = grid.processes_of(cores, quick)
                each = grid.seconds_each(len(cells), len(files), rounds, limit, longest)
                self.assertGreater(each, 0.1 if cores < 100 else 0.05, (cores, quick))

    def test_a_cell_of_many_nodes_has_time(self):
        for count in (1, 2, 64, 1000):
            cells, files = grid.cells_of_nodes(count, 64)
            self.assertEqual({(each.nodes, each.writers) for each in cells}, {(n, p) for n in grid.doubled(count) for p in (1, 64)})  # fmt: skip
            rounds, limit, _, longest = bench_io.FULL
            self.assertGreater(grid.seconds_each(len(cells), len(files), rounds, limit, longest), 0.2)

    def test_writers_and_transfers_that_were_asked_for_are_those_of_nodes_too(self):
        cells, files = grid.cells_of_nodes(2, 64, [3], [4096, MIB])
        self.assertEqual({(each.writers, each.transfer) for each in cells}, {(3, 4096), (3, MIB)})
        self.assertEqual({each.processes for each in files}, {3})

    def test_every_axis_is_in_it_and_each_way_beside_the_plain_one(self):
        cells = grid.cells_of(grid.TRANSFERS, grid.writers_of(24, False), 24, True)
        self.assertEqual((min(grid.TRANSFERS), max(grid.TRANSFERS)), (64, 64 * MIB))
        self.assertEqual({each.writers for each in cells}, {1, 2, 4, 6, 12, 24})
        self.assertEqual({each.how for each in cells}, {"", "one file", "remote socket", "fsync", "O_DIRECT"})
        self.assertEqual({(each.op, each.path, each.pages) for each in cells}, set(told.KINDS.values()))
        self.assertLessEqual({each.compared_with() for each in cells} - {None}, set(cells))

    def test_what_cannot_be_had_is_left_out(self):
        ways = {each.how for each in grid.cells_of(grid.TRANSFERS, [1, 2], 0, False)}
        self.assertEqual(ways, {"", "one file"})

    def test_blocks_of_all_writers_exceed_the_caches_and_kept_files_serve_every_cell(self):
        total, counts = 2 * 32 * MIB, (1, 2, 6)
        self.assertEqual(grid.kept_blocks(total, counts), [64 * MIB, 32 * MIB, *[10 * MIB] * 4])
        for each in counts:
            self.assertTrue(all(kept >= grid.block(total, each) for kept in grid.kept_blocks(total, counts)[:each]))

    def test_what_is_written_at_once_is_counted(self):
        plan = Plan(
            [Cell("write", "file", "fresh", MIB, 2), Cell("read", "file", "recycled", MIB, 2)], [], 1, 30, 0.1, 64 * MIB
        )
        self.assertEqual(plan.written(3), 3 * (2 * 64 * MIB + grid.MOST_FILES * 4096))

    def test_sizes_count_as_those_of_ior_do(self):
        self.assertEqual([grid.size(each) for each in ("64", "4k", "1M", "2GiB")], [64, 4096, MIB, 2 << 30])
        for wrong in ("0", "x", "1.5M", "-1"):
            self.assertRaises(ValueError, grid.size, wrong)


class Places(unittest.TestCase):
    def seen(self, *allowed):
        sockets = [{"index": each, "cpus": [900 + each, 910 + each], "numa_nodes": [each]} for each in (0, 1)]
        mounts = [{"path": "/", "type": "ext4", "medium": "file", "numa_node": None}, {"path": "/tmp", "type": "xfs", "medium": "fsdax", "numa_node": 1}]  # fmt: skip
        with mock.patch.object(os, "sched_getaffinity", lambda _: set(allowed)):
            return place_of({"sockets": sockets, "mounts": mounts, "memory": {}}, Path("/tmp"))

    def test_a_pool_belongs_to_the_socket_of_its_memory(self):
        seen = self.seen(900, 901, 910, 911)
        self.assertEqual((seen.kind, seen.cpus, seen.remote, seen.on_disk), ("fsdax", (901, 911), (900, 910), False))

    def test_cpus_that_this_process_may_not_use_are_left_alone(self):
        for allowed, own, remote in (((910, 911), (911,), (910,)), ((901,), (901,), ()), ((900,), (900,), ())):
            seen = self.seen(*allowed)
            self.assertEqual((seen.cpus, seen.remote, seen.sockets), (own, remote, 2))
        self.assertRaisesRegex(RuntimeError, r"none of the cpus \[7\] of this process", self.seen, 7)


class Load(unittest.TestCase):
    def test_others_on_the_machine_are_warned_of(self):
        for load, warned in ((1.0, False), (1.1, True)):
            seen = {"cores": 4}
            with (
                mock.patch.object(os, "getloadavg", lambda load=load: (load, 0, 0)),
                mock.patch.object(bench_io, "say"),
            ):
                bench_io.warn_of_load(seen)
            self.assertEqual("warning" in seen, warned)


class Measured(unittest.TestCase):
    def measure(self, plan, probe, **of_place):
        with mock.patch.object(medium, "figures_of", probe), mock.patch.object(medium, "touch_memory"):
            return medium.Medium(place(**of_place), plan, Path("io_probe"), Path("/m")).measure(lambda _: None)

    def slow(self, per_second, times=1.0):
        """On a disk that syncs so many bytes a second, where all else takes so many times as long as it was given. What was
        measured, how long it took by a clock of its own, and what it might take."""
        rounds, limit, longest, _ = bench_io.QUICK
        cells = grid.cells_of((256, 4096, MIB), (1, 4), 0, True)
        plan = Plan(cells, [Files(1), Files(8)], rounds, limit, longest, 128 * MIB)
        clock = [0.0]

        def probe(_what, command, within):
            cell = json.loads(command[1])
            data = cell["kind"] == "data"
            takes = grid.OVERHEAD + times * cell["seconds"] * (1 if data else grid.FILES_TAKE)
            takes += sum(cell["bytes"]) / per_second if cell.get("fsync") else 0.0
            clock[0] += min(takes, within)
            if takes > within:
                raise RuntimeError("timed out")
            return {
                "bytes": cell.get("bytes"),
                "seconds": takes,
                "persistent": False,
                **dict.fromkeys(medium.PHASES, [7, takes]),
            }

        with mock.patch.object(medium.time, "monotonic", lambda: clock[0]):
            return self.measure(plan, probe, kind="ext4"), plan, clock[0]

    def test_it_ends_in_time_where_a_disk_syncs_slowly(self):
        seen, plan, took = self.slow(20e6)
        self.assertLess(took, plan.limit)
        self.assertEqual(seen.notes[1:], ["less is written at once than asked for: a cell's time is too short to sync it",
                                          "blocks are smaller than asked for: there was no time to write more"])  # fmt: skip
        self.assertEqual(seen.cells.keys(), set(plan.cells))

    def test_it_ends_in_time_where_all_is_slow(self):
        for per_second, times in ((1e9, 5.0), (1e5, 1.0), (1e3, 50.0)):
            with self.subTest((per_second, times)):
                seen, plan, took = self.slow(per_second, times)
                self.assertLessEqual(took, plan.limit)
                self.assertLess(len(seen.cells), len(plan.cells))
                self.assertTrue(seen.notes)

    def test_a_program_that_hangs_in_the_system_is_not_waited_for(self):
        hung, began = [], time.monotonic()
        with (
            mock.patch.object(
                program.subprocess.Popen, "kill", lambda each: hung.append(each)
            ),  # it waits for a server, and stays
            self.assertRaisesRegex(RuntimeError, "sleeper: .*timed out"),
        ):
            program.figures_of("sleeper", ["sleep", "10"], within=0.05)
        self.assertLess(time.monotonic() - began, 8)
        for each in hung:
            each.kill()
            each.communicate()

    def test_what_was_measured_before_a_failure_is_kept(self):
        plan = Plan(
            [Cell("write", "file", "fresh", MIB, each) for each in (1, 2, 4)], [Files(1)], 1, 30.0, 0.1, 64 * MIB
        )
        calls = []

        def probe(_what, command, within):
            calls.append(json.loads(command[1]))
            if len(calls) == 3:
                raise RuntimeError("No space left on device")
            return {"bytes": [1000], "seconds": 1.0, "persistent": False, **dict.fromkeys(medium.PHASES, [7, 1.0])}

        seen = self.measure(plan, probe)
        self.assertRegex(seen.failure, "^/m: .*: No space left on device$")
        self.assertIn("No space left", told.text(seen))
        self.assertEqual(len(seen.cells) + len(seen.files), 2)
        self.assertEqual(seen.all_counts, bool(seen.files))

    def test_files_that_there_is_no_room_for_are_refused(self):
        plan = Plan([], [Files(1)], 1, 30.0, 0.1, 64 * MIB)
        for free, refused in ((None, False), (40_000, False), (1000, True)):
            seen = replace(place(), files_free=free)
            self.assertEqual("room for 1000 more files" in bench_io.lack_of_room(seen, plan), refused)


class Told(unittest.TestCase):
    def test_advice_names_the_fewest_writers_that_get_nearly_all(self):
        said = told.advice(figures({1: [2 * GB], 5: [12.1 * GB], 12: [12.2 * GB], 24: [7.4 * GB]}))
        self.assertIn("5 writers get 12.1 GB/s in new files, and more gain no more than noise: 12 get 12.2;", said)
        self.assertIn("24 get 7.4: let fewer write", said)
        said = told.advice(figures({1: [2 * GB], 12: [12.2 * GB], 24: [7.4 * GB]}))
        self.assertIn("Best with 12 writers: 12.2 GB/s in new files; 24 get 7.4: let fewer write", said)

    def test_a_telephone_shows_all_of_a_page(self):
        """Full tables with quartiles, as a whole measurement of a large node gives them."""
        seen = figures({1: [GB, 2 * GB, 9 * GB]}, ((1, 1.0), (4, 9.0), (8, 2.0)))
        for cell in grid.cells_of(grid.TRANSFERS, grid.writers_of(24, False), 24, True):
            seen.cells[cell] = [GB, 2 * GB, 9 * GB]
        with tempfile.TemporaryDirectory() as directory:
            curves.write_page(to := Path(directory) / "io.html", [seen], {"host": "a"})
            page = Page(to.read_text(), {"meta"})
        self.assertEqual((page.open, page.troubles_of_a_telephone()), ([], []))
        self.assertGreaterEqual(len(page.all("table")), 6)
        self.assertEqual(len(page.of_class("scroll cards")), len(page.all("table")), "cells may have several lines")
        self.assertEqual({len(each) for each in page.all("td")}, {1}, "each says what it is")

    def test_nothing_is_called_best_that_another_number_beats(self):
        for rates in ({1: [0.921 * GB], 2: [0.953 * GB]}, {1: [0.6 * GB, 0.8 * GB, 0.9 * GB], 2: [0.7 * GB, 0.95 * GB, 1.2 * GB]}):  # fmt: skip
            said = told.advice(figures(rates))
            self.assertNotIn("Best", said)
            self.assertRegex(
                said, r"^1 writer gets 0\.\d+ GB/s in new files, and more gain no more than noise: 2 get 0.95"
            )
        clear = figures({1: [0.6 * GB, 0.61 * GB, 0.62 * GB], 2: [0.9 * GB, 0.95 * GB, 1.2 * GB]})
        self.assertIn("Best with 2 writers: 0.95 GB/s", told.advice(clear))

    def test_figures_have_no_exponents(self):
        seen = figures({1: [999.6 * GB, 0.00001 * GB, 0.00001 * GB]}, ((1, 1234567.0),))
        for text in (told.text(seen), told.advice(seen)):
            self.assertNotRegex(text, r"\de[+-]\d")
        self.assertIn("1234567", told.text(seen))

    def test_more_writers_that_gain_are_not_warned_of(self):
        self.assertNotIn("fewer", told.advice(figures({1: [2 * GB], 24: [12 * GB]})))

    def test_a_mapping_is_advised_where_its_pages_are_the_medium(self):
        for kind, advised in (("tmpfs", True), ("ext4", False)):
            seen = figures({1: [GB]}, kind=kind)
            seen.cells |= {Cell("write", path, "recycled", MIB, 1): [rate] for path, rate in (("file", GB), ("mapped", 4 * GB))}  # fmt: skip
            self.assertEqual("4 times as fast" in told.advice(seen), advised)

    def test_other_ways_stand_in_the_order_of_their_transfers(self):
        seen = figures({1: [GB]}, kind="ext4")
        seen.cells |= {Cell("read", "file", "recycled", each, 1, "O_DIRECT"): [GB] for each in (MIB, 16384, 4096)}
        [(_, _, rows)] = [each for each in told.tables(seen) if each[0].startswith("other ways")]
        self.assertEqual([row[0].split(", ")[2] for row in rows], ["4 KiB", "16 KiB", "1 MiB"])

    def test_a_block_that_fits_the_cache_says_so(self):
        for total, count in ((63 * MIB, 1), (64 * MIB, 0)):
            report, seen = Report("io", {}), figures({1: [GB]}, total=total)
            told.add_rows(report, seen)
            self.assertEqual([row.note for row in report.results].count("from cache"), count)
            self.assertEqual("from cache" in told.text(seen), bool(count))

    def test_a_row_is_the_median_with_quartiles_and_what_it_is_compared_with(self):
        seen = figures({2: [1 * GB, 4 * GB, 2 * GB]})
        seen.cells[Cell("write", "file", "fresh", MIB, 2, "fsync")] = [GB, GB, GB]
        report = Report("io", {})
        told.add_rows(report, seen)
        plain, synced = report.results[:2]
        self.assertEqual((plain.name, plain.value, plain.interval), ("/m: write, file, fresh, 1 MiB, 2 writers", 2.0, (1.5, 3.0)))  # fmt: skip
        self.assertEqual((synced.reference, synced.ratio), (2.0, 0.5))

    def test_contention_is_found_where_more_processes_are_slower(self):
        operations, double = told.contention({n: 4000 / (1 + n / 200) for n in (4, 8, 64, 512)} | {1: 3000, 2: 3500})
        self.assertAlmostEqual(operations, 4000 / (1 + 4 / 200))
        self.assertAlmostEqual(double, 204)
        self.assertEqual(told.contention({1: 3102, 2: 3096, 4: 1039})[0], 3102, "never more than was measured")
        self.assertEqual(told.contention({1: 1000, 2: 1900, 4: 2000, 8: 1950}), (2000, None))

    def shared(self, count=4):
        found = figures({}, ((1, 900.0), (2, 2000.0), (4, 1000.0)), kind="lustre")
        found.cells = {Cell("write", "file", "fresh", MIB, 1, "fsync", each): [each * GB] for each in {1, count}}
        found.nodes = count
        return found

    def profile(self, local, shared):
        return machine.parse(told.profile(local, shared, {"host": "a"}), "x")

    def test_one_node_tells_nothing_of_the_servers(self):
        """Its processes wait for its own cores and journal; as a total of the servers predict would take it as exact."""
        read = self.profile(None, self.shared(1))
        self.assertEqual({key: value.value for key, value in read.values.items()}, {("shared", "client"): GB})

    def test_contention_is_told_only_of_all_numbers_of_processes(self):
        seen = self.shared()
        self.assertEqual(self.profile(None, seen).get("shared", "clients_double"), 2)
        seen.all_counts = False
        self.assertEqual({key for _, key in self.profile(None, seen).values}, {"write", "client"})

    def test_each_operation_has_a_price_of_its_own(self):
        seen = self.shared()
        for phase, factor in (("rename", 10), ("unlink", 4), ("sync", 0.5)):
            for rates in seen.files.values():
                rates[phase] = [factor * rates["create"][0]]
        read = self.profile(None, seen)
        found = [
            read.get("shared", key) for key in ("operations_per_s", "renames_per_s", "unlinks_per_s", "syncs_per_s")
        ]
        self.assertEqual(found, [2000, 20000, 8000, 1000])
        self.assertIn("renames of 4 KiB in /m, 4 nodes", read.values["shared", "renames_per_s"].source)
        self.assertEqual(read.shared().renames_per_s, 20000)

    def test_a_profile_says_how_far_quartiles_lie_from_what_it_has(self):
        seen = self.shared()
        seen.files[Files(2)]["rename"] = [1000, 2000, 2000, 2000, 6000]
        self.assertNotIn(("shared", "quartiles"), self.profile(None, seen).values)
        seen.files[Files(2)]["rename"] = [1000, 1000, 2000, 5000, 6000]
        self.assertEqual(self.profile(None, seen).get("shared", "quartiles"), 2.5)
        local = figures({1: [GB, 2 * GB, 3 * GB], 2: [3 * GB] * 3})
        self.assertEqual(self.profile(local, None).get("medium", "quartiles"), 1.34)

    def test_more_processes_than_cores_tell_nothing_of_the_servers(self):
        seen = self.shared()
        seen.place = place(cores=2)
        self.assertEqual(self.profile(None, seen).get("shared", "operations_per_s"), 2000)
        self.assertNotIn(("shared", "clients_double"), self.profile(None, seen).values)

    def test_as_many_processes_on_fewer_nodes_do_not_hide_what_the_servers_do(self):
        for order in (1, -1):
            seen = figures({})
            rates = {Files(4, 1): 1000.0, Files(1, 4): 3000.0}
            seen.files = {each: {"create": [rates[each]]} for each in list(rates)[::order]}
            self.assertEqual(seen.creates(), {4: 3000.0})

    def test_what_most_nodes_did_not_measure_is_no_total(self):
        seen = self.shared()
        del seen.cells[Cell("write", "file", "fresh", MIB, 1, "fsync", 4)]
        self.assertNotIn(("shared", "write"), self.profile(None, seen).values)

    def test_a_disk_is_as_fast_as_its_syncs_and_as_large_as_what_is_free(self):
        seen = figures({1: [8 * GB], 4: [9 * GB]}, kind="ext4")
        for path, rate in (("file", GB), ("mapped", 2 * GB)):
            seen.cells |= {Cell("write", path, "fresh", MIB, many, "fsync"): [many * rate] for many in (1, 4)}
        read = self.profile(seen, None)
        self.assertEqual(read.get("medium", "write"), ((1, GB), (4, 4 * GB)))
        self.assertIn("with fsync", read.values["medium", "write"].source)
        self.assertEqual(read.get("medium", "capacity"), 32 << 30)
        del seen.cells[Cell("write", "file", "fresh", MIB, 1, "fsync")]
        self.assertEqual(self.profile(seen, None).get("medium", "write"), ((4, 4 * GB),))

    def test_a_figure_tells_how_many_rounds_it_has(self):
        seen = figures({1: [GB, GB, GB], 4: [3 * GB]}, ((1, 1000.0), (2, 1000.0)))
        report = Report("io", {})
        told.add_rows(report, seen)
        self.assertEqual([row.note for row in report.results[:2]], ["", "of 1 round"])
        self.assertEqual([bool(row.interval) for row in report.results[:2]], [True, False])
        self.assertIn("of 1 to 3 rounds", told.text(seen))
        self.assertIn("median of 1 to 3 rounds", told.profile(seen, None, {"host": "a"}))
        self.assertIn("files of 4 KiB, median of 1 round", told.profile(seen, None, {"host": "a"}))

    def test_a_profile_is_what_predict_reads(self):
        shared = self.shared()
        read = machine.parse(told.profile(figures({1: [GB], 4: [3 * GB]}), shared, {"host": 'a "host"'}), "x")
        self.assertEqual(read.get("shared", "operations_per_s"), 2000)
        self.assertEqual((read.get("shared", "write"), read.get("shared", "client")), (4 * GB, GB))
        self.assertEqual(read.get("medium", "write"), ((1, GB), (4, 3 * GB)))
        self.assertEqual((read.get("medium", "sockets"), read.get("medium", "capacity")), (2, 32 << 30))
        self.assertEqual({value.kind for value in read.values.values()}, {"measured"})


class Nodes(unittest.TestCase):
    def setUp(self):
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory())) / "meeting"
        self.enterContext(mock.patch.object(nodes, "PATIENCE", 20.0))
        self.own = threading.local()
        hosts = ["n1", "n1", "n2", "n2"]
        self.enterContext(mock.patch.object(nodes.socket, "gethostname", lambda: hosts[self.own.rank]))

    def all_of(self, what, count=4):
        """What each rank has of it, or its failure. The first comes last, and makes the directory."""
        heard = {}

        def rank(number):
            self.own.rank = number
            try:
                heard[number] = what(number)
            except (OSError, RuntimeError) as why:
                heard[number] = why

        threads = [threading.Thread(target=rank, args=(number,)) for number in range(count)]
        for each in threads[1:]:
            each.start()
        self.directory.mkdir(mode=0o700, exist_ok=True)
        threads[0].start()
        for each in threads:
            each.join()
        return heard

    def test_the_first_rank_of_each_node_measures_and_all_hear_what_each_told(self):
        def rank(number):
            node = nodes.Nodes(self.directory, number, 4)
            return node.index, node.meet(number) if node.index is not None else None

        self.assertEqual(self.all_of(rank), {0: (0, [0, 2]), 1: (None, None), 2: (1, [0, 2]), 3: (None, None)})

    def test_the_first_is_the_last_to_leave(self):
        left, may_leave = [], threading.Event()

        def rank(number):
            node = nodes.Nodes(self.directory, number, 4)
            if number == 2:
                may_leave.wait()
                left.append(number)
            elif number == 0:
                threading.Timer(0.05, may_leave.set).start()
            if node.index is not None:
                node.leave()
            if number == 0:
                left.append(number)

        self.all_of(rank)
        self.assertEqual(left, [2, 0])

    def test_why_the_first_refuses_is_told_to_all_at_once(self):
        def rank(number):
            node = nodes.Nodes(self.directory, number, 4, refusal="no room" if number == 0 else "")
            node.leave()
            return node.refusal

        self.assertEqual(self.all_of(rank), dict.fromkeys(range(4), "no room"))

    def test_who_does_not_come_is_told(self):
        self.directory.mkdir(mode=0o700)
        self.own.rank = 0
        with (
            mock.patch.object(nodes, "PATIENCE", 0.05),
            self.assertRaisesRegex(RuntimeError, "1 of 2 processes did not come"),
        ):
            nodes.Nodes(self.directory, 0, 2)

    def test_who_measures_is_waited_for_as_long_as_that_may_take(self):
        self.directory.mkdir(mode=0o700)
        self.own.rank = 0
        with mock.patch.object(nodes, "PATIENCE", 0.0):
            node = nodes.Nodes(self.directory, 0, 1, limit=20.0)
        node._ranks = [0, 1]
        (self.directory / ".1").write_text("7")
        threading.Timer(0.05, (self.directory / ".1").rename, [self.directory / "2.1"]).start()
        self.assertEqual(node.meet(3), [3, 7])

    def test_a_name_that_another_has_taken_is_left_alone(self):
        """Who may write in the directory may know the name; a file there must not lead ours elsewhere."""
        self.own.rank = 1
        victim = self.directory.with_name("victim")
        victim.mkdir(mode=0o700)
        with self.subTest("a link"):
            self.directory.symlink_to(victim)
            self.assertRaises(OSError, nodes.Nodes, self.directory, 1, 2)
            self.directory.unlink()
        with self.subTest("a directory that others may write in"):
            self.directory.mkdir()
            self.directory.chmod(0o777)
            self.assertRaisesRegex(RuntimeError, "not yours alone", nodes.Nodes, self.directory, 1, 2)
            self.directory.chmod(0o700)
        with self.subTest("another's"), mock.patch.object(os, "geteuid", lambda: os.getuid() + 1):
            self.assertRaisesRegex(RuntimeError, "not yours alone", nodes.Nodes, self.directory, 1, 2)
        with self.subTest("a link in it"):
            (self.directory / ".1").symlink_to(victim / "file")
            self.assertRaises(OSError, nodes.Nodes, self.directory, 1, 2)
        self.assertEqual(list(victim.iterdir()), [])

    def test_runs_that_nothing_tells_apart_do_not_meet(self):
        for job, named in (
            ({}, False),
            ({"PMI_RANK": "0", "PMI_SIZE": "2", "SLURM_JOB_ID": "7"}, False),
            ({"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}, True),
            ({"OMPI_MCA_ess_base_jobid": "7"}, True),
        ):
            with mock.patch.dict(os.environ, job, clear=True):
                self.assertEqual(nodes.name_of_job() is not None, named, job)

    def test_a_batch_script_alone_is_no_step_of_several(self):
        with mock.patch.dict(os.environ, {"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, clear=True):
            self.assertEqual(nodes.rank_and_size(), (0, 1))
        with mock.patch.dict(os.environ, {"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "8"}, clear=True):
            self.assertEqual(nodes.rank_and_size(), (3, 8))


if __name__ == "__main__":
    unittest.main()
