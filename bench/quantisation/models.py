"""Trained models with their data, for table.py: FP32 networks that end in logits, and the flags by which trtui reads the data.

The files lie as in DATA/models and DATA/eval; what they are is in the README beside this file.
"""

import gzip
import os

import numpy as np
import onnx
import onnx.numpy_helper as nh
from onnx import TensorProto, helper


def to_logits(m):
    """Cuts off the softmax that a classifier ends in, and what only passes it on."""
    g = m.graph
    by = {o: n for n in g.node for o in n.output}
    last = by[g.output[0].name]
    while last.op_type in ("Reshape", "Flatten", "Squeeze", "Identity") and last.input[0] in by:
        last = by[last.input[0]]
    if last.op_type not in ("Softmax", "LogSoftmax"):
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
    used = {i.name for i in m.graph.initializer}
    for v in list(m.graph.input):
        if v.name in used:
            m.graph.input.remove(v)
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


def same(m):
    return m


# name: model, what makes it a float network, data, calibration data, how pixels become inputs (scale, mean, std), further flags
MODELS = {
    "resnet8": ("cifar10-resnet8/resnet8_fp32.onnx", same, ("cifar", 500, 1000), ("cifar", 0, 300), (1, 0, 1), ""),
    "mnist-cntk": ("mnist-cntk/mnist.onnx", same, ("t10k", 0, 1000), ("train1000", 0, 300), (1, 0, 1), ""),
    "mnist-burn": ("mnist-burn/mnist.onnx", same, ("t10k", 0, 500), ("train1000", 0, 300), (1 / 255, 0.1307, 0.3081), ""),
    "kws": ("kws-dscnn/kws_fp32_dequantised.onnx", same, ("kws", 100, 300), ("kws", 0, 100), None, ""),
    "mobilenet_v1": ("mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_fp32.onnx", same, "images", "images", (1 / 128, 1, 1), "--label-offset 1"),
    "mobilenet_v2": ("mobilenet_v2_1.0_224_int8/mobilenet_v2_int8_qdq.onnx", dequantised, "images", "images", (1 / 127.5, 127 / 127.5, 1), ""),
    "squeezenet": ("squeezenet-fp16/squeezenet_fp16.onnx", to_f32, "images", "images", (1, (104, 117, 123), 1), "--channel-order bgr"),
}

FILES = {"cifar": "cifar10/cifar10_train_0000-1999.bin.gz", "t10k": "mnist/t10k-images-idx3-ubyte.gz",
         "train1000": "mnist/train1000-images-idx3-ubyte.gz", "kws": "kws/kws_mfcc_int8_300.bin", "images": "images_permissive"}


def prepare(name, data, folder):
    """Writes the float network and returns its path."""
    path = os.path.join(folder, name + ".onnx")
    file, make, *_ = MODELS[name]
    onnx.save(to_logits(make(onnx.load(os.path.join(data, "models", file)))), path)
    return path


def flags(name, data):
    """Returns the flags of trtui for the model's data."""
    _, _, test, calibration, pixels, more = MODELS[name]
    list_ = []
    for what, flag, items in ((test, "--data", "--items"), (calibration, "--calib-data", "--calib-items")):
        kind = what if isinstance(what, str) else what[0]
        list_ += [flag, os.path.join(data, "eval", FILES[kind])]
        if not isinstance(what, str):
            list_ += [items, f"{what[1]}-{what[2] - 1}"]
    if pixels:
        text = lambda v: ",".join(map(str, v)) if isinstance(v, tuple) else str(v)
        list_ += ["--scale", text(pixels[0]), "--mean", text(pixels[1]), "--std", text(pixels[2])]
    else:
        list_ += ["--type", "i8", "--shape", "1,49,10", "--dequantize", "0.5847029,83", "--labels", os.path.join(data, "eval/kws/kws_labels_300.bin")]
    return list_ + more.split()


def items(name, data, calibration=False):
    """Returns the inputs as an array, as trtui makes them, but for images, of which it returns None."""
    _, _, test, calib, pixels, _ = MODELS[name]
    what = calib if calibration else test
    if isinstance(what, str):
        return None
    kind, first, end = what
    raw = open(os.path.join(data, "eval", FILES[kind]), "rb").read()
    if FILES[kind].endswith(".gz"):
        raw = gzip.decompress(raw)
    if kind == "kws":
        x = np.frombuffer(raw, np.int8).reshape(-1, 1, 49, 10).astype(np.float32)
        return ((x - 83) * np.float32(0.5847029))[first:end]
    if kind == "cifar":
        x = np.frombuffer(raw, np.uint8).reshape(-1, 3073)[:, 1:].reshape(-1, 3, 32, 32)
    else:
        x = np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 1, 28, 28)
    scale, mean, std = pixels
    return ((x[first:end].astype(np.float32) * scale - mean) / std).astype(np.float32)
