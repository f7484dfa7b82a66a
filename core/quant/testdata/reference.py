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
        "spikes": lambda: np.where(np.arange(N) % 3 == 0, np.float32(0.3), gauss),  # a third is one value
        "far": lambda: 5 + u,
    }[name]()
    return x.astype(np.float32)


def fake_quant(x, scale, zero=0, lo=-128, hi=127):
    return (np.clip(np.rint(x / scale) + zero, lo, hi) - zero) * scale


def mse(x, amax):
    return float(np.mean((x - fake_quant(x, amax / 127)) ** 2))


def limit_spikes(counts):
    """Counts of at most 8 times the median of the non-empty ones among 16 neighbours on either side."""
    out = counts.astype(np.float64)
    for i, c in enumerate(counts):
        near = [counts[j] for j in range(max(0, i - 16), min(len(counts), i + 17)) if j != i and counts[j] > 0]
        if c > 8 and len(near) >= 4:
            out[i] = min(c, 8.0 * sorted(near)[len(near) // 2])
    out[0] = out[1]
    return out


def kl_by_bins(raw, i, levels=128):
    """Divergence of a threshold of i bins, written out bin by bin."""
    counts = limit_spikes(raw)
    p = counts[:i].copy()
    if p.sum() == 0:
        return math.inf
    q = np.zeros(i)
    for level in range(levels):
        members = [k for k in range(i) if k * levels // i == level and counts[k] > 0]
        for k in members:
            q[k] = counts[members].sum() / len(members)
    last = max(k for k in range(i) if counts[k] > 0)
    p[last] += raw[i:].sum()
    p, q = p / p.sum(), q / p.sum()
    where = p > 0
    return float(np.sum(p[where] * np.log(p[where] / q[where])) + q.sum() - 1)


def reference(name):
    x = samples(name).astype(np.float64)
    mag = np.abs(x)
    amax = mag.max()
    width = 2.0 ** (math.floor(math.log2(amax)) + 1 - 11)
    counts = np.bincount(np.floor(mag[mag > 0] / width).astype(int), minlength=BINS)
    counts = counts[: counts.nonzero()[0].max() + 1]
    assert len(x) >= 4 * len(counts)  # no bins are joined
    kls = {i: kl_by_bins(counts, i) for i in sorted(set(range(128, len(counts) + 1, 24)) | {len(counts)})}
    grid = amax * np.linspace(0.01, 1, 1500)
    errors = [mse(x, a) for a in grid]
    best = int(np.argmin(errors))
    power = float(np.mean(x**2))
    return {
        "amax": amax,
        "power": power,
        "percentile": {str(p): float(np.quantile(mag, p / 100)) for p in (99.0, 99.9)},
        "kl": [[i, v] for i, v in kls.items() if v < math.inf],
        "mse_amax": float(grid[best]),
        "mse": errors[best],
        "minmax_mse": mse(x, amax),
        "half_mse": mse(x, amax / 2),
        "half_clipped": float(np.mean((x < -128 / 127 * amax / 2) | (x > amax / 2))),
    }


names = ["gaussian", "laplace", "student2", "relu", "silu", "uniform", "outlier", "spikes", "far"]
print(json.dumps({n: reference(n) for n in names}, indent=1))
