"""Writes ops.json: small cases of ONNX operators, with what onnx.reference computes for them.

    python3 ops.py > ops.json        (onnx 1.23, numpy 2)
"""

import json
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(7)
cases = []
TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "int8": "i8", "uint8": "u8", "int16": "i16",
         "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64", "bool": "bool"}


def encode(x):
    x = np.asarray(x)
    data = []
    for v in x.reshape(-1):
        v = float(str(v)) if x.dtype.kind == "f" else v if isinstance(v, str) else v.item()
        if isinstance(v, float) and not np.isfinite(v):
            v = "nan" if np.isnan(v) else "inf" if v > 0 else "-inf"
        data.append(int(v) if isinstance(v, bool) else v)
    return {"type": TYPES.get(str(x.dtype), "str"), "dims": list(x.shape), "data": data}


def case(op, *inputs, version=21, const=(), outputs=1, expect=None, **attrs):
    """Adds a case; const names the inputs that are constants, expect replaces what the reference computes."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    outs = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, outs, **attrs)
    if expect is None:
        graph = helper.make_graph(
            [node], "g",
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in zip(names, inputs) if n],
            [helper.make_tensor_value_info(o, TensorProto.UNDEFINED, None) for o in outs])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
        with np.errstate(all="ignore"):
            expect = ReferenceEvaluator(model).run(None, {n: x for n, x in zip(names, inputs) if n})
    json_attrs = {}
    for a in node.attribute:
        v = helper.get_attribute_value(a)
        if isinstance(v, TensorProto):
            v = encode(numpy_helper.to_array(v))
        elif isinstance(v, bytes):
            v = v.decode()
        elif a.type == 8:
            v = [s.decode() for s in v]
        json_attrs[a.name] = {"kind": a.type, "value": v}
    cases.append({
        "op": op, "version": version, "attrs": json_attrs,
        "inputs": [None if x is None else dict(encode(x), const=i in const) for i, x in enumerate(inputs)],
        "outputs": [encode(y) for y in expect]})


def f32(*dims):
    return rng.standard_normal(dims).astype(np.float32)


def ints(dtype, *dims, low=None, high=None):
    info = np.iinfo(dtype)
    return rng.integers(info.min if low is None else low, info.max if high is None else high, dims, dtype=dtype, endpoint=True)


def i64(*values):
    return np.array(values, dtype=np.int64)


def elementwise():
    special = np.array([0.0, -0.0, 1, -1, 0.5, 2.5, -2.5, 3.7, -100, 1e-30, np.inf, -np.inf, np.nan], np.float32)
    for op in ["Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "IsNaN", "IsInf", "Relu"]:
        case(op, special)
    for op in ["Acos", "Asin", "Atan", "Atanh", "Cos", "Sin", "Tan", "Sinh", "Cosh", "Tanh", "Asinh", "Exp", "Erf", "Sigmoid", "Softplus",
               "Softsign", "HardSwish", "Mish", "Gelu", "Elu", "Selu", "Celu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu"]:
        case(op, (f32(3, 5) * 0.6).clip(-0.99, 0.99))
    case("Acosh", np.abs(f32(4)) + 1)
    for op in ["Sqrt", "Log", "Reciprocal"]:
        case(op, np.abs(f32(2, 3)) + 0.1)
        case(op, (np.abs(f32(2, 3)) + 0.1).astype(np.float64))
    case("IsInf", special, detect_positive=0)
    case("IsInf", special, detect_negative=0)
    case("Gelu", f32(7), approximate="tanh")
    case("Celu", f32(9), alpha=2.5)
    for alpha in [-0.5, -3.0, 1e-30]:
        case("Celu", np.array([-100, -3, -0.5, -1e-4, -0.0, 0, 1, 50, np.inf, -np.inf, np.nan], np.float32), alpha=alpha)
    case("Elu", f32(9), alpha=0.7)
    case("ThresholdedRelu", f32(9), alpha=0.3)
    case("Shrink", f32(9), lambd=0.4, bias=0.2)
    case("Swish", f32(9), version=24)
    case("Swish", f32(9), version=24, alpha=1.7)
    case("PRelu", f32(2, 3, 4), f32(3, 1))
    for op in ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"]:
        case(op, np.abs(f32(2, 1, 3)) + 0.1, f32(4, 1))
        case(op, (np.abs(f32(2, 3)) + 0.1).astype(np.float16), f32(3).astype(np.float16))
        case(op, (np.abs(f32(2, 3)) + 0.1).astype(np.float64), f32(3).astype(np.float64))
    for op in ["Add", "Sub", "Mul", "Max", "Min"]:
        for t in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]:
            case(op, ints(t, 2, 5), ints(t, 5))
    for t in ["int8", "int32", "int64"]:
        case("Neg", ints(t, 6))
        case("Abs", ints(t, 6))
        case("Sign", ints(t, 6))
        x, y = ints(t, 8), np.array([1, 2, 3, 5, -1, -2, -7, 100], t)
        case("Div", x, y, expect=[(np.sign(x.astype(object)) * np.sign(y.astype(object)) * (abs(x.astype(object)) // abs(y.astype(object)))).astype(t)])
        case("Mod", x, y)
        case("Mod", x, y, fmod=1)
        case("Pow", ints(t, 4, low=-3, high=3), np.array([0, 1, 2, 3], t))
    case("Div", ints("uint8", 6), np.array([1, 2, 3, 50, 200, 255], np.uint8))
    case("Mod", ints("uint64", 6), np.array([1, 2, 3, 50, 200, 2**63 + 5], np.uint64))
    case("Mod", f32(6), f32(6), fmod=1)
    case("Pow", f32(4), ints("int64", 4, low=0, high=3))
    case("Pow", ints("int32", 4, low=1, high=9), np.array([0.5, 1, 2, 1.5], np.float32))
    for op in ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]:
        case(op, ints("int64", 3, 4, low=-1, high=1), ints("int64", 4, low=-1, high=1))
        case(op, np.array([1, np.nan, 2], np.float32), np.array([1, np.nan, 3], np.float32))
        case(op, np.array([2**64 - 1, 0, 5], np.uint64), np.array([1, 2**63, 5], np.uint64))
    for op in ["And", "Or", "Xor"]:
        case(op, f32(2, 3) > 0, f32(3) > 0)
    case("Equal", f32(6) > 0, f32(6) > 0)
    case("Not", f32(4) > 0)
    for t in ["float32", "float16", "float64", "int8", "int64", "uint64", "bool"]:
        case("Where", f32(2, 1) > 0, f32(2, 3).astype(t), f32(3).astype(t))
    for op in ["Max", "Min", "Sum", "Mean"]:
        case(op, f32(2, 3))
        case(op, f32(2, 3), f32(3), f32(2, 1))
    case("Clip", f32(9), np.float32(-0.5), np.float32(0.5), const=(1, 2))
    case("Clip", f32(9), np.float32(-0.5), np.float32(0.5))
    case("Clip", f32(9), None, np.float32(0.2), const=(2,))
    case("Clip", f32(9), np.float32(0), const=(1,))
    case("Clip", f32(9), np.float32(0.5), np.float32(-0.5), const=(1, 2))
    case("Clip", f32(9), np.float32(-np.inf), np.float32(0.3), const=(1, 2))
    case("Clip", f32(9), version=6, min=0.0, max=0.6)
    case("Clip", ints("int8", 9), np.int8(-5), np.int8(100), const=(1, 2))
    case("Clip", ints("int64", 9), np.int64(-2**60 - 1), np.int64(2**60 + 1), const=(1, 2))
    case("Add", np.zeros((0, 3), np.float32), f32(3))
    case("BitShift", ints("uint8", 5), np.array([0, 1, 2, 7, 8], np.uint8), direction="LEFT", expect=None)
    case("BitShift", ints("uint32", 5), np.array([0, 1, 2, 7, 31], np.uint32), direction="RIGHT")
    for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
        case(op, ints("int32", 2, 3), ints("int32", 3))
    case("BitwiseNot", ints("uint16", 4))


def casts():
    x = np.array([0, -0.5, 0.5, 1.9, -1.9, 100.4, 7], np.float32)
    for to in [TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL]:
        case("Cast", x, to=to)
        case("Cast", x.astype(np.float16), to=to)
        case("Cast", x.astype(np.float64), to=to)
    for to in [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT16,
               TensorProto.UINT32, TensorProto.UINT64, TensorProto.BOOL]:
        case("Cast", ints("int64", 6, low=-1000, high=1000), to=to)
    case("Cast", ints("uint64", 4), to=TensorProto.DOUBLE)
    case("Cast", np.array([2049.5, 1e-8, 65519.9, 70000], np.float64), to=TensorProto.FLOAT16)
    case("CastLike", x, ints("int32", 1))


def shapes():
    x = f32(2, 3, 4)
    case("Identity", x)
    case("Dropout", x)
    case("Reshape", x, i64(4, -1), const=(1,))
    case("Reshape", x, i64(0, 0, 2, 2), const=(1,))
    case("Reshape", f32(0, 3), i64(3, 0), const=(1,), allowzero=1)
    case("Reshape", x.astype(np.float16), i64(-1), const=(1,))
    for axis in [0, 1, 2, 3, -1]:
        case("Flatten", x, axis=axis)
    case("Squeeze", f32(1, 3, 1, 2), i64(0, 2), const=(1,))
    case("Squeeze", f32(1, 3, 1), i64(-1), const=(1,))
    case("Squeeze", f32(1, 3, 1))
    case("Squeeze", f32(1, 3, 1), version=11, axes=[0])
    case("Unsqueeze", x, i64(0, -1), const=(1,))
    case("Unsqueeze", x, i64(3, 1), const=(1,))
    case("Unsqueeze", x, version=11, axes=[2])
    case("Transpose", x)
    case("Transpose", x, perm=[1, 2, 0])
    case("Transpose", ints("int8", 2, 3, 1, 2), perm=[3, 0, 2, 1])
    case("Transpose", np.float32(3))
    case("Concat", x, f32(2, 1, 4), f32(2, 2, 4), axis=1)
    case("Concat", x, x, axis=-1)
    case("Concat", ints("int64", 3), ints("int64", 0), ints("int64", 2), axis=0)
    case("Split", f32(2, 7), axis=1, num_outputs=3, outputs=3)
    case("Split", f32(2, 6), i64(1, 0, 5), axis=-1, outputs=3, const=(1,))
    case("Split", f32(4), outputs=2, version=13)
    for starts, ends, axes, steps in [
            ([1], [3], [2], [1]), ([0, -3], [2, -1], [0, 2], [1, 1]), ([-1], [-100], [1], [-1]), ([10], [20], [1], [1]),
            ([-1, 3], [-5, 0], [1, 2], [-2, -1]), ([0], [2**63 - 1], [2], [3]), ([2**63 - 1], [-2**63], [2], [-1]), ([-100], [2], [-1], [1])]:
        case("Slice", x, i64(*starts), i64(*ends), i64(*axes), i64(*steps), const=(1, 2, 3, 4))
    case("Slice", x, i64(0, 1), i64(1, 2), const=(1, 2))
    case("Slice", x, version=9, starts=[1], ends=[-1], axes=[2])
    case("Expand", f32(3, 1), i64(2, 1, 4), const=(1,))
    case("Expand", f32(3, 1), i64(1), const=(1,))
    case("Expand", np.float32(2), i64(2, 0), const=(1,))
    case("Tile", x, i64(1, 2, 3), const=(1,))
    case("Tile", x, i64(1, 0, 1), const=(1,))
    for start, end in [(0, 3), (1, 2), (-2, 100), (2, 1), (-1, 3)]:
        case("Shape", x, start=start, end=end)
    case("Size", x)
    case("ConstantOfShape", i64(2, 3), const=(0,))
    case("ConstantOfShape", i64(), const=(0,), value=helper.make_tensor("v", TensorProto.INT32, [1], [-7]))
    case("ConstantOfShape", i64(2, 0), const=(0,), value=helper.make_tensor("v", TensorProto.BOOL, [1], [True]))
    case("Range", np.int64(3), np.int64(-8), np.int64(-3), const=(0, 1, 2))
    case("Range", np.float32(0), np.float32(1), np.float32(0.3), const=(0, 1, 2))
    case("Range", np.int32(5), np.int32(5), np.int32(1), const=(0, 1, 2))
    case("EyeLike", f32(3, 4), k=1)
    case("EyeLike", f32(4, 2), k=-1, dtype=TensorProto.INT64)
    case("DepthToSpace", f32(2, 8, 2, 3), blocksize=2)
    case("DepthToSpace", f32(2, 8, 2, 3), blocksize=2, mode="CRD")
    case("SpaceToDepth", f32(2, 3, 4, 6), blocksize=2)
    for upper in [0, 1]:
        for k in [-5, -1, 0, 2]:
            case("Trilu", f32(2, 3, 4), np.int64(k), const=(1,), upper=upper)
    case("Trilu", f32(3, 3), np.int64(1))


def pads():
    x = f32(2, 3, 4)
    case("Pad", x, i64(0, 1, 2, 0, 0, 1), np.float32(1.5), const=(1, 2))
    case("Pad", x, i64(0, 1, 2, 0, 0, 1), const=(1,))
    case("Pad", x, i64(0, -1, 2, 0, 0, -2), const=(1,), expect=[np.pad(x[:, 1:, :-2], ((0, 0), (0, 0), (2, 0)))])
    case("Pad", x, i64(1, 2), None, i64(-1), const=(1, 3))
    case("Pad", x, i64(0, 0, 1, 0, 0, 0), np.float32(-np.inf), const=(1, 2))
    case("Pad", ints("int64", 2, 2), i64(1, 0, 0, 1), np.int64(2**60 + 1), const=(1, 2))
    case("Pad", x, i64(0, 2, 3, 0, 1, 2), const=(1,), mode="reflect")
    case("Pad", x, i64(0, 4, 1, 0, 5, 2), const=(1,), mode="edge")
    case("Pad", x, i64(0, 2, 3, 0, 1, 4), const=(1,), mode="wrap")
    case("Pad", x, version=2, pads=[0, 1, 0, 0, 0, 2], value=0.5, mode="constant", expect=[np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=0.5)])


def gathers():
    x = f32(3, 4, 2)
    case("Gather", x, ints("int64", 2, 2, low=-3, high=2))
    case("Gather", x, ints("int32", 3, low=-4, high=3), axis=1)
    case("Gather", x, np.int64(1), axis=-1)
    case("Gather", x, np.zeros((0,), np.int64), axis=1)
    case("Gather", ints("int64", 5), np.int64(-1), const=(0, 1))
    case("GatherElements", x, ints("int64", 3, 2, 2, low=-4, high=3), axis=1)
    case("GatherElements", f32(3, 3), ints("int32", 2, 3, low=0, high=2))
    case("GatherND", x, ints("int64", 5, 2, low=0, high=2))
    case("GatherND", x, ints("int64", 3, 1, low=-4, high=3), batch_dims=1)
    case("GatherND", x, i64(2, 3, 1).reshape(1, 3))
    case("ScatterElements", x, ints("int64", 1, 4, 2, low=-3, high=2), f32(1, 4, 2))
    for reduction in ["add", "mul", "max", "min"]:
        case("ScatterElements", f32(2, 5), i64(1, 1, 3).reshape(1, 3), f32(1, 3), axis=1, reduction=reduction)
        case("ScatterND", ints("int32", 4, low=-9, high=9), i64(1, 3, 1).reshape(3, 1), ints("int32", 3, low=-9, high=9), reduction=reduction)
    case("ScatterND", x, i64(2, 0).reshape(2, 1), f32(2, 4, 2))
    case("OneHot", i64(0, 2, -1, 9), np.int64(4), np.array([0, 1], np.float32), const=(1,),
         expect=[np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], np.float32)])
    case("OneHot", i64(0, 2, 1).reshape(3, 1), np.int64(3), np.array([5, 7], np.int32), const=(1, 2), axis=1)


def reductions():
    x = f32(2, 3, 4)
    for op in ["L1", "L2", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]:
        case("Reduce" + op, x, i64(1), const=(1,))
        case("Reduce" + op, x, i64(0, -1), const=(1,), keepdims=0)
        case("Reduce" + op, x)
        case("Reduce" + op, x.astype(np.float16), i64(2), const=(1,), expect=None)
        if op not in ("LogSumExp", "SumSquare"):
            case("Reduce" + op, ints("int32", 2, 3, low=-9, high=9), i64(1), const=(1,))
    x32 = ints("int32", 2, 3, low=-9, high=9)
    case("ReduceSumSquare", x32, i64(1), const=(1,), expect=[(x32 * x32).sum(axis=1, keepdims=True, dtype=np.int32)])
    case("ReduceLogSum", np.abs(x), i64(1), const=(1,))
    case("ReduceSum", x, noop_with_empty_axes=1)
    case("ReduceSum", x, version=11, axes=[1], keepdims=0)
    case("ReduceMean", x.astype(np.float64), version=11, axes=[-1])
    case("ReduceSum", ints("int8", 2, 5), i64(1), const=(1,))
    case("ReduceSum", np.zeros((2, 0, 3), np.float32), i64(1), const=(1,))
    case("ReduceMax", np.zeros((2, 0), np.float32), i64(1), const=(1,), expect=[np.full((2, 1), -np.inf, np.float32)])
    case("ReduceMax", f32(2, 3) > 0, i64(1), const=(1,))
    case("ReduceMin", f32(2, 3) > 0, i64(1), const=(1,))
    case("ReduceMax", np.array([[1, np.nan, 3]], np.float32), i64(1), const=(1,))
    ties = np.array([[2, 1, 2, 0], [0, 0, -1, -1]], np.float32)
    for op in ["ArgMax", "ArgMin"]:
        for last in [0, 1]:
            case(op, ties, axis=1, select_last_index=last)
            case(op, ties, axis=0, keepdims=0, select_last_index=last)
    for largest in [0, 1]:
        case("TopK", f32(3, 5), i64(2), const=(1,), largest=largest, outputs=2)
        case("TopK", ints("int64", 4, 3, 2, low=-2, high=2), i64(3), const=(1,), axis=0, largest=largest, outputs=2)
    for exclusive in [0, 1]:
        for reverse in [0, 1]:
            case("CumSum", f32(3, 4), np.int64(1), const=(1,), exclusive=exclusive, reverse=reverse)
    case("CumSum", ints("int32", 3, 2), np.int32(-2))


def quantisation():
    x = f32(2, 3, 4) * 3
    case("QuantizeLinear", x, np.float32(0.05), np.int8(3), const=(1, 2))
    case("QuantizeLinear", x, np.float32(0.02), np.uint8(128), const=(1, 2))
    case("QuantizeLinear", x, np.float32(0.02), const=(1,))
    case("QuantizeLinear", x, np.float32(0.02), np.int8(-7))
    case("QuantizeLinear", x, np.array([0.1, 0.02, 0.5], np.float32), np.array([0, 5, -9], np.int8), const=(1, 2), axis=1)
    case("QuantizeLinear", x, np.array([0.1, 0.02, 0.5], np.float32), np.array([0, 5, -9], np.int8), axis=-2)
    case("QuantizeLinear", np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1000, -1000], np.float32), np.float32(1), np.int8(0), const=(1, 2))
    case("QuantizeLinear", x, np.float32(0.001), np.uint16(30000), const=(1, 2))
    case("DequantizeLinear", ints("int8", 2, 3, 4), np.float32(0.05), np.int8(3), const=(1, 2))
    case("DequantizeLinear", ints("uint8", 2, 3), np.float32(0.05), np.uint8(200))
    case("DequantizeLinear", ints("int8", 2, 3, 4), np.array([0.1, 0.02, 0.5], np.float32), const=(1,), axis=-2)
    case("DequantizeLinear", ints("int8", 2, 3, 4), np.array([0.1, 0.02, 0.5], np.float32), np.array([0, 5, -9], np.int8), axis=1)
    case("DequantizeLinear", ints("int32", 4, low=-100000, high=100000), np.float32(1e-4), const=(1,))
    case("DynamicQuantizeLinear", x, outputs=3)
    case("DynamicQuantizeLinear", np.abs(f32(5)) + 1, outputs=3)


def resizes():
    x = f32(1, 2, 4, 5)
    none = np.zeros((0,), np.float32)
    for mode in ["nearest", "linear", "cubic"]:
        for coordinates in ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]:
            case("Resize", x, none, np.array([1, 1, 1.6, 0.7], np.float32), const=(1, 2), mode=mode, coordinate_transformation_mode=coordinates)
        case("Resize", x, None, None, i64(1, 2, 7, 3), const=(3,), mode=mode)
    for rounding in ["floor", "ceil", "round_prefer_ceil"]:
        case("Resize", x, None, np.array([1, 1, 2, 3], np.float32), const=(2,), nearest_mode=rounding)
    for mode in ["linear", "cubic"]:
        case("Resize", x, None, np.array([1, 1, 0.5, 0.6], np.float32), const=(2,), mode=mode, antialias=1)
    case("Resize", x, None, np.array([1, 1, 2, 0.8], np.float32), const=(2,), mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
    case("Resize", x, None, None, i64(6, 6), const=(3,), axes=[3, 2], keep_aspect_ratio_policy="not_larger")
    case("Resize", x, np.array([0, 0, 0.2, -0.3, 1, 1, 0.9, 0.8], np.float32), None, i64(1, 2, 3, 4), const=(1, 3), mode="linear",
         coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.5)
    case("Upsample", x, np.array([1, 1, 2, 3], np.float32), const=(1,), version=9, expect=[x.repeat(2, axis=2).repeat(3, axis=3)])


def attentions():
    q, k, v = f32(2, 4, 3, 5), f32(2, 2, 6, 5), f32(2, 2, 6, 7)
    case("Attention", q, k, v, version=23)
    case("Attention", q, k, v, f32(3, 6), version=23, softcap=0.7, scale=0.3)
    case("Attention", q, k, v, f32(2, 1, 3, 4) < 0.5, version=23)
    case("Attention", q, k, v, np.array([[False] * 6, [True] * 6, [False, True] * 3]), version=23, is_causal=1)
    case("Attention", f32(2, 3, 20), f32(2, 6, 10), f32(2, 6, 14), version=23, q_num_heads=4, kv_num_heads=2, is_causal=1)
    for mode in range(4):
        case("Attention", q, k, v, f32(1, 4, 3, 8), f32(2, 2, 2, 5), f32(2, 2, 2, 7), outputs=4, version=23, is_causal=1, qk_matmul_output_mode=mode)
    case("Attention", q, k, v, None, None, None, i64(6, 4), version=24, is_causal=1)
    case("Attention", q, k, v, None, None, None, i64(2, 0), version=24, is_causal=1)
    case("Attention", q, f32(2, 4, 6, 5), f32(2, 4, 6, 5), version=25, left_window_size=1, right_window_size=2)


def rotations():
    cos, sin = np.cos(f32(2, 3, 4)), np.sin(f32(2, 3, 4))
    case("RotaryEmbedding", f32(2, 2, 3, 8), cos, sin, version=23)
    case("RotaryEmbedding", f32(2, 3, 16), cos, sin, version=23, num_heads=2)
    case("RotaryEmbedding", f32(2, 2, 3, 11), cos, sin, version=23, rotary_embedding_dim=8, interleaved=1)
    table = f32(7, 2)
    case("RotaryEmbedding", f32(2, 3, 10), table, f32(7, 2), i64([0, 1, 2], [4, 6, 5]), version=23, num_heads=2, rotary_embedding_dim=4)
    case("RotaryEmbedding", f32(2, 2, 3, 4), table, f32(7, 2), i64([3, 1, 1], [4, 6, 0]), version=23, interleaved=1)
    case("TensorScatter", f32(2, 3, 5, 2), f32(2, 3, 2, 2), i64(1, 3), version=24)
    case("TensorScatter", f32(2, 3, 5, 2), f32(2, 3, 2, 2), version=24)
    case("TensorScatter", ints(np.int8, 2, 4, 3), ints(np.int8, 2, 3, 3), i64(3, 2), version=24, axis=1, mode="circular")


def states():
    q, k, v = f32(2, 3, 16), f32(2, 3, 8), f32(2, 3, 6)
    past, decay, beta = f32(2, 2, 4, 3), -np.abs(f32(2, 3, 2)), np.abs(f32(2, 3, 2))
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    case("LinearAttention", q, k, v, version=27, update_rule="linear", outputs=2, **heads)
    case("LinearAttention", q, k, v, past, decay, version=27, update_rule="gated", scale=0.5, outputs=2, **heads)
    case("LinearAttention", q, k, v, None, None, beta, version=27, update_rule="delta", outputs=2, **heads)
    case("LinearAttention", q, k, v, past, -np.abs(f32(2, 3, 8)), beta[..., :1], version=27, outputs=2, **heads)


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def turned(x, lengths):
    """x [T,B,...] with the first places of each item in reverse order."""
    y = x.copy()
    for b, n in enumerate(lengths):
        y[:n, b] = x[:n, b][::-1]
    return y


def recurrence(op, x, w, r, b, lengths, state, cell=None, peep=None, f=None, g=np.tanh, h=np.tanh, clip=None, coupled=False, after=False):
    """One direction of a recurrent operator by its definition, in float64: what onnx.reference leaves out. x [T,B,I], w [G*H,I]."""
    x, w, r, b, state = (np.asarray(v, np.float64) for v in (x, w, r, b, state))
    size, n, bound = r.shape[1], len(x), (lambda v: v) if clip is None else (lambda v: v.clip(-clip, clip))
    wb, rb = np.split(b, 2)
    f = f or (np.tanh if op == "RNN" else sigmoid)
    p = np.zeros(3 * size) if peep is None else np.asarray(peep, np.float64)
    c, y = np.zeros_like(state) if cell is None else np.asarray(cell, np.float64), np.zeros((n,) + state.shape)
    for t in range(n):
        xs, rs = x[t] @ w.T + wb, state @ r.T + rb
        if op == "RNN":
            s = f(bound(xs + rs))
        elif op == "GRU":
            z, k = (f(bound((xs + rs)[:, i * size:(i + 1) * size])) for i in (0, 1))
            if after:
                s = g(bound(xs[:, 2 * size:] + k * rs[:, 2 * size:]))
            else:
                s = g(bound(xs[:, 2 * size:] + (k * state) @ r[2 * size:].T + rb[2 * size:]))
            s = (1 - z) * s + z * state
        else:
            i, o, k, z = np.split(xs + rs, 4, -1)
            i = f(bound(i + p[:size] * c))
            k = 1 - i if coupled else f(bound(k + p[2 * size:] * c))
            new = k * c + i * g(bound(z))
            s = f(bound(o + p[size:2 * size] * new)) * h(new)
            c = np.where((t < lengths)[:, None], new, c)
        live = (t < lengths)[:, None]
        state, y[t] = np.where(live, s, state), np.where(live, s, 0)
    empty = (lengths == 0)[:, None]
    return y, np.where(empty, 0, state), np.where(empty, 0, c)


def both(op, x, w, r, b, lengths, state, cell=None, peep=None, layout=0, directions=("forward", "reverse"), **kw):
    """What a recurrent operator gives for each of its directions, joined."""
    parts = []
    for d, name in enumerate(directions):
        back = name == "reverse"
        one = {k: v[d] if isinstance(v, tuple) else v for k, v in kw.items()}
        y, s, c = recurrence(op, turned(x, lengths) if back else x, w[d], r[d], b[d], lengths, state[d],
                             None if cell is None else cell[d], None if peep is None else peep[d], **one)
        parts.append((turned(y, lengths) if back else y, s, c))
    y, s, c = np.stack([p[0] for p in parts], 1), np.stack([p[1] for p in parts]), np.stack([p[2] for p in parts])
    if layout:
        y, s, c = y.transpose(2, 0, 1, 3), s.transpose(1, 0, 2), c.transpose(1, 0, 2)
    return [v.astype(np.float32) for v in (y, s, c)[:3 if op == "LSTM" else 2]]


def recurrences():
    steps, batch, size, hidden = 5, 3, 4, 3
    for op, gates in [("LSTM", 4), ("GRU", 3), ("RNN", 1)]:
        w, r, b = f32(2, gates * hidden, size), f32(2, gates * hidden, hidden), f32(2, 2 * gates * hidden)
        x, state, cell, peep = f32(steps, batch, size), f32(2, batch, hidden), f32(2, batch, hidden), f32(2, 3 * hidden)
        lengths, outputs = np.array([5, 2, 0], np.int32), 3 if op == "LSTM" else 2
        more = (cell, peep) if op == "LSTM" else ()
        weights, full = (1, 2, 3), np.full(batch, steps)
        case(op, x, w[:1], r[:1], hidden_size=hidden, outputs=outputs, version=7, const=(1, 2))
        case(op, x, w[:1], r[:1], b[:1], None, state[:1], outputs=1, const=weights)
        case(op, x.swapaxes(0, 1), w[:1], r[:1], b[:1], None, state[:1].swapaxes(0, 1), hidden_size=hidden, layout=1, outputs=outputs, const=weights)
        case(op, x, w[:1], r[:1], b[:1], lengths, state[:1], *[v[:1] for v in more], direction="reverse", hidden_size=hidden, outputs=outputs, const=weights,
             expect=both(op, x, w, r, b, lengths, state, *more, directions=("reverse",)))
        case(op, x.swapaxes(0, 1), w, r, b, lengths, state.swapaxes(0, 1), *([cell.swapaxes(0, 1), peep] if more else []), direction="bidirectional",
             hidden_size=hidden, layout=1, outputs=outputs, version=22, expect=both(op, x, w, r, b, lengths, state, *more, layout=1))
        case(op, x, w[:1], r[:1], b[:1], None, state[:1], *[v[:1] for v in more], hidden_size=hidden, clip=0.4, outputs=outputs, const=weights,
             expect=both(op, x, w, r, b, full, state, *more, directions=("forward",), clip=0.4))
    relu, affine = (lambda v: np.maximum(v, 0)), (lambda a, b: lambda v: a * v + b)
    leaky, scaled = (lambda a: lambda v: np.where(v < 0, a * v, v)), (lambda a, b: lambda v: a * np.tanh(b * v))
    hard, elu = (lambda a, b: lambda v: (a * v + b).clip(0, 1)), (lambda a: lambda v: np.where(v < 0, a * np.expm1(v), v))
    soft, plus, above = (lambda v: v / (1 + np.abs(v))), (lambda v: np.log1p(np.exp(v))), (lambda a: lambda v: np.where(v > a, v, 0))
    for name, f, alpha, beta in [("Relu", relu, [], []), ("Affine", affine(0.5, 0.1), [0.5], [0.1]), ("LeakyRelu", leaky(0.01), [], []),
                                 ("LeakyRelu", leaky(0.3), [0.3], []), ("ScaledTanh", scaled(0.7, 0.4), [0.7], [0.4]), ("HardSigmoid", hard(0.2, 0.5), [], []),
                                 ("HardSigmoid", hard(0.3, 0.4), [0.3], [0.4]), ("Elu", elu(1), [], []), ("Elu", elu(0.6), [0.6], []), ("Softsign", soft, [], []),
                                 ("Softplus", plus, [], []), ("ThresholdedRelu", above(0.2), [0.2], []), ("sigmoid", sigmoid, [], [])]:
        x, w, r, b = f32(3, 2, 2), f32(1, 2, 2), f32(1, 2, 2) * 0.3, f32(1, 4)
        attrs = {k: v for k, v in [("activation_alpha", alpha), ("activation_beta", beta)] if v}
        case("RNN", x, w, r, b, activations=[name], const=(1, 2, 3), outputs=2,
             expect=both("RNN", x, w, r, b, np.array([3, 3]), np.zeros((1, 2, 2)), directions=("forward",), f=f), **attrs)
    x, w, r, b, state, lengths = f32(4, 2, 3), f32(2, 12, 3), f32(2, 12, 3), f32(2, 24), np.zeros((2, 2, 3)), np.array([4, 3], np.int32)
    case("LSTM", x, w, r, b, lengths, direction="bidirectional", const=(1, 2, 3), outputs=3, input_forget=1,
         activations=["HardSigmoid", "Affine", "LeakyRelu", "Sigmoid", "Softsign", "Elu"], activation_alpha=[0.25, 0.5, 0.1, 0.8], activation_beta=[0.5, 0.2],
         expect=both("LSTM", x, w, r, b, lengths, state, f=(hard(0.25, 0.5), sigmoid), g=(affine(0.5, 0.2), soft), h=(leaky(0.1), elu(0.8)), coupled=True))
    w, r, b = f32(2, 9, 3), f32(2, 9, 3), f32(2, 18)
    case("GRU", x, w, r, b, lengths, direction="bidirectional", const=(1, 2, 3), outputs=2, linear_before_reset=1, hidden_size=3,
         activations=["Sigmoid", "Relu", "HardSigmoid", "Tanh"], expect=both("GRU", x, w, r, b, lengths, state, f=(sigmoid, hard(0.2, 0.5)), g=(relu, np.tanh), after=True))
    x, w, r = f32(2, 1, 2).astype(np.float64), f32(1, 8, 2).astype(np.float64), f32(1, 8, 2).astype(np.float64)
    case("LSTM", x, w, r, hidden_size=2, outputs=3)


def signals():
    case("ReverseSequence", f32(4, 3, 2), i64(4, 2, 0))
    case("ReverseSequence", ints("int8", 3, 5), i64(1, 5, 3), batch_axis=0, time_axis=1, const=(1,))
    for n in [1, 6, 8, 35]:
        x, z = f32(2, n, 1), f32(2, n, 2)
        case("DFT", x, None, np.int64(1), version=20, const=(2,))
        case("DFT", z, None, np.int64(-2), version=20, const=(2,))
        case("DFT", z, inverse=1, version=20)
        case("DFT", x, onesided=1, version=17)
    case("DFT", f32(2, 5, 3, 2), np.int64(7), np.int64(1), version=20, const=(1, 2))
    case("DFT", f32(2, 5, 3, 1), np.int64(4), np.int64(1), version=20, const=(1, 2), onesided=1)
    case("DFT", f32(3, 2, 6, 2), version=17, axis=2, inverse=1)
    case("DFT", f32(2, 5, 2), None, np.int64(1), version=20, const=(2,), inverse=1, onesided=1)
    case("DFT", f32(2, 5, 2), np.int64(9), np.int64(1), version=20, const=(1, 2), inverse=1, onesided=1)
    case("DFT", f32(2, 5, 2), np.int64(12), np.int64(1), version=20, const=(1, 2), inverse=1, onesided=1)
    case("DFT", f32(2, 5, 2).astype(np.float64), version=20)
    window = np.hanning(8).astype(np.float32)
    case("STFT", f32(2, 29, 1), np.int64(3), window, const=(1, 2))
    case("STFT", f32(1, 16, 1), np.int64(4), None, np.int64(6), const=(1, 3))
    case("STFT", f32(2, 20, 1), np.int64(5), window, np.int64(8), const=(1, 2, 3), onesided=0)
    case("STFT", f32(2, 20, 2), np.int64(6), window, const=(1,), onesided=0)
    for name in ["HannWindow", "HammingWindow", "BlackmanWindow"]:
        for periodic in [0, 1]:
            case(name, np.int64(10), const=(0,), periodic=periodic, version=17)
        case(name, np.int32(7), const=(0,), output_datatype=TensorProto.DOUBLE, version=17)
    for bands, length, rate, low, high in [(8, 64, 8000, 0, 4000), (12, 33, 16000, 125.5, 7600), (3, 16, 8000, 300, 900)]:
        case("MelWeightMatrix", np.int64(bands), np.int64(length), np.int64(rate), np.float32(low), np.float32(high), const=(0, 1, 2, 3, 4), version=17)


def samples():
    case("Det", f32(2, 3, 3))
    case("Det", f32(4, 4))
    grid = (f32(1, 3, 2, 2) * 0.6).astype(np.float32)
    for mode in ["nearest", "linear", "cubic"]:
        case("GridSample", f32(1, 2, 4, 5), grid, version=20, mode=mode)
    case("GridSample", f32(1, 1, 3, 3), grid, version=20, padding_mode="reflection", align_corners=1)
    regions = np.array([[0, 0, 3, 3], [1.5, 0.25, 4, 2.5], [-1, 2, 6, 7]], np.float32)
    case("RoiAlign", f32(2, 2, 5, 6), regions, i64(0, 1, 1), output_height=2, output_width=3, sampling_ratio=2)
    case("RoiAlign", f32(2, 2, 5, 6), regions, i64(0, 1, 1), output_height=2, output_width=1, mode="max", sampling_ratio=1, coordinate_transformation_mode="output_half_pixel")
    x = f32(1, 1, 4, 5)
    case("MaxRoiPool", x, np.array([[0, 1, 0, 3, 2]], np.float32), version=11, expect=[np.array([[[[x[0, 0, :2, 1:3].max(), x[0, 0, :2, 2:4].max()], [x[0, 0, 1:3, 1:3].max(), x[0, 0, 1:3, 2:4].max()]]]])], pooled_shape=[2, 2])
    case("MaxUnpool", f32(1, 2, 2, 2), np.array([[[[1, 3], [8, 10]], [[16, 19], [29, 30]]]]), version=11, kernel_shape=[2, 2], strides=[2, 2])
    case("MaxUnpool", f32(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]]), i64(1, 1, 5, 5), version=11, const=(2,), kernel_shape=[2, 2], strides=[2, 2])
    case("Col2Im", f32(1, 6, 6), i64(3, 4), i64(2, 3), const=(1, 2), pads=[0, 0, 0, 1])
    case("NonZero", np.array([[0, 1, 0], [2, 0, -1]], np.int32), const=(0,))
    some = ints(np.int32, 4, 3, low=0, high=2)
    case("Unique", some, const=(0,), outputs=4)
    case("Unique", some, const=(0,), outputs=4, axis=0)
    case("Unique", np.array([3, 1, 2, 1, 3], np.float32), const=(0,), outputs=4, sorted=0)
    boxes = np.abs(f32(1, 6, 4))
    case("NonMaxSuppression", boxes, f32(1, 2, 6), i64(3), np.array([0.3], np.float32), const=(0, 1, 2, 3))
    case("NonMaxSuppression", boxes, f32(1, 2, 6), i64(3), np.array([0.3], np.float32), np.array([0.1], np.float32), const=(0, 1, 2, 3, 4), center_point_box=1)


def bits():
    for x, to in ((f32(2, 3), TensorProto.INT32), (np.array([-1, 5, 1 << 40], np.int64), TensorProto.DOUBLE), (np.array([-1, 127, 0], np.int8), TensorProto.UINT8),
                  (np.array([0x3C00, 0xC000, 1], np.uint16), TensorProto.FLOAT16)):
        case("BitCast", x, version=26, to=to)


def doubles():
    """What no float32 gives: sums of 1 and numbers of 1e-12, and results to 15 digits."""
    f64 = lambda *dims: 1 + rng.standard_normal(dims) * 1e-9
    case("MatMul", f64(2, 3, 5), f64(5, 4))
    case("MatMul", f64(5), f64(5))
    case("Gemm", f64(3, 5), f64(4, 5), f64(4), transB=1, alpha=0.5, beta=2.0)
    case("Conv", f64(1, 2, 5, 5), f64(4, 1, 3, 3), f64(4), const=(1, 2), group=2, pads=[1, 0, 1, 0], strides=[2, 1])
    case("ConvTranspose", f64(1, 2, 3, 3), f64(2, 2, 2, 2), f64(2), const=(1, 2), strides=[2, 2])
    case("AveragePool", f64(1, 2, 4, 4), kernel_shape=[3, 2], pads=[1, 0, 0, 1])
    case("GlobalAveragePool", f64(2, 3, 4))
    case("Softmax", f64(3, 5), axis=1)
    case("LogSoftmax", f64(3, 5), axis=0)
    case("Hardmax", f64(3, 5), axis=1)
    x, scale, bias, mean, var = f64(2, 3, 4), f64(3), f64(3), f64(3), f64(3)
    case("BatchNormalization", x, scale, bias, mean, var, epsilon=0.5)
    column = lambda v: v[None, :, None]
    moments = lambda v, axes: (v.mean(axes, keepdims=True), v.var(axes, keepdims=True))
    half = np.float64(np.float32(0.5))
    m, v = moments(x, (2,))
    case("InstanceNormalization", x, scale, bias, epsilon=0.5, expect=[(x - m) / np.sqrt(v + half) * column(scale) + column(bias)])
    m, v = moments(x, (1, 2))
    case("GroupNormalization", x, scale, bias, num_groups=1, epsilon=0.5, expect=[(x - m) / np.sqrt(v + half) * column(scale) + column(bias)])
    w, b = f64(4), f64(4)
    m, v = moments(x, (2,))
    case("LayerNormalization", x, w, b, epsilon=0.5, expect=[(x - m) / np.sqrt(v + half) * w + b])
    case("RMSNormalization", x, w, version=23, epsilon=0.5, expect=[x / np.sqrt((x * x).mean(2, keepdims=True) + half) * w])
    case("LpNormalization", x, axis=1)


def since28():
    for t in ["int8", "int32", "int64"]:
        by = np.array([0, 1, 7, 8, 31, 63, 64, 100, -1, -9], t)
        bits = np.iinfo(t).bits
        for direction in ["LEFT", "RIGHT"]:
            x = ints(t, 10)
            want = [(int(a) << int(b) if direction == "LEFT" else int(a) >> int(b)) if 0 <= b < bits else (-1 if a < 0 and direction == "RIGHT" else 0)
                    for a, b in zip(x, by)]
            case("BitShift", x, by, version=28, direction=direction, expect=[np.array([w & (2**bits - 1) for w in want], "uint%d" % bits).view(t)])
    x = f32(2, 2, 4, 6)
    case("SpaceToDepth", x, version=28, blocksize=2, mode="CRD", expect=[x.reshape(2, 2, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 8, 2, 3)])


def vectors():
    tuples = dict(min_gram_length=1, max_gram_length=2, ngram_counts=[0, 3], pool_int64s=[2, 3, 8, 2, 3, 3, 7], ngram_indexes=[4, 3, 2, 1, 0], version=9)
    x = np.array([[2, 3, 5, 7, 2, 3, 8], [3, 7, 3, 3, 8, -1, 7]])
    case("TfIdfVectorizer", x, max_skip_count=1, mode="TF", **tuples)
    case("TfIdfVectorizer", x[0].astype(np.int32), max_skip_count=9, mode="TF", **(tuples | {"min_gram_length": 2}))


def strings():
    """Letters, numbers, white space; what numbers become is ONNX Runtime's."""
    text = lambda *list: np.array(list, object)
    x = text("", "a", "Ab", "one two", "12", "Ärger").reshape(2, 3)
    case("StringConcat", x, text("!", "", "ü"), version=20)
    case("StringConcat", x[:, :1], text("x", "y", "z", ""), version=20)
    for pattern in ["[a-z]*", "(one|two|one two)", ".", "[0-9]+|"]:
        case("RegexFullMatch", x, version=20, pattern=pattern)
    case("Equal", x, text("a", "Ab", "12"), version=19)
    case("Where", np.array([True, False, True]), x, text("p", "q", "r"), version=16, expect=[np.where([True, False, True], x, text("p", "q", "r"))])
    case("Gather", x, np.array([1, 1, 0]), axis=0)
    case("Concat", x, x, axis=1)
    case("Transpose", x, perm=[1, 0])
    case("Reshape", x, np.array([3, 2]), const=(1,))
    case("Slice", x, np.array([1]), np.array([3]), np.array([1]), const=(1, 2, 3))
    case("Expand", x[0], np.array([2, 3]), const=(1,))
    case("Tile", x, np.array([1, 2]), const=(1,))
    case("ScatterElements", x, np.array([[1], [0]]), text("s", "t").reshape(2, 1), axis=1)
    case("Unique", text("b", "a", "b", "", "Z"), const=(0,), outputs=4, sorted=1, expect=[text("", "Z", "a", "b"), np.array([3, 4, 1, 0]), np.array([3, 2, 3, 0, 1]), np.array([1, 1, 1, 2])])
    numbers = np.array([0, -0.0, 1.5, 1 / 3, 1e-5, 123456789, 1e7, np.nan, np.inf, -np.inf])
    case("Cast", numbers.astype(np.float32), to=TensorProto.STRING, expect=[text("0", "-0", "1.5", "0.33333334", "9.9999997e-06", "1.2345679e+08", "10000000", "NaN", "INF", "-INF")])
    case("Cast", numbers, to=TensorProto.STRING, expect=[text("0", "-0", "1.5", "0.33333333", "1e-05", "1.2345679e+08", "10000000", "NaN", "INF", "-INF")])
    case("Cast", np.array([1, -5], np.int8), to=TensorProto.STRING, expect=[text("1", "-5")])
    case("Cast", np.array([2**64 - 1], np.uint64), to=TensorProto.STRING, expect=[text("18446744073709551615")])
    case("Cast", np.array([True, False]), to=TensorProto.STRING, expect=[text("1", "0")])
    written = text("1", "-2.5", " 3 ", "1e2", "NaN", "-INF")
    case("Cast", written, to=TensorProto.FLOAT, expect=[np.array([1, -2.5, 3, 100, np.nan, -np.inf], np.float32)])
    case("Cast", written[:3], to=TensorProto.INT64, expect=[np.array([1, -2, 3])])
    tuples = dict(min_gram_length=1, max_gram_length=2, ngram_counts=[0, 2], pool_strings=["a", "b", "a", "b", "b", "b"], ngram_indexes=[2, 0, 1, 3], version=9, mode="TF")
    case("TfIdfVectorizer", text("a", "b", "c", "b", "b"), max_skip_count=0, expect=[np.array([3, 1, 1, 1], np.float32)], **tuples)


for group in [elementwise, casts, shapes, pads, gathers, reductions, quantisation, resizes, attentions, rotations, states, recurrences, signals, samples, bits, doubles, since28, vectors, strings]:
    group()
for i, c in enumerate(cases):
    sys.stdout.write(("[\n" if i == 0 else ",\n") + json.dumps(c))
sys.stdout.write("\n]\n")
