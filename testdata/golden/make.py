"""Writes what other programs compute for the embedded network.

    python make.py    # needs ../train/requirements.txt; reads ../digits.onnx and ../digits/

tensors.json, tensors.bin.gz: the probabilities and some tensors inside for the first 16 test pictures, by torch in
float64 from the weights in the ONNX file, rounded to float32 once at the end. Wide tensors are kept for the first picture only.
accuracy.json: which of the 1,000 test pictures onnxruntime gets wrong.
"""

import gzip
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "train"))
import digits  # noqa: E402
from export import MODEL  # noqa: E402
from network import Classifier, DigitNet  # noqa: E402

IMAGES = 16
WIDE = 1000  # elements a picture, from which only the first picture is kept
BOUND = 1e-5  # onnxruntime's largest difference from float64, relative to the tensor's largest magnitude or 1

# ONNX tensor -> torch module that computes it
TENSORS = {
    "stem/act/Relu_output_0": "net.stem.act",
    "block1/relu/Relu_output_0": "net.block1.relu",
    "block2/relu/Relu_output_0": "net.block2.relu",
    "separable/pointwise/act/Clip_output_0": "net.separable.pointwise.act",
    "inception/Concat_output_0": "net.inception",
    "excite/gate/Sigmoid_output_0": "net.excite.gate",
    "block3/relu/Relu_output_0": "net.block3.relu",
    "head/expand/act/Mul_1_output_0": "net.head.expand.act",
    "head/pool/GlobalAveragePool_output_0": "net.head.pool",
    "head/classify/Gemm_output_0": "net.head.classify",
    "probabilities": "softmax",
}


def network(model):
    """The torch network in float64 with the ONNX file's weights, which keep torch's names."""
    net = DigitNet()
    weights = {tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy()) for tensor in model.graph.initializer}
    missing, unexpected = net.load_state_dict(weights, strict=False)
    if unexpected or any(not name.endswith("num_batches_tracked") for name in missing):
        raise ValueError(f"weights of {MODEL} do not fit the network: missing {missing}, unexpected {unexpected}")
    return Classifier(net).eval().double()


@torch.no_grad()
def references(net, images):
    """{ONNX tensor: float64 array} for the pictures."""
    found, modules = {}, dict(net.named_modules())

    def keep(name):
        return lambda module, inputs, output: found.__setitem__(name, output.numpy())

    for name, module in TENSORS.items():
        modules[module].register_forward_hook(keep(name))
    net(torch.from_numpy(images).double())
    return {name: found[name] for name in TENSORS}


def session(model, outputs):
    """An onnxruntime session that returns the named tensors, with no graph optimisation."""
    model.graph.ClearField("output")
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = onnx.shape_inference.infer_shapes(model)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def write_tensors(expected, checksum):
    entries, blob = [], b""
    for name, value in expected.items():
        kept = value if value[0].size <= WIDE else value[:1]
        entries.append({"name": name, "dims": list(kept.shape), "offset": len(blob)})
        blob += np.ascontiguousarray(kept, "<f4").tobytes()
    with open(HERE / "tensors.bin.gz", "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as compressed:
        compressed.write(blob)
    index = {
        "model_sha256": checksum,
        "source": f"torch {torch.__version__.split('+')[0]} float64",
        "images": IMAGES,
        "tensors": entries,
    }
    (HERE / "tensors.json").write_text(json.dumps(index, indent=2) + "\n")


def main():
    checksum = hashlib.sha256(MODEL.read_bytes()).hexdigest()
    pictures, labels = digits.load("test")
    inputs = digits.to_input(pictures)
    expected = references(network(onnx.load(MODEL)), inputs[:IMAGES])
    actual = session(onnx.load(MODEL), TENSORS).run(list(TENSORS), {"image": inputs[:IMAGES]})
    for (name, reference), value in zip(expected.items(), actual, strict=True):
        error = np.abs(reference - value).max() / max(1.0, np.abs(reference).max())
        print(f"{name:40} {str(reference.shape):20} largest {np.abs(reference).max():8.3f}  onnxruntime differs by {error:.1e}")
        if error > BOUND:
            raise ValueError(f"{name}: onnxruntime and torch differ by {error:.1e}, more than {BOUND:.0e}")
    write_tensors(expected, checksum)
    predicted = session(onnx.load(MODEL), ["probabilities"]).run(None, {"image": inputs})[0].argmax(1)
    wrong = np.flatnonzero(predicted != labels)
    accuracy = {
        "model_sha256": checksum,
        "source": f"onnxruntime {onnxruntime.__version__}",
        "images": len(labels),
        "correct": int(len(labels) - len(wrong)),
        "wrong": [{"image": int(i), "label": int(labels[i]), "predicted": int(predicted[i])} for i in wrong],
    }
    (HERE / "accuracy.json").write_text(json.dumps(accuracy, indent=2) + "\n")
    print(f"{accuracy['correct']} of {accuracy['images']} right")


if __name__ == "__main__":
    main()
