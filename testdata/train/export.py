"""Writes the trained network as ONNX, with its BatchNormalizations as nodes of their own.

    python export.py weights.pt [-o FILE]
"""

import argparse
from collections import Counter
from pathlib import Path

import onnx
import torch

from network import Classifier, DigitNet

OPSET = 17  # the newest in which the exporter spells GELU with Erf
MODEL = Path(__file__).resolve().parent.parent / "digits.onnx"
EXPECTED = {"BatchNormalization": 16, "Erf": 1, "Concat": 1, "Clip": 2, "Gemm": 1, "Softmax": 1, "Sigmoid": 1, "Identity": 0}


def export(net, path):
    """Exports net (in inference mode) and checks that the graph has the form that the tests rely on."""
    torch.onnx.export(
        Classifier(net).eval(),
        (torch.zeros(2, 1, 32, 32),),
        str(path),
        dynamo=False,
        opset_version=OPSET,
        training=torch.onnx.TrainingMode.PRESERVE,  # EVAL would fold BatchNorms into convolutions
        do_constant_folding=False,
        input_names=["image"],
        output_names=["probabilities"],
        dynamic_axes={"image": {0: "batch"}, "probabilities": {0: "batch"}},
    )
    model = onnx.load(path)
    copy_shared(model)
    rename(model)
    onnx.checker.check_model(model, full_check=True)
    check(model)
    onnx.save(model, path)
    return model


def copy_shared(model):
    """Gives a weight of its own to each Identity of a weight.

    The exporter merges equal weights: a residual block's two summed BatchNorms have the same gradient
    for their shifts, hence the same shifts.
    """
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    for node in [node for node in graph.node if node.op_type == "Identity" and node.input[0] in weights]:
        copy = graph.initializer.add()
        copy.CopyFrom(weights[node.input[0]])
        copy.name = node.output[0]
        graph.node.remove(node)


def rename(model):
    """Shortens torch's "/net/stem/conv/Conv" to "stem/conv/Conv", for nodes and their outputs alike."""
    graph = model.graph
    graph.name = "digits"
    keep = {value.name for value in [*graph.input, *graph.output]}

    def short(name):
        if name in keep or not name.startswith(("/", "net.", "onnx::")):
            return name
        return name.removeprefix("/").removeprefix("net/").removeprefix("net.")

    for node in graph.node:
        node.name = short(node.name)
        node.input[:] = [short(name) for name in node.input]
        node.output[:] = [short(name) for name in node.output]
    for tensor in graph.initializer:
        tensor.name = short(tensor.name)
    for value in graph.value_info:
        value.name = short(value.name)
    names = [node.name for node in graph.node]
    if len(set(names)) != len(names):
        raise ValueError("shortened node names collide")


def check(model):
    """Raises if an operator that the model is meant to show is missing or a BatchNormalization is in training form."""
    counts = Counter(node.op_type for node in model.graph.node)
    for op, expected in EXPECTED.items():
        if counts[op] != expected:
            raise ValueError(f"expected {expected} {op}, the exporter wrote {counts[op]}")
    for node in model.graph.node:
        training = [attribute.i for attribute in node.attribute if attribute.name == "training_mode"]
        if node.op_type == "BatchNormalization" and (len(node.output) != 1 or any(training)):
            raise ValueError(f"{node.name} is in training form")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", help="state dict that train.py wrote")
    parser.add_argument("-o", "--output", default=MODEL, type=Path)
    options = parser.parse_args()
    net = DigitNet()
    net.load_state_dict(torch.load(options.weights, weights_only=True))
    model = export(net.eval(), options.output)
    print(options.output, options.output.stat().st_size, "bytes", dict(Counter(n.op_type for n in model.graph.node)))


if __name__ == "__main__":
    main()
