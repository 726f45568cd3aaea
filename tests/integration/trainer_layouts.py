# SPDX-License-Identifier: Apache-2.0
"""The digest after some steps is the same for every number of ranks and threads, at every step, audited or not."""

import sys

from trainer_support import Trainer, digest, events

STEPS = 12

with Trainer(sys.argv[1], few=True) as trainer:
    arguments = ["--steps", STEPS, "--run-dir"]
    alone, _ = trainer.run(0, arguments + [trainer.path("alone")])
    steps = [event["root"] for event in events(trainer.path("alone"), "step")]
    norms = [event["gradient_norm"] for event in events(trainer.path("alone"), "step")]
    assert len(set(steps)) == STEPS, "the digest does not change with every step"
    for ranks, threads in [(0, 2), (1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (5, 1), (8, 1), (16, 1)]:
        run = trainer.path(f"{ranks}x{threads}")
        out, _ = trainer.run(ranks, arguments + [run], threads)
        assert digest(out) == digest(alone), f"{ranks} ranks x {threads} threads: {out}"
        assert [event["root"] for event in events(run, "step")] == steps
        assert [event["gradient_norm"] for event in events(run, "step")] == norms
        start = events(run, "start")[0]
        assert (start["world_size"], start["threads"]) == (max(ranks, 1), threads), start
    narrow = digest(trainer.run(0, ["--steps", STEPS, "--instruction-set", "portable"])[0])
    each = ["--steps", STEPS, "--numerics", "any"]
    mixed, _ = trainer.run(2, [each, each + ["--instruction-set", "portable"]])
    assert digest(mixed) == narrow, f"a rank with AVX beside one without: {mixed}"
    unsealed, _ = trainer.run(3, ["--steps", STEPS, "--verify-every", 0])
    assert digest(unsealed) == digest(alone), f"without checksums: {unsealed}"
    for ranks, threads in [(0, 1), (0, 2), (2, 1), (3, 2), (16, 1)]:
        audited, _ = trainer.run(ranks, ["--steps", STEPS, "--audit", 0.5], threads)
        assert digest(audited) == digest(alone), f"audited, {ranks} ranks x {threads} threads: {audited}"
    for ranks, servers in [(2, 1), (5, 2), (8, 3), (16, 1), (3, 9)]:
        run = trainer.path(f"{ranks}-served-by-{servers}")
        served, _ = trainer.run(ranks, arguments + [run, "--servers", servers])
        assert digest(served) == digest(alone), f"{servers} servers of {ranks} ranks: {served}"
        assert [event["root"] for event in events(run, "step")] == steps
    odd = ["--steps", 4, "--shards", 7, "--batch", 91]
    expected = digest(trainer.run(0, odd)[0])
    assert expected != digest(alone)
    for ranks in (2, 3, 7):
        assert digest(trainer.run(ranks, odd)[0]) == expected, f"7 shards on {ranks} ranks"
    _, err = trainer.run(3, ["--shards", 2], expect=2)
    assert err.count("--shards 2") == 1, err
