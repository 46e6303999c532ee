"""A lid-driven cavity for Code_Saturne, small enough for a test, and what tests do with its run directories."""

import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "parity"), os.path.dirname(TESTS)]

import oracle  # noqa: E402
import processes  # noqa: E402,F401
from oracle import casetools  # noqa: E402

RANKS = 4
# Dates, process ids, processor and wall-clock times.
TELL_TIMES = ("run_solver.log", "performance.log", "timer_stats.csv")

SETUP = """<?xml version="1.0" encoding="utf-8"?>
<Code_Saturne_GUI case="case1" solver_version="6.0" study="CAVITY" version="2.0">
  <solution_domain>
    <meshes_list>
      <mesh name="cavity.msh"/>
    </meshes_list>
    <faces_cutting status="on"><warp_angle_max>{cut_above}</warp_angle_max></faces_cutting>
    <volumic_conditions>
      <zone id="1" initialization="on" label="all_cells">all[]</zone>
    </volumic_conditions>
  </solution_domain>
  <thermophysical_models>
    <compressible_model model="off"/>
    <turbulence model="off"/>
    <velocity_pressure>
      <variable label="Pressure" name="pressure"/>
      <variable dimension="3" label="Velocity" name="velocity"/>
    </velocity_pressure>
  </thermophysical_models>
  <physical_properties>
    <fluid_properties>
      <property choice="constant" label="Density" name="density"><initial_value>1</initial_value></property>
      <property choice="constant" label="LamVisc" name="molecular_viscosity"><initial_value>0.01</initial_value></property>
    </fluid_properties>
  </physical_properties>
  <boundary_conditions>
    <boundary label="lid" name="1" nature="wall">1</boundary>
    <boundary label="walls" name="2" nature="wall">2</boundary>
    <wall label="lid">
      <velocity_pressure choice="on">
        <dirichlet component="0" name="velocity">1</dirichlet>
        <dirichlet component="1" name="velocity">0</dirichlet>
        <dirichlet component="2" name="velocity">0</dirichlet>
      </velocity_pressure>
    </wall>
    <wall label="walls"><velocity_pressure choice="off"/></wall>
  </boundary_conditions>
  <analysis_control>
    <time_parameters>
      <time_passing>0</time_passing>
      <time_step_ref>0.01</time_step_ref>
      <iterations>{steps}</iterations>
    </time_parameters>
    <output>
      <listing_printing_frequency>1</listing_printing_frequency>
      <writer id="-1" label="results">
        <directory name="postprocessing"/>
        <format name="ensight" options="binary"/>
        <frequency period="time_step">{output_every}</frequency>
        <time_dependency choice="fixed_mesh"/>
      </writer>
      <mesh id="-1" label="Fluid domain" type="cells">
        <all_variables status="on"/>
        <location>all[]</location>
        <writer id="-1"/>
      </mesh>
    </output>
  </analysis_control>
  <calculation_management>
    <start_restart>
      <restart_rescue>{checkpoint_every}</restart_rescue>{restart}
    </start_restart>
    <block_io>
      <read_method>{method}</read_method>
      <write_method>{method}</write_method>
      <min_block_size>{block}</min_block_size>
    </block_io>
  </calculation_management>
</Code_Saturne_GUI>
"""


def need_code_saturne():
    for program in ("code_saturne", "mpirun"):
        if not shutil.which(program):
            casetools.skip(f"no {program}: scripts/install-dependencies test")


def variables():
    return {"USER": os.environ.get("USER", "nobody"), "OMP_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def environment():
    return casetools.environment(**variables())


def write_mesh(path, cells):
    """A cube of cells^3 hexahedra as Gmsh 2.2 text: the top is group 1, the other walls are group 2. Inner points are a
    little off their places, so that the solver can be told to cut faces: a changed mesh is written as mesh_output."""
    points = cells + 1

    def node(i, j, k):
        return 1 + i + points * (j + points * k)

    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(points**3)]
    for k in range(points):
        for j in range(points):
            for i in range(points):
                off = 0.1 / cells * (i % cells and j % cells and k % cells and math.sin(5 * i + 3 * j + k))
                lines.append(f"{node(i, j, k)} {i / cells + off} {j / cells - off} {k / cells + off}")
    elements = []
    span = range(cells)
    for a in span:
        for b in span:
            for end in (0, cells):
                square = [(0, 0), (1, 0), (1, 1), (0, 1)]
                elements.append(("3 2 2 2", [node(end, a + p, b + q) for p, q in square]))
                group = 1 if end == cells else 2
                elements.append((f"3 2 {group} {group}", [node(a + p, end, b + q) for p, q in square]))
                elements.append(("3 2 2 2", [node(a + p, b + q, end) for p, q in square]))
    for k in span:
        for j in span:
            for i in span:
                corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
                elements.append(("5 2 3 3", [node(i + p, j + q, k + r) for p, q, r in corners]))
    lines += ["$EndNodes", "$Elements", str(len(elements))]
    lines += [f"{number} {kind} {' '.join(map(str, nodes))}" for number, (kind, nodes) in enumerate(elements, 1)]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n$EndElements\n")


class Study:
    """Prepared by Code_Saturne's own script; run directories are copies of what it staged."""

    def __init__(self, directory, cells=10):
        self.directory = directory
        subprocess.run(
            ["code_saturne", "create", "-s", "CAVITY", "-c", "case1", "--noref"],
            cwd=directory, env=environment(), check=True, capture_output=True,
        )  # fmt: skip
        self.case = os.path.join(directory, "CAVITY", "case1")
        write_mesh(os.path.join(directory, "CAVITY", "MESH", "cavity.msh"), cells)

    def stage(
        self,
        name,
        steps,
        checkpoint_every=-1,
        output_every=1,
        method="mpi collective",
        block=1024,
        cut=False,
        restart=None,
    ):
        """A run directory in which only the solver is left to be started. `cut`: it changes the mesh. `restart`: the
        checkpoint to go on from."""
        more = f'\n      <restart path="{restart}"/>' if restart else ""
        with open(os.path.join(self.case, "DATA", "setup.xml"), "w") as file:
            file.write(
                SETUP.format(
                    steps=steps, checkpoint_every=checkpoint_every, output_every=output_every, method=method, block=block,
                    cut_above=0.01 if cut else 90, restart=more,
                )
            )  # fmt: skip
        casetools.run(
            ["code_saturne", "run", "--param", "setup.xml", "-n", str(RANKS), "--id", name, "--initialize"],
            os.path.join(self.case, "DATA"), USER=environment()["USER"],
        )  # fmt: skip
        return os.path.join(self.case, "RESU", name)


def oracle_from(staged, place, forebay):
    """For runs of the solver from a run directory that was staged."""
    directory = tempfile.mkdtemp(dir=place.directory)
    judge = oracle.Oracle(directory, place.pool, forebay, variables=variables(), unlike=TELL_TIMES)
    judge.start_from(staged)
    return judge


def solver(*options):
    return ["mpirun", "-n", str(RANKS), *options, "./cs_solver", "--mpi"]


def run_solver(run_directory, command=(), timeout=120):
    """Directly, or (`command`) behind the words of forebay."""
    done = subprocess.run(
        [*command, *solver()], cwd=run_directory, env=environment(), capture_output=True, text=True, timeout=timeout
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"ended with {done.returncode} in {run_directory}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
    return done


def checkpoint_of(run_directory):
    """The bytes of each file of the checkpoint."""
    directory = os.path.join(run_directory, "checkpoint")
    found = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            found[name] = file.read()
    return found


def step_of(path):
    """The time step at which a file of a checkpoint was written: a section of one number, which lies in its own header,
    behind the sizes of the header and the name, the type and the name."""
    name = b"nbre_pas_de_temps\0"
    with open(path, "rb") as file:
        data = file.read()
    at = data.index(name)
    (length,) = struct.unpack(">q", data[at - 16 : at - 8])
    kind = data[at - 8 : at]
    assert kind[:2] == b"i4" and kind.endswith(b"e"), kind
    return struct.unpack(">i", data[at + length : at + length + 4])[0]
