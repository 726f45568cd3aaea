# SPDX-License-Identifier: Apache-2.0
"""GPT-2 in PyTorch as it is fastest there: compiled, with SDPA and fused AdamW, bf16 by autocast. Prints JSON.

torch_gpt2.py version | rate MODEL MICRO_BATCH PARTS STEPS | losses MODEL WEIGHTS TEXT BATCH STEPS
Exits with 77, and says why, where PyTorch or a GPU of its is missing."""

import json
import math
import sys

from torch_peer import DEVICE, HOST, adamw, compiled, median_seconds, step, torch  # first: exits without PyTorch
from torch import nn
from torch.nn import functional
from trainer_decoders import attend
from trainer_reference import of, read_safetensors, sample_index

SIZES = {"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12}
for pair in sys.argv[2].split(",")[1:] if len(sys.argv) > 2 else []:
    SIZES[pair.split("=")[0]] = int(pair.split("=")[1])


def attention(queries, keys, values):
    if HOST and not hasattr(functional, "scaled_dot_product_attention"):  # PyTorch 1
        return attend(queries, keys, values)
    return functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)


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
        seen = attention(queries, keys, values)
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
    tensors = {name: torch.from_numpy(array.copy()) for name, array in of(read_safetensors(path), "model.").items()}
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


def made(weight_decay=0.01, lr=1e-3):
    model = Gpt2().to(DEVICE)
    return model, adamw(model, lr=lr, weight_decay=weight_decay)


def rate(micro_batch, parts, steps):
    model, optimizer = made()
    forward = compiled(model)
    shape = (micro_batch, SIZES["n_positions"])
    batch = [tuple(torch.randint(0, SIZES["vocab_size"], shape, device=DEVICE) for _ in range(2)) for _ in range(parts)]
    seconds = median_seconds(lambda: step(forward, optimizer, batch), steps)
    return {"version": torch.__version__, "how": "not compiled, on the processor" if HOST else "compiled", "seconds": seconds,
            "tokens_per_s": parts * micro_batch * SIZES["n_positions"] / seconds}


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
