"""pvpython paraview_look.py FILE...: tells, as JSON, what ParaView's own reader and filters find at each time of each file."""

import json
import sys
from collections import defaultdict

from paraview import servermanager, simple

VERSION = (servermanager.vtkSMProxyManager.GetVersionMajor(), servermanager.vtkSMProxyManager.GetVersionMinor())


def open_file(path):
    # Earlier ones have the same reader, but for the ending .hdf.
    return simple.OpenDataFile(path) if VERSION >= (5, 12) else simple.VTKHDFReader(FileName=path)


def sizes(source, time):
    """Volume, or area, of the cells of each shape, and how many there are."""
    measured = simple.CellSize(Input=source)
    measured.UpdatePipeline(time)
    grid = servermanager.Fetch(measured)
    data = grid.GetCellData()
    counts, sums = defaultdict(int), defaultdict(float)
    for cell in range(grid.GetNumberOfCells()):
        shape = grid.GetCellType(cell)
        counts[shape] += 1
        sums[shape] += data.GetArray("Volume").GetTuple1(cell) + data.GetArray("Area").GetTuple1(cell)
    return {"counts": counts, "sizes": sums}


def integrals(source, time):
    total = simple.IntegrateVariables(Input=source)
    total.UpdatePipeline(time)
    arrays = [*total.PointData, *total.CellData]
    return {each.GetName(): [each.GetRange(i)[0] for i in range(each.GetNumberOfComponents())] for each in arrays}


def cut(source, time):
    """Integrals where a plane cuts the cells, 0.305 of the length behind the low end in x."""
    low, high = source.GetDataInformation().GetBounds()[:2]
    plane = simple.Slice(Input=source)
    plane.SliceType.Origin = [low + 0.305 * (high - low), 0, 0]
    plane.SliceType.Normal = [1, 0, 0]
    return integrals(plane, time)


def look(path):
    source = open_file(path)
    source.UpdatePipeline()
    for time in source.TimestepValues or [0]:
        source.UpdatePipeline(time)
        information = source.GetDataInformation()
        arrays = [*source.PointData, *source.CellData]
        yield {
            "time": time,
            "points": information.GetNumberOfPoints(),
            "cells": information.GetNumberOfCells(),
            "ranges": {
                each.GetName(): [each.GetRange(i) for i in range(each.GetNumberOfComponents())] for each in arrays
            },
            "integrals": integrals(source, time),
            "cut": cut(source, time),
            **sizes(source, time),
        }


json.dump({"version": VERSION, "files": {path: list(look(path)) for path in sys.argv[1:]}}, sys.stdout)
