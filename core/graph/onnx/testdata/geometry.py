"""Writes geometry.json: nodes of operators of images, sampling and algebra, and what ONNX Runtime computes for them.

Run: python3 geometry.py > geometry.json   (needs onnx and onnxruntime)
"""

import json
import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

rng = np.random.default_rng(3)
cases = []


def real(*dims):
    """Multiples of 1/8, which print short."""
    return np.asarray(rng.integers(-16, 17, dims) / 8).astype(np.float32)


def whole(lo, hi, *dims, dtype=np.int64):
    return rng.integers(lo, hi + 1, dims).astype(dtype)


def i64(*values):
    return np.array(values, np.int64)


def add(name, op, inputs, opset=22, outputs=1, consts=(), expect=None, **attrs):
    """Adds a case; consts are the positions of inputs that are initializers, expect replaces what ONNX Runtime computes."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    outs = [f"y{i}" for i in range(outputs)]
    if expect is None:
        kind = lambda x: helper.np_dtype_to_tensor_dtype(x.dtype)
        graph = helper.make_graph(
            [helper.make_node(op, names, outs, **attrs)], "g",
            [helper.make_tensor_value_info(n, kind(x), x.shape) for i, (n, x) in enumerate(zip(names, inputs)) if x is not None and i not in consts],
            [helper.make_empty_tensor_value_info(o) for o in outs],
            [numpy_helper.from_array(inputs[i], names[i]) for i in consts])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        session = onnxruntime.InferenceSession(model.SerializeToString())
        expect = session.run(None, {n: x for i, (n, x) in enumerate(zip(names, inputs)) if x is not None and i not in consts})
    cases.append({
        "name": name, "op": op, "opset": opset, "attrs": attrs, "consts": list(consts),
        "inputs": [None if x is None else tensor(x) for x in inputs], "outputs": [tensor(y) for y in expect]})


def tensor(x):
    names = {"float32": "f32", "float16": "f16", "int8": "i8", "uint8": "u8", "int32": "i32", "int64": "i64", "bool": "bool"}
    data = [float(f"{v:.9g}") if x.dtype.kind == "f" else int(v) for v in x.ravel()]
    return {"type": names[x.dtype.name], "dims": list(x.shape), "data": data}


def einsum(equation, *shapes):
    add("einsum " + equation, "Einsum", [real(*s) for s in shapes], equation=equation)


einsum("bsd,dhk->bshk", (2, 3, 4), (4, 2, 5))
einsum("bshk,hkd->bsd", (2, 3, 2, 5), (2, 5, 4))
einsum("nkctv,kvw->nctw", (2, 3, 4, 5, 6), (3, 6, 6))
einsum("bchw,oc->bohw", (2, 3, 4, 5), (6, 3))
einsum("...ij,...jk", (2, 3, 4), (2, 4, 5))
einsum("i,j->ij", (3,), (4,))
einsum("ij,jk,kl->il", (2, 3), (3, 4), (4, 5))
einsum("ij->", (2, 3))
einsum("bii->bi", (2, 3, 3))
einsum("ij, ij", (2, 3), (2, 3))
add("einsum i64", "Einsum", [whole(-9, 9, 2, 3), whole(-9, 9, 3, 4)], equation="ij,jk->ki")

for n in (1, 2, 3, 5):
    add(f"det {n}", "Det", [real(2, n, n)])
add("det singular", "Det", [np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]], np.float32)])


def grid(*dims):
    """Points of which some lie outside, and some on borders and between."""
    g = real(*dims) * 0.7
    g.ravel()[::7] = np.resize(np.array([-1, 1, 0, 0.5, -0.5], np.float32), g.ravel()[::7].shape)
    return g.astype(np.float32)


for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        for corners in (0, 1):
            add(f"grid sample {mode} {padding} {corners}", "GridSample", [real(2, 2, 4, 5), grid(2, 3, 4, 2)], 16, mode=mode, padding_mode=padding, align_corners=corners)
for mode in ("linear", "nearest"):
    for padding in ("zeros", "border", "reflection"):
        for corners in (0, 1):
            add(f"grid sample 3d {mode} {padding} {corners}", "GridSample", [real(1, 2, 3, 4, 5), grid(1, 2, 3, 2, 3)], 20, mode=mode, padding_mode=padding, align_corners=corners)
add("grid sample defaults", "GridSample", [real(1, 3, 1, 7), grid(1, 1, 5, 2)], 20)
add("grid sample cubic of one", "GridSample", [real(1, 1, 1, 1), grid(1, 4, 5, 2)], 20, mode="cubic", padding_mode="reflection", align_corners=1)

for corners in (0, 1):
    add(f"affine grid 2d {corners}", "AffineGrid", [real(2, 2, 3), i64(2, 1, 4, 5)], 20, consts=(1,), align_corners=corners)
    add(f"affine grid 3d {corners}", "AffineGrid", [real(2, 3, 4), i64(2, 1, 2, 4, 5)], 20, consts=(1,), align_corners=corners)

rois = np.array([[0, 0, 4, 4], [1.5, 0.5, 6.5, 9], [-3, -2, 2, 3], [5, 5, 4.5, 4.75], [2, 3, 2, 3], [30, 30, 40, 50]], np.float32)
items = i64(0, 1, 1, 0, 1, 0)
for mode in ("avg", "max"):
    for samples in (0, 1, 3):
        for transform in ("half_pixel", "output_half_pixel"):
            add(f"roi align {mode} {samples} {transform}", "RoiAlign", [real(2, 2, 7, 8), rois, items], 16, mode=mode, sampling_ratio=samples,
                coordinate_transformation_mode=transform, output_height=3, output_width=2, spatial_scale=0.75)
add("roi align 10", "RoiAlign", [real(2, 2, 7, 8), rois, items], 10)
add("max roi pool", "MaxRoiPool", [real(2, 2, 7, 8), np.concatenate([items[:, None].astype(np.float32), rois], 1)], 11, pooled_shape=[3, 2], spatial_scale=0.75)

for p in (1, 2, 3):
    add(f"lp pool {p}", "LpPool", [real(2, 2, 6, 7)], 18, p=p, kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1])
    add(f"global lp pool {p}", "GlobalLpPool", [real(2, 2, 3, 5)], 11, p=p)
add("lp pool dilated", "LpPool", [real(1, 1, 7, 8)], 18, kernel_shape=[2, 3], dilations=[3, 2])
add("lp pool ceil", "LpPool", [real(1, 1, 7, 8)], 18, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
add("lp pool same", "LpPool", [real(1, 1, 5, 4)], 11, kernel_shape=[2, 3], auto_pad="SAME_UPPER", strides=[2, 2])
add("lp pool 1d", "LpPool", [real(1, 2, 9)], 11, kernel_shape=[4])

pooled = np.sort(rng.choice(2 * 2 * 6 * 8, 2 * 2 * 3 * 4, replace=False)).reshape(2, 2, 3, 4)
add("max unpool", "MaxUnpool", [real(2, 2, 3, 4), pooled], 11, kernel_shape=[2, 2], strides=[2, 2])
add("max unpool padded", "MaxUnpool", [real(1, 1, 3, 4), whole(0, 5 * 6 - 1, 1, 1, 3, 4)], 11, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 1, 1, 1])
add("max unpool 1d", "MaxUnpool", [real(1, 2, 3), whole(0, 13, 1, 2, 3)], 11, kernel_shape=[3], strides=[2])

add("col2im", "Col2Im", [real(2, 12, 12), i64(5, 4), i64(2, 3)], 18, consts=(1, 2), pads=[0, 1, 0, 0])
add("col2im strides", "Col2Im", [real(1, 8, 4), i64(5, 7), i64(2, 2)], 18, consts=(1, 2), strides=[2, 3], dilations=[2, 1])
add("col2im 3d", "Col2Im", [real(1, 8, 12), i64(4, 3, 3), i64(2, 2, 2)], 18, consts=(1, 2))
add("col2im 1d", "Col2Im", [real(1, 6, 4), i64(6), i64(3)], 18, consts=(1, 2))


def deform(name, x, w, offset_group=1, bias=False, mask=False, **attrs):
    k = np.prod(w[2:])
    spatial = [(x[i + 2] + attrs.get("pads", [0] * 4)[i] + attrs.get("pads", [0] * 4)[i + 2] - (w[i + 2] - 1) * attrs.get("dilations", [1, 1])[i] - 1) // attrs.get("strides", [1, 1])[i] + 1 for i in range(2)]
    inputs = [real(*x), real(*w), real(x[0], offset_group * k * 2, *spatial) * 0.7]
    if bias or mask:
        inputs.append(real(w[0]) if bias else None)
    if mask:
        inputs.append(real(x[0], offset_group * k, *spatial))
    inputs[2] = inputs[2].astype(np.float32)
    add("deform conv " + name, "DeformConv", inputs, 19, offset_group=offset_group, **attrs)


deform("plain", (2, 3, 5, 6), (4, 3, 3, 2))
deform("groups", (1, 4, 6, 6), (6, 2, 3, 3), 2, True, True, group=2, pads=[1, 1, 1, 1], strides=[2, 1])
deform("dilated", (1, 2, 7, 8), (3, 2, 2, 3), 1, True, dilations=[2, 2], pads=[1, 0, 0, 1])
deform("masked", (1, 6, 4, 4), (2, 6, 1, 1), 3, False, True)

add("center crop pad", "CenterCropPad", [real(3, 8, 4, 5), i64(6, 7, 4, 2)], 18, consts=(1,))
add("center crop pad axes", "CenterCropPad", [real(3, 8, 5), i64(11, 2)], 18, consts=(1,), axes=[1, -1])
add("center crop pad i64", "CenterCropPad", [whole(-5, 5, 3, 4), i64(2, 6)], 18, consts=(1,))

add("compress", "Compress", [real(3, 4), np.array([False, True, True])], consts=(1,), axis=0)
add("compress flat", "Compress", [real(3, 4), np.array([False, True, False, True, True])], consts=(1,))
add("compress last", "Compress", [whole(-9, 9, 2, 3), np.array([True, False, True])], consts=(1,), axis=-1)
add("nonzero", "NonZero", [np.array([[0, 0.5, 0], [-2, 0, 1]], np.float32)], 13, consts=(0,))
add("nonzero none", "NonZero", [np.zeros((2, 2), np.int64)], 13, consts=(0,))
some = whole(0, 2, 4, 3)
add("unique", "Unique", [some], 11, outputs=4, consts=(0,))
add("unique unsorted", "Unique", [some], 11, outputs=4, consts=(0,), sorted=0)
for axis in (0, 1, -1):
    add(f"unique axis {axis}", "Unique", [whole(0, 1, 4, 5)], 11, outputs=4, consts=(0,), axis=axis)
    add(f"unique unsorted axis {axis}", "Unique", [real(3, 2)[[0, 1, 0, 2]]], 11, outputs=4, consts=(0,), axis=axis, sorted=0)
boxes = rng.uniform(0, 1, (2, 12, 4)).astype(np.float32)
scores = rng.uniform(0, 1, (2, 3, 12)).astype(np.float32)
for center in (0, 1):
    for threshold in (0.0, 0.2, 0.6):
        add(f"nms {center} {threshold}", "NonMaxSuppression", [boxes, scores, i64(4), np.array([threshold], np.float32), np.array([0.3], np.float32)], 11,
            consts=(0, 1, 2, 3, 4), center_point_box=center)
add("nms defaults", "NonMaxSuppression", [boxes, scores], 11, consts=(0, 1))
add("nms ties", "NonMaxSuppression", [boxes, np.ones_like(scores), i64(12), np.array([0.5], np.float32)], 11, consts=(0, 1, 2, 3))

add("affine grid of one", "AffineGrid", [real(1, 2, 3), i64(1, 1, 1, 4)], 20, consts=(1,), align_corners=1)

add("compress of what is computed", "Compress", [real(3, 4), np.array([False, True, True])], axis=0)
add("compress flat of what is computed", "Compress", [real(3, 4), np.array([False, True, False, True, True])])
add("compress to nothing", "Compress", [real(3, 4), np.array([False, False])], axis=1)
print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
