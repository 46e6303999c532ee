# Untested: Spack could not be run where this was written. Copy it to packages/forebay/ of a repository of yours, and say
# `spack dev-build forebay@0.1.0` in the sources; there is no release to fetch yet. It is for Spack 1.0 and later, whose
# recipes of July 2026 have each dependency.
from spack.package import conflicts, depends_on, license, variant, version
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Forebay(CMakePackage):
    """Fast file output for unmodified CFD runs: a solver writes to memory on its own node, and each finished output time is
    carried to the shared file system in the background."""

    license("Apache-2.0")

    version("0.1.0")

    variant("mpi", default=True, description="libforebay_arrays, for the ranks of an MPI program")
    variant("fortran", default=True, description="Fortran modules")
    variant("python", default=True, description="The Python package")
    variant("zfp", default=True, description="The codec zfp")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt@8.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("tl-expected")
    depends_on("toml11@3.7:")
    depends_on("xxhash@0.8:")
    depends_on("hwloc@2.9:")
    depends_on("lz4")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("hdf5~mpi")
    depends_on("libdeflate")
    depends_on("zfp", when="+zfp")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.9:", type="build", when="+fortran")
    depends_on("python@3.9:", type=("build", "run"), when="+python")
    depends_on("py-numpy", type="run", when="+python")

    conflicts("%gcc@:10")
    conflicts("%clang@:13")
    conflicts("platform=darwin")

    def cmake_args(self):
        return [
            self.define_from_variant("FOREBAY_MPI", "mpi"),
            self.define_from_variant("FOREBAY_FORTRAN", "fortran"),
            self.define_from_variant("FOREBAY_PYTHON", "python"),
            self.define("FOREBAY_PMEM", False),
        ]
