"""Writes unsupported.onnx: two operators of a domain that nobody knows in the midst of convolutions; python3 unsupported.py"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(1)


def weights(name, *shape):
    return numpy_helper.from_array(rng.integers(-2, 3, shape).astype(np.float32), name)


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


nodes = [
    helper.make_node("Conv", ["x", "w1"], ["c1"], "conv1"),
    helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
    helper.make_node("Sift", ["r1"], ["s1", "n1"], "sift1", domain="com.example", depth=3, mode="fine"),
    helper.make_node("Conv", ["s1", "w2"], ["c2"], "conv2"),
    helper.make_node("Sift", ["c2"], ["s2", "n2"], "sift2", domain="com.example"),
    helper.make_node("Weave", ["s2", "r1"], ["w"], "weave", domain="com.example"),
    helper.make_node("Relu", ["w"], ["y"], "relu2"),
]
graph = helper.make_graph(
    nodes, "unsupported", [value("x", "n", 3, "h", "w")], [value("y", "n", 2, "h2", "w2")],
    [weights("w1", 2, 3, 3, 3), weights("w2", 2, 2, 1, 1)], value_info=[value("w", "n", 2, "h2", "w2")])
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), "unsupported.onnx")
