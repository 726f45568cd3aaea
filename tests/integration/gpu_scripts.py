# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/run.sh runs to its end with the host's processor as a device and tiny sizes, and leaves tables and a page that say that there
was no card. Without GPU_CHECKS_HOST, it says what is missing. The programs of bundle.sh run where MPI, oneDNN and hwloc are hidden.
gpu_scripts.py BUILD"""

import html.parser
import json
import os
import subprocess
import sys
import tempfile
import time

from checks import check

GPU = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../gpu")
BUILD = os.path.abspath(sys.argv[1])
# Parts that need a card or PyTorch, or do not exist yet.
MAY_SKIP = {"compute-sanitizer memcheck", "compute-sanitizer racecheck", "compute-sanitizer synccheck", "NCCL, a GPU for each rank",
            "NCCL, two ranks on one GPU",
            "beside PyTorch: tokens/s", "beside PyTorch: 4 steps' loss", "beside PyTorch: images/s"}


# Stands in for compute-sanitizer: finds nothing, does not know the device, or finds a fault.
SANITIZER = """#!/bin/sh
tool=$2
while [ "$1" != "$DEVICE_CHECK" ]; do shift; done
case $tool in
  memcheck) exec "$@" ;;
  racecheck) echo "========= Error: Device not supported"; exit 1 ;;
  *) "$@"; exit 9 ;;
esac
"""


class Text(html.parser.HTMLParser):
    """The page's text. Its tags must be closed in the reverse order in which they were opened."""

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


# sh -c HIDE hide BUNDLE COMMAND...: as on a machine that lacks all packages from which the bundle has its libraries.
HIDE = r"""
set -eu
bundle=$1
shift
folders=$(ompi_info --path all --parsable | sed -n 's/^path:\(pkglibdir\|pkgdatadir\|sysconfdir\)://p')
for library in "$bundle"/lib/*.so* "$bundle"/lib/common/libgomp*; do
  path=$(readlink -f "$(ldconfig -p | awk -v name="${library##*/}" '$1 == name { print $NF; exit }')")
  mount --bind /dev/null "$path"
  case $path in */libpmix.so*) folders="$folders ${path%/*}/pmix" ;; esac
done
for program in ssh rsh; do
  path=$(command -v $program) || continue
  mount --bind /dev/null "$(readlink -f "$path")"
done
for folder in $folders; do mount -t tmpfs none "$folder"; done
exec "$@"
"""


def call(command, **env):
    return subprocess.run(command, capture_output=True, text=True, timeout=850, check=False,
                          env={**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
                               "OMPI_MCA_mpi_yield_when_idle": "1", **env})


def start(folder, build=BUILD, before=(), **env):
    return call([*before, "sh", os.path.join(GPU, "run.sh"), folder, build], **env)


def rows_of(folder):
    rows = []
    for name in ("checks", "benches"):
        with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as file:
            rows += json.load(file)["checks"]
    return {row["check"]: row for row in rows}


def check_sanitizer(folder):
    """A tool that cannot watch the device is no failure of a kernel, but a fault that it finds is one."""
    tool = os.path.join(folder, "compute-sanitizer")
    with open(tool, "w", encoding="utf-8") as file:
        file.write(SANITIZER)
    os.chmod(tool, 0o755)
    done = start(folder, GPU_CHECKS_HOST="1", GPU_CHECKS_ONLY="compute-sanitizer", DEVICE_CHECK=os.path.join(BUILD, "bin/device_check"),
                 PATH=folder + os.pathsep + os.environ["PATH"])
    rows = rows_of(folder)
    found = [rows[f"compute-sanitizer {tool}"]["result"] for tool in ("memcheck", "racecheck", "synccheck")]
    check(done.returncode == 1 and found == ["ok", "skipped", "FAILED"] and "not supported" in rows["compute-sanitizer racecheck"]["detail"],
          f"exit {done.returncode}, {rows}")


def check_log(folder):
    """Products that fail record the library's messages."""
    done = start(folder, GPU_CHECKS_HOST="1", GPU_CHECKS_ONLY="kernels and products", HOST_DEVICE_BREAK="multiply@0=no algorithm")
    detail = rows_of(folder)["kernels and products"]["detail"]
    check(done.returncode == 1 and "cublaslt.log: product 64x96x128 NN (no algorithm" in detail, f"exit {done.returncode}, {detail}")
    with open(os.path.join(folder, "cublaslt.log"), encoding="utf-8") as file:
        words = file.read()
    check("bf16 result 17x23x9" in words and "layer_norm" not in words, f"{len(words)} bytes of cublaslt.log, of products alone")


def check_hang(folder):
    """A case that hangs is the one after the last line."""
    done = start(folder, GPU_CHECKS_HOST="1", GPU_CHECKS_ONLY="kernels and products", HOST_DEVICE_BREAK="multiply@0=hang",
                 GPU_CHECKS_END=str(int(time.time()) + 25))
    row = rows_of(folder)["kernels and products"]
    check(done.returncode == 0 and row["result"] == "skipped" and '; its last line: {"check": "' in row["detail"], f"exit {done.returncode}, {row}")


def check_bundle(folder):
    """One rank, two ranks and a profile. The original build does not start there, and says so."""
    bundle = os.path.join(folder, "bundle")
    made = call(["sh", os.path.join(GPU, "bundle.sh"), BUILD, bundle])
    check(made.returncode == 0 and "KiB" in made.stdout, f"bundle.sh: exit {made.returncode}: {made.stdout}{made.stderr}")
    small = call(["sh", os.path.join(GPU, "bundle.sh"), BUILD, os.path.join(folder, "small")], GPU_BUNDLE_MIB="1")
    check(small.returncode == 1 and "at most 1024" in small.stderr, f"bundle.sh of 1 MiB: exit {small.returncode}: {small.stderr}")
    if call(["unshare", "-m", "true"]).returncode != 0:
        print("not tried: the bundle where libraries are hidden, since this user may not unshare the mounts")
        return
    os.chmod(os.path.join(bundle, "tests/host_device"), 0o777)  # as it may be unpacked elsewhere
    hidden = ["unshare", "-m", "sh", "-c", HIDE, "hide", bundle]
    some = {"GPU_CHECKS_HOST": "1", "GPU_CHECKS_ONLY": "processor's, gpt2|--zero 2 and 3|where a step"}
    out = os.path.join(folder, "out")
    done = start(out, bundle, hidden, **some)
    check(done.returncode == 0, f"the bundle: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    rows = rows_of(out)
    check(len(rows) == 3 and all(row["result"] == "ok" for row in rows.values()), f"{rows}")
    done = start(out, before=hidden, **some)
    rows = rows_of(out)
    check(len(rows) == 3 and all(row["result"] == "skipped" and "shared libraries" in row["detail"] for row in rows.values()), f"{rows}")


with tempfile.TemporaryDirectory(prefix="gpu_scripts_") as out, tempfile.TemporaryDirectory(prefix="gpu_scratch_") as scratch:
    done = start(out, GPU_CHECKS_HOST="1", GPU_CHECKS_END="99999999999", TMPDIR=scratch, HOST_DEVICE_SLOW_PRODUCTS="2")
    check(done.returncode == 0 and "no card: the host's processor stands in" in done.stdout and done.stdout.startswith("found: nvcc "), f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
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
    check(0 <= measured["profile"]["empty_call_s"] < 1e-3, f"an empty call takes {measured['profile']['empty_call_s']} s")
    # Products of the forward and the backward pass, as the model counts them.
    operations = sum(part["flop"] for part in parts if part["part"].startswith("product"))
    check(0.9 < operations / measured["profile"]["model_flop"] < 1.6, f"{operations} of {measured['profile']['model_flop']}")
    with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
        page = Text()
        page.feed(file.read())
    text = " ".join(page.words)
    check(page.open == [] and "No card was here." in text and "Where a step's time goes" in text and "kernels and products" in text, text[:2000])
    detail = next(row["detail"] for row in rows if row["check"] == "kernels and products")
    check("cuBLASLt has no algorithm for 2 shapes of products, kernels compute them; why, in cublaslt.log" in detail, detail)
    expected = ["benches.json", "checks.json", "cublaslt.log", "index.html", "kernels.json"]
    check(sorted(os.listdir(out)) == expected, f"results alone: {sorted(os.listdir(out))}")
    check(os.listdir(scratch) == [], f"nothing is left: {os.listdir(scratch)}")
with tempfile.TemporaryDirectory(prefix="gpu_scripts_") as out:
    check_sanitizer(out)
    check_log(out)
    check_hang(out)
with tempfile.TemporaryDirectory(prefix="gpu_scripts_") as out:
    check_bundle(out)
with tempfile.TemporaryDirectory(prefix="gpu_scripts_") as out:
    if not os.path.exists("/dev/nvidiactl"):
        done = start(out)
        check(done.returncode == 77 and "skipped: no GPU" in done.stdout, done.stdout)
