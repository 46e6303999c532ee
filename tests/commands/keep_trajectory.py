"""Keeps a trajectory: keep_trajectory.py POOL NAME. Of 20 steps, one value each; run by a Python with the package forebay."""

import sys

import forebay

with forebay.Trajectory([forebay.pool(sys.argv[1], 1e6)], name=sys.argv[2], keep=True) as states:
    states.declare("u", 1)
    for step in range(20):
        states.put(step, 0.5 * step, [step])
