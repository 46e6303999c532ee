"""How the benchmarks start programs: their environment, ranks, and what a signal leaves behind."""

import os
import signal
import sys


def clean_up_when_terminated() -> None:
    """Lets SIGTERM unwind like Ctrl-C does, so that what was mounted is unmounted."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


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
