"""Writes older.json: nodes of operator sets 1 to 6, and what ONNX Runtime computes for the nodes of today that say the same, which
are written down here by ONNX's Changelog.md. Where ONNX's own version converter knows the operator, its model must agree.

Run: python3 older.py > older.json   (needs onnx and onnxruntime)
"""

import json
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper, version_converter

rng = np.random.default_rng(6)
cases = []
onnxruntime.set_default_logger_severity(4)


def real(*dims, dtype=np.float32):
    return np.asarray(rng.integers(-16, 17, dims) / 8).astype(dtype)


def ints(*values):
    return np.array(values, np.int64)


def model(op, inputs, consts, attrs, opset, outputs):
    names = [f"x{i}" for i in range(len(inputs))]
    outs = [f"y{i}" for i in range(outputs)]
    kind = lambda x: helper.np_dtype_to_tensor_dtype(x.dtype)
    info = {n: helper.make_tensor_value_info(n, kind(x), x.shape) for n, x in zip(names, inputs)}
    graph = helper.make_graph(
        [helper.make_node(op, names, outs, **attrs)], "g",
        [info[n] for i, n in enumerate(names) if i not in consts or opset < 7],
        [helper.make_empty_tensor_value_info(o) for o in outs],
        [numpy_helper.from_array(inputs[i], names[i]) for i in consts])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=3 if opset < 7 else 8)


def run(m, inputs, consts):
    m = onnx.shape_inference.infer_shapes(m)
    session = onnxruntime.InferenceSession(m.SerializeToString())
    return session.run(None, {f"x{i}": x for i, x in enumerate(inputs) if i not in consts})


def tensor(x):
    names = {"float32": "f32", "float64": "f64", "bool": "bool", "int32": "i32", "int64": "i64"}
    data = [float(f"{v:.9g}") if x.dtype.kind == "f" else int(v) for v in x.ravel()]
    return {"type": names[x.dtype.name], "dims": list(x.shape), "data": data}


def add(name, op, inputs, opset, attrs={}, consts=(), outputs=1, today=None, now=None, set=8, converter=True):
    """Adds a node of an old set; today and now are the inputs and attributes that say the same in a newer set."""
    today, now = inputs if today is None else today, {} if now is None else now
    want = run(model(op, today, range(1, len(today)), now, set, outputs), today, range(1, len(today)))
    try:
        if not converter:
            raise ValueError("it keeps defaults that changed")
        info = model(op, inputs, consts, attrs, opset, outputs)
        for out, y in zip(info.graph.output, want):
            out.CopyFrom(helper.make_tensor_value_info(out.name, helper.np_dtype_to_tensor_dtype(y.dtype), y.shape))
        converted = run(version_converter.convert_version(info, 8), inputs, consts)
    except Exception as e:
        print(f"{name}: the converter does not tell: {str(e).splitlines()[0][:90]}", file=sys.stderr)
    else:
        for a, b in zip(converted, want):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    cases.append({
        "name": name, "op": op, "opset": opset, "attrs": attrs, "consts": list(consts),
        "inputs": [tensor(x) for x in inputs], "outputs": [tensor(y) for y in want]})


a, b = real(2, 3, 4, 5), real(3, 4)
for op in ("Add", "Sub", "Mul"):
    add(f"{op} at an axis", op, [a, b], 6, dict(broadcast=1, axis=1), today=[a, b[:, :, None]])
add("Div of the last axes", "Div", [a, real(4, 5) + 9], 1, dict(broadcast=1, consumed_inputs=[0, 0]))
c = real(3)
add("Add of a constant at an axis", "Add", [a, c], 6, dict(broadcast=1, axis=1), consts=[1], today=[a, c[:, None, None]])
add("Mul at an axis from behind", "Mul", [a, c], 6, dict(broadcast=1, axis=-3), today=[a, c[:, None, None]])
add("Add of one element", "Add", [a, real(1)], 6, dict(broadcast=1))
add("Add of equal shapes", "Add", [a, real(2, 3, 4, 5)], 1)
add("Add of f64", "Add", [real(2, 3, dtype=np.float64), real(3, dtype=np.float64)], 6, dict(broadcast=1))
add("Pow at an axis", "Pow", [np.abs(a) + 1, c], 1, dict(broadcast=1, axis=1), today=[np.abs(a) + 1, c[:, None, None]])
add("Greater at an axis", "Greater", [a, c], 1, dict(broadcast=1, axis=1), today=[a, c[:, None, None]])
add("Less", "Less", [a, real(4, 5)], 1, dict(broadcast=1))
p, q = real(2, 3, 2) > 0, real(3) > 0
for op in ("And", "Or", "Xor"):
    add(f"{op} at an axis", op, [p, q], 1, dict(broadcast=1, axis=1), today=[p, q[:, None]])
i, j = rng.integers(0, 2, (2, 3, 2)), rng.integers(0, 2, 3)
add("Equal at an axis", "Equal", [i, j], 1, dict(broadcast=1, axis=1), today=[i, j[:, None]])

s = real(3)
for opset in (1, 6):
    add(f"PRelu by channels {opset}", "PRelu", [a, s], opset, dict(consumed_inputs=[0, 0]) if opset == 1 else {}, today=[a, s[:, None, None]])
add("PRelu by one slope", "PRelu", [a, real(1)], 6)

for name, opset, attrs in (("1", 1, dict(is_test=1, consumed_inputs=[0, 0, 0, 1, 1])), ("6", 6, dict(is_test=1, spatial=1, momentum=0.5))):
    add(f"BatchNormalization {name}", "BatchNormalization", [a, real(3), real(3), real(3), real(3) ** 2 + 1], opset, dict(epsilon=1e-3, **attrs), now=dict(epsilon=1e-3))
add("BatchNormalization of elements", "BatchNormalization", [a] + [real(3, 4, 5) for _ in range(3)] + [real(3, 4, 5) ** 2 + 1], 6, dict(is_test=1, spatial=0), now=dict(spatial=0))
add("BatchNormalization of elements 7", "BatchNormalization", [a] + [real(3, 4, 5) for _ in range(3)] + [real(3, 4, 5) ** 2 + 1], 7, dict(spatial=0, epsilon=0.5), now=dict(spatial=0, epsilon=0.5))

for to, number in (("INT32", 6), ("DOUBLE", 11), ("float", 1), ("BOOL", 9)):
    add(f"Cast to {to}", "Cast", [a], 1, dict(to=to), now=dict(to=number))
add("Concat of channels", "Concat", [real(1, 2, 3), real(1, 1, 3)], 1, now=dict(axis=1))
add("Dropout", "Dropout", [a], 6, dict(is_test=1, ratio=0.5))
add("Dropout 1", "Dropout", [a], 1, dict(consumed_inputs=[0]))
add("Gemm", "Gemm", [real(2, 3), real(3, 4), real(4)], 6, dict(broadcast=1, alpha=0.5, beta=2.0), now=dict(alpha=0.5, beta=2.0))
add("Pad", "Pad", [real(2, 3)], 1, dict(paddings=[0, 1, 1, 2], value=0.5, mode="constant"), now=dict(pads=[0, 1, 1, 2], value=0.5))
add("Pad 2", "Pad", [real(2, 3)], 2, dict(pads=[0, 1, 1, 2], mode="reflect"), now=dict(pads=[0, 1, 1, 2], mode="reflect"))
add("Reshape", "Reshape", [a], 1, dict(shape=[0, -1, 5], consumed_inputs=[0]), today=[a, ints(0, -1, 5)])
add("Selu", "Selu", [a], 1, now=dict(alpha=1.6732, gamma=1.0507), converter=False)
add("Selu 6", "Selu", [a], 6)
x = real(2, 5)
add("Split by an input", "Split", [x, ints(2, 3)], 1, dict(axis=1), consts=[1], outputs=2, today=[x], now=dict(axis=1, split=[2, 3]))
add("Split 2", "Split", [x], 2, dict(axis=1, split=[1, 4]), outputs=2, now=dict(axis=1, split=[1, 4]))
add("Tile", "Tile", [x, ints(3)[0], ints(1)[0]], 1, consts=[1, 2], today=[x, ints(1, 3)])
add("Tile 6", "Tile", [x, ints(2, 3)], 6, consts=[1])
u = real(1, 2, 3, 4)
add("Upsample", "Upsample", [u], 1, dict(height_scale=2.0, width_scale=3.0, mode="nearest"), now=dict(scales=[1.0, 1.0, 2.0, 3.0], mode="nearest"))
add("Clip", "Clip", [a], 1, dict(min=-0.5, max=1.0, consumed_inputs=[0]), now=dict(min=-0.5, max=1.0))
add("Elu", "Elu", [a], 1, dict(alpha=2.0, consumed_inputs=[0]), now=dict(alpha=2.0))
add("Sum", "Sum", [b, real(3, 4), real(3, 4)], 1, dict(consumed_inputs=[0, 0, 0]))
add("Slice", "Slice", [a], 1, dict(starts=[0, -3], ends=[2, 9], axes=[1, 3]), now=dict(starts=[0, -3], ends=[2, 9], axes=[1, 3]))
add("Squeeze", "Squeeze", [real(1, 3, 1)], 1, dict(axes=[0, 2]), now=dict(axes=[0, 2]))
add("AveragePool", "AveragePool", [a], 1, dict(kernel_shape=[2, 2], pads=[1, 1, 0, 0]), now=dict(kernel_shape=[2, 2], pads=[1, 1, 0, 0]))
add("Softmax", "Softmax", [a], 1, dict(axis=2), now=dict(axis=2))
add("TopK", "TopK", [x], 1, dict(k=2, axis=1), outputs=2, now=dict(k=2, axis=1))
add("ReduceMean", "ReduceMean", [a], 1, dict(axes=[1, 2], keepdims=0), now=dict(axes=[1, 2], keepdims=0))
for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
    add(op, op, [real(3, 2, 4), real(1, 2 * gates, 4), real(1, 2 * gates, 2)], 1, dict(hidden_size=2, output_sequence=1), consts=[1, 2], outputs=2, now=dict(hidden_size=2))

x = real(1, 3, 4, 5)
for op, attrs in (("Affine", dict(alpha=2.0, beta=0.5)), ("Affine", {}), ("Scale", dict(scale=2.0)), ("ImageScaler", dict(scale=2.0, bias=[1.0, 2.0, -3.0])),
                  ("ParametricSoftplus", dict(alpha=2.0, beta=0.5)), ("ScaledTanh", dict(alpha=2.0, beta=0.5)), ("Crop", dict(border=[1, 0, 2, 1])), ("Crop", dict(border=[1, 2, 0, 0], scale=[2, 3]))):
    add(f"{op} on trial {len(attrs)}", op, [x], 6, attrs, now=attrs, set=6, converter=False)  # ONNX Runtime has kept these

print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
