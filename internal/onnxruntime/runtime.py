# Runs models with ONNX Runtime: see wire.go for what goes over standard input and output.
import json, os, signal, struct, sys

answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
import numpy, onnxruntime

how = json.loads(sys.argv[1])
onnxruntime.set_default_logger_severity(4)
TYPES = {
    "f32": "f4", "f64": "f8", "f16": "f2", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2",
    "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8", "bool": "?",
}
NAMES = {numpy.dtype(code): name for name, code in TYPES.items()}


# Text goes as trtui has it: each string behind its length, a varint.
def text(raw, count):
    list, at = [], 0
    for _ in range(count):
        n = shift = 0
        while True:
            b, at = raw[at], at + 1
            n, shift = n | (b & 127) << shift, shift + 7
            if b < 128:
                break
        list.append(raw[at : at + n].decode("utf-8", "replace"))
        at += n
    return numpy.array(list, object)


def raw_text(array):
    out = b""
    for s in array.ravel().tolist():
        data = s if isinstance(s, bytes) else s.encode()
        out += varint(len(data)) + data
    return out


def dtype(name):
    if name in TYPES:
        return numpy.dtype(TYPES[name])
    raise TypeError("numpy has no " + name)


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


# marked returns a model with more outputs: a message that is appended to another one of its kind is part of it.
def marked(model, names):
    return model + field(7, b"".join(field(12, field(1, name.encode())) for name in names))


def open_session(head, data):
    options = onnxruntime.SessionOptions()
    # Without it sums of products of bytes saturate in 16 bits on processors that have AVX2 and no VNNI.
    options.add_session_config_entry("session.x64quantprecision", "1")
    if not how["optimize"]:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if how["threads"]:
        options.intra_op_num_threads = options.inter_op_num_threads = how["threads"]
    model, names = head["path"] or data, head["more"]
    if names:
        if head["path"]:
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.path.dirname(os.path.abspath(model)))
            with open(model, "rb") as f:
                model = f.read()
        model = marked(model, names)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


last = (None, None)  # what was asked to be opened, and its session


def run(head, data, tensors):
    global last
    key = (head["path"], head["more"], data)
    if last[0] != key:
        last = (None, None)  # one model in memory at a time
        last = (key, open_session(head, data))
    if head["load"]:
        return {"tensors": []}, []
    session = last[1]
    known = {i.name for i in session.get_inputs()}
    feeds = {}
    for t, raw in zip(head["tensors"], tensors):
        if t["name"] in known:
            if t["type"] == "str":
                feeds[t["name"]] = text(raw, int(numpy.prod(t["dims"], dtype=int))).reshape(t["dims"])
                continue
            feeds[t["name"]] = numpy.frombuffer(raw, dtype(t["type"])).reshape(t["dims"])
    names = [o.name for o in session.get_outputs()]
    described, parts = [], []
    for name, value in zip(names, session.run(names, feeds)):
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            value = numpy.array([list(row.values()) for row in value])  # a ZipMap's maps, a column for each class
        if isinstance(value, numpy.ndarray) and value.dtype == object:
            described.append({"name": name, "type": "str", "dims": list(value.shape)})
            parts.append(raw_text(value))
            continue
        if not isinstance(value, numpy.ndarray) or value.dtype not in NAMES:
            if name in head["more"]:
                continue  # a sequence
            raise TypeError("output %s is a %s" % (name, getattr(value, "dtype", type(value).__name__)))
        described.append({"name": name, "type": NAMES[value.dtype], "dims": list(value.shape)})
        parts.append(numpy.ascontiguousarray(value).tobytes())
    return {"tensors": described}, parts


def answer(head, parts):
    all = [json.dumps(head).encode()] + parts
    answers.write(struct.pack("<I", len(all)))
    for part in all:
        answers.write(struct.pack("<Q", len(part)))
        answers.write(part)
    answers.flush()


def number(form):
    b = sys.stdin.buffer.read(struct.calcsize(form))
    if len(b) < struct.calcsize(form):
        sys.exit(0)
    return struct.unpack(form, b)[0]


answer({"version": onnxruntime.__version__, "numpy": numpy.__version__}, [])
while True:
    parts = [sys.stdin.buffer.read(number("<Q")) for _ in range(number("<I"))]
    try:
        result = run(json.loads(parts[0]), parts[1], parts[2:])
    except Exception as e:
        result = ({"error": str(e) or type(e).__name__}, [])
    answer(*result)
