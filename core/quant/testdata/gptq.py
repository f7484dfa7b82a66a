"""Rounds small weights as GPTQ's paper has it (E. Frantar et al., 2022, algorithm 1: by the inverse of the second moments), in
float64, for TestGPTQ.

    python gptq.py >gptq.json
"""

import json

import numpy as np


def gptq(w, h, scale, least, most, ordered):
    """Rounds w, outputs x inputs, with second moments h of the inputs and scales like w; the damping is 1 % of the mean."""
    k = len(h)
    h = h.copy()
    mean = np.diag(h).mean()
    dead = np.diag(h) == 0
    h[np.arange(k), np.arange(k)] = np.where(dead, mean, np.diag(h) + 0.01 * mean)
    order = np.argsort(-np.where(dead, 0, np.diag(h)), kind="stable") if ordered else np.arange(k)
    h, w, scale = h[order][:, order], w[:, order].astype(np.float64).copy(), scale[:, order]
    upper = np.linalg.cholesky(np.linalg.inv(h)).T
    q = np.zeros_like(w)
    for i in range(k):
        q[:, i] = np.clip(np.round(w[:, i] / scale[:, i]), least, most)
        error = (w[:, i] - q[:, i] * scale[:, i]) / upper[i, i]
        w[:, i + 1:] -= np.outer(error, upper[i, i + 1:])
    back = np.empty_like(q)
    back[:, order] = q
    return back


def patches(x, kernel, stride, pad, dilation):
    """Returns what a window holds, channels first, by place."""
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3])))
    n, _, height, width = x.shape
    rows = []
    for b in range(n):
        for i in range(0, height - (kernel[0] - 1) * dilation[0], stride[0]):
            for j in range(0, width - (kernel[1] - 1) * dilation[1], stride[1]):
                rows.append(x[b, :, i:i + (kernel[0] - 1) * dilation[0] + 1:dilation[0], j:j + (kernel[1] - 1) * dilation[1] + 1:dilation[1]].reshape(-1))
    return np.array(rows)


def rounded(x):
    return np.round(np.float64(x) * 64) / 64


def main():
    rng = np.random.default_rng(5)
    cases = []

    def add(name, x, w, rows, scale, most, ordered, **more):
        """rows: by group, what outputs read."""
        out, groups = [], len(rows)
        flat, s = w.reshape(len(w), -1), scale.reshape(len(w), -1)
        each = len(w) // groups
        for g, r in enumerate(rows):
            part = slice(g * each, (g + 1) * each)
            h = r.T @ r
            out += gptq(flat[part], h, np.broadcast_to(s[part], flat[part].shape), -most, most, ordered).astype(int).reshape(-1).tolist()
        cases.append(dict(name=name, x=x.reshape(-1).tolist(), x_dims=x.shape, w=w.reshape(-1).tolist(), w_dims=w.shape,
                          scale=s[:, 0].tolist(), most=most, ordered=ordered, want=out, **more))

    mix = rng.normal(size=(13, 13))
    for name, most, ordered in (("int8", 127, False), ("int4", 7, False), ("int4 ordered", 7, True)):
        x = rounded(rng.normal(size=(40, 13)) @ mix + 1)
        if "ordered" not in name:
            x[:, 4] = 0
        w = rounded(rng.normal(size=(6, 13)))
        scale = np.float64(np.float32(np.abs(w).max(1, keepdims=True) / most))
        add(name, x, w, [x], scale, most, ordered)
    for name, groups in (("conv", 1), ("grouped conv", 2)):
        x = rounded(np.maximum(rng.normal(size=(2, 4, 7, 6)), -0.5))
        w = rounded(rng.normal(size=(4, 4 // groups, 3, 2)))
        scale = np.float64(np.float32(np.abs(w).max((1, 2, 3), keepdims=True) / 7))
        pads, strides, dilations = (1, 0, 2, 1), (2, 1), (1, 2)
        each = 4 // groups
        rows = [patches(x[:, g * each:(g + 1) * each], (3, 2), strides, pads, dilations) for g in range(groups)]
        add(name, x, w, rows, scale, 7, False, groups=groups, pads=pads, strides=strides, dilations=dilations)
    print(json.dumps(cases, separators=(",", ":")))


if __name__ == "__main__":
    main()
