# SPDX-License-Identifier: Apache-2.0
"""One flipped bit in what a rank keeps or receives: the run stops within N steps and names the rank and the tensor."""

import os
import sys

from contract import CORRUPTED
from trainer_support import Trainer, digest, events

N = 5  # --verify-every
STEPS = 30
BASE = ["--steps", STEPS, "--verify-every", N, "--save-every", 4]
OWNERS = "weights of {tensor} (chunk"


def stop_of(trainer, ranks, fault, step, *more):
    """The only event `corruption`, and the ranks' output about it. Nothing is saved from that step on."""
    name = fault.replace(":", "_") + f"-{ranks}"
    where = ["--run-dir", trainer.path(name), "--checkpoint-dir", trainer.path(name + "-checkpoints")]
    _, err = trainer.run(ranks, BASE + where + ["--inject", fault, *more], expect=CORRUPTED)
    found = events(trainer.path(name), "corruption")
    assert len(found) == 1, f"{fault}: {found}\n{err}"
    assert found[0]["step"] < step + N, f"{fault}: found after step {found[0]['step']}"
    saved = sorted(os.listdir(trainer.path(name + "-checkpoints")))
    assert saved and int(saved[-1][len("step-"):]) < step, f"{fault}: saved {saved}"
    assert "--inject: this training breaks itself on purpose" in err, err
    return found[0], err


def flipped_in_memory(trainer):
    places = [("conv1.weight", 0), ("fc1.weight", 77777), ("fc2.bias", 9)]
    for kind, ranks, rank in (("weight", 2, 1), ("weight", 4, 0), ("gradient", 3, 2), ("gradient", 2, 0), ("gradient", 5, 3), ("gradient", 1, 0)):
        for step, (tensor, element) in enumerate(places, start=9):
            event, err = stop_of(trainer, ranks, f"{kind}:{tensor}:{element}@{step}:{rank}", step)
            assert event["rank"] == rank and f"{kind}" in event["what"] and f" of {tensor} " in event["what"] + " ", event
            assert (f"rank {rank}: " if ranks > 1 else "") + "this rank's bits are wrong: " in err and "(node " in err, err
            assert err.count("bits are wrong") == 1, err


def flipped_beside_a_server(trainer):
    """One rank keeps all parameters; the others only have copies."""
    for kind, rank in (("weight", 0), ("weight", 2), ("gradient", 1)):
        event, err = stop_of(trainer, 3, f"{kind}:fc1.weight:77777@9:{rank}", 9, "--servers", 1)
        assert event["rank"] == rank and f"{kind}" in event["what"], f"{event}\n{err}"


def flipped_momentum(trainer):
    """The owner is named, as it is the only one that keeps the momentum."""
    for ranks, tensor, element, owner in ((3, "conv1.weight", 5, 0), (3, "fc1.weight", 100000, 1), (3, "fc2.bias", 0, 2), (1, "fc1.weight", 1, 0)):
        event, err = stop_of(trainer, ranks, f"momentum:{tensor}:{element}@10", 10)
        assert event["rank"] == owner and f"the momentum of {tensor} " in event["what"], event
        assert f"rank {owner}: this rank's bits are wrong: " in err or ranks == 1, err


def flipped_message(trainer):
    """Both ends are named: neither has found a fault of its own."""
    for ranks, tensor, receiver in ((2, "conv1.weight", 0), (3, "fc1.weight", 1), (4, "fc2.bias", 3)):
        event, err = stop_of(trainer, ranks, f"message:{tensor}:1@10:{receiver}", 10)
        sender = 1 if receiver == 0 else 0
        assert event["rank"] == -1 and f"that rank {sender} sent to rank {receiver} on " in event["what"], event
        assert "bits are wrong" not in err, err


def flipped_statistic(trainer):
    """Every rank keeps the statistic: the majority decides, and of two ranks both are named."""
    event, _ = stop_of(trainer, 3, "statistic:bn2.running_var:31@11:2", 11)
    assert event["rank"] == 2 and "running statistics" in event["what"], event
    _, err = trainer.run(2, BASE + ["--inject", "statistic:bn1.running_mean:0@11:1"], expect=CORRUPTED)
    assert err.count("running statistics are not those") == 2, err


def flipped_while_saving(trainer):
    """The checkpoint that is being written has a state on which all ranks agreed: it is committed, and correct."""
    where = ["--run-dir", trainer.path("saving"), "--checkpoint-dir", trainer.path("saving-checkpoints")]
    options = ["--save-every", 8, "--save-delay", 2000]
    _, err = trainer.run(3, BASE + where + options + ["--inject", "weight:fc1.weight:9@10:1"], expect=CORRUPTED)
    assert err.count("bits are wrong") == 1, err
    assert os.listdir(trainer.path("saving-checkpoints")) == ["step-000000008"]
    assert [event["step"] for event in events(trainer.path("saving"), "save")] == [8]
    resumed, _ = trainer.run(2, BASE + where)
    assert "resumed from checkpoint step-000000008" in resumed, resumed
    return digest(resumed)


def miscomputed(trainer):
    """One rank computes other sums than the others would, and stores them correctly: only an audit can detect this."""
    fault = "computation:{}@10:{}"
    for ranks, tensor, rank in ((3, "conv1.weight:0", 2), (4, "fc1.weight:77777", 0), (5, "fc2.bias:9", 3)):
        out, _ = trainer.run(ranks, BASE + ["--inject", fault.format(tensor, rank)])
        assert digest(out) != trainer.whole, f"unaudited, it changes the training: {out}"
        audited = ["--audit", 1, "--shards", 16]
        for attempt in range(40):  # until the audit of this step concerns one of its shards, or is made by it
            where = ["--run-dir", trainer.path(f"audit-{ranks}-{attempt}"), "--seed", attempt]
            out, err = trainer.run(ranks, BASE + audited + where + ["--inject", fault.format(tensor, rank)], expect=None)
            found = events(trainer.path(f"audit-{ranks}-{attempt}"), "corruption")
            if found:
                break
        assert len(found) == 1 and found[0]["rank"] == rank and found[0]["step"] == 9, found
        assert "are not what a recomputation gives" in found[0]["what"], found
        assert f"rank {rank}: this rank's bits are wrong: " in err and err.count("bits are wrong") == 1, err
    # With only two ranks, both are named, and none is put into quarantine.
    _, err = trainer.run(2, BASE + ["--audit", 1, "--inject", fault.format("fc1.bias:1", 1)], expect=CORRUPTED)
    assert "no majority of recomputations" in err and "bits are wrong" not in err, err
    # A flipped weight is reported as such.
    _, err = trainer.run(3, BASE + ["--audit", 1, "--inject", "weight:fc1.weight:7@10:1"], expect=CORRUPTED)
    assert "the weights of fc1.weight" in err and "recomputation" not in err, err


with Trainer(sys.argv[1], few=True) as trainer:
    flipped_in_memory(trainer)
    flipped_beside_a_server(trainer)
    flipped_momentum(trainer)
    flipped_message(trainer)
    flipped_statistic(trainer)
    where = ["--checkpoint-dir", trainer.path("message_fc1.weight_1@10_1-3-checkpoints")]
    whole, _ = trainer.run(0, ["--steps", STEPS])
    trainer.whole = digest(whole)
    miscomputed(trainer)
    resumed, _ = trainer.run(5, BASE + where)
    assert "resumed from checkpoint step-000000008" in resumed and digest(resumed) == digest(whole), resumed
    assert flipped_while_saving(trainer) == digest(whole)
