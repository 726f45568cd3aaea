# SPDX-License-Identifier: Apache-2.0
"""Training throughput of dttrain's GPT-2 and ResNet-20 against PyTorch on the same shapes, batch and threads.

Usage: train_models.py DTTRAIN [--models gpt,resnet] [--windows N] [--modes MODE,...] [-- OPTION_OF_DTTRAIN...]

Ours and theirs run in turn, a process each a window, and only steps after the first few are timed: medians, and the ratio to the best of
PyTorch's modes. MODE is eager or compile, with +channels_last (images) or +bf16 (autocast) or without; compile needs PyTorch 2. PyTorch's
input is in memory; ours reads and digests. Its attention is scaled_dot_product_attention where there is one."""

import argparse
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
from train_throughput import processor  # noqa: E402
from trainer_support import Trainer, environment, events, skip  # noqa: E402

THREADS = 2
TEXT = "/usr/share/common-licenses/GPL-3"
LAYERS, HEADS, WIDTH, CONTEXT = 6, 6, 384, 256


def gpt_losses(torch, layout):
    """Parameters, and a function that draws a batch and returns its loss."""
    import numpy
    import trainer_decoders
    functional = torch.nn.functional
    if hasattr(functional, "scaled_dot_product_attention"):
        trainer_decoders.attend = lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    shapes = {"transformer.wte.weight": (256, WIDTH), "transformer.wpe.weight": (CONTEXT, WIDTH)}
    for layer in range(LAYERS):
        at = f"transformer.h.{layer}."
        for name, (rows, columns) in {"attn.c_attn": (WIDTH, 3 * WIDTH), "attn.c_proj": (WIDTH, WIDTH), "mlp.c_fc": (WIDTH, 4 * WIDTH),
                                      "mlp.c_proj": (4 * WIDTH, WIDTH)}.items():
            shapes.update({f"{at}{name}.weight": (rows, columns), f"{at}{name}.bias": (columns,)})
        for name in ("ln_1", "ln_2"):
            shapes.update({f"{at}{name}.weight": (WIDTH,), f"{at}{name}.bias": (WIDTH,)})
    shapes.update({"transformer.ln_f.weight": (WIDTH,), "transformer.ln_f.bias": (WIDTH,)})
    weights = {name: (0.02 * torch.randn(shape)).requires_grad_() for name, shape in shapes.items()}
    with open(TEXT, "rb") as file:
        text = torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8).astype(numpy.int64))

    def loss(batch):
        starts = torch.randint(len(text) - CONTEXT - 1, (batch,)).tolist()
        windows = torch.stack([text[i:i + CONTEXT + 1] for i in starts])
        logits = trainer_decoders.gpt2(weights, windows[:, :-1], LAYERS, HEADS)
        return functional.cross_entropy(logits.flatten(0, 1).float(), windows[:, 1:].flatten())

    return list(weights.values()), loss


def resnet_losses(torch, layout):
    import trainer_cnn2
    import trainer_resnet
    model = trainer_resnet.ResNet().to(memory_format=layout)
    images, labels = trainer_cnn2.load("t10k")
    images = images.contiguous(memory_format=layout)

    def loss(batch):
        chosen = torch.randint(len(images), (batch,))
        return torch.nn.functional.cross_entropy(model(images[chosen]).float(), labels[chosen])

    return list(model.parameters()), loss


GPT = f"gpt2,vocab_size=256,n_positions={CONTEXT},n_embd={WIDTH},n_layer={LAYERS},n_head={HEADS}"
# What is trained, samples a step, steps timed, the peer, and its modes.
MODELS = {
    "gpt": (["--model", GPT, "--data", TEXT, "--optimizer", "adamw"], 16, 6, gpt_losses, ("eager", "compile", "eager+bf16", "compile+bf16")),
    "resnet": (["--model", "resnet:20"], 128, 20, resnet_losses, ("eager", "eager+channels_last", "compile", "compile+channels_last")),
}
WARM = 3  # steps not timed


def ours(trainer, name, options, ranks, window):
    words, batch, steps, *_ = MODELS[name]
    run = trainer.path(f"{name}-{ranks}-{window}")
    trainer.run(ranks if ranks > 1 else 0, [*words, "--batch", batch, "--steps", steps + WARM, "--run-dir", run, "--evaluate-every", 100000,
                                            "--limit-train", 4096, *options], THREADS // ranks)
    return batch / statistics.median(step["seconds"] for step in events(run, "step")[WARM:])


def worker(name, mode):
    import torch
    _, batch, steps, losses_of, _ = MODELS[name]
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    parameters, loss = losses_of(torch, torch.channels_last if "channels_last" in mode else torch.contiguous_format)
    if mode.startswith("compile"):
        loss = torch.compile(loss)
    optimizer = torch.optim.AdamW(parameters, lr=1e-3) if name == "gpt" else torch.optim.SGD(parameters, lr=0.01, momentum=0.9)
    seconds = []
    for _ in range(steps + WARM):
        start = time.perf_counter()
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled="bf16" in mode):
            value = loss(batch)
        value.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    print(batch / statistics.median(seconds[WARM:]))


def theirs(name, mode):
    done = subprocess.run([sys.executable, os.path.abspath(__file__), "--worker", name, mode], text=True, stdout=subprocess.PIPE,
                          env=environment(THREADS), check=True, timeout=900)
    return float(done.stdout.split()[-1])


def of_both(parser):
    """This script's options, and the words after --, which are dttrain's."""
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    return parser.parse_args(words[:at]), words[at + 1:]


def compare(trainer, name, options, modes):
    rows = [[ours(trainer, name, options.of_dttrain, 1, i), ours(trainer, name, options.of_dttrain, 2, i), *(theirs(name, mode) for mode in modes)]
            for i in range(options.windows)]
    one, two, *them = (statistics.median(column) for column in zip(*rows))
    print(f"{name}, batch {MODELS[name][1]}, samples a second: dttrain 1 x 2 threads {one:.1f}, 2 ranks x 1 {two:.1f} ({two / one:.2f}); PyTorch " +
          ", ".join(f"{mode} {rate:.1f}" for mode, rate in zip(modes, them)))
    for kind in (False, True):
        best = max((rate for mode, rate in zip(modes, them) if ("bf16" in mode) == kind), default=0)
        if best:
            print(f"  to the best of PyTorch's {'bf16' if kind else 'fp32'} modes: {one / best:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--models", default="gpt,resnet")
    parser.add_argument("--windows", type=int, default=3)
    parser.add_argument("--modes")
    options, options.of_dttrain = of_both(parser)
    try:
        import torch
    except ImportError as error:
        skip(f"no PyTorch to compare with: {error}")
    print(f"{processor()}; PyTorch {torch.__version__}; {THREADS} threads; medians of {options.windows} windows; load {os.getloadavg()[0]:.1f}", flush=True)
    with Trainer(options.program) as trainer:
        for name in options.models.split(","):
            known = options.modes.split(",") if options.modes else MODELS[name][4]
            compare(trainer, name, options, [mode for mode in known if hasattr(torch, "compile") or "compile" not in mode])


if __name__ == "__main__":
    if "--worker" in sys.argv:
        worker(*sys.argv[2:4])
    else:
        main()
