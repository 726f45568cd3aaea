#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the quickstart and compares its output with the transcript in README.md. Text that differs from run to run (ids, paths, times,
speeds, the step of the preemption, which process noticed it first) is removed from both.

readme_transcript.py ROOT BUILD [--bless]      --bless: put the new transcript into README.md"""
import os
import re
import subprocess
import sys

BLOCK = re.compile(r"(<!-- transcript: examples/quickstart/run.sh -->\n```\n)(.*?)(\n```\n)", re.S)


def comparable(text):
    # From Slurm 24.05 on, a preempted run ends as preempted, about which dtsubmit warns.
    text, warned = re.subn(r"\n(warning )?The run is done, but Slurm's state of .*", "", text)
    if warned:
        text = re.sub(r"^(job .*), preempted$", r"\1, completed", text, flags=re.M)
    lines = []
    for line in text.strip().splitlines():
        if line == "..." or re.match(r"step +\d+/|--- attempt|building |dtsubmit: warning: the kernel does not allow", line):
            continue
        line = re.sub(r"\b[0-9a-f]{16}\b", "DIGEST", line)
        line = re.sub(r"/\S*?((runs|undisturbed)/dttrain-)\S+", r"\1RUN", line)
        line = re.sub(r"\d{4}-\d\d-\d\dT[0-9:]+Z", "TIME", line)
        line = re.sub(r"^(goodput|advice) .*", r"\1", line)
        line = re.sub(r"signal 15 (at rank \d+|to the job's steps)|^( +)preempted;", "SIGNAL", line)
        lines.append(re.sub(r"\s+", " ", re.sub(r"\d+(\.\d+)?", "N", line)).strip())
    return lines


def shortened(text):
    """Replaces several consecutive lines of steps by one and an ellipsis."""
    return re.sub(r"((?:^|\n)step +\d+/[^\n]*)(?:\nstep +\d+/[^\n]*)+", r"\1\n...", text)


def main():
    root, build = sys.argv[1:3]
    # As a user would, if the quickstart takes this build by itself.
    by_itself = os.path.realpath(build) == os.path.realpath(root + "/build/dev") and not os.path.exists(root + "/build/release")
    environment = {name: value for name, value in os.environ.items() if name != "DTSUBMIT_BUILD"}
    if not by_itself:
        environment["DTSUBMIT_BUILD"] = build
    ran = subprocess.run([root + "/examples/quickstart/run.sh"], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(ran.stdout)
    if ran.returncode != 0:
        sys.exit(f"the quickstart exited {ran.returncode}")
    with open(root + "/README.md") as file:
        readme = file.read()
    if "--bless" in sys.argv:
        with open(root + "/README.md", "w") as file:
            file.write(BLOCK.sub(lambda m: m[1] + shortened(re.sub(r"/tmp/tmp\.\w+/", "/tmp/quickstart/", ran.stdout.strip())) + m[3], readme))
        return
    wanted, got = comparable(BLOCK.search(readme)[2]), comparable(ran.stdout)
    if wanted != got:
        import difflib
        print("\n".join(difflib.unified_diff(wanted, got, "README.md", "the quickstart", lineterm="")))
        sys.exit("README.md's transcript is not what the quickstart prints; --bless rewrites it")


if __name__ == "__main__":
    main() if len(sys.argv) > 2 else sys.exit(__doc__)
