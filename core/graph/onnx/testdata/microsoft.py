"""Writes microsoft.json: nodes of ONNX Runtime's own operators, and what ONNX Runtime computes for them.

Run: python3 microsoft.py > microsoft.json   (needs onnx and onnxruntime)
"""

import json
import math
import sys

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

rng = np.random.default_rng(3)
cases = []
TYPES = {"float32": "f32", "float16": "f16", "int8": "i8", "uint8": "u8", "int32": "i32", "int64": "i64", "bool": "bool"}


def real(*dims, dtype=np.float32):
    """Multiples of 1/8, which print short and are exact in every floating-point type."""
    return np.asarray(rng.integers(-16, 17, dims) / 8).astype(dtype)


def whole(dtype, lo, hi, *dims):
    return rng.integers(lo, hi + 1, dims).astype(dtype)


def i32(*values):
    return np.array(values, np.int32)


def i64(*values):
    return np.array(values, np.int64)


def scalar(x, dtype=np.float32):
    return np.array(x, dtype)


def tensor(x, valid=None):
    """valid says how many rows of each item count, along axis 1 or, of four axes, axis 2."""
    data = [float(f"{v:.7g}") if x.dtype.kind == "f" else int(v) for v in x.ravel()]
    t = {"type": TYPES[x.dtype.name], "dims": list(x.shape), "data": data}
    if valid is not None:
        t["valid"] = valid
    return t


def add(name, op, inputs, outputs=1, consts=(), domain="com.microsoft", since=21, steps=0, within=0, valid=None, expect=None, **attrs):
    """Adds a case; consts are the positions of inputs that are initializers, outputs a number or those that are asked for, steps
    how far integers may be from the expected ones, within how far real numbers may, expect what an operator gives that ONNX Runtime has for other devices only."""
    wanted = list(range(outputs)) if isinstance(outputs, int) else list(outputs)
    if expect is None:
        results = run(op, domain, since, attrs, inputs, consts, wanted)
    else:
        results = {0: expect if getattr(expect, "dtype", None) in (np.int8, np.uint8) else np.asarray(expect, np.float32)}
    cases.append({
        "name": name, "op": op, "domain": domain, "opset": since, "attrs": attrs, "consts": list(consts), "steps": steps, **({"within": within} if within else {}),
        "inputs": [None if x is None else tensor(x) for x in inputs],
        "outputs": [tensor(results[i], valid and valid[i]) if i in wanted else None for i in range(max(wanted) + 1)]})


def run(op, domain, since, attrs, inputs, consts, wanted):
    """Returns the wanted outputs by their number."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    outs = [f"y{i}" if i in wanted else "" for i in range(max(wanted) + 1)]
    node = helper.make_node(op, names, outs, domain=domain, **attrs)
    kind = lambda x: helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(n, kind(x), x.shape) for i, (n, x) in enumerate(zip(names, inputs)) if x is not None and i not in consts],
        [helper.make_empty_tensor_value_info(o) for o in outs if o],
        [numpy_helper.from_array(inputs[i], names[i]) for i in consts])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", since), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = {n: x for i, (n, x) in enumerate(zip(names, inputs)) if x is not None and i not in consts}
    return dict(zip(wanted, session.run(None, feed)))


def gelu(x):
    return np.vectorize(lambda v: v / 2 * (1 + math.erf(v / math.sqrt(2))))(x.astype(np.float64))


def gelu_tanh(x):
    x = x.astype(np.float64)
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def norms():
    for skip in ((2, 3, 8), (1, 3, 8), (3, 8)):
        add(f"skip norm {skip}", "SkipLayerNormalization", [real(2, 3, 8), real(*skip), real(8), real(8)], outputs=(0, 3), epsilon=1e-3)
    add("skip norm without shift", "SkipLayerNormalization", [real(2, 3, 8), real(2, 3, 8), real(8)])
    add("skip norm bias", "SkipLayerNormalization", [real(2, 3, 8), real(2, 3, 8), real(8), None, real(8)], outputs=(0, 3))
    add("skip rms norm", "SkipSimplifiedLayerNormalization", [real(2, 3, 8), real(2, 3, 8), real(8)], outputs=(0, 3), epsilon=1e-6)
    add("skip rms norm bias", "SkipSimplifiedLayerNormalization", [real(2, 3, 8), real(2, 3, 8), real(8), real(8)], outputs=(0, 3))
    add("rms norm", "SimplifiedLayerNormalization", [real(2, 3, 8), real(8)], domain="", axis=-1, epsilon=1e-5, stash_type=1)
    ids, segments, mask = whole(np.int32, 0, 8, 2, 5), whole(np.int32, 0, 1, 2, 5), i32([1, 1, 1, 0, 0], [1, 1, 1, 1, 1])
    tables = real(9, 8), real(7, 8), real(2, 8)
    add("embeddings", "EmbedLayerNormalization", [ids, segments, *tables, real(8), real(8), mask], outputs=(0, 1), epsilon=1e-6)
    add("embeddings without segments", "EmbedLayerNormalization", [ids, None, *tables[:2], None, real(8), real(8)], outputs=(0, 1, 2))
    add("embeddings of places", "EmbedLayerNormalization", [ids, segments, *tables, real(8), real(8), None, whole(np.int32, 0, 6, 2, 5)], outputs=(0, 1))


def activations():
    add("bias gelu", "BiasGelu", [real(2, 3, 8), real(8)])
    add("fast gelu", "FastGelu", [real(2, 5)])
    add("fast gelu bias", "FastGelu", [real(2, 5), real(5)])
    x, b, skip = real(2, 3, 8), real(8), real(2, 3, 8)
    add("bias", "BiasAdd", [x, b, skip], expect=x + b + skip)
    add("bias split gelu", "BiasSplitGelu", [x, b], expect=(x + b)[..., :4] * gelu((x + b)[..., 4:]))
    w = real(8, 5)
    add("product fast gelu", "GemmFastGelu", [x, w], expect=gelu_tanh(x @ w))
    b = real(5)
    add("product fast gelu bias", "GemmFastGelu", [x, w, b], expect=gelu_tanh(x @ w + b))
    add("gelu", "Gelu", [real(2, 5)])
    add("quick gelu", "QuickGelu", [real(2, 5)])
    add("quick gelu alpha", "QuickGelu", [real(2, 5)], alpha=0.5)


def products():
    for a, b, attrs in [
        ((3, 4), (4, 5), {"alpha": 0.5}), ((2, 4, 3), (2, 4, 5), {"transA": 1}), ((2, 3, 4), (5, 4), {"transB": 1}),
        ((2, 4, 3), (2, 5, 4), {"transA": 1, "transB": 1, "alpha": 2.0}), ((3, 2, 4), (2, 4, 5), {"transBatchA": 1}),
        ((2, 3, 4), (4, 2, 5), {"transBatchB": 1}), ((4, 2, 3), (2, 4, 5), {"transBatchA": 1, "transA": 1}),
        ((2, 3, 4), (5, 2, 4), {"transBatchB": 1, "transB": 1})]:
        add(f"fused matmul {a} {b} {attrs}", "FusedMatMul", [real(*a), real(*b)], **attrs)
    add("transposed matmul", "TransposeMatMul", [real(3, 4), real(5, 4)], transB=1, alpha=2.0)
    for c, attrs in [((5,), {"activation": "Relu"}), ((3, 1), {"activation": "LeakyRelu", "activation_alpha": 0.25}), ((), {"activation": "Tanh", "alpha": 0.5, "beta": 0.5})]:
        add(f"fused gemm {attrs['activation']}", "FusedGemm", [real(4, 3), real(5, 4), real(*c)], transA=1, transB=1, **attrs)
    w, b = real(6, 2, 3, 3), real(6)
    add("fused conv relu", "FusedConv", [real(1, 4, 6, 5), w, b], group=2, pads=[1, 0, 1, 2], strides=[2, 1], activation="Relu")
    add("fused conv sum", "FusedConv", [real(1, 2, 4, 4), w, b, real(1, 6, 4, 4)], pads=[1, 1, 1, 1], activation="Relu")
    add("fused conv clip", "FusedConv", [real(1, 2, 4, 4), w, b], activation="Clip", activation_params=[-0.5, 1.5])
    add("fused conv leaky", "FusedConv", [real(1, 2, 4, 4), w], activation="LeakyRelu", activation_params=[0.125])
    for bits in (2, 4, 8):
        k, n, size = 40, 5, 16
        blocks, blob = 3, size * bits // 8
        data, scales = whole(np.uint8, 0, 255, n, blocks, blob), real(n, blocks)
        zeros = whole(np.uint8, 0, 255, n, (blocks * bits + 7) // 8)
        options = {"K": k, "N": n, "block_size": size, "bits": bits}
        add(f"matmul {bits} bits", "MatMulNBits", [real(2, 3, k), data, scales], consts=(1, 2), **options)
        add(f"matmul {bits} bits zeros", "MatMulNBits", [real(3, k), data, scales, zeros], consts=(1, 2, 3), **options)
        add(f"matmul {bits} bits bias", "MatMulNBits", [real(1, k), data, scales, zeros, None, real(n)], consts=(1, 2, 3, 5), **options)
        if bits < 8:
            add(f"matmul {bits} bits real zeros", "MatMulNBits", [real(3, k), data, scales, real(n, blocks)], consts=(1, 2, 3), **options)
    data, scales = whole(np.uint8, 0, 255, 3, 2, 16), real(3, 2)
    add("matmul 4 bits blocks of 32", "MatMulNBits", [real(2, 64), data, scales, whole(np.uint8, 0, 255, 3, 1)], consts=(1, 2, 3), K=64, N=3, block_size=32, bits=4)


def attentions():
    q, k, v = real(2, 3, 8), real(2, 5, 8), real(2, 5, 12)
    mha = lambda name, inputs, outputs=1, **attrs: add("multi-head " + name, "MultiHeadAttention", inputs, outputs, num_heads=4, **attrs)
    mha("plain", [q, k, v])
    mha("scale", [q, k, v], scale=0.25)
    mha("bias", [q, k, v, real(28)])
    mha("scores", [q, k, v, None, None, real(1, 4, 3, 5)])
    mha("mask of keys", [q, k, v, None, i32([1, 1, 0, 1, 0], [1, 0, 1, 1, 1])])
    mha("mask of all keys hidden", [q, k, v, None, i32([0, 0, 0, 0, 0], [1, 0, 1, 1, 1])], mask_filter_value=-8.0)
    mha("mask and scores", [q, k, v, None, i32([1, 1, 0, 1, 0], [1, 0, 1, 1, 1]), real(2, 1, 3, 5)])
    mha("mask of queries", [q, k, v, None, whole(np.int32, 0, 1, 2, 3, 5)], mask_filter_value=-16.0)
    mha("counts of keys", [q, k, v, None, i32(3, 5)])
    mha("causal", [real(2, 5, 8), k, v], unidirectional=1)
    mha("past", [q, real(2, 3, 8), real(2, 3, 8), None, None, None, real(2, 4, 2, 2), real(2, 4, 2, 2)], 3, unidirectional=1)
    mha("past mask", [q, real(2, 3, 8), real(2, 3, 8), real(24), whole(np.int32, 0, 1, 2, 5), None, real(2, 4, 2, 2), real(2, 4, 2, 2)], 3)
    mha("present", [q, k, real(2, 5, 8)], 3)
    mha("cross", [q, real(2, 4, 5, 2), real(2, 4, 5, 2), real(24)])
    mha("cross without bias", [q, real(2, 4, 5, 2), real(2, 4, 5, 2)])

    x, w, b = real(2, 3, 6), real(6, 24), real(24)
    att = lambda name, inputs, outputs=1, **attrs: add("attention " + name, "Attention", inputs, outputs, num_heads=2, **attrs)
    att("plain", [x, w, b])
    att("without bias", [x, w])
    att("causal", [x, w, b], unidirectional=1)
    att("mask of keys", [x, w, b, i32([1, 0, 1], [1, 1, 0])])
    att("counts of keys", [x, w, b, i32(2, 3)])
    att("mask of queries", [x, w, b, whole(np.int32, 0, 1, 2, 3, 3)])
    att("past", [x, w, b, None, real(2, 2, 2, 4, 4)], 2, unidirectional=1)
    att("past mask", [x, w, b, whole(np.int32, 0, 1, 2, 7), real(2, 2, 2, 4, 4)], 2, unidirectional=1)
    att("present", [x, w, b], 2)
    att("scores", [x, w, b, None, None, real(2, 2, 3, 3)])
    att("sizes", [x, real(6, 20), real(20)], qkv_hidden_sizes=[8, 8, 4], scale=0.5)
    add("quantised attention", "QAttention", [
        whole(np.uint8, 0, 255, 2, 3, 6), whole(np.int8, -128, 127, 6, 24), b, scalar(0.03), scalar(0.02), i32(2, 3), scalar(120, np.uint8), scalar(3, np.int8)],
        consts=(1, 2, 3, 4, 6, 7), num_heads=2)


def gqa(name, s, past, lengths, packed=False, kv=2, size=16, extra=(), **attrs):
    heads, total = 4, past + s
    q = real(len(lengths), s, (heads + 2 * kv) * size if packed else heads * size)
    k, v = (None, None) if packed else (real(len(lengths), s, kv * size), real(len(lengths), s, kv * size))
    state = [real(len(lengths), kv, past, size), real(len(lengths), kv, past, size)] if past else [None, None]
    inputs = [q, k, v, *state, i32(*[n - 1 for n in lengths]), i32(total).reshape(()), *extra]
    rows = [s if past else n for n in lengths]  # of a shorter item of a first prompt only the first rows count
    add("group query " + name, "GroupQueryAttention", inputs, 3, valid=[rows, lengths, lengths], num_heads=heads, kv_num_heads=kv, **attrs)


def group_queries():
    angles = lambda n, half: (np.cos(real(n, half)).astype(np.float32), np.sin(real(n, half)).astype(np.float32))
    gqa("prompt", 5, 0, [5])
    gqa("prompts", 5, 0, [5, 5])
    gqa("padded prompts", 5, 0, [5, 3])
    gqa("packed", 4, 0, [4, 4], packed=True)
    gqa("token", 1, 6, [7, 7])
    gqa("token behind pasts of different lengths", 1, 6, [7, 4])
    gqa("several tokens", 3, 4, [7])
    gqa("rotary prompt", 5, 0, [5, 4], do_rotary=1, extra=angles(9, 8))
    gqa("rotary token", 1, 6, [7, 5], do_rotary=1, extra=angles(9, 8))
    gqa("rotary interleaved packed", 1, 6, [7, 7], packed=True, do_rotary=1, rotary_interleaved=1, extra=angles(9, 8))
    gqa("rotary in part", 1, 6, [7, 7], do_rotary=1, extra=angles(9, 8), size=32)
    gqa("window", 7, 0, [7], local_window_size=3)
    gqa("window token", 1, 6, [7, 7], local_window_size=3)
    gqa("bounded", 5, 0, [5], softcap=0.75, scale=0.5)
    gqa("one head of keys", 2, 3, [5], kv=1)
    gqa("scores", 3, 0, [3, 3], extra=[None, None, None, real(1, 4, 3, 3)])
    gqa("not causal", 4, 0, [4, 4], causal=0)


def states():
    for k, past, bias in ((4, True, True), (3, False, True), (2, True, False), (1, False, False)):
        add(f"causal conv {k} {past}", "CausalConvWithState",
            [real(2, 3, 5), real(3, 1, k), real(3) if bias else None, real(2, 3, k - 1) if past else None], 2, activation="silu" if k > 2 else "none")
    add("causal conv dilated", "CausalConvWithState", [real(2, 3, 5), real(3, 1, 3), None, real(2, 3, 4)], 2, dilation=2)


    q, k, v = real(2, 3, 16), real(2, 3, 8) / 4, real(2, 3, 6)
    past, decay, beta = real(2, 2, 4, 3), -np.abs(real(2, 3, 8)), np.abs(real(2, 3, 2))
    for rule, more in (("linear", []), ("gated", [past, decay]), ("delta", [None, None, beta]), ("gated_delta", [past, decay[..., :2], beta])):
        add("linear attention " + rule, "LinearAttention", [q, k, v, *more], 2, update_rule=rule, q_num_heads=4, kv_num_heads=2)


def images():
    x, g, b = real(2, 2, 3, 8), real(8), real(8)
    skip, shift = real(2, 8), real(8)
    for name, inputs, s in (("GroupNorm", [x, g, b], x), ("SkipGroupNorm", [x, g, b, skip, shift], x + skip[:, None, None] + shift)):
        parts = s.reshape(2, 6, 2, 4).astype(np.float64)
        y = (parts - parts.mean((1, 3), keepdims=True)) / np.sqrt(parts.var((1, 3), keepdims=True) + 1e-5)
        y = y.reshape(x.shape) * g + b
        add(name, name, inputs, groups=2, activation=0, expect=y)
        add(name + " silu", name, inputs, groups=2, activation=1, expect=y / (1 + np.exp(-y)))
    x, w, z = real(1, 3, 4, 2), real(3, 2, 2, 2), real(1, 2, 3, 3)
    y = sum(np.einsum("nijc,oc->nijo", x[:, i:i + 2, j:j + 3], w[:, :, i, j]) for i in range(2) for j in range(2))
    add("NhwcConv", "NhwcConv", [x, w], expect=y)
    add("NhwcFusedConv", "NhwcFusedConv", [x, w, None, z], activation="Relu", expect=np.maximum(y + z, 0))


def tables():
    for bits, size in ((4, 16), (8, 16), (2, 16), (4, 32)):
        data, scales = whole(np.uint8, 0, 255, 7, 64 * bits // 8), real(7, 64 // size)
        zeros = whole(np.uint8, 0, 255, 7, (64 // size * bits + 7) // 8)
        options = {"bits": bits, "block_size": size, "quantize_axis": 1, "gather_axis": 0}
        add(f"gather {bits} bits", "GatherBlockQuantized", [data, i64([0, 6, 3], [1, 1, 2]), scales], consts=(0, 2), **options)
        add(f"gather {bits} bits zeros", "GatherBlockQuantized", [data, i64(5, 0), scales, zeros], consts=(0, 2, 3), **options)
    ids, segments, mask = whole(np.int32, 0, 8, 2, 5), whole(np.int32, 0, 1, 2, 5), i32([1, 1, 1, 0, 0], [1, 1, 1, 1, 1])
    u8 = lambda *dims: whole(np.uint8, 0, 255, *dims)
    scales, zeros = [scalar(x / 64) for x in (1, 2, 3, 2, 1)], [scalar(x, np.uint8) for x in (120, 130, 100, 90, 128)]
    add("quantised embeddings", "QEmbedLayerNormalization", [ids, segments, u8(9, 8), u8(7, 8), u8(2, 8), u8(8), u8(8), mask, *scales, *zeros],
        2, consts=(2, 3, 4, 5, 6, *range(8, 18)))
    for kind in ("silu", "sigmoid"):
        add("gated norm " + kind, "GatedRMSNorm", [real(2, 3, 8), real(4), real(2, 3, 8)], activation=kind, epsilon=1e-3)


def rotations():
    cos, sin = np.cos(real(9, 4)).astype(np.float32), np.sin(real(9, 4)).astype(np.float32)
    rot = lambda name, x, places, *tables, **attrs: add("rotary " + name, "RotaryEmbedding", [x, places, *(tables or (cos, sin))], **attrs)
    rot("offset", real(2, 3, 16), i64(2))
    rot("places", real(2, 3, 16), i64([0, 5, 8], [3, 3, 1]))
    rot("interleaved", real(2, 3, 16), i64([0, 5, 8], [3, 3, 1]), interleaved=1)
    rot("heads", real(2, 2, 3, 8), i64(4))
    rot("in part", real(2, 3, 20), i64([0, 5, 8], [3, 3, 1]), num_heads=2, rotary_embedding_dim=8)


def quantised():
    u8 = lambda *dims: whole(np.uint8, 0, 255, *dims)
    i8 = lambda *dims: whole(np.int8, -128, 127, *dims)
    z8, zi = lambda n: scalar(n, np.uint8), lambda n: scalar(n, np.int8)
    add("quantize", "QuantizeLinear", [real(2, 5), scalar(0.0625), z8(100)], consts=(1, 2))
    add("dequantize", "DequantizeLinear", [i8(2, 5), real(5) + 3, i8(5)], consts=(1, 2), axis=1)
    for op in ("QLinearAdd", "QLinearMul"):
        add(op, op, [u8(2, 3, 5), scalar(0.02), z8(120), u8(3, 5), scalar(0.03), z8(90), scalar(0.04), z8(110)], consts=(1, 2, 4, 5, 6, 7), steps=1)
    add("QLinearAdd i8", "QLinearAdd", [i8(2, 3, 5), scalar(0.02), zi(12), i8(2, 3, 5), scalar(0.03), zi(-9), scalar(0.04), zi(5)], consts=(1, 2, 4, 5, 6, 7), steps=1)
    add("QLinearSigmoid", "QLinearSigmoid", [u8(2, 30), scalar(0.05), z8(128), scalar(1 / 256), z8(0)], consts=(1, 2, 3, 4), steps=1)
    add("QLinearLeakyRelu", "QLinearLeakyRelu", [i8(2, 30), scalar(0.05), zi(3), scalar(0.04), zi(-10)], consts=(1, 2, 3, 4), steps=1, alpha=0.125)
    add("QLinearSoftmax", "QLinearSoftmax", [u8(3, 9), scalar(0.05), z8(128), scalar(1 / 256), z8(0)], consts=(1, 2, 3, 4), steps=1, **{"axis": -1, "opset": 13})
    add("QLinearConcat", "QLinearConcat", [scalar(0.04), z8(100), u8(2, 3), scalar(0.02), z8(120), u8(2, 5), scalar(0.05), z8(130)], consts=(0, 1, 3, 4, 6, 7), steps=1, axis=1)
    add("QLinearWhere", "QLinearWhere", [whole(np.int8, 0, 1, 2, 9).astype(bool), u8(2, 9), scalar(0.02), z8(120), u8(2, 9), scalar(0.05), z8(130), scalar(0.04), z8(100)], consts=(2, 3, 5, 6, 7, 8), steps=1)
    for last in (0, 1):
        add(f"QLinearGlobalAveragePool {last}", "QLinearGlobalAveragePool", [u8(2, 4, 5, 3), scalar(0.02), z8(120), scalar(0.01), z8(110)], consts=(1, 2, 3, 4), steps=1, channels_last=last)
        add(f"QLinearAveragePool {last}", "QLinearAveragePool", [u8(1, 4, 6, 5), scalar(0.02), z8(120), scalar(0.015), z8(110)], consts=(1, 2, 3, 4), steps=1, channels_last=last, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 0, 1])
    add("QGemm", "QGemm", [u8(3, 4), scalar(0.02), z8(120), i8(4, 5), scalar(0.03), zi(4), whole(np.int32, -900, 900, 5), scalar(0.05), z8(130)], consts=(1, 2, 3, 4, 5, 6, 7, 8), steps=1)
    add("QGemm of columns", "QGemm", [u8(3, 4), scalar(0.02), z8(120), i8(5, 4), np.arange(1, 6, dtype=np.float32) / 64, i8(5), whole(np.int32, -900, 900, 5)], consts=(1, 2, 3, 4, 5, 6), transB=1, alpha=0.5)
    for b, zero in ((u8(4, 5), z8(120)), (i8(4, 5), zi(3)), (u8(4, 5), None)):
        add(f"dynamic matmul {b.dtype} {zero}", "DynamicQuantizeMatMul", [real(2, 3, 4), b, scalar(0.02), zero, real(5)], consts=(1, 2, 4) + ((3,) if zero is not None else ()))
    add("dynamic matmul of columns", "DynamicQuantizeMatMul", [real(3, 4), i8(4, 5), np.arange(1, 6, dtype=np.float32) / 64, i8(5)], consts=(1, 2, 3))
    add("integer matmul", "MatMulIntegerToFloat", [u8(2, 3, 4), i8(4, 5), scalar(0.02), scalar(0.03), z8(120), zi(4), real(5)])
    add("integer matmul of columns", "MatMulIntegerToFloat", [u8(3, 4), u8(4, 5), scalar(0.02), np.arange(1, 6, dtype=np.float32) / 64, z8(120), u8(5)])
    add("integer matmul without zeros", "MatMulIntegerToFloat", [i8(3, 4), i8(4, 5), scalar(0.02), scalar(0.03)])


def means():
    u8, i8 = whole(np.uint8, 0, 255, 2, 3, 5), whole(np.int8, -128, 127, 2, 3, 5)
    for x, zero, dtype in ((u8, 120, np.uint8), (i8, 7, np.int8)):
        for axes, keep in (((1,), 1), ((-1, 0), 0), (None, 0)):
            q = np.mean((x.astype(np.float64) - zero) * np.float32(0.02), axis=axes, keepdims=bool(keep)) / np.float32(0.01) + zero // 2
            info = np.iinfo(dtype)
            expect = np.asarray(np.clip(np.round(q), info.min, info.max)).astype(dtype)
            attrs = {"keepdims": keep} | ({} if axes is None else {"axes": list(axes)})
            add(f"QLinearReduceMean {dtype.__name__} {axes}", "QLinearReduceMean", [x, scalar(0.02), scalar(zero, dtype), scalar(0.01), scalar(zero // 2, dtype)], consts=(1, 2, 3, 4), steps=1, expect=expect, **attrs)


def sinks():
    of = lambda heads: [None, None, None, None, real(heads)]  # behind what turns, and a bias
    gqa("sinks", 5, 0, [5, 4], extra=of(4))
    gqa("sinks token", 1, 6, [7, 5], extra=of(4))
    gqa("smooth", 5, 0, [5], smooth_softmax=1)
    gqa("smooth window token", 1, 6, [7, 7], smooth_softmax=1, local_window_size=3)


def recurrent():
    """One step has no state that ONNX Runtime would quantise; of several, the difference is what that does."""
    u8 = lambda *dims: whole(np.uint8, 0, 255, *dims)
    i8 = lambda *dims: whole(np.int8, -127, 127, *dims)
    per = lambda n: np.array([n / 1024, n / 512], np.float32)
    z8 = lambda *values: np.array(values, np.uint8)
    weights = (1, 2, 8, 9, 10, 11)
    add("dynamic lstm, one step", "DynamicQuantizeLSTM", [real(1, 2, 6), i8(1, 6, 20), i8(1, 5, 20), real(1, 40), None, None, None, None, per(3)[:1], np.zeros(1, np.int8), per(2)[:1], np.zeros(1, np.int8)],
        3, consts=weights, hidden_size=5)
    add("dynamic lstm of bytes", "DynamicQuantizeLSTM", [real(1, 2, 6), u8(2, 6, 20), u8(2, 5, 20), real(2, 40), None, None, None, real(2, 15), per(2), z8(120, 130), per(3), z8(128, 125)],
        3, consts=weights, direction="bidirectional", hidden_size=5)
    add("dynamic lstm, many steps", "DynamicQuantizeLSTM", [real(7, 2, 6), i8(2, 6, 20), i8(2, 5, 20), real(2, 40), i32(7, 4), None, None, None, per(2), np.zeros(2, np.int8), per(1), np.zeros(2, np.int8)],
        3, consts=weights, within=0.01, direction="bidirectional", hidden_size=5)
    column = lambda: np.tile(np.arange(1, 21, dtype=np.float32) / 8192, (1, 1))
    add("dynamic lstm of columns", "DynamicQuantizeLSTM", [real(1, 3, 6), i8(1, 6, 20), i8(1, 5, 20), None, None, None, None, None, column(), np.zeros((1, 20), np.int8), column(), np.zeros((1, 20), np.int8)],
        3, consts=weights, hidden_size=5)


def groups():
    """Products whose weights' rows have their groups in g_idx, in the order of the groups, and in none."""
    k, n, size = 40, 5, 16
    data, scales = whole(np.uint8, 0, 255, n, 3, 8), real(n, 3)
    for name, g in [("in order", np.arange(k) // size), ("in none", rng.permutation(np.arange(k) // size))]:
        add(f"matmul 4 bits groups {name}", "MatMulNBits", [real(2, 3, k), data, scales, None, g.astype(np.int32)], consts=(1, 2, 4), K=k, N=n, block_size=size, bits=4)
    past = [real(2, 1, 3, 8), real(2, 1, 3, 8)]
    add("group query, nothing turned", "GroupQueryAttention", [real(2, 1, 16), real(2, 1, 8), real(2, 1, 8), *past, i32(3, 3), i32(4)], 3,
        num_heads=2, kv_num_heads=1, do_rotary=0, rotary_interleaved=0)


for family in [norms, activations, products, attentions, group_queries, rotations, quantised, states, images, tables, means, recurrent, sinks, groups]:
    family()
for i, c in enumerate(cases):
    sys.stdout.write(("[\n" if i == 0 else ",\n") + json.dumps(c, separators=(",", ":")))
sys.stdout.write("\n]\n")
