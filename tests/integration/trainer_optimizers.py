# SPDX-License-Identifier: Apache-2.0
"""Every optimiser compared with PyTorch: 50 steps of an mlp from the same weights on the same data, with weight decay, clipping, label
smoothing and schedules. The bits are the same for any number of ranks and threads, also through a checkpoint."""

import sys

from trainer_support import Trainer, digest, events, skip

try:
    import torch
except ImportError as error:
    skip(f"{sys.executable} cannot import PyTorch: {error}")
import trainer_cnn2
from trainer_reference import of, read_checkpoint, read_safetensors, sample_index

STEPS = 50
BATCH = 64
TOLERANCE = 1e-5  # relative, of losses
LAYERS = 3


class Lamb(torch.optim.Optimizer):
    """Y. You et al., 2019; tensors of one dimension are updated as in Adam."""

    def __init__(self, parameters, lr, decay):
        super().__init__(parameters, {"lr": lr, "decay": decay})
        self.count = 0

    @torch.no_grad()
    def step(self):
        self.count += 1
        for group in self.param_groups:
            for p in group["params"]:
                kept = self.state[p] or self.state[p].update(m=torch.zeros_like(p), v=torch.zeros_like(p)) or self.state[p]
                kept["m"].mul_(0.9).add_(p.grad, alpha=0.1)
                kept["v"].mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
                u = kept["m"] / (1 - 0.9**self.count) / ((kept["v"] / (1 - 0.999**self.count)).sqrt() + 1e-8)
                ratio = 1
                if p.dim() > 1:
                    u += group["decay"] * p
                    ratio = (p.norm() / u.norm()).item()
                p.add_(u, alpha=-group["lr"] * ratio)


def mlp_of(tensors):
    model = torch.nn.Sequential()
    for layer in range(LAYERS):
        weight = torch.from_numpy(tensors[f"layers.{layer}.weight"].copy())
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
        linear.load_state_dict({"weight": weight, "bias": torch.from_numpy(tensors[f"layers.{layer}.bias"].copy())})
        model.append(linear)
        if layer + 1 < LAYERS:
            model.append(torch.nn.ReLU())
    return model


def groups(model, decay):
    return [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": decay},
            {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0}]


def losses_of_pytorch(tensors, make, rate, clip=None, smoothing=0.0):
    images, labels = trainer_cnn2.load("train")
    images = images.flatten(1)
    model = mlp_of(tensors)
    optimizer = make(model)
    losses = []
    for step in range(STEPS):
        batch = [sample_index(1, 0, i, 60000) for i in range(step * BATCH, (step + 1) * BATCH)]
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images[batch]), labels[batch], label_smoothing=smoothing)
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses


def linear_rate(lr):
    return lambda step: lr * (step + 1) / 10 if step < 10 else lr * (1 - (step - 10) / (STEPS - 10))


CASES = {
    "sgd": (["--optimizer", "sgd", "--lr", 0.02, "--weight-decay", 0.05, "--warmup", 0, "--schedule", "constant"],
            lambda model: torch.optim.SGD(groups(model, 0.05), lr=0.1, momentum=0.9), lambda step: 0.02, {}),
    "nesterov": (["--optimizer", "nesterov", "--lr", 0.02, "--warmup", 10, "--schedule", "linear", "--label-smoothing", 0.1],
                 lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True), linear_rate(0.02),
                 {"smoothing": 0.1}),
    "adamw": (["--optimizer", "adamw", "--weight-decay", 0.1, "--warmup", 0, "--schedule", "constant", "--clip-norm", 1.5],
              lambda model: torch.optim.AdamW(groups(model, 0.1)), lambda step: 0.001, {"clip": 1.5}),
    "lamb": (["--optimizer", "lamb", "--warmup", 0, "--schedule", "constant", "--batch-rule", "sqrt", "--base-batch", 256],
             lambda model: Lamb(model.parameters(), lr=0.002, decay=0.01), lambda step: 0.001, {}),
}

with Trainer(sys.argv[1]) as trainer:
    model = ["--model", "mlp", "--batch", BATCH]
    weights = trainer.path("initial.safetensors")
    trainer.run(0, model + ["--export-weights", weights])
    initial = of(read_safetensors(weights), "model.")
    for name, (arguments, make, rate, rest) in CASES.items():
        run = trainer.path(name)
        common = model + ["--steps", STEPS] + arguments
        alone, _ = trainer.run(0, common + ["--run-dir", run])
        ours = [event["loss"] for event in events(run, "step")]
        theirs = losses_of_pytorch(initial, make, rate, **rest)
        worst = max(abs(a - b) / b for a, b in zip(ours, theirs))
        print(f"{name}: largest relative difference of {STEPS} losses {worst:.1e}; loss {ours[0]:.3f} to {ours[-1]:.3f}")
        assert len(ours) == STEPS and ours[-1] < ours[0] and worst < TOLERANCE, f"{ours}\n{theirs}"
        for ranks, threads in [(0, 2), (2, 1), (3, 2), (8, 1)]:
            out, _ = trainer.run(ranks, common, threads)
            assert digest(out) == digest(alone), f"{name}: {ranks} ranks x {threads} threads: {out}"
    # Half of it on three ranks, half on two.
    arguments = model + ["--steps", STEPS] + CASES["adamw"][0]
    folder = trainer.path("checkpoints")
    part = arguments + ["--checkpoint-dir", folder, "--save-every", 25]
    whole, _ = trainer.run(0, arguments)
    trainer.run(3, part + ["--inject", "nan:3@26"], expect=93)
    saved = read_checkpoint(folder + "/step-000000025")
    prefixes = {name.split(".")[0] for name in saved}
    assert prefixes == {"model", "exp_avg", "exp_avg_sq"}, prefixes
    assert saved["exp_avg_sq.layers.0.weight"].shape == saved["model.layers.0.weight"].shape
    out, _ = trainer.run(2, part)
    assert "resumed from checkpoint step-000000025" in out and digest(out) == digest(whole), out
    _, err = trainer.run(0, model + ["--steps", STEPS, "--checkpoint-dir", folder], expect=3)
    assert "optimizer: adamw there, nothing here" in err, err
