"""Pictures as PIL makes them: python3 pil.py > pil.json. Needs numpy and Pillow.

Policy "crop:S" is what torchvision's Resize(S) and CenterCrop((height, width)) do to a PIL image: the shorter side becomes S,
the longer one int(S * long / short), and the crop begins at int(round((image - crop) / 2)); "stretch" is
Resize((height, width))."""
import json

import numpy as np
from PIL import Image


def planes(image):
    return np.asarray(image).transpose(2, 0, 1).tobytes().hex()


def fit(image, policy, height, width):
    if policy == "stretch":
        return image.resize((width, height), Image.BILINEAR)
    short = int(policy.split(":")[1])
    w, h = image.size
    w, h = (short, int(short * h / w)) if w <= h else (int(short * w / h), short)
    image = image.resize((w, h), Image.BILINEAR)
    top, left = int(round((h - height) / 2.0)), int(round((w - width) / 2.0))
    return image.crop((left, top, left + width, top + height))


r = np.random.RandomState(0)
resized, fitted = [], []
for h, w, short in [(13, 7, 5), (6, 11, 9), (64, 48, 17), (5, 5, 12)]:
    a = r.randint(0, 256, (h, w, 3), np.uint8)
    hh, ww = (short, int(short * w / h)) if h < w else (int(short * h / w), short)
    g = np.asarray(Image.fromarray(a).convert("L"))
    resized.append(dict(h=h, w=w, pix=planes(a), want_h=hh, want_w=ww, grey=g.tobytes().hex(),
                        want=planes(Image.fromarray(a).resize((ww, hh), Image.BILINEAR))))
for h, w, policy, height, width in [
        (21, 34, "crop:12", 10, 7), (34, 21, "crop:12", 7, 12), (30, 17, "crop:17", 16, 9), (9, 40, "crop:15", 15, 15),
        (21, 34, "stretch", 10, 7), (8, 5, "stretch", 12, 31), (11, 11, "stretch", 11, 5)]:
    a = r.randint(0, 256, (h, w, 3), np.uint8)
    fitted.append(dict(h=h, w=w, pix=planes(a), policy=policy, size=f"{height}x{width}",
                       want=planes(fit(Image.fromarray(a), policy, height, width))))
print(json.dumps(dict(resized=resized, fitted=fitted), indent=0))
