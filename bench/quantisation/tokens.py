"""Ranges by token beside what ONNX Runtime quantises as it comes: SQNR of the logits in dB against FP32.

    python bench/quantisation/tokens.py [--trtui PROGRAM] [--out FILE]

Two blocks of BERT, 384 wide, of random weights, plain and with outliers in four channels, are quantised by trtui by one range and by
token, and by ONNX Runtime's quantize_dynamic (one range for a tensor, found as it comes) and MatMulNBits with accuracy level 4 (a range
for each block of 32 numbers of a row, and scales of weights for as many), all measured on the same items by ONNX Runtime's FP32.
"""

import argparse
import importlib.metadata
import json
import os
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

import peers

WIDTH, INNER, HEADS, TOKENS, WORDS, OUTLIERS = 384, 1536, 12, 64, 1000, 4
CALIBRATION, MEASURED = 32, 16


class Bert:
    """The nodes of two blocks; `large` is how many times as far four channels of what normalisations give reach."""

    def __init__(self, large):
        self.random, self.nodes, self.weights, self.large = np.random.default_rng(11), [], [], large
        self.channels = self.random.choice(WIDTH, OUTLIERS, replace=False)

    def constant(self, v):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(v), name))
        return name

    def matrix(self, *dims):
        return self.constant((self.random.standard_t(6, dims) * (1.0 / dims[0]) ** 0.5).astype(np.float32))

    def node(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], f"{op}_{len(self.nodes)}", **attributes))
        return name

    def linear(self, x, width, inner):
        bias = self.constant((self.random.standard_normal(inner) * 0.1).astype(np.float32))
        return self.node("Add", self.node("MatMul", x, self.matrix(width, inner)), bias)

    def normalised(self, x):
        gain = (1 + 0.1 * self.random.standard_normal(WIDTH)).astype(np.float32)
        gain[self.channels] *= self.large
        return self.node("LayerNormalization", x, self.constant(gain), self.constant((0.1 * self.random.standard_normal(WIDTH)).astype(np.float32)), axis=-1, epsilon=1e-12)

    def attention(self, x):
        split = self.constant(np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
        heads = [self.node("Transpose", self.node("Reshape", self.linear(x, WIDTH, WIDTH), split), perm=perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])]
        scores = self.node("Div", self.node("MatMul", heads[0], heads[1]), self.constant(np.float32((WIDTH / HEADS) ** 0.5)))
        mixed = self.node("Transpose", self.node("MatMul", self.node("Softmax", scores, axis=-1), heads[2]), perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", mixed, self.constant(np.array([0, 0, WIDTH], np.int64))), WIDTH, WIDTH)

    def gelu(self, x):
        half = self.node("Erf", self.node("Div", x, self.constant(np.float32(2**0.5))))
        return self.node("Mul", self.node("Mul", x, self.node("Add", half, self.constant(np.float32(1)))), self.constant(np.float32(0.5)))

    def model(self):
        x = self.normalised(self.node("Gather", self.constant(self.random.standard_normal((WORDS, WIDTH)).astype(np.float32)), "ids"))
        for _ in range(2):
            x = self.normalised(self.node("Add", x, self.attention(x)))
            x = self.normalised(self.node("Add", x, self.linear(self.gelu(self.linear(x, WIDTH, INNER)), INNER, WIDTH)))
        self.nodes[-1].output[0] = "hidden"
        self.nodes.append(helper.make_node("MatMul", ["hidden", self.matrix(WIDTH, 256)], ["logits"], "head"))
        graph = helper.make_graph(self.nodes, "bert", [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, TOKENS])],
                                  [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, TOKENS, 256])], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def sqnr(want, got):
    want, got = np.float64(want), np.float64(got)
    return 10 * np.log10((want**2).sum() / max(((want - got) ** 2).sum(), 1e-300))


def outputs(path, items):
    s = peers.session(path)
    return np.stack([s.run(None, {"ids": x[None]})[0] for x in items])


def by_onnxruntime(model, folder):
    """Yields names of ways and paths of what they make of a model."""
    for name, options in (("quantize_dynamic", {}), ("quantize_dynamic per channel", {"per_channel": True})):
        out = os.path.join(folder, "dynamic.onnx")
        quantize_dynamic(model, out, weight_type=QuantType.QInt8, **options)
        yield name, out
    for name, symmetric in (("MatMulNBits 8 bits, accuracy level 4", True), ("MatMulNBits 8 bits asymmetric, accuracy level 4", False)):
        q = MatMulNBitsQuantizer(onnx.load(model), bits=8, block_size=32, is_symmetric=symmetric, accuracy_level=4)
        q.process()
        out = os.path.join(folder, "nbits.onnx")
        q.model.save_model_to_file(out)
        yield name, out


def by_trtui(program, model, calibration, measured, cache):
    """Yields names of schemes and SQNRs by `trtui eval`, with the nearest weights and channels as they are."""
    for activations in ("asymmetric", "symmetric:token", "asymmetric:token", "asymmetric:auto"):
        done = subprocess.run([program, "eval", model, "--precision", "int8", "--data", measured, "--calib-data", calibration, "--activations", activations,
                               "--rounding", "nearest", "--equalization", "off", "--threads", "1", "--timing-cache", cache, "--format", "json", "-q"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        report = json.loads(done.stdout)
        yield activations, report["rows"][-1]["sqnr_db"], report.get("commit")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trtui", default="trtui")
    parser.add_argument("--out")
    args = parser.parse_args()
    items = np.random.default_rng(12).integers(0, WORDS, (CALIBRATION + MEASURED, TOKENS))
    done = {"versions": {name: importlib.metadata.version(name) for name in ("onnxruntime", "onnx", "numpy")}, "models": {}}
    for name, large in (("plain", 1), ("outliers in four channels of normalisations, 30 times as large", 30)):
        rows = done["models"][name] = {}
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "bert.onnx")
            onnx.save(Bert(large).model(), model)
            files = []
            for part, some in (("calibration", items[:CALIBRATION]), ("measured", items[CALIBRATION:])):
                files.append(os.path.join(folder, part + ".npz"))
                np.savez(files[-1], ids=some)
            want = outputs(model, items[CALIBRATION:])
            for way, path in by_onnxruntime(model, folder):
                rows["onnxruntime " + way] = round(float(sqnr(want, outputs(path, items[CALIBRATION:]))), 2)
                print(name, way, rows["onnxruntime " + way], flush=True)
            for way, db, commit in by_trtui(args.trtui, model, *files, os.path.join(folder, "timings")):
                rows["trtui " + way], done["commit"] = round(db, 2), commit
                print(name, way, rows["trtui " + way], flush=True)
    if args.out:
        with open(args.out, "w") as f:
            json.dump(done, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
