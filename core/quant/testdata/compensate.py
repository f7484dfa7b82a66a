"""Solves for the weights of small layers that take back what quantisation does to their input, by least squares over the rows
themselves, in float64, and rounds them as gptq.py does, for TestCompensation.

    python compensate.py >compensate.json
"""

import json

import numpy as np

from gptq import gptq, patches, rounded

SHARES = 1e-4, 1e-3, 1e-2, 1e-1, 1


def solve(w, x, xq, share):
    """Returns d, outputs x inputs, for which |w (x - xq) - d xq|^2 + r |d|^2 is least, where r is a share of the mean moment of xq."""
    k = xq.shape[1]
    r = share * (xq**2).sum(0).mean()
    rows = np.vstack([xq, np.sqrt(r) * np.eye(k)])
    return np.linalg.lstsq(rows, np.vstack([(x - xq) @ w.T, np.zeros((k, len(w)))]), rcond=None)[0].T


def error(w, x, xq, d):
    return float((((x - xq) @ w.T - xq @ d.T) ** 2).sum())


def case(name, items, quantised, w, scale, rows, **more):
    """rows returns of an item, by group, what outputs read. The last item is held out."""
    out = []
    of = lambda list, g: np.vstack([rows(x)[g] for x in list])
    groups = len(rows(items[0]))
    parts = np.split(w.reshape(len(w), -1).astype(np.float64), groups)
    before, after = 0.0, np.zeros(len(SHARES))
    for g, part in enumerate(parts):
        fit, held = (of(items[:-1], g), of(quantised[:-1], g)), (of(items[-1:], g), of(quantised[-1:], g))
        before += error(part, *held, np.zeros_like(part))
        after += [error(part, *held, solve(part, *fit, s)) for s in SHARES]
    best = int(after.argmin())
    for g, part in enumerate(parts):
        x, xq = of(items, g), of(quantised, g)
        s = np.split(scale, groups)[g]
        now = part + solve(part, x, xq, SHARES[best])
        out += gptq(np.float64(np.float32(now)), xq.T @ xq, np.broadcast_to(s[:, None], part.shape), -127, 127, False).astype(int).reshape(-1).tolist()
    return {"name": name, "x": [x.reshape(-1).tolist() for x in items], "quantised": [x.reshape(-1).tolist() for x in quantised], "w": w.reshape(-1).tolist(),
            "x_dims": list(items[0].shape), "w_dims": list(w.shape), "scale": scale.tolist(), "share": SHARES[best], "saved": 1 - after[best] / before,
            "want": out, **more}


def main():
    rng = np.random.default_rng(7)
    draw = lambda *dims: np.float32(rounded(rng.normal(size=dims)))
    # A range that clips: what is lost goes together with what is left.
    coarse = lambda x: np.float32(np.clip(np.round(x * 4) / 4, -1, 1))
    mix = rng.normal(size=(6, 6))
    items = [np.float32(rounded(rng.normal(size=(40, 6)) @ mix / 2)) for _ in range(4)]
    w = draw(5, 6)
    cases = [case("gemm", items, [coarse(x) for x in items], w, np.float32(np.abs(w).max(1) / 127), lambda x: [np.float64(x)])]
    fine = lambda x: np.float32(np.round(x * 0.8 * 8) / 8)
    cases.append(case("scaled", items, [fine(x) for x in items], w, np.float32(np.abs(w).max(1) / 100), lambda x: [np.float64(x)]))
    items = [draw(1, 4, 9, 7) for _ in range(4)]
    w = draw(6, 2, 3, 3)
    window = lambda x: [patches(np.float64(x[:, 2 * g:2 * g + 2]), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)) for g in (0, 1)]
    cases.append(case("groups", items, [coarse(x) for x in items], w, np.float32(np.abs(w.reshape(6, -1)).max(1) / 127), window, groups=2, pads=[1, 1, 1, 1]))
    print(json.dumps(cases))


if __name__ == "__main__":
    main()
