"""Writes narrow.json: conversions from and to types of 8 bits and fewer, and what ONNX's reference evaluator computes for them.
ONNX Runtime, where it has the types, must agree.

Run: python3 narrow.py > narrow.json   (needs onnx, onnxruntime and ml_dtypes)
"""

import json
import sys

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper, numpy_helper, reference

rng = np.random.default_rng(4)
cases = []
onnxruntime.set_default_logger_severity(4)
names = {
    T.FLOAT: "f32", T.FLOAT16: "f16", T.INT8: "i8", T.UINT8: "u8", T.INT16: "i16", T.UINT16: "u16", T.INT32: "i32",
    T.FLOAT8E4M3FN: "f8e4m3fn", T.FLOAT8E4M3FNUZ: "f8e4m3fnuz", T.FLOAT8E5M2: "f8e5m2", T.FLOAT8E5M2FNUZ: "f8e5m2fnuz",
    T.FLOAT8E8M0: "f8e8m0", T.FLOAT6E2M3: "f6e2m3", T.FLOAT6E3M2: "f6e3m2", T.FLOAT4E2M1: "f4e2m1",
    T.UINT4: "u4", T.INT4: "i4", T.UINT2: "u2", T.INT2: "i2",
}
floats = [t for t in names if names[t].startswith("f") and t not in (T.FLOAT, T.FLOAT16)]
narrow = [t for t in names if names[t] in ("u4", "i4", "u2", "i2")] + floats


def dtype(t):
    return helper.tensor_dtype_to_np_dtype(t)


def kind(x):
    return helper.np_dtype_to_tensor_dtype(x.dtype)


def codes(t):
    """All finite elements of a type."""
    x = np.arange(256, dtype=np.uint8)
    if names[t] in ("i4", "i2"):
        n = 8 if t == T.INT4 else 2
        return np.arange(-n, n, dtype=np.int8).astype(dtype(t))
    bits = {"f6": 6, "f4": 4, "u4": 4, "u2": 2}.get(names[t][:2], 8)
    x = x[: 1 << bits].view(dtype(t))
    return x if t in (T.UINT4, T.UINT2) else x[np.isfinite(x.astype(np.float32))]


def tensor(x):
    t = kind(x)
    if t in narrow:
        data = [int(v) for v in (x.astype(np.int8) if names[t] in ("i4", "i2") else x.view(np.uint8)).ravel()]
    else:
        data = [float(f"{v:.9g}") if x.dtype.kind == "f" else int(v) for v in x.ravel()]
    return {"type": names[t], "dims": list(x.shape), "data": data}


def add(name, op, inputs, opset=25, consts=(), **attrs):
    ins = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    node = helper.make_node(op, ins, ["y0"], **attrs)

    def model(fixed, out, ir):
        info = [helper.make_tensor_value_info(n, kind(x), x.shape) for i, (n, x) in enumerate(zip(ins, inputs)) if x is not None and i not in fixed]
        graph = helper.make_graph([node], "g", info, [out], [numpy_helper.from_array(inputs[i], ins[i]) for i in fixed])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset if ir > 10 else min(opset, 23))], ir_version=ir)

    feed = lambda fixed: {n: x for i, (n, x) in enumerate(zip(ins, inputs)) if x is not None and i not in fixed}
    (y,) = reference.ReferenceEvaluator(model(consts, helper.make_empty_tensor_value_info("y0"), 13)).run(None, feed(consts))
    y = np.asarray(y)
    try:
        if kind(y) in narrow:
            raise ValueError("it does not give out such types")
        fixed = [i for i, x in enumerate(inputs) if x is not None and (i in consts or kind(x) in narrow)]
        session = onnxruntime.InferenceSession(model(fixed, helper.make_tensor_value_info("y0", kind(y), y.shape), 10).SerializeToString())
        other = session.run(["y0"], feed(fixed))[0]
    except Exception as e:
        print(f"{name}: ONNX Runtime does not tell: {str(e).splitlines()[0][:100]}", file=sys.stderr)
    else:
        np.testing.assert_array_equal(other, y, name)
    cases.append({
        "name": name, "op": op, "opset": opset, "attrs": attrs, "consts": list(consts),
        "inputs": [None if x is None else tensor(x) for x in inputs], "outputs": [tensor(y)]})


def about(t):
    """Numbers at, between and beyond those of a floating type."""
    x = np.unique(codes(t).astype(np.float32))
    x = x[x != 0][:: max(1, len(x) // 40)]
    between = (x[1:] + x[:-1]) / 2
    return np.concatenate([x, between, between * np.float32(1.01), x * np.float32(1.4), np.float32([0, 1e30, -1e30])]).astype(np.float32)


for t in narrow:
    add(f"Cast {names[t]} to f32", "Cast", [codes(t)], 28, to=T.FLOAT)
    add(f"Cast {names[t]} to i32", "Cast", [codes(t)[:8]], 28, to=T.INT32) if t not in floats else None
for t in floats:
    if t != T.FLOAT8E8M0:
        add(f"Cast f32 to {names[t]}", "Cast", [about(t)], 28, to=t)
    if names[t].startswith("f8e") and t != T.FLOAT8E8M0:
        add(f"Cast f32 to {names[t]} without saturation", "Cast", [about(t)], 28, to=t, saturate=0)
powers = np.float32([1, 1.25, 1.5, 1.75, 2, 3, 100, 0.3, 2.0**-126, 1.5 * 2.0**100, 2.0**127])
for mode in ("up", "down", "nearest"):
    add(f"Cast f32 to f8e8m0 {mode}", "Cast", [powers], 28, to=T.FLOAT8E8M0, round_mode=mode)
for t in (T.UINT4, T.INT4, T.UINT2, T.INT2):
    n = {T.UINT4: (0, 16), T.INT4: (-8, 8), T.UINT2: (0, 4), T.INT2: (-2, 2)}[t]
    add(f"Cast f32 to {names[t]}", "Cast", [np.arange(n[0], n[1], 0.25).astype(np.float32)], 28, to=t)
    add(f"Cast i32 to {names[t]}", "Cast", [np.arange(-20, 20, dtype=np.int32)], 28, to=t)
add("Cast f8e5m2 to f4e2m1", "Cast", [codes(T.FLOAT8E5M2)], to=T.FLOAT4E2M1)
add("Cast f4e2m1 to f16", "Cast", [codes(T.FLOAT4E2M1)], to=T.FLOAT16)


def real(*dims, dtype=np.float32):
    return np.asarray(rng.integers(-99, 100, dims) / 8).astype(dtype)


def scale(*dims, dtype=np.float32):
    return np.asarray(2.0 ** rng.integers(-2, 2, dims)).astype(dtype)


def some(t, *dims):
    c = codes(t) if t in narrow else np.arange(-100, 100).astype(np.int64).astype(dtype(t))
    if t in (T.INT16, T.UINT16, T.UINT8):
        c = np.arange(0, 200).astype(dtype(t))
    return c[rng.integers(0, len(c), dims)]


integers = (T.INT8, T.UINT8, T.INT16, T.UINT16, T.INT4, T.UINT4, T.INT2, T.UINT2)
for t in integers + tuple(f for f in floats if f != T.FLOAT8E8M0):
    zero = lambda *dims: some(t, *dims) if t in integers else np.zeros(dims, np.float32).astype(dtype(t))
    n, opset = names[t], 28
    add(f"DequantizeLinear {n}", "DequantizeLinear", [some(t, 3, 5), scale(), zero()], opset, consts=[1, 2])
    add(f"DequantizeLinear {n} of an axis", "DequantizeLinear", [some(t, 2, 3, 5), scale(3), zero(3)], opset, consts=[0, 1, 2])
    add(f"DequantizeLinear {n} by inputs", "DequantizeLinear", [some(t, 2, 3), scale(2), zero(2)], opset, axis=0)
    add(f"DequantizeLinear {n} of blocks", "DequantizeLinear", [some(t, 5, 3), scale(3, 3), zero(3, 3)], opset, consts=[0, 1, 2], axis=0, block_size=2)
    add(f"DequantizeLinear {n} of f16 blocks", "DequantizeLinear", [some(t, 2, 2, 7), scale(2, 2, 2, dtype=np.float16)], opset, consts=[1], axis=-1, block_size=4)
    add(f"QuantizeLinear {n}", "QuantizeLinear", [real(3, 5), scale(), zero()], opset, consts=[1, 2])
    add(f"QuantizeLinear {n} of an axis", "QuantizeLinear", [real(2, 3, 5), scale(3), zero(3)], opset)
    add(f"QuantizeLinear {n} of blocks", "QuantizeLinear", [real(5, 3), scale(3, 3), zero(3, 3)], opset, consts=[1, 2], axis=0, block_size=2)
    add(f"QuantizeLinear {n} by its type", "QuantizeLinear", [real(2, 7), scale(2, 3)], opset, axis=1, block_size=3, output_dtype=t)
add("QuantizeLinear f8e5m2 without saturation", "QuantizeLinear", [np.float32([1e6, -1e6, 1, 3.3]), scale(), np.float32(0).astype(dtype(T.FLOAT8E5M2))], saturate=0)
add("DequantizeLinear to f16", "DequantizeLinear", [some(T.INT4, 3, 4), scale(3, 2)], 25, axis=1, block_size=2, output_dtype=T.FLOAT16)
add("DequantizeLinear by powers of two", "DequantizeLinear", [some(T.FLOAT4E2M1, 2, 8), codes(T.FLOAT8E8M0)[[126, 128, 129, 120]].reshape(2, 2)], 28, axis=1, block_size=4, output_dtype=T.FLOAT)
add("Transpose i4", "Transpose", [some(T.INT4, 3, 5)], perm=[1, 0])
add("Transpose f4e2m1", "Transpose", [some(T.FLOAT4E2M1, 3, 5)], perm=[1, 0])
add("Flatten f4e2m1", "Flatten", [some(T.FLOAT4E2M1, 3, 2, 5)])

print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
