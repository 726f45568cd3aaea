# SPDX-License-Identifier: Apache-2.0
"""A private cluster of `dtsubmit cluster`, which is removed after use."""
import os
import shutil
import subprocess
import tempfile


class PrivateCluster:
    """with PrivateCluster(...) as cluster: a cluster below `place`, a folder of its own. `options` are those of `dtsubmit cluster up`; `environment`
    is that of its users."""

    def __init__(self, dtsubmit, *options, parent=None):
        self.place = tempfile.mkdtemp(prefix="dts-main-", dir=parent)
        self.folder = self.place + "/cluster"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_"))}
        # The nodes have the same names as those of all other clusters, so each cluster needs a quarantine of its own.
        self.environment["XDG_STATE_HOME"] = self.place + "/state"
        self.program = dtsubmit
        self.up = [dtsubmit, "cluster", "up", "--folder", self.folder, "--with-process", str(os.getpid()), *options]

    def __enter__(self):
        up = subprocess.run(self.up, capture_output=True, text=True)
        if up.returncode != 0:
            self.remove()  # __exit__ is not called if __enter__ failed
            raise AssertionError(f"cluster up: {up.stderr}")
        self.environment["SLURM_CONF"] = up.stdout.split("=", 1)[1].strip().strip("'")
        return self

    def __exit__(self, *error):
        self.remove()

    def remove(self):
        subprocess.run([self.program, "cluster", "down", "--folder", self.folder], check=True)
        shutil.rmtree(self.place, ignore_errors=True)
