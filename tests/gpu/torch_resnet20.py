# SPDX-License-Identifier: Apache-2.0
"""ResNet-20 for images of 32x32 in PyTorch as it is fastest there: compiled, channels last, bf16 by autocast, fused AdamW, and a whole step
as one CUDA graph. The network is trainer_resnet.py's, whose losses tests compare with dttrain's. Prints JSON.

torch_resnet20.py version | rate MODEL BATCH PARTS STEPS
MODEL is resnet:cifarDEPTH[,depth=N][,width=N]; a step is over PARTS parts of BATCH images, each normalised by its own statistics, as shards
are. Images are random bytes, already normalised and on the device: PyTorch's time is without what dttrain's has for reading and copying.
Exits with 77, and says why, where PyTorch or a GPU of its is missing."""

import json
import math
import sys

from torch_peer import DEVICE, HOST, adamw, compiled, median_seconds, step, torch  # first: exits without PyTorch
from trainer_resnet import DEVIATION, MEAN, ResNet

CHANNELS, SIDE, CLASSES = 3, 32, 10


class Classifier(torch.nn.Module):
    """The loss is within what is compiled."""

    def __init__(self, model):
        super().__init__()
        depth, *pairs = model.split(":cifar")[1].split(",")
        sizes = {key: int(value) for key, value in (pair.split("=") for pair in [f"depth={depth}", *pairs])}
        self.network = ResNet(channels=CHANNELS, **sizes)

    def forward(self, images, labels):
        return torch.nn.functional.cross_entropy(self.network(images).float(), labels)


def drawn(count):
    """Images and labels."""
    pixels = torch.randint(0, 256, (count, CHANNELS, SIDE, SIDE), dtype=torch.uint8, device=DEVICE)
    mean, deviation = (torch.tensor(of[CHANNELS], device=DEVICE).view(-1, 1, 1) for of in (MEAN, DEVIATION))
    images = ((pixels.float() / 255 - mean) / deviation).contiguous(memory_format=torch.channels_last)
    return images, torch.randint(0, CLASSES, (count,), device=DEVICE)


def timed(call, steps):
    """Seconds of a step, and how it was run: replayed from a graph, unless that cannot be captured or is slower than its launches.

    The graph is of the whole step, and not the ones of torch.compile(mode="reduce-overhead"), because those fail at gradients that are
    summed over parts, or lose some (pytorch/pytorch#169545, #96693), and leave out the sums and the optimizer. All is on one stream, which is
    not the default one, since what belongs to the default one cannot be captured."""
    if HOST:
        return median_seconds(call, steps), "not compiled, on the processor"
    with torch.cuda.stream(torch.cuda.Stream()):
        launched = median_seconds(call, steps)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
                loss = call()
            replayed = median_seconds(graph.replay, steps)
        except RuntimeError as why:
            return launched, "compiled, without a graph: " + str(why).partition("\n")[0]
        assert math.isfinite(loss), loss
    return min((replayed, "compiled, as one graph"), (launched, "compiled, without a graph, which is slower"))


def rate(model, batch, parts, steps):
    assert batch % parts == 0, "parts of different sizes"
    torch.backends.cudnn.benchmark = True
    classifier = Classifier(model).to(DEVICE, memory_format=torch.channels_last)
    optimizer = adamw(classifier, lr=1e-3)
    # mode="max-autotune" without its graphs, and without coordinate descent, which compiles every kernel many times; run.sh has no time for it.
    forward = compiled(classifier, dynamic=False, options={"max_autotune": True})
    images = [drawn(batch // parts) for _ in range(parts)]
    seconds, how = timed(lambda: step(forward, optimizer, images), steps)
    return {"version": torch.__version__, "how": how, "parameters": sum(one.numel() for one in classifier.parameters()), "seconds": seconds,
            "images_per_s": batch / seconds}


if __name__ == "__main__":
    what, arguments = sys.argv[1], sys.argv[2:]
    print(json.dumps(rate(arguments[0], *map(int, arguments[1:])) if what == "rate" else {"version": torch.__version__}))
