# SPDX-License-Identifier: Apache-2.0
"""Folders of Hugging Face's transformers: created by hand, trained on 2, 3 and 1 ranks, exported, and evaluated by PyTorch. If the package
transformers is installed, it loads the export, and must agree."""

import json
import os
import struct
import sys

from trainer_support import Trainer, digest, events, skip

try:
    import numpy
    import torch
except ImportError as error:
    skip(f"{sys.executable} cannot import PyTorch: {error}")
import trainer_decoders
from trainer_reference import read_safetensors

TEXT = "/usr/share/common-licenses/GPL-3"  # of Debian's base-files
CONTEXT, WIDTH, INNER, LAYERS, HEADS = 24, 32, 64, 2, 4
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 256, "n_positions": CONTEXT, "n_embd": WIDTH,
        "n_layer": LAYERS, "n_head": HEADS, "activation_function": "gelu_new", "resid_pdrop": 0.1, "bos_token_id": 10, "eos_token_id": None}
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 256, "max_position_embeddings": CONTEXT,
         "hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
         "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_scaling": None,
         "eos_token_id": [3, 4]}


def shapes_of_gpt2():
    shapes = {"wte.weight": [256, WIDTH], "wpe.weight": [CONTEXT, WIDTH], "ln_f.weight": [WIDTH], "ln_f.bias": [WIDTH]}
    for layer in range(LAYERS):
        for name, shape in {"ln_1": [WIDTH], "ln_2": [WIDTH], "attn.c_attn": [WIDTH, 3 * WIDTH], "attn.c_proj": [WIDTH, WIDTH],
                            "mlp.c_fc": [WIDTH, 4 * WIDTH], "mlp.c_proj": [4 * WIDTH, WIDTH]}.items():
            shapes[f"h.{layer}.{name}.weight"] = shape
            shapes[f"h.{layer}.{name}.bias"] = shape[-1:]
    return shapes


def shapes_of_llama():
    shapes = {"model.embed_tokens.weight": [256, WIDTH], "model.norm.weight": [WIDTH], "lm_head.weight": [256, WIDTH]}
    for layer in range(LAYERS):
        for name, shape in {"input_layernorm": [WIDTH], "post_attention_layernorm": [WIDTH], "self_attn.q_proj": [WIDTH, WIDTH],
                            "self_attn.k_proj": [WIDTH // 2, WIDTH], "self_attn.v_proj": [WIDTH // 2, WIDTH],
                            "self_attn.o_proj": [WIDTH, WIDTH], "mlp.gate_proj": [INNER, WIDTH], "mlp.up_proj": [INNER, WIDTH],
                            "mlp.down_proj": [WIDTH, INNER]}.items():
            shapes[f"model.layers.{layer}.{name}.weight"] = shape
    return shapes


def write_safetensors(path, tensors):
    header, at = {}, 0
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(value.tobytes() for value in tensors.values()))


def make_folder(folder, config, shapes, files):
    """Random weights, in one file or in two with an index."""
    os.makedirs(folder)
    random = numpy.random.default_rng(3)
    tensors = {name: (random.standard_normal(shape) * 0.05 + (len(shape) == 1)).astype(numpy.float32)
               for name, shape in shapes.items()}
    names = list(tensors)
    for i in range(files):
        name = "model.safetensors" if files == 1 else f"model-{i + 1:05}-of-{files:05}.safetensors"
        write_safetensors(f"{folder}/{name}", {n: tensors[n] for n in names[i::files]})
    if files > 1:
        index = {"weight_map": {n: f"model-{k % files + 1:05}-of-{files:05}.safetensors" for k, n in enumerate(names)}}
        with open(f"{folder}/model.safetensors.index.json", "w", encoding="utf-8") as file:
            json.dump(index, file)
    with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
        json.dump(config, file)
    return tensors


def loss_of(logits_of, tensors):
    """The loss on the last tenth of the text, as dttrain evaluates it."""
    with open(TEXT, "rb") as file:
        tokens = numpy.frombuffer(file.read(), numpy.uint8).astype(numpy.int64)
    count = (len(tokens) - 1) // CONTEXT
    starts = range((count - count // 10) * CONTEXT, count * CONTEXT, CONTEXT)
    text = torch.from_numpy(numpy.stack([tokens[i:i + CONTEXT + 1] for i in starts]))
    with torch.no_grad():
        logits = logits_of({name: torch.from_numpy(value.copy()) for name, value in tensors.items()}, text[:, :-1])
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).item()


def config_of(folder):
    with open(folder + "/config.json", encoding="utf-8") as file:
        return json.load(file)


def check_kept(config, folder):
    """The exported config.json has what the imported one said, including the tokens that end a text."""
    exported = config_of(folder)
    assert {**exported, **config} == exported, (config, exported)


def compare_with_transformers(folder, logits_of, tensors):
    try:
        from transformers import AutoModelForCausalLM
    except ImportError as error:
        return print(f"skipped the package transformers: {error}")
    ids = torch.arange(2 * CONTEXT).view(2, CONTEXT) % 256
    with torch.no_grad():
        theirs = AutoModelForCausalLM.from_pretrained(folder).eval()(ids).logits
        ours = logits_of({name: torch.from_numpy(value.copy()) for name, value in tensors.items()}, ids)
    assert torch.allclose(theirs, ours, atol=1e-5), (theirs - ours).abs().max()
    return print("the package transformers loads the export and computes the same")


with Trainer(sys.argv[1]) as trainer:
    cases = {"gpt2": (GPT2, shapes_of_gpt2(), 1, "transformer.", lambda w, ids: trainer_decoders.gpt2(w, ids, LAYERS, HEADS)),
             "llama": (LLAMA, shapes_of_llama(), 2, "", lambda w, ids: trainer_decoders.llama(w, ids, LAYERS, HEADS, 2))}
    for name, (config, shapes, files, prefix, logits_of) in cases.items():
        folder = trainer.path(name)
        tensors = {prefix + n: value for n, value in make_folder(folder, config, shapes, files).items()}
        common = ["--from", folder, "--data", TEXT, "--batch", 16, "--shards", 8, "--optimizer", "adamw", "--warmup", 0,
                  "--schedule", "constant"]
        run = trainer.path(name + "-first")
        trainer.run(0, common + ["--steps", 1, "--lr", 0, "--run-dir", run])
        ours, theirs = events(run, "evaluate")[-1]["loss"], loss_of(logits_of, tensors)
        print(f"{name}: loss after import {ours:.6f}, PyTorch {theirs:.6f}")
        assert abs(ours - theirs) < 1e-5 * theirs
        # 20 steps, on two ranks, then three, then one.
        kept = common + ["--steps", 20]
        checkpoints = ["--checkpoint-dir", trainer.path(name + "-checkpoints"), "--save-every", 7]
        whole, _ = trainer.run(0, kept)
        trainer.run(2, kept + checkpoints + ["--inject", "nan:0@8"], expect=93)
        trainer.run(3, kept + checkpoints + ["--inject", "nan:0@15"], expect=93)
        run = trainer.path(name + "-last")
        out, _ = trainer.run(0, kept + checkpoints + ["--run-dir", run])
        assert "resumed from checkpoint step-000000014" in out and digest(out) == digest(whole), out
        exported = trainer.path(name + "-exported")
        trainer.run(0, ["export", "--config-of", folder, trainer.path(name + "-checkpoints"), exported])
        check_kept(config, exported)
        trainer.run(0, ["export", trainer.path(name + "-checkpoints"), exported + "-plain"])
        tokens = {"gpt2": [None, None], "llama": [1, 2]}[name]
        assert [config_of(exported + "-plain")[key] for key in ("bos_token_id", "eos_token_id")] == tokens
        out, _ = trainer.run(0, ["inspect", exported])
        assert f"model       {name}" in out, out
        trained = read_safetensors(exported + "/model.safetensors")
        assert trained.keys() == tensors.keys(), trained.keys() ^ tensors.keys()
        assert all(trained[n].shape == tensors[n].shape for n in trained)
        ours, theirs = events(run, "evaluate")[-1]["loss"], loss_of(logits_of, trained)
        print(f"{name}: loss after export {theirs:.6f} in PyTorch, {ours:.6f}")
        assert abs(ours - theirs) < 1e-5 * theirs
        compare_with_transformers(exported, logits_of, trained)
        trainer.run(0, ["convert", "--dtype", "bfloat16", "--max-file-size", 1, exported, exported + "-16"])
        trainer.run(0, ["inspect", exported + "-16"])
        check_kept({**config, "torch_dtype": "bfloat16"}, exported + "-16")
        _, err = trainer.run(0, ["export", trainer.path(name + "-checkpoints"), exported], expect=74)
        assert "has a config.json already" in err, err
    with open(trainer.path("gpt2/config.json"), "w", encoding="utf-8") as file:
        json.dump({**GPT2, "n_embd": 48, "vocab_size": 255}, file)
    _, err = trainer.run(3, ["--from", trainer.path("gpt2"), "--data", TEXT, "--steps", 1], expect=3)
    assert err.count("wte.weight has the shape [256, 32], config.json says [255, 48]") == 1, err
