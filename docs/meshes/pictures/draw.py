"""Draws the pictures of docs/meshes/mesh.md with VTK, from files that `forebay mesh` makes:   cmake --build build --target pictures
draw.py FOREBAY DIRECTORY"""

import os
import subprocess
import sys
import tempfile

import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  (makes rendering work)
from vtkmodules.vtkCommonDataModel import vtkBox
from vtkmodules.vtkFiltersCore import vtkThreshold
from vtkmodules.vtkFiltersExtraction import vtkExtractGeometry
from vtkmodules.vtkFiltersGeometry import vtkGeometryFilter
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkRenderingCore import vtkActor, vtkDataSetMapper, vtkRenderer, vtkRenderWindow, vtkWindowToImageFilter

SIZE = 480, 480
GREY, BLUE = (0.86, 0.88, 0.9), (0.25, 0.5, 0.75)
PARTS = [
    (0.30, 0.47, 0.66),
    (0.95, 0.56, 0.17),
    (0.35, 0.63, 0.31),
    (0.88, 0.34, 0.35),
    (0.46, 0.72, 0.70),
    (0.93, 0.79, 0.28),
]


def multiply(forebay, path, source, levels, *more):
    subprocess.run([forebay, "mesh", "multiply", source, "-l", str(levels), "-o", path, "-q", *more], check=True)
    reader = vtkHDFReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def chosen(data, field, value):
    """The cells where a field has this value."""
    threshold = vtkThreshold()
    threshold.SetInputData(data)
    threshold.SetInputArrayToProcess(0, 0, 0, 1, field)
    threshold.SetThresholdFunction(vtkThreshold.THRESHOLD_BETWEEN)
    threshold.SetLowerThreshold(value)
    threshold.SetUpperThreshold(value)
    threshold.Update()
    return threshold.GetOutput()


def cut_open(data):
    """All but the corner of the cube that is next to the eye: its faces run along those of cells."""
    box = vtkBox()
    box.SetBounds(0.501, 2, 0.501, 2, 0.501, 2)
    extract = vtkExtractGeometry()
    extract.SetInputData(data)
    extract.SetImplicitFunction(box)
    extract.ExtractInsideOff()
    extract.Update()
    return extract.GetOutput()


def actor(data, colour, edges):
    surface = vtkGeometryFilter()
    surface.SetInputData(data)
    mapper = vtkDataSetMapper()
    mapper.SetInputConnection(surface.GetOutputPort())
    mapper.ScalarVisibilityOff()
    made = vtkActor()
    made.SetMapper(mapper)
    look = made.GetProperty()
    look.SetColor(*colour)
    look.SetEdgeVisibility(edges)
    look.SetEdgeColor(0.15, 0.18, 0.22)
    look.SetAmbient(0.25)
    look.SetDiffuse(0.75)
    return made


def draw(path, actors):
    renderer = vtkRenderer()
    renderer.SetBackground(1, 1, 1)
    for each in actors:
        renderer.AddActor(each)
    camera = renderer.GetActiveCamera()
    camera.SetFocalPoint(0.5, 0.5, 0.5)
    camera.SetPosition(2.6, 3.4, 2.3)
    camera.SetViewUp(0, 0, 1)
    renderer.ResetCamera()
    camera.Zoom(1.05)
    window = vtkRenderWindow()
    window.SetOffScreenRendering(True)
    window.SetMultiSamples(8)
    window.SetSize(*SIZE)
    window.AddRenderer(renderer)
    window.Render()
    image = vtkWindowToImageFilter()
    image.SetInput(window)
    image.ReadFrontBufferOff()
    writer = vtkPNGWriter()
    writer.SetFileName(path)
    writer.SetCompressionLevel(9)
    writer.SetInputConnection(image.GetOutputPort())
    writer.Write()


def main(forebay, directory):
    with tempfile.TemporaryDirectory() as scratch:
        cells = multiply(forebay, os.path.join(scratch, "cavity.vtkhdf"), "cavity:tetrahedra:2", 2)
        boundary = vtkHDFReader()
        boundary.SetFileName(os.path.join(scratch, "cavity-boundary.vtkhdf"))
        boundary.Update()
        lid = cut_open(chosen(boundary.GetOutput(), "group_lid", 1))
        lifted = actor(lid, BLUE, True)
        lifted.SetPosition(0, 0, 1e-4)  # off the faces of the cells in the same place
        draw(os.path.join(directory, "cavity.png"), [actor(cut_open(cells), GREY, True), lifted])
        parted = multiply(forebay, os.path.join(scratch, "parts.vtkhdf"), "cavity:tetrahedra:8", 1, "--parts", "6")
        parts = [actor(cut_open(chosen(parted, "part", number)), colour, False) for number, colour in enumerate(PARTS)]
        draw(os.path.join(directory, "partition.png"), parts)


if __name__ == "__main__":
    main(*sys.argv[1:])
