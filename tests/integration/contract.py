# SPDX-License-Identifier: Apache-2.0
"""The exit codes of the contract between dtsubmit and the programs that it runs, read from its sources."""
import os
import re

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../core/base/exit_codes.hpp")) as _file:
    _CODES = dict(re.findall(r"constexpr int (k_\w+) = (\d+);", _file.read()))

CHECKPOINTED = int(_CODES["k_checkpointed"])  # saved, run me again
NO_RESTART = int(_CODES["k_no_restart"])  # do not run me again
CORRUPTED = int(_CODES["k_corrupted"])  # the trainer's: the bits of a rank are wrong
