"""How the benchmarks start programs: their environment, ranks, and what a signal leaves behind."""

import os
import signal
import sys


def clean_up_when_terminated() -> None:
    """Lets SIGTERM and Ctrl-C unwind without a word, so that what was mounted is unmounted."""
    for each in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(each) is not signal.SIG_IGN:  # as a shell has it for what runs in the background
            signal.signal(each, lambda number, _: sys.exit(128 + number))


def environment(**more: str) -> dict[str, str]:
    """What Debian's OpenFOAM and Open MPI need in a plain shell, also as root."""
    return {
        **os.environ,
        "WM_PROJECT_DIR": os.environ.get("WM_PROJECT_DIR", "/usr/share/openfoam"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        **more,
    }


# What a step takes must not depend on where the scheduler puts a rank: it differs by a third less then.
BOUND = ("--map-by", "core", "--bind-to", "core:overload-allowed")


def mpirun(ranks: int, *options: str, binding: tuple[str, ...] = ("--bind-to", "none")) -> list[str]:
    return ["mpirun", "--oversubscribe", *binding, *options, "-n", str(ranks)]
