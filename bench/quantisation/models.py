"""Trained models with their data: FP32 networks that end in logits, and arrays of items that every quantiser is given alike.

The files lie as in DATA/models and DATA/eval; what they are is in the README beside this file.
"""

import base64
import gzip
import json
import os

import numpy as np
import onnx
import onnx.numpy_helper as nh
import onnx.version_converter
from onnx import TensorProto, helper

import packages


def to_logits(m):
    """Cuts off the softmax or sigmoid that a network ends in, and what only passes it on."""
    g = m.graph
    by = {o: n for n in g.node for o in n.output}
    last = by[g.output[0].name]
    while last.op_type in ("Reshape", "Flatten", "Squeeze", "Identity") and last.input[0] in by:
        last = by[last.input[0]]
    if last.op_type not in ("Softmax", "LogSoftmax", "Sigmoid"):
        return m
    gone = {last.output[0]}
    for n in list(g.node):
        if n is last or any(i in gone for i in n.input):
            gone.update(n.output)
            g.node.remove(n)
    del g.output[:]
    g.output.append(helper.make_tensor_value_info(last.input[0], TensorProto.FLOAT, None))
    return m


def to_f32(m):
    """Makes an F16 network one of F32."""
    for i in m.graph.initializer:
        if i.data_type == TensorProto.FLOAT16:
            i.CopyFrom(nh.from_array(nh.to_array(i).astype(np.float32), i.name))
    for v in [*m.graph.input, *m.graph.output, *m.graph.value_info]:
        if v.type.tensor_type.elem_type == TensorProto.FLOAT16:
            v.type.tensor_type.elem_type = TensorProto.FLOAT
    return m


def dequantised(m):
    """Makes a QDQ network the float network of its weights, without the rounding of activations."""
    g = m.graph
    init = {i.name: i for i in g.initializer}
    renamed, keep = {}, []
    for n in g.node:
        inputs = [renamed.get(i, i) for i in n.input]
        del n.input[:]
        n.input.extend(inputs)
        if n.op_type == "QuantizeLinear" or n.op_type == "DequantizeLinear" and inputs[0] not in init:
            renamed[n.output[0]] = inputs[0]
        elif n.op_type == "DequantizeLinear":
            q, s, z = (nh.to_array(init[i]) for i in inputs)
            axis = next((a.i for a in n.attribute if a.name == "axis"), 1)
            if s.size > 1:
                shape = [1] * q.ndim
                shape[axis] = -1
                s, z = s.reshape(shape), z.reshape(shape)
            g.initializer.append(nh.from_array(((q.astype(float) - z) * s).astype(np.float32), n.output[0]))
        else:
            keep.append(n)
    del g.node[:], g.value_info[:]
    g.node.extend(keep)
    for o in g.output:
        o.name = renamed.get(o.name, o.name)
    return m


def renewed(m):
    """Brings an old model to an operator set in which all quantisers write scales for each channel."""
    constants = {i.name for i in m.graph.initializer}
    for i in [i for i in m.graph.input if i.name in constants]:
        m.graph.input.remove(i)
    m.ir_version = max(m.ir_version, 8)
    old = next(o.version for o in m.opset_import if o.domain == "") < 13
    return onnx.version_converter.convert_version(m, 17) if old else m


# Items: float32 arrays with one item along the first axis, and their labels, or None.


def unpacked(*path):
    raw = open(os.path.join(*path), "rb").read()
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def digits(data, what):
    """The program's own digits, in a border of zeros."""
    folder = os.path.join(os.path.dirname(__file__), "../../testdata/digits")
    pixels = np.frombuffer(unpacked(folder, what + "-images-idx3-ubyte.gz"), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    labels = np.frombuffer(unpacked(folder, what + "-labels-idx1-ubyte.gz"), np.uint8, offset=8)
    return np.pad(pixels, ((0, 0), (0, 0), (2, 2), (2, 2))).astype(np.float32) / np.float32(255), labels


def mnist(data, what, first, end, scale, mean, std):
    pixels = np.frombuffer(unpacked(data, "eval/mnist", what + "-images-idx3-ubyte.gz"), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    labels = np.frombuffer(unpacked(data, "eval/mnist", what + "-labels-idx1-ubyte.gz"), np.uint8, offset=8)
    return (pixels[first:end].astype(np.float32) * scale - mean) / std, labels[first:end]


def cifar(data, first, end):
    rows = np.frombuffer(unpacked(data, "eval/cifar10/cifar10_train_0000-1999.bin.gz"), np.uint8).reshape(-1, 3073)[first:end]
    return rows[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32), rows[:, 0]


def kws(data, first, end):
    x = np.frombuffer(unpacked(data, "eval/kws/kws_mfcc_int8_300.bin"), np.int8).reshape(-1, 1, 49, 10)
    labels = np.frombuffer(unpacked(data, "eval/kws/kws_labels_300.bin"), np.uint8)
    return ((x.astype(np.float32) - 83) * np.float32(0.5847029))[first:end], labels[first:end]


def photographs(data, size, mode="RGB"):
    """Photographs with labels: the middle square of each, size pixels wide."""
    from PIL import Image

    folder = os.path.join(data, "eval/images_permissive")
    rows = [line.split("\t") for line in open(os.path.join(folder, "labels.tsv")).read().splitlines()[1:]]
    images = []
    for name, *_ in rows:
        i = Image.open(os.path.join(folder, name)).convert(mode)
        side = min(i.size)
        left, top = (i.width - side) // 2, (i.height - side) // 2
        images.append(np.asarray(i.resize((size, size), Image.BILINEAR, (left, top, left + side, top + side))).reshape(size, size, -1))
    return np.stack(images).astype(np.float32).transpose(0, 3, 1, 2), np.array([int(r[1]) for r in rows])


def imagenet(data, size, scale, mean, std, offset=0, bgr=False):
    x, labels = photographs(data, size)
    if bgr:
        x = x[:, ::-1]
    mean, std = (np.asarray(v, np.float32).reshape(-1, 1, 1) for v in (mean, std))
    return (x * np.float32(scale) - mean) / std, labels + offset


def text(data, height, width, odd):
    """Parts of a page and of a line of text, each brought to the same size: half of them where odd."""
    from PIL import Image

    parts = []
    for name in ("page.png", "line.png"):
        i = Image.open(os.path.join(data, "models/ppocr-det-cls", name)).convert("RGB")
        for h in (i.height, i.height * 3 // 4, i.height // 2):
            w = min(i.width, h * width // height)
            for top in range(0, i.height - h + 1, max(1, h // 2)):
                for left in range(0, i.width - w + 1, max(1, w // 2)):
                    parts.append(np.asarray(i.resize((width, height), Image.BILINEAR, (left, top, left + w, top + h))))
    x = np.stack(parts[odd::2]).astype(np.float32).transpose(0, 3, 1, 2)[:, ::-1]
    return (x / 255 - 0.5) / 0.5, None


def magika(data, odd):
    """Contents of files as Magika reads them: the first and the last 1,024 bytes without white space around them."""
    rows, labels = [], []
    names = json.load(open(os.path.join(data, "models/magika-v3_3/config.min.json")))["target_labels_space"]
    for e in json.load(open(os.path.join(data, "models/magika-v3_3/examples.json"))):
        label = e["prediction"]["dl"] if e.get("prediction") else None
        if label not in names:
            continue
        content = base64.b64decode(e["content_base64"])
        begin, end = content[:4096].lstrip()[:1024], content[-4096:].rstrip()[-1024:]
        row = np.full(2048, 256, np.int32)
        row[: len(begin)] = np.frombuffer(begin, np.uint8)
        row[2048 - len(end) :] = np.frombuffer(end, np.uint8)
        rows.append(row)
        labels.append(names.index(label))
    return np.stack(rows[odd::2]), np.array(labels[odd::2])


# name: model, items to measure, items to calibrate, each a function of DATA. Photographs are too few to be divided.
def entry(file, f, test, calibration=None, make=lambda m: m):
    return (lambda data: make(onnx.load(os.path.join(data, "models", file))), lambda data: f(data, *test),
            lambda data: f(data, *(test if calibration is None else calibration)))


KNOWN = {
    "digits": entry(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../testdata/digits.onnx")), digits, ("test",), ("calibration",)),
    "resnet8": entry("cifar10-resnet8/resnet8_fp32.onnx", cifar, (500, 1000), (0, 300)),
    "mnist-cntk": entry("mnist-cntk/mnist.onnx", mnist, ("t10k", 0, 1000, 1, 0, 1), ("train1000", 0, 300, 1, 0, 1)),
    "mnist-burn": entry("mnist-burn/mnist.onnx", mnist, ("t10k", 0, 500, 1 / 255, 0.1307, 0.3081), ("train1000", 0, 300, 1 / 255, 0.1307, 0.3081)),
    "kws": entry("kws-dscnn/kws_fp32_dequantised.onnx", kws, (100, 300), (0, 100)),
    "mobilenet_v1": entry("mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_fp32.onnx", imagenet, (128, 1 / 128, 1, 1, 1)),
    "mobilenet_v2": entry("mobilenet_v2_1.0_224_int8/mobilenet_v2_int8_qdq.onnx", imagenet, (224, 1 / 127.5, 127 / 127.5, 1, 1), make=dequantised),
    "squeezenet": entry("squeezenet-fp16/squeezenet_fp16.onnx", imagenet, (224, 1, (104, 117, 123), 1, 0, True), make=to_f32),
    "super_resolution": entry("super_resolution/super_resolution.onnx", lambda data: (photographs(data, 224, "L")[0] / np.float32(255), None), ()),
    "ppocr_cls": entry("ppocr-det-cls/ch_ppocr_mobile_v2.0_cls_infer.onnx", text, (48, 192, 0), (48, 192, 1)),
    "ppocr_det": entry("ppocr-det-cls/ch_PP-OCRv4_det_infer.onnx", text, (192, 320, 0), (192, 320, 1)),
    "magika": entry("magika-v3_3/model.onnx", magika, (0,), (1,)),
}
MODELS = KNOWN | packages.MODELS


class Prepared:
    """A model in a folder: model.onnx of batch 1, and the arrays data.npy, labels.npy (or none) and calibration.npy."""

    def __init__(self, name, data, folder):
        make, test, calibration = MODELS[name]
        self.name, self.path = name, os.path.join(folder, name)
        os.makedirs(self.path, exist_ok=True)
        self.items, self.labels = test(data)
        self.calibration, _ = calibration(data)
        m = to_logits(renewed(make(data)))
        (x,) = m.graph.input
        for d, n in zip(x.type.tensor_type.shape.dim, (1, *self.items.shape[1:])):
            d.dim_value = n
        del m.graph.value_info[:]
        for o in m.graph.output:
            o.type.tensor_type.ClearField("shape")
        self.input, self.model = x.name, self.file("model.onnx")
        onnx.save(m, self.model)
        np.save(self.file("data.npy"), np.ascontiguousarray(self.items))
        np.save(self.file("calibration.npy"), np.ascontiguousarray(self.calibration))
        if self.labels is not None:
            np.save(self.file("labels.npy"), self.labels.astype(np.int64))

    def file(self, name):
        return os.path.join(self.path, name)

    def flags(self, labels=True):
        """Returns the flags by which trtui reads the arrays."""
        return ["--data", self.file("data.npy"), "--calib-data", self.file("calibration.npy"),
                *(["--labels", self.file("labels.npy")] if labels and self.labels is not None else [])]
