"""A product of what floats of 8 bits hold, rounded by ml_dtypes, for TestPlaceFloat8.

    python float8.py >float8.json
"""

import json

import ml_dtypes
import numpy as np

rng = np.random.default_rng(3)
x = np.float32(rng.normal(size=(4, 9)) * np.exp(rng.normal(size=(4, 9)) * 3))
w = np.float32(rng.normal(size=(9, 5)) * np.exp(rng.normal(size=(9, 5)) * 3))
cases = []
for name, t, most in (("f8e4m3fn", ml_dtypes.float8_e4m3fn, 448), ("f8e5m2", ml_dtypes.float8_e5m2, 57344)):
    sx, sw = np.float32(np.float64(np.abs(x).max()) / most), np.float32(np.float64(np.abs(w).max(0)) / most)
    rounded = lambda v, s: (np.clip(v / s, -most, most).astype(t).astype(np.float32) * s).astype(np.float64)
    cases.append(dict(type=name, want=(rounded(x, sx) @ rounded(w, sw)).reshape(-1).tolist()))
print(json.dumps(dict(x=x.reshape(-1).tolist(), w=w.reshape(-1).tolist(), cases=cases)))
