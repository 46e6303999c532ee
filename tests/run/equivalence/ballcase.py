"""Cavity with a ball in it, which snappyHexMesh cuts out of its mesh: nothing of it is meshed or decomposed yet."""

import os
import subprocess

import casetools

HEADER = "FoamFile { version 2.0; format ascii; class dictionary; object %s; }\n"

BLOCK = """
scale 1; vertices ((0 0 0) (.1 0 0) (.1 .1 0) (0 .1 0) (0 0 .1) (.1 0 .1) (.1 .1 .1) (0 .1 .1));
blocks (hex (0 1 2 3 4 5 6 7) (8 8 8) simpleGrading (1 1 1)); edges ();
boundary ( movingWall { type wall; faces ((3 7 6 2)); }
 fixedWalls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0) (0 3 2 1) (4 5 6 7)); } );
"""
SNAPPY = """
castellatedMesh true; snap true; addLayers false; mergeTolerance 1e-6;
geometry { ball { type searchableSphere; centre (.05 .05 .05); radius .02; } }
castellatedMeshControls { maxLocalCells 10000; maxGlobalCells 20000; minRefinementCells 0; nCellsBetweenLevels 1;
 features (); refinementSurfaces { ball { level (1 1); patchInfo { type wall; } } } resolveFeatureAngle 30;
 refinementRegions {} locationInMesh (.0111 .0111 .0111); allowFreeStandingZoneFaces true; }
snapControls { nSmoothPatch 3; tolerance 2; nSolveIter 10; nRelaxIter 5; }
addLayersControls { relativeSizes true; layers {} expansionRatio 1; finalLayerThickness .3; minThickness .1; nGrow 0;
 featureAngle 60; nRelaxIter 3; nSmoothSurfaceNormals 1; nSmoothNormals 3; nSmoothThickness 10;
 maxFaceThicknessRatio .5; maxThicknessToMedialRatio .3; minMedialAxisAngle 90; nBufferCellsNoExtrude 0; nLayerIter 9; }
meshQualityControls { maxNonOrtho 65; maxBoundarySkewness 20; maxInternalSkewness 4; maxConcave 80; minVol 1e-20;
 minTetQuality 1e-15; minArea -1; minTwist .02; minDeterminant .001; minFaceWeight .05; minVolRatio .01;
 minTriangleTwist -1; nSmoothScale 4; errorReduction .75; }
"""


def make(directory):
    casetools.make_case("cavity", directory, "--ranks", "2", "--steps", "4")
    subprocess.run(f"rm -rf {directory}/processor* {directory}/constant/polyMesh && mv {directory}/0 {directory}/0.orig",
                   shell=True, check=True)  # fmt: skip
    for field, kind in (("p", "zeroGradient"), ("U", "noSlip")):
        path = os.path.join(directory, "0.orig", field)
        patches = 'ball { type %s; } "procBoundary.*" { type processor; }' % kind
        casetools.substitute(path, (r"frontAndBack\s*\{[^}]*\}", patches))
    for name, text in (("blockMeshDict", BLOCK), ("snappyHexMeshDict", SNAPPY)):
        with open(os.path.join(directory, "system", name), "w") as file:
            file.write(HEADER % name + text)
    casetools.set_control(directory, "deltaT", "0.001")
    casetools.set_control(directory, "endTime", "0.004")
