# SPDX-License-Identifier: Apache-2.0
"""GPT-2 and Llama-shaped models: 50 steps of AdamW are PyTorch's, from the same weights on the same text. The bits are the same for any
number of ranks and threads, also if a training continues with another number. In bf16, losses are as near to those in fp32 as PyTorch's
are with autocast."""

import sys

from trainer_support import Trainer, digest, events, has_bf16, skip

try:
    import numpy
    import torch
except ImportError as error:
    skip(f"{sys.executable} cannot import PyTorch: {error}")
import trainer_decoders
from trainer_reference import of, read_checkpoint, read_safetensors, sample_index

TEXT = "/usr/share/common-licenses/GPL-3"  # of Debian's base-files
STEPS = 50
BATCH = 8
CONTEXT = 48  # not a multiple of the number of rows that attention processes at a time
TOLERANCE = 1e-5  # relative, of losses
CALM = 0.0003  # a learning rate
MODELS = {
    "gpt2": (f"gpt2,vocab_size=256,n_positions={CONTEXT},n_embd=64,n_layer=2,n_head=4",
             lambda w, ids: trainer_decoders.gpt2(w, ids, 2, 4)),
    "llama": (f"llama,vocab_size=256,max_position_embeddings={CONTEXT},hidden_size=64,intermediate_size=160,num_hidden_layers=2,"
              "num_attention_heads=4,num_key_value_heads=2", lambda w, ids: trainer_decoders.llama(w, ids, 2, 4, 2)),
    "tied": (f"llama,vocab_size=200,max_position_embeddings={CONTEXT},hidden_size=48,intermediate_size=96,num_hidden_layers=1,"
             "num_attention_heads=3,head_dim=20,tie_word_embeddings=1", lambda w, ids: trainer_decoders.llama(w, ids, 1, 3, 3)),
}


def windows():
    """The windows of text for training; the last tenth is kept for evaluation."""
    with open(TEXT, "rb") as file:
        tokens = numpy.frombuffer(file.read(), numpy.uint8).astype(numpy.int64)
    count = (len(tokens) - 1) // CONTEXT
    starts = range(0, (count - max(1, count // 10)) * CONTEXT, CONTEXT)
    return torch.from_numpy(numpy.stack([tokens[i:i + CONTEXT + 1] for i in starts]))


def losses_of_pytorch(tensors, logits_of, lr=0.001, is_bf16=False):
    weights = {name: torch.from_numpy(value.copy()).requires_grad_() for name, value in tensors.items()}
    optimizer = torch.optim.AdamW([{"params": [p for p in weights.values() if p.dim() > 1], "weight_decay": 0.1},
                                   {"params": [p for p in weights.values() if p.dim() == 1], "weight_decay": 0}], lr=lr)
    text = windows()
    losses = []
    for step in range(STEPS):
        drawn = range(step * BATCH, (step + 1) * BATCH)
        batch = text[[sample_index(1, i // len(text), i % len(text), len(text)) for i in drawn]]
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=is_bf16):
            logits = logits_of(weights, batch[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), batch[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(weights.values()), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def losses_of(trainer, name, arguments):
    trainer.run(0, arguments + ["--run-dir", trainer.path(name)])
    return [event["loss"] for event in events(trainer.path(name), "step")]


def apart(losses, exact):
    """The largest relative difference."""
    return max(abs(a - b) / b for a, b in zip(losses, exact))


def compare_bf16(trainer, name, arguments, weights, logits_of):
    """At a rate at which the loss has no spikes, since their height is random."""
    exact = losses_of_pytorch(weights, logits_of, CALM)
    ours = losses_of(trainer, name + "-bf16", arguments + ["--shards", 1, "--precision", "bf16", "--lr", CALM])
    theirs = losses_of_pytorch(weights, logits_of, CALM, is_bf16=True)
    print(f"{name}: losses of bf16 are at most {apart(ours, exact):.1e} from PyTorch's of fp32, PyTorch's {apart(theirs, exact):.1e}")
    assert 0 < apart(ours, exact) < 2 * apart(theirs, exact), f"{ours}\n{theirs}\n{exact}"


with Trainer(sys.argv[1]) as trainer:
    for name, (model, logits_of) in MODELS.items():
        common = ["--model", model, "--data", TEXT, "--batch", BATCH, "--steps", STEPS, "--optimizer", "adamw", "--weight-decay", 0.1,
                  "--clip-norm", 1, "--warmup", 0, "--schedule", "constant"]
        initial = trainer.path(name + ".safetensors")
        trainer.run(0, ["--model", model, "--export-weights", initial])
        ours = losses_of(trainer, name, common + ["--shards", 1])
        weights = of(read_safetensors(initial), "model.")
        theirs = losses_of_pytorch(weights, logits_of)
        worst = apart(ours, theirs)
        print(f"{name}: largest relative difference of {STEPS} losses {worst:.1e}; loss {ours[0]:.3f} to {ours[-1]:.3f}")
        assert len(ours) == STEPS and ours[-1] < ours[0] - 1 and worst < TOLERANCE, f"{ours}\n{theirs}"
        if has_bf16():
            compare_bf16(trainer, name, common, weights, logits_of)
        sharded = common + ["--shards", 8]
        whole = trainer.path(name + "-8")
        alone, _ = trainer.run(0, sharded + ["--run-dir", whole])
        roots = [event["root"] for event in events(whole, "step")]
        assert len(set(roots)) == STEPS
        for ranks, threads in [(0, 2), (1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (8, 1)]:
            out, _ = trainer.run(ranks, sharded + ["--audit", 0.1], threads)
            assert digest(out) == digest(alone), f"{name}: {ranks} ranks x {threads} threads: {out}"
        folder = trainer.path(name + "-checkpoints")
        part = sharded + ["--checkpoint-dir", folder, "--save-every", 20]
        _, err = trainer.run(3, part + ["--inject", "nan:3@21"], expect=93)
        assert "the loss of shard 3 (rank 1) is not finite" in err, err
        out, _ = trainer.run(2, part)
        assert "resumed from checkpoint step-000000020" in out and digest(out) == digest(alone), out
        saved = of(read_checkpoint(f"{folder}/step-{STEPS:09}"), "model.")
        with torch.no_grad():
            text = windows()
            logits = logits_of({n: torch.from_numpy(v.copy()) for n, v in saved.items()}, text[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).item()
        ours = events(whole, "evaluate")[-1]["loss"]
        print(f"{name}: loss of the other text {ours:.4f}, of the text trained on {loss:.4f} in PyTorch")
        assert loss < ours < loss + 0.5
