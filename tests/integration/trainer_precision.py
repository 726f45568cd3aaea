# SPDX-License-Identifier: Apache-2.0
"""--precision bf16: the losses are near those of fp32, the bits are the same for any number of ranks and threads and through a stop with
another number, and a different precision of ranks or checkpoints is detected. A processor without the instructions refuses the option."""

import sys

from trainer_support import Trainer, digest, events, has_bf16

TEXT = "/usr/share/common-licenses/GPL-3"  # of Debian's base-files
STEPS = 50
TOLERANCE = 5e-3  # relative, of losses; three times the measured difference
SHORT = ["--batch", 16, "--shards", 8, "--steps", 6, "--warmup", 0]
IMAGES = SHORT + ["--lr", 0.01, "--limit-train", 512]
TOKENS = SHORT + ["--data", TEXT, "--optimizer", "adamw"]
LLAMA = ("llama,vocab_size=256,max_position_embeddings=48,hidden_size=64,intermediate_size=160,num_hidden_layers=2,"
         "num_attention_heads=4,num_key_value_heads=2")
MODELS = {"mlp": IMAGES, "cnn2": IMAGES, "resnet,depth=8": IMAGES, LLAMA: TOKENS}
BF16 = ["--precision", "bf16"]


def losses(trainer, name, arguments):
    run = trainer.path(name)
    trainer.run(0, arguments + ["--run-dir", run], 2)
    return [event["loss"] for event in events(run, "step")]


with Trainer(sys.argv[1]) as trainer:
    gpt2 = ["--model", "gpt2:char-mini", "--data", TEXT, "--batch", 8, "--shards", 8, "--optimizer", "adamw", "--warmup", 10,
            "--clip-norm", 1]
    _, err = trainer.run(2, gpt2 + BF16 + ["--steps", 2, "--instruction-set", "avx2"], expect=2)
    assert "--precision bf16 needs" in err and "--precision fp32 works" in err, err
    if not has_bf16():
        _, err = trainer.run(0, gpt2 + BF16 + ["--steps", 2], expect=2)
        assert "AVX512-BF16 or AMX-BF16, which this processor does not have" in err, err
        print("only the refusal was checked: this processor has no instructions for bf16")
        sys.exit(0)
    fp32 = losses(trainer, "fp32", gpt2 + ["--steps", STEPS])
    bf16 = losses(trainer, "bf16", gpt2 + BF16 + ["--steps", STEPS])
    worst = max(abs(a - b) / a for a, b in zip(fp32, bf16))
    print(f"largest relative difference of {STEPS} losses from fp32's {worst:.1e}; loss {bf16[0]:.3f} to {bf16[-1]:.3f}")
    assert len(bf16) == STEPS and bf16[-1] < bf16[0] - 1 and 0 < worst < TOLERANCE, f"{fp32}\n{bf16}"
    assert [events(trainer.path(name), "start")[0]["precision"] for name in ("fp32", "bf16")] == ["fp32", "bf16"]
    # Half of it on three ranks, half on two.
    folder = trainer.path("checkpoints")
    part = gpt2 + BF16 + ["--steps", 12, "--checkpoint-dir", folder, "--save-every", 6]
    alone, _ = trainer.run(0, gpt2 + BF16 + ["--steps", 12])
    trainer.run(3, part + ["--inject", "nan:3@7"], expect=93)
    out, _ = trainer.run(2, part)
    assert "resumed from checkpoint step-000000006" in out and digest(out) == digest(alone), out
    for ranks, threads in [(0, 2), (3, 1), (2, 2)]:
        out, _ = trainer.run(ranks, gpt2 + BF16 + ["--steps", 12, "--audit", 0.5], threads)
        assert digest(out) == digest(alone), f"{ranks} ranks x {threads} threads: {out}"
    for model, arguments in MODELS.items():
        common = ["--model", model] + arguments
        exact, _ = trainer.run(0, common)
        alone, _ = trainer.run(0, common + BF16)
        assert digest(alone) != digest(exact), model
        out, _ = trainer.run(3, common + BF16, 2)
        assert digest(out) == digest(alone), f"{model}: {out}"
    # Which ranks have which precision.
    both = [gpt2 + ["--steps", 2], gpt2 + BF16 + ["--steps", 2]]
    _, err = trainer.run(2, both, expect=3)
    assert "precision: fp32 on rank 0; bf16 by " in err, err
    _, err = trainer.run(2, gpt2 + ["--steps", 12, "--checkpoint-dir", folder])
    assert "was computed elsewhere (precision: bf16 by " in err and "fp32 here" in err, err
