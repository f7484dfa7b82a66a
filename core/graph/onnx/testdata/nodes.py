"""Writes nodes.json: single ONNX nodes with odd shapes and attributes, and what ONNX Runtime computes for them.

Run: python3 nodes.py > nodes.json   (needs onnx and onnxruntime)
"""

import json
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(1)
cases = []


def real(*dims, dtype=np.float32):
    """Multiples of 1/8, which print short and are exact in every floating-point type."""
    return np.asarray(rng.integers(-16, 17, dims) / 8).astype(dtype)


def positive(*dims):
    return (rng.integers(1, 17, dims) / 8).astype(np.float32)


def whole(dtype, lo, hi, *dims):
    return rng.integers(lo, hi + 1, dims).astype(dtype)


def add(name, op, inputs, opset=22, outputs=1, consts=(), **attrs):
    """Adds a case; consts are the positions of inputs that are initializers."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    outs = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, outs, **attrs)
    kind = lambda x: helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(n, kind(x), x.shape) for i, (n, x) in enumerate(zip(names, inputs)) if x is not None and i not in consts],
        [helper.make_empty_tensor_value_info(o) for o in outs],
        [numpy_helper.from_array(inputs[i], names[i]) for i in consts])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    model = onnx.shape_inference.infer_shapes(model)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    feed = {n: x for i, (n, x) in enumerate(zip(names, inputs)) if x is not None and i not in consts}
    results = session.run(None, feed)
    cases.append({
        "name": name, "op": op, "opset": opset, "attrs": attrs, "consts": list(consts),
        "inputs": [None if x is None else tensor(x) for x in inputs], "outputs": [tensor(y) for y in results]})


def tensor(x):
    names = {"float32": "f32", "float16": "f16", "int8": "i8", "uint8": "u8", "int32": "i32", "int64": "i64"}
    data = [float(f"{v:.9g}") if x.dtype.kind == "f" else int(v) for v in x.ravel()]
    return {"type": names[x.dtype.name], "dims": list(x.shape), "data": data}


for opset in (7, 9, 15):
    add(f"batch norm {opset}", "BatchNormalization", [real(2, 3, 2, 3), real(3), real(3), real(3), positive(3)], opset, epsilon=1e-3)
add("batch norm of a matrix", "BatchNormalization", [real(4, 3), real(3), real(3), real(3), positive(3)])

add("conv 1d", "Conv", [real(2, 3, 7), real(4, 3, 2), real(4)], strides=[2], pads=[1, 0])
add("conv groups dilated", "Conv", [real(1, 4, 7, 6), real(6, 2, 3, 2)], group=2, dilations=[2, 3], pads=[0, 1, 3, 2])
add("conv depthwise same lower", "Conv", [real(1, 3, 5, 6), real(3, 1, 2, 3), real(3)], group=3, auto_pad="SAME_LOWER", strides=[2, 1])
add("conv 3d", "Conv", [real(1, 2, 3, 4, 5), real(2, 2, 2, 1, 3)], auto_pad="SAME_UPPER", strides=[1, 2, 3])
add("conv f16", "Conv", [real(1, 2, 4, 4, dtype=np.float16), real(2, 2, 3, 3, dtype=np.float16)], pads=[1, 1, 1, 1])

add("conv transpose groups", "ConvTranspose", [real(2, 4, 3, 2), real(4, 3, 2, 3), real(6)], group=2, strides=[2, 3], dilations=[2, 1], pads=[1, 0, 0, 2], output_padding=[1, 0])
add("conv transpose same upper", "ConvTranspose", [real(1, 2, 4), real(2, 2, 3)], auto_pad="SAME_UPPER", strides=[2])
add("conv transpose same lower", "ConvTranspose", [real(1, 2, 4), real(2, 2, 3)], auto_pad="SAME_LOWER", strides=[2])
add("conv transpose output shape", "ConvTranspose", [real(1, 1, 3, 3), real(1, 2, 3, 3)], strides=[2, 2], output_shape=[6, 5])

for mode in (0, 1):
    add(f"max pool ceil {mode}", "MaxPool", [real(1, 2, 6, 7)], kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 0, 1], ceil_mode=mode)
add("max pool dilated", "MaxPool", [real(1, 2, 9)], kernel_shape=[3], dilations=[3], strides=[2], pads=[1, 2])
add("max pool same lower", "MaxPool", [real(1, 1, 5, 4)], kernel_shape=[2, 3], auto_pad="SAME_LOWER", strides=[2, 2])
add("max pool valid", "MaxPool", [real(1, 1, 5, 4)], kernel_shape=[2, 3], auto_pad="VALID", strides=[2, 2])
add("max pool indices", "MaxPool", [real(2, 2, 4, 5)], outputs=2, kernel_shape=[2, 2], strides=[2, 1])
add("max pool indices column major", "MaxPool", [real(2, 2, 4, 5)], outputs=2, kernel_shape=[2, 2], storage_order=1)
add("max pool 3d", "MaxPool", [real(1, 1, 3, 4, 5)], kernel_shape=[2, 2, 2], pads=[1, 0, 1, 0, 1, 0])
add("max pool i8", "MaxPool", [whole(np.int8, -128, 127, 1, 2, 4, 4)], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
add("max pool u8", "MaxPool", [whole(np.uint8, 0, 255, 1, 2, 4, 4)], kernel_shape=[2, 2])
add("global max pool", "GlobalMaxPool", [real(2, 3, 2, 5)])
for include in (0, 1):
    add(f"average pool include {include}", "AveragePool", [real(1, 2, 6, 7)], kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1], count_include_pad=include)
    add(f"average pool ceil include {include}", "AveragePool", [real(1, 2, 7)], 19, kernel_shape=[3], strides=[3], pads=[1, 1], ceil_mode=1, count_include_pad=include)
add("average pool same upper", "AveragePool", [real(1, 1, 5, 4)], kernel_shape=[2, 3], auto_pad="SAME_UPPER", strides=[2, 2])
add("average pool dilated", "AveragePool", [real(1, 1, 7, 8)], kernel_shape=[2, 3], dilations=[3, 2])
add("global average pool", "GlobalAveragePool", [real(2, 3, 2, 5)])

for c in ((), (5,), (3, 1), (3, 5), (1,)):
    add(f"gemm bias {list(c)}", "Gemm", [real(3, 4), real(4, 5), real(*c)], alpha=0.5, beta=2.0)
add("gemm transposed", "Gemm", [real(4, 3), real(5, 4)], transA=1, transB=1)
add("gemm opset 7", "Gemm", [real(3, 4), real(4, 5), real(5)], 7)
for a, b in (((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((2, 1, 3, 4), (5, 4, 2)), ((3, 4), (2, 4, 5)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,))):
    add(f"matmul {list(a)} {list(b)}", "MatMul", [real(*a), real(*b)])
add("matmul i32", "MatMul", [whole(np.int32, -9, 9, 2, 3), whole(np.int32, -9, 9, 3, 2)])

add("softmax 13", "Softmax", [real(2, 3, 4)], 13, axis=1)
add("softmax 11 flattens", "Softmax", [real(2, 3, 4)], 11, axis=1)
add("softmax 11 default of 4 axes", "Softmax", [real(2, 3, 1, 1)], 11)
add("log softmax 13", "LogSoftmax", [real(2, 3, 4)], 13)
add("log softmax 12", "LogSoftmax", [real(2, 3, 4)], 12, axis=-2)
add("hardmax 13", "Hardmax", [real(2, 3, 4)], 13, axis=1)
add("hardmax 11", "Hardmax", [real(2, 3, 4)], 11)

add("lrn wide", "LRN", [real(2, 5, 2, 2)], size=7, alpha=0.3, beta=0.6, bias=1.5)
add("lrn odd", "LRN", [real(1, 5, 3, 1)], size=3)
add("instance norm", "InstanceNormalization", [real(2, 3, 4, 2), real(3), real(3)], epsilon=0.01)
add("layer norm with statistics", "LayerNormalization", [real(2, 3, 4), real(3, 4), real(3, 4)], 17, outputs=3, axis=1, epsilon=0.01)
add("layer norm without bias", "LayerNormalization", [real(2, 3, 4), real(4)], 17)
add("group norm", "GroupNormalization", [real(2, 4, 3), real(4), real(4)], 21, num_groups=2)

add("l1 norm", "LpNormalization", [real(2, 3, 4)], p=1, axis=1)
add("l2 norm", "LpNormalization", [real(2, 3, 4)])
add("mean variance norm", "MeanVarianceNormalization", [real(2, 3, 4, 2)], 13)
add("mean variance norm by channel", "MeanVarianceNormalization", [real(2, 3, 4, 2)], 13, axes=[0, 1, 2, 3])

u8, i8, i32 = np.uint8, np.int8, np.int32
scale = lambda *s: np.array(s, np.float32) if len(s) > 1 else np.array(s[0], np.float32)
zero = lambda t, *z: np.array(z, t) if len(z) > 1 else np.asarray(z[0], t)
add("qlinear conv per channel", "QLinearConv", [whole(u8, 0, 255, 1, 2, 5, 5), scale(0.05), zero(u8, 120), whole(i8, -127, 127, 3, 2, 3, 3), scale(0.02, 0.01, 0.03), zero(i8, 0, 0, 0), scale(0.4), zero(u8, 100), whole(i32, -900, 900, 3)], consts=(4, 5), pads=[1, 1, 1, 1], strides=[2, 1])
add("conv integer", "ConvInteger", [whole(u8, 0, 255, 1, 2, 5, 5), whole(u8, 0, 255, 3, 2, 3, 3), zero(u8, 120), zero(u8, 130)], pads=[1, 0, 0, 2])
add("qlinear matmul", "QLinearMatMul", [whole(u8, 0, 255, 2, 3, 4), scale(0.05), zero(u8, 120), whole(u8, 0, 255, 2, 4, 5), scale(0.02), zero(u8, 9), scale(0.4), zero(u8, 100)])
add("matmul integer", "MatMulInteger", [whole(u8, 0, 255, 3, 4), whole(i8, -128, 127, 4, 5), zero(u8, 7), zero(i8, -3)])
add("matmul integer by column", "MatMulInteger", [whole(u8, 0, 255, 3, 4), whole(i8, -128, 127, 4, 2), zero(u8, 7), zero(i8, -3, 5)], consts=(1, 3))

for name, factors in {"smaller": (1, 1, 0.6, 0.75), "larger": (1, 1, 1.6, 2), "smaller and larger": (1, 1, 3, 0.75), "larger and smaller": (1, 1, 0.6, 1.25)}.items():
    add("resize 10 to the nearest, " + name, "Resize", [real(1, 2, 6, 10), np.array(factors, np.float32)], 10, consts=(1,), mode="nearest")

tuples = dict(min_gram_length=1, max_gram_length=2, max_skip_count=1, ngram_counts=[0, 3], pool_int64s=[2, 3, 8, 2, 3, 3, 7], weights=[1.0, 2.0, 0.5, 4.0, -5.0])
rows = np.array([[2, 3, 5, 7, 2, 3, 8], [3, 7, 3, 3, 8, -1, 7]])
for mode in ("TF", "IDF", "TFIDF"):
    add("tuples, " + mode, "TfIdfVectorizer", [rows], 9, mode=mode, ngram_indexes=[4, 3, 2, 1, 0], **tuples)
    add("tuples of one place, " + mode, "TfIdfVectorizer", [rows[0].astype(np.int32)], 9, mode=mode, ngram_indexes=[0, 1, 2, 6, 1], **tuples)

print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
