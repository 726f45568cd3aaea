# SPDX-License-Identifier: Apache-2.0
"""GPT-2 in PyTorch as it is fastest there: compiled, with SDPA and fused AdamW, bf16 by autocast. Prints JSON.

torch_gpt2.py version | rate MODEL MICRO_BATCH PARTS STEPS | losses MODEL WEIGHTS TEXT BATCH STEPS
Exits with 77, and says why, where PyTorch or a GPU of its is missing."""

import json
import math
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration"))
try:
    from trainer_reference import read_safetensors, sample_index
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as why:
    print(f"skipped: {why}")
    sys.exit(77)
if not torch.cuda.is_available():
    print(f"skipped: PyTorch {torch.__version__} finds no GPU")
    sys.exit(77)

SIZES = {"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12}
for pair in sys.argv[2].split(",")[1:] if len(sys.argv) > 2 else []:
    SIZES[pair.split("=")[0]] = int(pair.split("=")[1])
DEVICE = "cuda"


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, context, width = x.shape
        queries, keys, values = (part.view(batch, context, self.heads, -1).transpose(1, 2) for part in self.qkv(self.ln_1(x)).split(width, 2))
        seen = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, context, width))
        return x + self.down(functional.gelu(self.up(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        width = SIZES["n_embd"]
        self.tokens, self.positions = nn.Embedding(SIZES["vocab_size"], width), nn.Embedding(SIZES["n_positions"], width)
        self.blocks = nn.ModuleList(Block(width, SIZES["n_head"]) for _ in range(SIZES["n_layer"]))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, ids, labels):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.ln_f(x) @ self.tokens.weight.T
        return functional.cross_entropy(logits.float().view(-1, logits.shape[-1]), labels.view(-1))


def load(model, path):
    tensors = {name: torch.from_numpy(array.copy()) for name, array in read_safetensors(path).items()}
    with torch.no_grad():
        model.tokens.weight.copy_(tensors["transformer.wte.weight"])
        model.positions.weight.copy_(tensors["transformer.wpe.weight"])
        names = {"ln_1": "ln_1", "ln_2": "ln_2", "qkv": "attn.c_attn", "out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"}
        for number, block in enumerate(model.blocks):
            for own, theirs in names.items():
                weight, bias = (tensors[f"transformer.h.{number}.{theirs}.{kind}"] for kind in ("weight", "bias"))
                module = getattr(block, own)
                module.weight.copy_(weight if weight.dim() == 1 else weight.T)  # theirs are [in][out]
                module.bias.copy_(bias)
        model.ln_f.weight.copy_(tensors["transformer.ln_f.weight"])
        model.ln_f.bias.copy_(tensors["transformer.ln_f.bias"])


def step(compiled, optimizer, parts):
    total = 0.0
    for ids, labels in parts:
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = compiled(ids, labels) / len(parts)
        loss.backward()
        total += loss.detach()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total


def made(weight_decay=0.01, lr=1e-3):
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    model = Gpt2().to(DEVICE)
    return model, torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=weight_decay, fused=True)


def rate(micro_batch, parts, steps):
    model, optimizer = made()
    compiled = torch.compile(model)
    shape = (micro_batch, SIZES["n_positions"])
    batch = [tuple(torch.randint(0, SIZES["vocab_size"], shape, device=DEVICE) for _ in range(2)) for _ in range(parts)]
    seconds = []
    for _ in range(steps):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step(compiled, optimizer, batch)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    median = sorted(seconds[len(seconds) // 3:])[len(seconds[len(seconds) // 3:]) // 2]
    return {"version": torch.__version__, "seconds": median, "tokens_per_s": parts * micro_batch * SIZES["n_positions"] / median}


def losses(weights, path, batch, steps):
    """Three runs; the second and third differ from the first by the order of sums alone: batches in parts."""
    with open(path, "rb") as file:
        data = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
    context = SIZES["n_positions"]
    windows = (len(data) - 1) // context
    count = windows - max(1, windows // 10)  # the last tenth is dttrain's for evaluations
    runs = []
    for parts in (1, 2, 4):
        model, optimizer = made(weight_decay=0, lr=3e-4)
        load(model, weights)
        found = []
        for number in range(steps):
            drawn = range(number * batch, (number + 1) * batch)
            begins = [sample_index(1, i // count, i % count, count) * context for i in drawn]  # dttrain's, of --seed 1
            ids = torch.stack([data[at:at + context] for at in begins]).long().to(DEVICE)
            labels = torch.stack([data[at + 1:at + context + 1] for at in begins]).long().to(DEVICE)
            found.append(float(step(model, optimizer, list(zip(ids.chunk(parts), labels.chunk(parts), strict=True)))))
        runs.append(found)
    assert all(math.isfinite(loss) for found in runs for loss in found)
    return {"version": torch.__version__, "losses": runs[0], "again": runs[1:]}


what, arguments = sys.argv[1], sys.argv[3:]
if what == "rate":
    print(json.dumps(rate(*map(int, arguments))))
elif what == "losses":
    print(json.dumps(losses(arguments[0], arguments[1], int(arguments[2]), int(arguments[3]))))
else:
    print(json.dumps({"version": torch.__version__}))
