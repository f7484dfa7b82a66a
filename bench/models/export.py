"""Writes torchvision's networks as ONNX with random weights, and what torch computes for them in float64.

    python export.py resnet50 mobilenet_v2 --batch 1 --out DIR [--keep-bn]

gives DIR/NAME.onnx and DIR/test_data_set_0/{input,output}_0.pb; with several names, DIR/NAME/NAME.onnx and so on.
The architecture, not the training, is what a benchmark needs; yet numbers must stay in range through the
depth, so BatchNorm statistics are taken from data and then disturbed, as trained ones differ from any batch.
The same versions (requirements.txt) and arguments give the same files.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import torch
import torchvision
from onnx import numpy_helper
from torch import nn

OPSET = 17
IMAGE = (3, 224, 224)
SEEDS = {"resnet50": 1, "mobilenet_v2": 2}
INPUT_SEED = 3
STATISTICS_BATCH = 8


@torch.no_grad()
def settle(net, generator):
    """Gives every BatchNorm2d statistics of real activations within some 10 %, and scales and shifts near 1 and 0."""
    norms = [module for module in net.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.weight.copy_(0.7 + 0.6 * torch.rand(norm.num_features, generator=generator))
        norm.bias.copy_(0.1 * torch.randn(norm.num_features, generator=generator))
        norm.momentum = 1.0  # the running statistics become those of the one batch below
    net.train()
    for module in net.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    net(torch.randn(STATISTICS_BATCH, *IMAGE, generator=generator))
    net.eval()
    for norm in norms:
        noise = torch.randn(norm.num_features, generator=generator)
        norm.running_mean.add_(0.05 * noise * norm.running_var.sqrt())
        norm.running_var.mul_(0.8 + 0.4 * torch.rand(norm.num_features, generator=generator))


def network(name):
    """A seeded random network in inference mode."""
    torch.manual_seed(SEEDS[name])
    net = getattr(torchvision.models, name)(weights=None)
    settle(net, torch.Generator().manual_seed(SEEDS[name]))
    return net


def write_tensor(path, name, array):
    path.write_bytes(numpy_helper.from_array(array, name).SerializeToString())


def export(name, batch, folder, keep_bn):
    """Writes one network and its test data set; returns the ONNX file's path."""
    net = network(name)
    image = torch.randn(batch, *IMAGE, generator=torch.Generator().manual_seed(INPUT_SEED))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.onnx"
    mode = torch.onnx.TrainingMode.PRESERVE if keep_bn else torch.onnx.TrainingMode.EVAL
    torch.onnx.export(
        net,
        (image,),
        str(path),
        dynamo=False,
        opset_version=OPSET,
        training=mode,  # EVAL folds each BatchNorm into its convolution, PRESERVE keeps it as a node
        input_names=["input"],
        output_names=["output"],
    )
    model = onnx.load(path)
    onnx.checker.check_model(model)
    counts = Counter(node.op_type for node in model.graph.node)
    if bool(counts["BatchNormalization"]) != keep_bn:
        raise ValueError(f"{name}: {counts['BatchNormalization']} BatchNormalization nodes with keep_bn={keep_bn}")
    with torch.no_grad():
        output = net.double()(image.double()).float()
    write_tensor(data / "input_0.pb", "input", image.numpy())
    write_tensor(data / "output_0.pb", "output", output.numpy())
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {dict(counts)}")
    print(f"  output: standard deviation {output.std():.3f}, largest magnitude {output.abs().max():.3f}")
    return path


def verify(path):
    """Raises unless onnxruntime agrees with the written reference."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    tensors = {}
    for side in ("input", "output"):
        proto = onnx.TensorProto.FromString((path.parent / "test_data_set_0" / f"{side}_0.pb").read_bytes())
        tensors[side] = numpy_helper.to_array(proto)
    output = session.run(None, {"input": tensors["input"]})[0]
    error = float(np.abs(output - tensors["output"]).max())
    bound = 1e-4 * max(1.0, float(np.abs(tensors["output"]).max()))
    print(f"  onnxruntime differs by at most {error:.2e} (bound {bound:.2e})")
    if error > bound:
        raise ValueError(f"{path}: onnxruntime and torch disagree")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=sorted(SEEDS), metavar="NAME", help=", ".join(sorted(SEEDS)))
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--keep-bn", action="store_true", help="keep BatchNormalization nodes")
    options = parser.parse_args()
    for name in options.names:
        folder = options.out if len(options.names) == 1 else options.out / name
        verify(export(name, options.batch, folder, options.keep_bn))


if __name__ == "__main__":
    main()
