"""Reference numbers for the calibrators, by brute force over the samples themselves: python3 reference.py > reference.json

Needs numpy. Every distribution is given by its quantile function at n evenly spaced probabilities, so that the test
makes the same samples without sharing a random generator.
"""
import json
import math
import statistics

import numpy as np

N = 20000
BINS = 2048  # a side


def samples(name):
    u = (np.arange(N) + 0.5) / N
    gauss = np.array([statistics.NormalDist().inv_cdf(p) for p in u])
    x = {
        "gaussian": lambda: gauss,
        "laplace": lambda: -np.sign(u - 0.5) * np.log(1 - 2 * np.abs(u - 0.5)),
        "student2": lambda: (2 * u - 1) / np.sqrt(2 * u * (1 - u)),  # Student's t with 2 degrees of freedom: a long tail
        "relu": lambda: np.maximum(gauss, 0),
        "silu": lambda: 3 * gauss / (1 + np.exp(-3 * gauss)),
        "uniform": lambda: 2 * u - 1,
        "outlier": lambda: np.append(gauss[:-1], 100.0),
    }[name]()
    return x.astype(np.float32)


def fake_quant(x, scale, zero=0, lo=-128, hi=127):
    return (np.clip(np.rint(x / scale) + zero, lo, hi) - zero) * scale


def mse(x, amax):
    return float(np.mean((x - fake_quant(x, amax / 127)) ** 2))


def kl_by_bins(counts, i, levels=128):
    """KL of a threshold of i bins, written out bin by bin."""
    counts = counts.astype(np.float64)
    p = counts[:i].copy()
    if p.sum() == 0:
        return math.inf
    q = np.zeros(i)
    for level in range(levels):
        members = [k for k in range(i) if k * levels // i == level and counts[k] > 0]
        for k in members:
            q[k] = counts[members].sum() / len(members)
    last = max(k for k in range(i) if counts[k] > 0)
    p[last] += counts[i:].sum()
    p, q = p / p.sum(), q / q.sum()
    where = p > 0
    return float(np.sum(p[where] * np.log(p[where] / q[where])))


def reference(name):
    x = samples(name).astype(np.float64)
    mag = np.abs(x)
    amax = mag.max()
    width = 2.0 ** (math.floor(math.log2(amax)) + 1 - 11)
    counts = np.bincount(np.floor(mag[mag > 0] / width).astype(int), minlength=BINS)
    counts = counts[: counts.nonzero()[0].max() + 1]
    counts[0] = counts[1]
    kls = {i: kl_by_bins(counts, i) for i in sorted(set(range(128, len(counts) + 1, 24)) | {len(counts)})}
    grid = amax * np.linspace(0.01, 1, 1500)
    errors = [mse(x, a) for a in grid]
    best = int(np.argmin(errors))
    power = float(np.mean(x**2))
    return {
        "amax": amax,
        "power": power,
        "percentile": {str(p): float(np.quantile(mag, p / 100)) for p in (99.0, 99.9)},
        "kl": [[i, v] for i, v in kls.items()],
        "mse_amax": float(grid[best]),
        "mse": errors[best],
        "minmax_mse": mse(x, amax),
        "half_mse": mse(x, amax / 2),
        "half_clipped": float(np.mean((x < -128 / 127 * amax / 2) | (x > amax / 2))),
    }


names = ["gaussian", "laplace", "student2", "relu", "silu", "uniform", "outlier"]
print(json.dumps({n: reference(n) for n in names}, indent=1))
