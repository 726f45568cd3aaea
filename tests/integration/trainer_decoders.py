# SPDX-License-Identifier: Apache-2.0
"""GPT-2 and Llama-shaped decoders in PyTorch, as functions of a dictionary of weights, for comparison with core/train/models in tests and
benchmarks. Names and layouts are those of transformers."""

import math

import torch
from torch.nn import functional


def attend(q, k, v):
    """Each argument is [batch][heads][context][width]."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    context = q.shape[-2]
    return scores.masked_fill(torch.ones(context, context).triu(1).bool(), -math.inf).softmax(-1) @ v


def heads_of(x, heads):
    batch, context, width = x.shape
    return x.view(batch, context, heads, width // heads).transpose(1, 2)


def joined(x):
    batch, heads, context, width = x.shape
    return x.transpose(1, 2).reshape(batch, context, heads * width)


def gpt2(w, ids, n_layer, n_head, epsilon=1e-5):
    """Logits."""
    def norm(x, name):
        return functional.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], epsilon)

    def conv1d(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][: ids.shape[1]]
    for layer in range(n_layer):
        at = f"transformer.h.{layer}."
        q, k, v = (heads_of(part, n_head) for part in conv1d(norm(x, at + "ln_1"), at + "attn.c_attn").chunk(3, -1))
        x = x + conv1d(joined(attend(q, k, v)), at + "attn.c_proj")
        inner = functional.gelu(conv1d(norm(x, at + "ln_2"), at + "mlp.c_fc"), approximate="tanh")
        x = x + conv1d(inner, at + "mlp.c_proj")
    return norm(x, "transformer.ln_f") @ w["transformer.wte.weight"].T


def llama(w, ids, layers, heads, key_heads, theta=10000.0, epsilon=1e-6):
    """Logits."""
    def norm(x, name):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * w[name + ".weight"]

    def rotate(x):
        half = x.shape[-1] // 2
        angles = torch.outer(torch.arange(x.shape[-2]).double(), theta ** (-torch.arange(half).double() / half))
        cosine, sine = (torch.cat((part, part), -1).float() for part in (angles.cos(), angles.sin()))
        return x * cosine + torch.cat((-x[..., half:], x[..., :half]), -1) * sine

    x = w["model.embed_tokens.weight"][ids]
    for layer in range(layers):
        at = f"model.layers.{layer}."
        normal = norm(x, at + "input_layernorm")
        q = rotate(heads_of(normal @ w[at + "self_attn.q_proj.weight"].T, heads))
        k = rotate(heads_of(normal @ w[at + "self_attn.k_proj.weight"].T, key_heads))
        v = heads_of(normal @ w[at + "self_attn.v_proj.weight"].T, key_heads)
        served = heads // key_heads
        k, v = k.repeat_interleave(served, 1), v.repeat_interleave(served, 1)
        x = x + joined(attend(q, k, v)) @ w[at + "self_attn.o_proj.weight"].T
        normal = norm(x, at + "post_attention_layernorm")
        gate = functional.silu(normal @ w[at + "mlp.gate_proj.weight"].T)
        x = x + (gate * (normal @ w[at + "mlp.up_proj.weight"].T)) @ w[at + "mlp.down_proj.weight"].T
    return norm(x, "model.norm") @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T
