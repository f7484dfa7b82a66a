"""What INT8 costs the embedded model, by calibrator: an independent simulation in torch.

    python calibrators.py weights.pt

BatchNorms are folded; the input of every convolution and of the fully connected layer is rounded to
symmetric signed 8 bits per tensor, weights per output channel, sums and everything else stay in f32.
Ranges come from the 300 calibration images, figures from the 1,000 test images.
"""

import argparse

import numpy as np
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

import digits
from network import ConvNorm, DigitNet

BINS = 2048
LEVELS = 128  # magnitudes of a symmetric signed byte, zero included


def minmax(counts, width):
    return len(counts) * width


def percentile(share):
    def threshold(counts, width):
        return (np.searchsorted(np.cumsum(counts), share * counts.sum()) + 1) * width

    return threshold


def mse(counts, width):
    """The threshold of the least squared rounding and clipping error of the bins' centres."""
    centres = (np.arange(len(counts)) + 0.5) * width

    def error(threshold):
        scale = threshold / (LEVELS - 1)
        rounded = np.minimum(np.rint(centres / scale), LEVELS - 1) * scale
        return float(counts @ (rounded - centres) ** 2)

    return min((bins * width for bins in range(LEVELS, len(counts) + 1, 8)), key=error)


def entropy(counts, width):
    """The threshold whose 128-level histogram is nearest in KL divergence (Migacz, GTC 2017, "8-bit Inference with TensorRT").

    Zeros cost nothing at any scale, and after a ReLU they are half of all values, which would draw the
    threshold to the smallest one: the first bin counts as many values as the second.
    """
    counts = counts.copy()
    counts[0] = counts[1]

    def divergence(bins):
        clipped = counts[:bins].astype(np.float64)
        occupied = clipped > 0
        level = np.minimum(np.arange(bins) * LEVELS // bins, LEVELS - 1)
        sums = np.bincount(level, clipped, LEVELS)
        sizes = np.bincount(level, occupied, LEVELS)
        spread = np.where(occupied, sums[level] / np.maximum(sizes[level], 1), 0)
        clipped[-1] += counts[bins:].sum()
        p, q = clipped / clipped.sum(), spread / spread.sum()
        p, q = p[clipped > 0], q[clipped > 0]
        return float(np.sum(p * np.log(p / np.maximum(q, 1e-12))))

    return min(range(LEVELS, len(counts) + 1, 8), key=divergence) * width


CALIBRATORS = {
    "minmax": minmax,
    "entropy": entropy,
    "percentile 99.9": percentile(0.999),
    "percentile 99.99": percentile(0.9999),
    "mse": mse,
}


def fold(net):
    """Folds every BatchNorm into its convolution."""
    for module in net.modules():
        if isinstance(module, ConvNorm):
            module.conv = fuse_conv_bn_eval(module.conv, module.norm)
            module.norm = nn.Identity()


def quantised_layers(net):
    return {name: m for name, m in net.named_modules() if isinstance(m, (nn.Conv2d, nn.Linear))}


@torch.no_grad()
def histograms(net, images):
    """{layer: (counts of |input|, bin width)} over 2,048 bins from 0 to the largest magnitude."""
    layers, found = quantised_layers(net), {}

    def observe(name):
        def hook(module, inputs):
            magnitudes = inputs[0].abs().flatten()
            top = float(magnitudes.max())
            found[name] = (torch.histc(magnitudes, BINS, 0, top).numpy(), top / BINS)

        return hook

    handles = [layer.register_forward_pre_hook(observe(name)) for name, layer in layers.items()]
    net(images)
    for handle in handles:
        handle.remove()
    return found


def quantise(net, thresholds):
    """Rounds weights now and inputs from now on."""
    for name, layer in quantised_layers(net).items():
        scale = layer.weight.data.abs().amax(dim=tuple(range(1, layer.weight.dim())), keepdim=True) / (LEVELS - 1)
        layer.weight.data = (layer.weight.data / scale).round() * scale

        def hook(module, inputs, step=thresholds[name] / (LEVELS - 1)):
            return ((inputs[0] / step).round().clamp(-LEVELS, LEVELS - 1) * step,)

        layer.register_forward_pre_hook(hook)


def sqnr(reference, value):
    return float(10 * torch.log10((reference**2).sum() / ((reference - value) ** 2).sum()))


def load(path):
    net = DigitNet()
    net.load_state_dict(torch.load(path, weights_only=True))
    net.eval()
    fold(net)
    return net


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", help="state dict that train.py wrote")
    options = parser.parse_args()
    (images, labels), (calibration, _) = digits.load("test"), digits.load("calibration")
    images, labels = torch.from_numpy(digits.to_input(images)), torch.from_numpy(labels.astype(np.int64))
    net = load(options.weights)
    reference = net(images)
    counted = histograms(net, torch.from_numpy(digits.to_input(calibration)))
    print(f"{'':18}  top-1  agree  SQNR logits  SQNR probabilities")
    print(f"{'f32':18} {100 * (reference.argmax(1) == labels).float().mean():6.1f}")
    for name, calibrator in CALIBRATORS.items():
        thresholds = {layer: float(calibrator(*histogram)) for layer, histogram in counted.items()}
        net = load(options.weights)
        quantise(net, thresholds)
        logits = net(images)
        top = logits.argmax(1)
        print(
            f"{name:18} {100 * (top == labels).float().mean():6.1f} {100 * (top == reference.argmax(1)).float().mean():6.1f}"
            f" {sqnr(reference, logits):12.2f} {sqnr(reference.softmax(1), logits.softmax(1)):19.2f}"
        )


if __name__ == "__main__":
    main()
