"""Resized and grey pictures as PIL makes them: python3 pil.py > pil.json. Needs numpy and Pillow."""
import json

import numpy as np
from PIL import Image

r = np.random.RandomState(0)
cases = []
for h, w, short in [(13, 7, 5), (6, 11, 9), (64, 48, 17), (5, 5, 12)]:
    a = r.randint(0, 256, (h, w, 3), np.uint8)
    hh, ww = (short, int(short * w / h)) if h < w else (int(short * h / w), short)
    b = np.asarray(Image.fromarray(a).resize((ww, hh), Image.BILINEAR))
    g = np.asarray(Image.fromarray(a).convert("L"))
    cases.append(dict(h=h, w=w, shorter=short, pix=a.transpose(2, 0, 1).tobytes().hex(), want_h=hh, want_w=ww,
                      want=b.transpose(2, 0, 1).tobytes().hex(), grey=g.tobytes().hex()))
print(json.dumps(cases, indent=0))
