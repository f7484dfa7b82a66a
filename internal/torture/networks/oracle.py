# Runs models with onnxruntime: lists of byte strings on standard input and output, see oracle.go.
import os, struct, sys

answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
import onnx, onnxruntime
from onnx import numpy_helper

onnxruntime.set_default_logger_severity(4)
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.intra_op_num_threads = options.inter_op_num_threads = 1


def number():
    b = sys.stdin.buffer.read(4)
    if len(b) < 4:
        sys.exit(0)
    return struct.unpack("<I", b)[0]


last = (None, None)  # a model and its session


def run(model, tensors):
    global last
    if last[0] != model:
        last = (model, onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]))
    session = last[1]
    feeds = {}
    for t in tensors:
        p = onnx.TensorProto.FromString(t)
        feeds[p.name] = numpy_helper.to_array(p)
    names = [o.name for o in session.get_outputs()]
    results = session.run(names, feeds)
    return [numpy_helper.from_array(r, n).SerializeToString() for n, r in zip(names, results)]


while True:
    parts = [sys.stdin.buffer.read(number()) for _ in range(number())]
    try:
        answer = [b""] + run(parts[0], parts[1:])
    except Exception as e:
        answer = [str(e).encode() or b"error"]
    answers.write(struct.pack("<I", len(answer)))
    for a in answer:
        answers.write(struct.pack("<I", len(a)) + a)
    answers.flush()
