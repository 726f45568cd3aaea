# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/run.sh runs to its end, on the host's processor as a device with tiny sizes, and leaves tables and a page that say that no card
was there. Without GPU_CHECKS_HOST it says what is missing. gpu_scripts.py BUILD"""

import html.parser
import json
import os
import subprocess
import sys
import tempfile

from checks import check

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../gpu/run.sh")
# What needs a card or PyTorch, or is not there yet.
MAY_SKIP = {"compute-sanitizer memcheck", "compute-sanitizer racecheck", "compute-sanitizer synccheck", "NCCL, a GPU for each rank",
            "NCCL, two ranks on one GPU",
            "beside PyTorch: tokens/s", "beside PyTorch: 4 steps' loss", "beside PyTorch: images/s"}


class Text(html.parser.HTMLParser):
    """The page's text; its tags must be closed as they were opened."""

    def __init__(self):
        super().__init__()
        self.open, self.words = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.words.append(data)


def start(folder, **env):
    return subprocess.run(["sh", RUN, folder, sys.argv[1]], capture_output=True, text=True, timeout=850, check=False,
                          env={**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
                               "OMPI_MCA_mpi_yield_when_idle": "1", **env})


with tempfile.TemporaryDirectory(prefix="gpu_scripts_") as out:
    done = start(out, GPU_CHECKS_HOST="1", GPU_CHECKS_END="99999999999")
    check(done.returncode == 0 and "no card: the host's processor stands in" in done.stdout, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    results = {}
    for name in ("checks", "benches"):
        with open(os.path.join(out, f"{name}.json"), encoding="utf-8") as file:
            results[name] = json.load(file)
    rows = [row for one in results.values() for row in one["checks"]]
    skipped = {row["check"] for row in rows if row["result"] == "skipped"}
    check(skipped <= MAY_SKIP and len(rows) > 25, f"{len(rows)} rows, skipped: {sorted(skipped)}")
    check(all(row["result"] == "ok" for row in rows if row["check"] not in skipped), f"{[row for row in rows if row['result'] != 'ok']}")
    check(not any(one["card"] for one in results.values()), "no card was there")
    measured = results["benches"]["measured"]
    parts = measured["profile"]["parts"]
    check(any(part["part"].startswith("UpdateChunks") for part in parts) and sum(part["flop"] for part in parts) > 0, f"{parts}")
    # Products of the forward and the backward pass, as the model counts them.
    operations = sum(part["flop"] for part in parts if part["part"].startswith("product"))
    check(0.9 < operations / measured["profile"]["model_flop"] < 1.6, f"{operations} of {measured['profile']['model_flop']}")
    with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
        page = Text()
        page.feed(file.read())
    text = " ".join(page.words)
    check(page.open == [] and "No card was here." in text and "Where a step's time goes" in text and "kernels and products" in text, text[:2000])
with tempfile.TemporaryDirectory(prefix="gpu_scripts_") as out:
    if not os.path.exists("/dev/nvidiactl"):
        done = start(out)
        check(done.returncode == 77 and "skipped: no GPU" in done.stdout, done.stdout)
