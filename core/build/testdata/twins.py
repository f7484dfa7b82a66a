"""Writes the models of TestQOperatorTwins into the folder twins: one network as ONNX Runtime's quantiser writes it in its format
QOperator, with integers of u8 and i8 and weights by channel, and in QDQ; an input, and what ONNX Runtime computes of the former.

Run: python3 twins.py   (needs onnx and onnxruntime)
"""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

rng = np.random.default_rng(2)
here = pathlib.Path(__file__).parent / "twins"
here.mkdir(exist_ok=True)
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


def weights(name, *dims):
    return numpy_helper.from_array((rng.normal(size=dims) / np.sqrt(np.prod(dims[1:]))).astype(np.float32), name)


nodes, constants = [], []


def conv(name, x, m, c, k, **attrs):
    constants.extend([weights(name + "_w", m, c // attrs.get("group", 1), k, k), weights(name + "_b", m, 1)])
    constants[-1] = numpy_helper.from_array(numpy_helper.to_array(constants[-1]).reshape(m), name + "_b")
    nodes.append(helper.make_node("Conv", [x, name + "_w", name + "_b"], [name], name, pads=[k // 2] * 4, **attrs))
    return name


def op(kind, name, *inputs, **attrs):
    nodes.append(helper.make_node(kind, list(inputs), [name], name, **attrs))
    return name


x = op("Relu", "relu0", conv("conv0", "x", 8, 3, 3))
y = op("LeakyRelu", "leaky", conv("depthwise", x, 8, 8, 3, group=8), alpha=0.1)
z = op("Add", "sum", conv("conv1", y, 8, 8, 1), x)
z = op("MaxPool", "max", z, kernel_shape=[2, 2], strides=[2, 2])
z = op("Concat", "both", z, op("AveragePool", "mean", x, kernel_shape=[2, 2], strides=[2, 2]), axis=1)
g = op("Sigmoid", "gate", conv("conv2", z, 16, 16, 1))
z = op("Flatten", "flat", op("GlobalAveragePool", "pool", op("Mul", "gated", z, g)))
constants.extend([weights("fc_w", 10, 16), numpy_helper.from_array(rng.normal(size=10).astype(np.float32), "fc_b")])
op("Gemm", "y", z, "fc_w", "fc_b", transB=1)
graph = helper.make_graph(nodes, "twin", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])], constants)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), here / "real.onnx")


class Data(CalibrationDataReader):
    def __init__(self, items):
        self.items = iter(items)

    def get_next(self):
        return next(self.items, None)


items = [{"x": rng.normal(size=(1, 3, 8, 8)).astype(np.float32)} for _ in range(16)]
for name, activations, by_channel in (("u8", QuantType.QUInt8, True), ("i8", QuantType.QInt8, False)):
    for form, fmt in (("qoperator", QuantFormat.QOperator), ("qdq", QuantFormat.QDQ)):
        quantize_static(here / "real.onnx", here / f"{form}_{name}.onnx", Data(items), quant_format=fmt,
                        activation_type=activations, weight_type=QuantType.QInt8, per_channel=by_channel)
    session = onnxruntime.InferenceSession(here / f"qoperator_{name}.onnx", options)
    (y,) = session.run(None, items[0])
    (here / f"output_{name}.pb").write_bytes(numpy_helper.from_array(y, "y").SerializeToString())
(here / "input.pb").write_bytes(numpy_helper.from_array(items[0]["x"], "x").SerializeToString())
(here / "real.onnx").unlink()
