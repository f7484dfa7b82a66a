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

print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
