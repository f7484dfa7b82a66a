"""Writes preview.json: models with operators that ONNX has on trial or for training, and what ONNX's reference computes for them.

    python3 preview.py > preview.json        (onnx 1.23)
"""

import base64
import json
import sys

import numpy as np
import onnx
from onnx import parser
from onnx.reference import ReferenceEvaluator

TYPES = {"float32": "f32", "float64": "f64", "int64": "i64", "bool": "bool"}
cases = []
rng = np.random.default_rng(5)


def encode(x):
    x = np.asarray(x)
    return {"type": TYPES[str(x.dtype)], "dims": list(x.shape), "data": [int(v) if x.dtype == bool else v.item() for v in x.reshape(-1)]}


def case(name, text, *runs, other=None):
    """other is what ONNX's reference runs, where it does not run text."""
    header = '<ir_version: 13, opset_import: ["" : 26, "ai.onnx.preview" : 1, "ai.onnx.preview.training" : 1]>\n'
    model = parser.parse_model(header + text)
    session = ReferenceEvaluator(parser.parse_model(header + other) if other else model)
    types = [onnx.helper.tensor_dtype_to_np_dtype(o.type.tensor_type.elem_type) for o in model.graph.output]
    cases.append({"name": name, "model": base64.b64encode(model.SerializeToString()).decode(), "runs": [
        {"inputs": {k: encode(v) for k, v in run.items()}, "outputs": dict(zip(session.output_names, map(encode, map(np.asarray, session.run(None, run), types))))}
        for run in runs]})


def f(*dims, dtype=np.float32):
    return np.asarray(rng.integers(-9, 9, dims) / 4).astype(dtype)


def positive(*dims):
    return np.asarray(rng.integers(1, 9, dims) / 4).astype(np.float32)


def qkv(queries, keys, heads=(2, 2), size=4, dtype=np.float32):
    return dict(q=f(1, heads[0], queries, size, dtype=dtype), k=f(1, heads[1], keys, size, dtype=dtype), v=f(1, heads[1], keys, 3, dtype=dtype))


ATTENTION = "g (float[1,{0},l,4] q, float[1,{1},s,4] k, float[1,{1},s,3] v{2}) => (float[1,{0},l,3] y) {3}\n"
flex = lambda name, attributes, *runs, heads=(2, 2), more="", body="": case(
    name, ATTENTION.format(*heads, more, "{ " + body + " y = ai.onnx.preview.FlexAttention <" + attributes + "> (q, k, v) }"), *runs)

flex("flex attention", "scale: float = 0.75", qkv(3, 5), qkv(1, 2))
flex("flex attention of shared heads", """score_mod: graph = m (float[B,H,L,S] x) => (float[B,H,L,S] z) { t = Tanh(x)  z = Add(t, x) }""",
     qkv(3, 5, (6, 2)), heads=(6, 2))
flex("flex attention that is causal", """score_mod: graph = m (float[B,H,L,S] x) => (float[B,H,L,S] z)
  <int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 three = {3}, int64[2] column = {-1, 1}, float none = {-1e30}> {
    d = Shape(x)  l = Gather(d, two)  s = Gather(d, three)  i = Range(zero, l, one)  j = Range(zero, s, one)
    c = Reshape(i, column)  seen = GreaterOrEqual(c, j)  z = Where(seen, x, none) }""", qkv(4, 4), qkv(2, 6))
flex("flex attention with both graphs", """score_mod: graph = m (float[B,H,L,S] x) => (float[B,H,L,S] z) { z = Neg(x) },
  prob_mod: graph = p (float[B,H,L,S] x) => (float[B,H,L,S] z) <float half = {0.5}> { z = Mul(x, half) }""", qkv(3, 5))
case("flex attention with what is around its graph", ATTENTION.format(2, 2, ", float[l,s] bias", """{ twice = Add(bias, bias)
  y = ai.onnx.preview.FlexAttention <score_mod: graph = m (float[B,H,L,S] x) => (float[B,H,L,S] z) { z = Add(x, twice) }> (q, k, v) }"""),
     {**qkv(3, 5), "bias": f(3, 5)}, other=ATTENTION.format(2, 2, ", float[l,s] bias", """{ twice = Add(bias, bias)
  t = Transpose <perm = [0,1,3,2]> (k)  p = MatMul(q, t)  half = Constant <value = float {0.5}> ()  x = Mul(p, half)  z = Add(x, twice)
  w = Softmax(z)  y = MatMul(w, v) }"""))
case("flex attention in doubles", ATTENTION.format(2, 2, "", "{ y = ai.onnx.preview.FlexAttention(q, k, v) }").replace("float", "double"), qkv(3, 5, dtype=np.float64))

x, g = f(2, 3), f(2, 3)
steps = [dict(r=np.float32(0.25), t=np.int64(t), x=x, x2=f(4), g=g, g2=f(4), h=positive(2, 3), h2=positive(4)) for t in (0, 3)]
for name, attributes in (("Adagrad", "norm_coefficient: float = 0.125, decay_factor: float = 0.25, epsilon: float = 0.01"),
                         ("Momentum", 'norm_coefficient: float = 0.125, alpha: float = 0.9, beta: float = 0.5, mode: string = "standard"'),
                         ("Momentum", 'norm_coefficient: float = 0.0, alpha: float = 0.9, beta: float = 0.5, mode: string = "nesterov"')):
    case(name + " " + attributes[-12:], f"""g (float r, int64 t, float[2,3] x, float[4] x2, float[2,3] g, float[4] g2, float[2,3] h, float[4] h2)
      => (float[2,3] y, float[4] y2, float[2,3] n, float[4] n2) {{
  y, y2, n, n2 = ai.onnx.preview.training.{name} <{attributes}> (r, t, x, x2, g, g2, h, h2) }}""", *steps)
case("Adam", """g (float r, int64 t, float[4] x, float[4] g, float[4] v, float[4] h) => (float[4] y, float[4] w, float[4] n) {
  y, w, n = ai.onnx.preview.training.Adam <alpha: float = 0.8, beta: float = 0.95, epsilon: float = 0.01, norm_coefficient: float = 0.125, norm_coefficient_post: float = 0.0625> (r, t, x, g, v, h) }""",
     *[dict(r=np.float32(0.25), t=np.int64(t), x=f(4), g=f(4), v=f(4), h=positive(4)) for t in (0, 2)])

case("batch normalisation in training", """g (float[n,3,w] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[n,3,w] y, float[3] rm, float[3] rv) {
  y, rm, rv = BatchNormalization <training_mode: int = 1, momentum: float = 0.75, epsilon: float = 0.01> (x, s, b, m, v) }""",
     *[dict(x=f(n, 3, w), s=f(3), b=f(3), m=f(3), v=positive(3)) for n, w in ((2, 4), (1, 7))])
case("batch normalisation in training, of a matrix, running means unread", """g (float[n,3] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[n,3] y) {
  y = BatchNormalization <training_mode: int = 1> (x, s, b, m, v) }""", dict(x=f(5, 3), s=f(3), b=f(3), m=f(3), v=positive(3)))

for i, c in enumerate(cases):
    sys.stdout.write(("[\n" if i == 0 else ",\n") + json.dumps(c, separators=(",", ":")))
sys.stdout.write("\n]\n")
