#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `dtsubmit convert` makes of a folder of batch scripts: how many give a job file without a loss, how many name what is lost,
and the reasons, most frequent first. Every job file must be one that dtsubmit itself accepts, and every line must be accounted for.

  convert.py DTSUBMIT FOLDER [--each] [--set]

--set: variables that a script takes from the shell which submits it are set, as people would have them: it is converted again."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time


ROUNDS = 4  # a value that is set may show what else is missing


def value_of(name):
    return "2" if re.search(r"NODE|GPU|NUM|TASK|PROC|INST|NEXP", name) else f"/data/{name.lower()}"


def convert(dtsubmit, path, variables):
    done = subprocess.run([dtsubmit, "convert", "--json", path], capture_output=True, text=True, errors="replace", check=False,
                          env={**os.environ, **variables})
    if done.returncode not in (0, 1):
        return None, f"exit code {done.returncode}: {done.stderr.strip()[-200:]}"
    return json.loads(done.stdout), ""


def unaccounted(path, account):
    """Lines that no row covers, apart from blank ones and comments on lines of their own."""
    covered = set()
    for row in account["lines"]:
        for place in row["places"]:
            covered.update(range(place["line"], place["end_line"] + 1))
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    plain = [number for number, line in enumerate(lines, 1)
             if line.strip(" \t\r;") and (not line.lstrip().startswith("#") or line.startswith("#SBATCH"))]
    return [number for number in plain if number not in covered]


def is_accepted(dtsubmit, job_file):
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(job_file)
        file.flush()
        done = subprocess.run([dtsubmit, "render", file.name], capture_output=True, text=True, errors="replace", check=False)
    return done.returncode == 0, done.stderr.strip()


def main():
    dtsubmit, folder, each, sets = sys.argv[1], sys.argv[2], "--each" in sys.argv, "--set" in sys.argv
    paths = sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names)
    kinds, reasons, broken = collections.Counter(), collections.Counter(), []
    began = time.perf_counter()
    for path in paths:
        account, failure = convert(dtsubmit, path, {})
        variables = {}
        for _ in range(ROUNDS if sets else 0):
            if account is None or not account["needs"] or set(account["needs"]) <= set(variables):
                break
            variables.update({name: value_of(name) for name in account["needs"]})
            account, failure = convert(dtsubmit, path, variables)
        if account is None:
            broken.append((path, failure))
            continue
        missing = unaccounted(path, account)
        if missing:
            broken.append((path, f"lines {missing[:5]} are not accounted for"))
        if account["job_file"]:
            accepted, words = is_accepted(dtsubmit, account["job_file"])
            if not accepted:
                broken.append((path, "its job file is refused: " + words[-300:]))
        kind = "without a loss" if account["lossless"] else "with losses" if account["job_file"] else "no job file"
        kinds[kind] += 1
        lost = [row["why"] for row in account["lines"] if row["became"] == "lost"] + account["general"]
        for why in set(lost):
            reasons[re.sub(r"`[^`]*`|\d+|--?[a-z-]+", "#", why)] += 1
        if each:
            print(f"{kind:16} {os.path.relpath(path, folder)}")
            for why in lost:
                print(f"{'':18}{why}")
    for kind, count in kinds.most_common():
        print(f"{count:6} {100 * count / max(1, len(paths)):5.1f} %  {kind}")
    for why, count in reasons.most_common(40):
        print(f"{count:6}  {why}")
    for path, why in broken:
        print(f"BROKEN {path}: {why}")
    print(f"{len(paths)} scripts, {time.perf_counter() - began:.1f} s, {len(broken)} broken")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main() if len(sys.argv) > 2 else sys.exit(__doc__)
