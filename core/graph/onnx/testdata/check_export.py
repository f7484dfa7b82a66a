"""Reads the models that TestExportByOthers wrote: ONNX's checker must pass on all of them, and what ONNX Runtime has kernels
for must compute what Eval does. Run as: python check_export.py DIR"""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

checked = run = 0
wrong, without = [], {}
onnxruntime.set_default_logger_severity(4)


def tensors(at, suffix):
    out = {}
    for f in at.glob("*" + suffix):
        t = onnx.TensorProto.FromString(f.read_bytes())
        out[t.name] = numpy_helper.to_array(t)
    return out


# Layers whose results ONNX leaves open: a conversion of what does not fit, powers that overflow. Of text that is to be an integer
# ONNX Runtime reads the digits that it begins with, 1 of "1e2".
UNSPECIFIED = ("cast_f", "integers_pow", "power_", "strings_to_i", "strings_to_u")


def unsigned(model):
    """The same products by unsigned weights, which ONNX Runtime adds exactly: where there is AVX2 and no VNNI it adds two products
    of unsigned and signed bytes in 16 bits, which they may not fit."""
    constants = {i.name: i for i in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type != "DynamicQuantizeMatMul" or constants[node.input[1]].data_type != onnx.TensorProto.INT8:
            continue
        w = numpy_helper.to_array(constants[node.input[1]])
        zero = np.zeros(numpy_helper.to_array(constants[node.input[2]]).shape, np.int8)
        if len(node.input) > 3 and node.input[3]:
            zero = numpy_helper.to_array(constants[node.input[3]])
        node.input.extend([""] * (4 - len(node.input)))
        for at, v in ((1, w), (3, zero)):
            node.input[at] = f"unsigned_{at}_of_{node.output[0]}"
            model.graph.initializer.append(numpy_helper.from_array((v.astype(np.int32) + 128).astype(np.uint8), node.input[at]))
    return model


def refused(e):
    """ONNX Runtime has a kernel for fewer types, shapes and attributes than ONNX allows."""
    text = str(e)
    kind = "no kernel" if "NOT_IMPLEMENTED" in text else text.split("Status Message: ")[-1].split("\n")[0][:90]
    without[kind] = without.get(kind, 0) + 1


for at in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    model = onnx.load(at / "model.onnx")
    try:
        onnx.checker.check_model(model, full_check=True)
        checked += 1
    except Exception as e:
        wrong.append(f"{at.name}: checker: {e}")
        continue
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(unsigned(model).SerializeToString(), options)
    except Exception as e:
        refused(e)
        continue
    try:
        feeds = {k: v for k, v in tensors(at, ".in.pb").items() if k in {i.name for i in session.get_inputs()}}
        got = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
    except Exception as e:
        refused(e)
        continue
    run += 1
    if at.name.startswith(UNSPECIFIED):
        continue
    for name, want in tensors(at, ".out.pb").items():
        g = got[name]
        if str(want.dtype).startswith("float8"):
            g, want = g.view(np.uint8), want.view(np.uint8)
        if g.shape != want.shape or g.dtype != want.dtype:
            wrong.append(f"{at.name}: {name} is {g.dtype}{list(g.shape)}, Eval gives {want.dtype}{list(want.shape)}")
        elif want.dtype.kind == "f":
            tolerance = 1e-2 if want.dtype == np.float16 else 1e-3
            if not np.allclose(g, want, tolerance, tolerance, equal_nan=True):
                wrong.append(f"{at.name}: {name} differs by {np.nanmax(np.abs(g.astype(float) - want.astype(float)))}")
        elif want.dtype.kind in "iub" and np.abs(g.astype(int) - want.astype(int)).max(initial=0) > 1:
            wrong.append(f"{at.name}: {name} differs")

print(f"the checker passes on {checked} models, ONNX Runtime computes {run} of them; it refuses others: {without}")
for w in wrong:
    print(w[:300].replace("\n", " "))
sys.exit(bool(wrong))
