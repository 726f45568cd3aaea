# SPDX-License-Identifier: Apache-2.0
"""The quality of trainings over five seeds, compared with PyTorch's with its own initial weights and its own order of samples: cnn2 on
Fashion-MNIST and a character-level GPT-2 on the King James Bible, with the same optimiser, schedule and number of samples.

trainer_quality.py DTTRAIN [cnn2|gpt]: a quarter of an hour on one thread. The text is that of Debian's bible-kjv. Debian's PyTorch
multiplies with the installed BLAS. With libblas3, the reference, it takes hours; install libopenblas0."""

import math
import re
import shutil
import statistics
import subprocess
import sys

from trainer_support import Trainer, events, skip

try:
    import torch
except ImportError as error:
    skip(f"{sys.executable} cannot import PyTorch: {error}")
import trainer_cnn2
import trainer_decoders

SEEDS = range(1, 6)
WARMUP = 100


class Cnn2:
    """Accuracy on the test images."""

    name = "cnn2 on Fashion-MNIST, accuracy"
    batch, steps, better = 128, 2 * 468, 1
    options = ("--epochs", 2)

    def __init__(self, _trainer):
        self.train, self.test = trainer_cnn2.load("train"), trainer_cnn2.load("t10k")
        self.count = len(self.train[1])

    def begin(self):
        model = trainer_cnn2.Cnn2()
        return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def loss(self, model, rows):
        images, labels = self.train
        return torch.nn.functional.cross_entropy(model(images[rows]), labels[rows])

    def judge(self, model):
        model.eval()
        images, labels = self.test
        return sum((model(images[at:at + 1000]).argmax(1) == labels[at:at + 1000]).sum().item() for at in range(0, len(labels), 1000)) / len(labels)

    def judged(self, event):
        return event["accuracy"]


class Weights(torch.nn.Module):
    """The weights of gpt2:char-mini, drawn as GPT-2's are."""

    layers, heads, width, context, words = 4, 4, 128, 64, 256

    def __init__(self):
        super().__init__()
        self.names = []
        width, last = self.width, 0.02 / math.sqrt(2 * self.layers)
        self.draw("transformer.wte.weight", (self.words, width), 0.02)
        self.draw("transformer.wpe.weight", (self.context, width), 0.02)
        for layer in range(self.layers):
            at = f"transformer.h.{layer}."
            for part, shape, deviation in (("attn.c_attn", (width, 3 * width), 0.02), ("attn.c_proj", (width, width), last),
                                           ("mlp.c_fc", (width, 4 * width), 0.02), ("mlp.c_proj", (4 * width, width), last)):
                self.draw(at + part + ".weight", shape, deviation)
                self.add(at + part + ".bias", torch.zeros(shape[1]))
            self.add_norm(at + "ln_1")
            self.add_norm(at + "ln_2")
        self.add_norm("transformer.ln_f")

    def add(self, name, value):
        self.names.append(name)
        self.register_parameter(name.replace(".", "/"), torch.nn.Parameter(value))

    def draw(self, name, shape, deviation):
        self.add(name, torch.randn(shape) * deviation)

    def add_norm(self, name):
        self.add(name + ".weight", torch.ones(self.width))
        self.add(name + ".bias", torch.zeros(self.width))

    def forward(self, ids):
        weights = {name: getattr(self, name.replace(".", "/")) for name in self.names}
        return trainer_decoders.gpt2(weights, ids, self.layers, self.heads)


class Gpt:
    """The loss on the last tenth of the text."""

    name = "gpt2:char-mini on the King James Bible, loss"
    batch, steps, better = 32, 400, -1

    def __init__(self, trainer):
        if shutil.which("bible") is None:
            skip("no bible(1) (Debian packages bible-kjv and bible-kjv-text)")
        verses = subprocess.run(["bible", "-f", "gen1:1-rev22:21"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
        text = re.sub(r"(?m)^\w+:\d+ ", "", verses)
        path = trainer.path("bible.txt")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        self.options = ("--model", "gpt2:char-mini", "--data", path, "--batch", self.batch, "--steps", self.steps, "--optimizer", "adamw",
                        "--weight-decay", 0.1, "--clip-norm", 1)
        tokens = torch.frombuffer(bytearray(text, "ascii"), dtype=torch.uint8).long()
        context = Weights.context
        windows = torch.stack([tokens[at:at + context + 1] for at in range(0, len(tokens) - context, context)])
        kept = len(windows) // 10
        self.train, self.test = windows[:-kept], windows[-kept:]
        self.count = len(self.train)

    def begin(self):
        model = Weights()
        groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1},
                  {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0}]
        return model, torch.optim.AdamW(groups, lr=0.001)

    def loss(self, model, rows):
        return self.loss_of(model, self.train[rows])

    @staticmethod
    def loss_of(model, windows):
        return torch.nn.functional.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())

    def judge(self, model):
        parts = [self.test[at:at + 256] for at in range(0, len(self.test), 256)]
        return sum(self.loss_of(model, part).item() * len(part) for part in parts) / len(self.test)

    def judged(self, event):
        return event["loss"]


def of_pytorch(task, seed):
    torch.manual_seed(seed)
    model, optimizer = task.begin()
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (step + 1) / WARMUP if step < WARMUP else
                                             (1 + math.cos(math.pi * (step - WARMUP) / (task.steps - WARMUP))) / 2)
    order = torch.cat([torch.randperm(task.count) for _ in range(1 + task.steps * task.batch // task.count)])
    for step in range(task.steps):
        optimizer.zero_grad()
        task.loss(model, order[step * task.batch:(step + 1) * task.batch]).backward()
        if isinstance(task, Gpt):
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
    with torch.no_grad():
        return task.judge(model)


def of_ours(trainer, task, seed):
    folder = trainer.path(f"{type(task).__name__}-{seed}")
    trainer.run(0, list(task.options) + ["--seed", seed, "--warmup", WARMUP, "--run-dir", folder])
    return task.judged(events(folder, "evaluate")[-1])


def compare(trainer, task):
    ours, theirs = [], []
    for seed in SEEDS:
        ours.append(of_ours(trainer, task, seed))
        theirs.append(of_pytorch(task, seed))
        print(f"{task.name}: seed {seed}: {ours[-1]:.4f}, PyTorch {theirs[-1]:.4f}", flush=True)
    means = statistics.mean(ours), statistics.mean(theirs)
    error = math.sqrt((statistics.variance(ours) + statistics.variance(theirs)) / len(SEEDS))
    print(f"{task.name}: mean of {len(SEEDS)} seeds {means[0]:.4f}, PyTorch {means[1]:.4f}, standard error of the difference {error:.4f}", flush=True)
    return (means[0] - means[1]) * task.better >= -2 * error


torch.set_num_threads(1)
with Trainer(sys.argv[1]) as trainer:
    chosen = {"cnn2": [Cnn2], "gpt": [Gpt]}.get(sys.argv[2] if len(sys.argv) > 2 else "", [Cnn2, Gpt])
    good = [compare(trainer, task(trainer)) for task in chosen]
    assert all(good), "worse than PyTorch by more than two standard errors"
