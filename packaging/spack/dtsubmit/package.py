# SPDX-License-Identifier: Apache-2.0
# In a Spack repository of yours: REPO/packages/dtsubmit/package.py; then `spack install dtsubmit`.
from spack.package import *


class Dtsubmit(CMakePackage):
    """Takes distributed training jobs through Slurm and back with nothing lost."""

    homepage = "https://example.org/dtsubmit"
    url = "https://example.org/dtsubmit/dtsubmit-0.1.0.tar.gz"

    license("Apache-2.0")

    # Until there is a release: spack develop --path CHECKOUT dtsubmit@main
    version("main")

    variant("slurm", default=True, description="Plug-in for libslurm; otherwise Slurm's commands are used")
    variant("topology", default=True, description="Bind by hwloc; otherwise by what /sys says")
    variant("trainer", default=False, description="The trainer dttrain")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("tl-expected")
    depends_on("tomlplusplus")
    depends_on("xxhash")
    depends_on("slurm", when="+slurm")
    depends_on("pkgconfig", type="build", when="+topology")
    depends_on("hwloc@2.7.1:", when="+topology")
    depends_on("mpi", when="+trainer")
    depends_on("onednn@2.6:", when="+trainer")
    depends_on("zlib-api", when="+trainer")

    conflicts("%gcc@:9", msg="dtsubmit is C++20")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", False),
            self.define_from_variant("DTSUBMIT_SLURM", "slurm"),
            self.define_from_variant("DTSUBMIT_TOPOLOGY", "topology"),
            self.define_from_variant("DTSUBMIT_TRAINER", "trainer"),
        ]
