"""The chart of the demonstration: time per step by write interval, as a PNG."""

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from measure import picture
from measure.palette import DIRECT, FAINT, FOREBAY, MUTED, TEXT
from measure.result_file import Kind


def draw(intervals: list[int], direct: list[float], forebay: list[float], none: float, title: str, kind: Kind) -> bytes:
    """Seconds per step; one pair of bars per write interval, and a line for the run without output."""
    pyplot.rcParams.update({"font.family": "DejaVu Sans", "font.size": 11, "text.color": TEXT, "axes.labelcolor": TEXT})
    figure, axes = pyplot.subplots(figsize=(4.9, 3.9), dpi=200)  # of which a telephone shows 350 points
    width = 0.36
    for offset, values, color, label in ((-0.5, direct, DIRECT, "direct"), (0.5, forebay, FOREBAY, "forebay")):
        places = [index + offset * (width + 0.02) for index in range(len(intervals))]
        bars = axes.bar(places, [value * 1e3 for value in values], width, color=color, label=label, zorder=2)
        axes.bar_label(bars, [f"{value * 1e3:.0f}" for value in values], padding=3, color=color, fontweight="bold")
    without = f"no output: {none * 1e3:.0f}"
    axes.axhline(none * 1e3, color=MUTED, linewidth=1.4, linestyle=(0, (4, 3)), zorder=3, label=without)
    axes.set_xticks(range(len(intervals)), [_every(interval) for interval in intervals])
    axes.set_ylim(0, max(direct + forebay + [none]) * 1e3 * 1.14)
    axes.set_xlim(-0.6, len(intervals) - 0.4)
    axes.set_ylabel("time per step, ms")
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", pad=14)
    axes.legend(
        frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, columnspacing=1, handlelength=1.6
    )
    axes.grid(axis="y", color=FAINT, linewidth=0.6, zorder=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0, colors=TEXT)
    drawn = picture.png(figure, kind, bbox_inches="tight")
    pyplot.close(figure)
    return drawn


def _every(interval: int) -> str:
    return "every\nstep" if interval == 1 else f"every\n{interval} steps"
