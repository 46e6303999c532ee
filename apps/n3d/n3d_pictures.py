#!/usr/bin/python3
"""Draws what n3d wrote with --pictures: spectrum.png, vorticity.png and gradient.png, each where its data is there.

n3d_pictures.py DIRECTORY
"""

import argparse
import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of a backend without a display)
import numpy as np  # noqa: E402


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def draw_spectrum(data, picture):
    table = [row for row in rows(data) if float(row["energy"]) > 1e-30]
    k = np.array([float(row["wave_number"]) for row in table])
    energy = np.array([float(row["energy"]) for row in table])
    figure, axes = plt.subplots(figsize=(5, 4))
    axes.loglog(k, energy, "o-", label="end of the run")
    axes.loglog(k, energy.max() * (k / k[energy.argmax()]) ** (-5 / 3), "--", color="grey", label="$k^{-5/3}$")
    axes.set(xlabel="wave number k", ylabel="E(k)", title="Energy spectrum", ylim=(energy.min() / 3, energy.max() * 10))
    axes.legend()
    save(figure, picture)


def draw_vorticity(data, picture):
    plane = np.loadtxt(data, delimiter=",")
    most = np.abs(plane).max() or 1.0
    figure, axes = plt.subplots(figsize=(5, 4))
    box = (0, 2 * np.pi, 0, 2 * np.pi)
    image = axes.imshow(plane.T, origin="lower", extent=box, cmap="RdBu_r", vmin=-most, vmax=most)
    figure.colorbar(image, ax=axes)
    axes.set(xlabel="x", ylabel="y", title="Vorticity about z, plane z = 0")
    save(figure, picture)


def draw_gradient(data, picture):
    figure, axes = plt.subplots(figsize=(5, 4))
    table = rows(data)
    for objective in dict.fromkeys(row["objective"] for row in table):
        mine = [row for row in table if row["objective"] == objective]
        epsilon = np.array([float(row["epsilon"]) for row in mine])
        remainder = np.array([float(row["remainder"]) for row in mine])
        slope = np.polyfit(np.log(epsilon), np.log(remainder), 1)[0]
        axes.loglog(epsilon, remainder, "o-", label=f"{objective}: slope {slope:.4f}")
    axes.set(
        xlabel=r"$\epsilon$",
        ylabel=r"$|J(u + \epsilon h) - J(u) - \epsilon \langle g, h\rangle|$",
        title="Check of the gradient",
    )
    axes.legend()
    save(figure, picture)


def save(figure, picture):
    figure.tight_layout()
    figure.savefig(picture, dpi=150)
    plt.close(figure)
    print(picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    drawn = 0
    for name, draw in {"spectrum": draw_spectrum, "vorticity": draw_vorticity, "gradient": draw_gradient}.items():
        data = directory / f"{name}.csv"
        if data.exists():
            draw(data, directory / f"{name}.png")
            drawn += 1
    if drawn == 0:
        sys.exit(f"n3d_pictures.py: nothing to draw in {directory}; run n3d with --pictures {directory} first")


if __name__ == "__main__":
    main()
