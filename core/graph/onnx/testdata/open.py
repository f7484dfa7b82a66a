"""Writes open.json: models with open axes whose shapes are computed in ways that others are not, and what ONNX Runtime computes.

Run: python3 open.py > open.json   (needs onnx and onnxruntime)
"""

import base64
import json
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node
cases = []


def floats(*values):
    return np.array(values, np.float32)


def ints(*values):
    return np.array(values, np.int64)


def case(name, nodes, consts, shapes, opset=18):
    """Adds a model of x [batch,1,height,width] and y, and its results at the given shapes of x, whose elements are 0.5, 1, ..."""
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 1, "height", "width"])],
        [helper.make_empty_tensor_value_info("y")], [numpy_helper.from_array(v, k) for k, v in consts.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9).SerializeToString()
    session = onnxruntime.InferenceSession(model)
    runs = []
    for shape in shapes:
        x = (np.arange(1, 1 + np.prod(shape)) / 2).astype(np.float32).reshape(shape)
        runs.append({"inputs": {"x": tensor(x)}, "outputs": {"y": tensor(session.run(None, {"x": x})[0])}})
    cases.append({"name": name, "model": base64.b64encode(model).decode(), "runs": runs})


def tensor(x):
    return {"type": "f32", "dims": list(x.shape), "data": [float(f"{v:.7g}") for v in x.ravel()]}


image = [node("Shape", ["x"], ["image"], start=2), node("Shape", ["x"], ["outer"], end=2)]
real = image + [node("Cast", ["image"], ["real"], to=TensorProto.FLOAT)]
resize = [node("Cast", ["want"], ["sizes"], to=TensorProto.INT64), node("Concat", ["outer", "sizes"], ["all"], axis=0)]
linear = node("Resize", ["x", "", "", "all"], ["y"], mode="linear")
by_scales = [node("Div", ["wanted", "real"], ["ratio"]), node("Concat", ["one", "ratio"], ["scales"], axis=0)]
some = [[1, 1, 5, 7], [2, 1, 8, 3]]

case("pads to multiples, of what is negative", image + [
    node("Neg", ["image"], ["minus"]), node("Mod", ["minus", "m"], ["end"]), node("Concat", ["zero", "end"], ["pads"], axis=0),
    node("Pad", ["x", "pads", "", "axes"], ["y"], mode="reflect")], {"m": ints(4), "zero": ints(0, 0), "axes": ints(2, 3)}, some)
case("pads to multiples, of what is left", image + [
    node("Mod", ["image", "m"], ["rest"]), node("Sub", ["m", "rest"], ["less"]), node("Mod", ["less", "m"], ["end"]),
    node("Concat", ["zero", "end"], ["pads"], axis=0), node("Pad", ["x", "pads"], ["y"])], {"m": ints(4), "zero": ints(0, 0, 1, 0, 0, 0)}, some)
case("pads by C's remainder", image + [
    node("Mod", ["image", "m"], ["end"], fmod=1), node("Concat", ["zero", "end"], ["pads"], axis=0),
    node("Pad", ["x", "pads", "value"], ["y"])], {"m": ints(3), "zero": ints(0, 0, 1, 0, 0, 0), "value": np.array(2.5, np.float32)}, some)
case("pads by half of what may be missing or too much", image + [
    node("Sub", ["size", "image"], ["more"]), node("Div", ["more", "two"], ["begin"]), node("Sub", ["more", "begin"], ["end"]),
    node("Concat", ["zero", "begin", "zero", "end"], ["pads"], axis=0), node("Pad", ["x", "pads"], ["y"])],
    {"size": ints(6, 4), "two": ints(2), "zero": ints(0, 0)}, some)
case("the square of a side", [
    node("Shape", ["x"], ["height"], start=2, end=3), node("Pow", ["height", "two"], ["places"]),
    node("Concat", ["one", "places"], ["shape"], axis=0), node("Reshape", ["x", "shape"], ["y"])],
    {"two": ints(2), "one": ints(-1)}, [[1, 1, 5, 5], [2, 1, 3, 3]])
case("sizes by a half more", real + [node("Mul", ["real", "c"], ["want"])] + resize + [linear], {"c": floats(1.5)}, some)
case("sizes by scales that are rounded", real + [node("Mul", ["real", "c"], ["m"]), node("Floor", ["m"], ["want"])] + resize + [linear], {"c": floats(0.7, 1.3)}, [[1, 1, 10, 5], [2, 1, 8, 3]])
case("the sizes of a detector", real + [
    node("ReduceMin", ["real"], ["least"], keepdims=0), node("ReduceMax", ["real"], ["most"], keepdims=0),
    node("Div", ["short", "least"], ["a"]), node("Div", ["long", "most"], ["b"]), node("Min", ["a", "b"], ["scale"]),
    node("Mul", ["real", "scale"], ["m"]), node("Floor", ["m"], ["want"])] + resize + [linear],
    {"short": np.array(8, np.float32), "long": np.array(13, np.float32)}, [[1, 1, 5, 7], [1, 1, 4, 12], [2, 1, 9, 3]])
case("scales that are whole", real + [node("Mul", ["real", "two"], ["wanted"])] + by_scales + [
    node("Resize", ["x", "", "scales"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")],
    {"two": floats(2), "one": floats(1, 1)}, some)
case("scales to sizes", real + by_scales + [node("Resize", ["x", "", "scales"], ["y"], mode="linear")], {"wanted": floats(4, 8), "one": floats(1, 1)}, some)
case("scales of an Upsample", [
    node("Shape", ["x"], ["shape"]), node("Slice", ["shape"], ["image"], starts=[2], ends=[4]), node("Cast", ["image"], ["real"], to=TensorProto.FLOAT),
    node("Mul", ["real", "two"], ["wanted"])] + by_scales + [node("Upsample", ["x", "scales"], ["y"], mode="nearest")],
    {"two": floats(2, 3), "one": floats(1, 1)}, some, opset=9)
case("a scale that is no fraction", [node("Resize", ["x", "", "scales"], ["y"], mode="linear")], {"scales": floats(1, 1, 0.3, 1.7)}, some)
case("cropped and padded", [node("CenterCropPad", ["x", "sizes"], ["y"], axes=[-2, -1])], {"sizes": ints(6, 4)}, some)
case("cropped and padded to a square", image + [
    node("ReduceMax", ["image"], ["side"], keepdims=1), node("Concat", ["side", "side"], ["square"], axis=0),
    node("CenterCropPad", ["x", "square"], ["y"], axes=[2, 3])], {}, some)

case("parts of open sizes", image + [
    node("ReduceProd", ["image"], ["places"], keepdims=1), node("Mul", ["places", "three"], ["more"]), node("Concat", ["places", "more"], ["sizes"], axis=0),
    node("Concat", ["x", "x", "x", "x"], ["four"], axis=1), node("Reshape", ["four", "rows"], ["row"]),
    node("Split", ["row", "sizes"], ["part", "rest"], axis=-1), node("Reshape", ["rest", "like"], ["r"]), node("Mul", ["part", "two"], ["p"]),
    node("Concat", ["p", "rest"], ["y"], axis=-1)],
    {"three": ints(3), "rows": ints(0, -1), "like": ints(0, 3, -1), "two": floats(2)}, some)

case("places by what is not zero", [
    node("Shape", ["x"], ["shape"], start=2), node("ReduceProd", ["shape"], ["size"], keepdims=1),
    node("ConstantOfShape", ["size"], ["ones"], value=numpy_helper.from_array(ints(1))), node("NonZero", ["ones"], ["row"]),
    node("Squeeze", ["row", "first"], ["places"]), node("Reshape", ["x", "rows"], ["flat"]), node("Gather", ["flat", "places"], ["y"], axis=1)],
    {"first": ints(0), "rows": ints(0, -1)}, some)

def loop(nodes, carried, results):
    """A Loop over rows whose body has the nodes: carried are the sequence's names before, after and outside, results the outputs."""
    info, sequence = helper.make_tensor_value_info, helper.make_tensor_sequence_value_info
    body = helper.make_graph([node("Identity", ["go"], ["goes"])] + nodes, "body",
                             [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), sequence("s", TensorProto.FLOAT, None)] + carried,
                             [info("goes", TensorProto.BOOL, []), sequence("t", TensorProto.FLOAT, None)] + results)
    return body


row, last = helper.make_tensor_value_info("row", TensorProto.FLOAT, None), helper.make_tensor_value_info("last", TensorProto.FLOAT, None)
rows = [node("Shape", ["x"], ["height"], start=2, end=3), node("Squeeze", ["height"], ["times"]), node("SequenceEmpty", [], ["none"])]
case("a sequence that a loop appends to", rows + [
    node("ReduceSum", ["x", "two"], ["first"], keepdims=0),
    node("Loop", ["times", "", "none", "first"], ["list", "end"], body=loop(
        [node("Gather", ["x", "i"], ["at"], axis=2), node("Sub", ["at", "row"], ["last"]), node("SequenceInsert", ["s", "last"], ["u"]), node("Identity", ["u"], ["t"])], [row], [last])),
    node("ConcatFromSequence", ["list"], ["new"], axis=-2, new_axis=1), node("ConcatFromSequence", ["list"], ["joined"], axis=1),
    node("Flatten", ["new"], ["a"]), node("Flatten", ["joined"], ["b"]), node("Flatten", ["end"], ["c"]), node("Concat", ["a", "b", "c"], ["y"], axis=1)], {"two": ints(2)}, some)
case("a sequence of the parts of an open axis", rows + [
    node("SplitToSequence", ["x"], ["parts"], axis=2, keepdims=0), node("SequenceLength", ["parts"], ["length"]),
    node("Loop", ["length", "", "none"], ["list"], body=loop(
        [node("Sub", ["length", "i"], ["left"]), node("Sub", ["left", "one"], ["back"]), node("SequenceAt", ["parts", "back"], ["at"]), node("SequenceInsert", ["s", "at"], ["t"])], [], [])),
    node("ConcatFromSequence", ["list"], ["y"], axis=2, new_axis=1)], {"one": np.array(1, np.int64)}, some)
case("parts of one that keep their axis", [
    node("SplitToSequence", ["x", "one"], ["parts"], axis=3), node("SequenceAt", ["parts", "at"], ["part"]), node("ConcatFromSequence", ["parts"], ["whole"], axis=3),
    node("Sub", ["whole", "part"], ["y"])], {"one": np.array(1, np.int64), "at": np.array(-1, np.int64)}, some)

case("an unbind of PyTorch", [
    node("SplitToSequence", ["x", "one"], ["parts"], axis=2, keepdims=0), node("ConcatFromSequence", ["parts"], ["all"], axis=3, new_axis=1),
    node("SplitToSequence", ["x", "one"], ["batches"], axis=1, keepdims=0), node("SequenceAt", ["batches", "at"], ["plain"]), node("Unsqueeze", ["plain", "one"], ["back"]),
    node("Transpose", ["all"], ["turned"], perm=[0, 1, 3, 2]), node("Add", ["turned", "back"], ["y"])], {"one": np.array(1, np.int64), "at": np.array(0, np.int64)}, some)

case("as far as what a pooling leaves goes, and all of that", image + [
    node("AveragePool", ["x"], ["less"], kernel_shape=[2, 3], strides=[2, 3]), node("Shape", ["less"], ["shape"]), node("Gather", ["shape", "places"], ["extents"]),
    node("Slice", ["x", "zeros", "extents", "places"], ["part"]), node("Slice", ["less", "zeros", "extents", "places"], ["all"]), node("Sub", ["part", "all"], ["y"])],
    {"places": ints(2, 3), "zeros": ints(0, 0)}, [[1, 1, 5, 7], [2, 1, 8, 3]])
for axis in -1, 0, 2:
    case(f"one of as many as there are columns, along axis {axis}", image + [
        node("Gather", ["image", "last"], ["columns"]), node("Add", ["columns", "last"], ["depth"]), node("Sub", ["x", "c"], ["less"]),
        node("Cast", ["less"], ["index"], to=TensorProto.INT64), node("OneHot", ["index", "depth", "values"], ["y"], axis=axis)],
        {"last": np.array(1, np.int64), "c": floats(9), "values": floats(-1, 2)}, some)
case("expanded to what a pooling leaves, of which none is -1", image + [
    node("AveragePool", ["x"], ["less"], kernel_shape=[2, 3], strides=[2, 3]), node("Shape", ["less"], ["shape"]), node("Gather", ["shape", "places"], ["extents"]),
    node("Shape", ["extents"], ["rank"]), node("ConstantOfShape", ["rank"], ["ones"], value=numpy_helper.from_array(ints(1))), node("Mul", ["ones", "minus"], ["other"]),
    node("Equal", ["extents", "other"], ["same"]), node("Where", ["same", "ones", "extents"], ["to"]), node("Expand", ["row", "to"], ["rows"]), node("Add", ["less", "rows"], ["y"])],
    {"places": ints(2, 3), "minus": np.array(-1, np.int64), "row": floats(0.25)}, [[1, 1, 5, 7], [2, 1, 8, 3]])

print("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "]")
