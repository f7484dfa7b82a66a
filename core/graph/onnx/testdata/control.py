"""Writes control.json: models with graphs inside nodes and with sequences, and what ONNX Runtime computes for them.

    python3 control.py > control.json        (onnx 1.23, onnxruntime 1.32)
"""

import base64
import json
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import parser

onnxruntime.set_default_logger_severity(4)
TYPES = {"float32": "f32", "int64": "i64", "bool": "bool", "int32": "i32"}
cases = []


def encode(x):
    x = np.asarray(x)
    return {"type": TYPES[str(x.dtype)], "dims": list(x.shape), "data": [int(v) if x.dtype == bool else v.item() for v in x.reshape(-1)]}


def case(name, text, *runs, functions="", opset=17):
    header = f'<ir_version: 8, opset_import: ["" : {opset}{", " + chr(34) + "local" + chr(34) + " : 1" if functions else ""}]>\n'
    model = parser.parse_model(header + text + functions)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = [o.name for o in session.get_outputs()]
    cases.append({"name": name, "model": base64.b64encode(model.SerializeToString()).decode(), "runs": [
        {"inputs": {k: encode(v) for k, v in run.items()}, "outputs": dict(zip(outputs, map(encode, session.run(None, run))))}
        for run in runs]})


rng = np.random.default_rng(3)


def f(*dims):
    return rng.integers(-9, 9, dims).astype(np.float32) / 4


yes, no = np.array(True), np.array(False)
n = lambda k: np.array(k, np.int64)

case("if", """g (bool c, float[n,3] x) => (float[n,3] y, float[n,3] z) <float[3] w = {1, 2, 3}> {
  u = Neg(x)
  y, z = If(c) <then_branch = a () => (float[n,3] p, float[n,3] q) { p = Add(x, w)  q = Identity(u) },
                else_branch = b () => (float[n,3] p, float[n,3] q) <float[3] v = {5, 5, 5}> { q = Mul(u, v)  p = Relu(q) }>
}""", dict(c=yes, x=f(2, 3)), dict(c=no, x=f(2, 3)), dict(c=yes, x=f(0, 3)), dict(c=no, x=f(0, 3)))

case("if of a known shape", """g (float[1,3] x) => (float[s] y) {
  s = Shape(x)  zero = Constant<value = int64 {0}>()  one = Constant<value = int64 {1}>()
  e = Gather(s, zero)  c = Equal(e, one)  k = Constant<value = int64[1] {0}>()
  y = If(c) <then_branch = a () => (float[m] p) { p = Squeeze(x, k) }, else_branch = b () => (float[m,r] q) { q = Identity(x) }>
}""", dict(x=f(1, 3)))

case("if in if", """g (bool c, bool d, float[4] x) => (float[4] y) {
  y = If(c) <then_branch = a () => (float[4] p) {
    t = Exp(x)
    p = If(d) <then_branch = aa () => (float[4] p2) { p2 = Add(t, x) }, else_branch = ab () => (float[4] p2) { p2 = Sub(t, x) }>
  }, else_branch = b () => (float[4] p) { t = Abs(x)  p = Sqrt(t) }>
}""", *[dict(c=a, d=b, x=f(4)) for a in (yes, no) for b in (yes, no)])

case("loop", """g (float[2,3] x) => (float[2,3] y, float[k,2,3] all, float[k2] numbers) <float[3] w = {1, -1, 0.5}> {
  m = Constant<value = int64 {5}>()  t = Constant<value = bool {1}>()
  y, all, numbers = Loop(m, t, x) <body = b (int64 i, bool ci, float[2,3] v) => (bool co, float[2,3] vo, float[2,3] s, float k) {
    co = Identity(ci)  u = Mul(v, w)  vo = Add(u, x)  s = Tanh(vo)  k = Cast<to = 1>(i)
  }>
}""", dict(x=f(2, 3)))

case("loop of given trips", """g (int64 m, bool c, float[3] x) => (float[3] y) {
  y = Loop(m, c, x) <body = b (int64 i, bool ci, float[3] v) => (bool co, float[3] vo) {
    vo = Add(v, x)  s = ReduceMax<keepdims = 0>(vo)  hundred = Constant<value = float {100}>()  co = Less(s, hundred)
  }>
}""", *[dict(m=n(k), c=c, x=np.array([1, 2, 3], np.float32)) for k, c in ((0, yes), (1, yes), (4, yes), (4, no), (1000, yes))])

case("while", """g (float x) => (float y, int64 k) {
  t = Constant<value = bool {1}>()  zero = Constant<value = int64 {0}>()
  y, k = Loop("", t, x, zero) <body = b (int64 i, bool ci, float v, int64 j) => (bool co, float vo, int64 jo) {
    vo = Add(v, v)  one = Constant<value = int64 {1}>()  jo = Add(j, one)  hundred = Constant<value = float {100}>()  co = Less(vo, hundred)
  }>
}""".replace('""', ""), dict(x=np.array(1, np.float32)), dict(x=np.array(70, np.float32)))

case("loop over a symbol", """g (float[n,3] x) => (float[n,3] y) {
  s = Shape(x)  zero = Constant<value = int64 {0}>()  m = Gather(s, zero)  t = Constant<value = bool {1}>()
  y = Loop(m, t) <body = b (int64 i, bool ci) => (bool co, float[3] r) { co = Identity(ci)  e = Gather(x, i)  r = Mul(e, e) }>
}""", dict(x=f(4, 3)), dict(x=f(1, 3)), dict(x=f(0, 3)))

case("loop that grows", """g (float[1,2] x) => (float[r,2] y) {
  m = Constant<value = int64 {3}>()  t = Constant<value = bool {1}>()
  y = Loop(m, t, x) <body = b (int64 i, bool ci, float[p,2] v) => (bool co, float[q,2] vo) { co = Identity(ci)  vo = Concat<axis = 0>(v, x) }>
}""", dict(x=f(1, 2)))

case("loop that slices", """g (float[6,2] x) => (float[1,2] y) <float[1,2] z = {0, 0}, int64[1] two = {2}, int64[1] zero = {0}> {
  m = Constant<value = int64 {3}>()  t = Constant<value = bool {1}>()
  y = Loop(m, t, z) <body = b (int64 i, bool ci, float[1,2] v) => (bool co, float[1,2] vo) {
    co = Identity(ci)  j = Unsqueeze(i, zero)  from = Mul(j, two)  to = Add(from, two)
    part = Slice(x, from, to, zero)  sum = ReduceSum<keepdims = 1>(part, zero)  vo = Add(v, sum)
  }>
}""", dict(x=f(6, 2)))

case("loops in loops", """g (float[2] x, float[2] y0) => (float[2] y, float[3,2] all) {
  m = Constant<value = int64 {3}>()  k = Constant<value = int64 {2}>()  t = Constant<value = bool {1}>()
  y, all = Loop(m, t, y0) <body = b (int64 i, bool c, float[2] v) => (bool co, float[2] vo, float[2] s) {
    co = Identity(c)  f = Cast<to = 1>(i)
    vo = Loop(k, t, v) <body = bb (int64 i2, bool c2, float[2] v2) => (bool co2, float[2] vo2) {
      co2 = Identity(c2)  u = Add(v2, f)  g = Cast<to = 1>(i2)  u2 = Sub(u, g)  vo2 = Add(u2, x)
    }>
    s = Neg(vo)
  }>
}""", dict(x=f(2), y0=f(2)))

case("if in a loop", """g (float[3] x, float[3] z) => (float[3] y) {
  m = Constant<value = int64 {4}>()  t = Constant<value = bool {1}>()
  y = Loop(m, t, x) <body = b (int64 i, bool c, float[3] v) => (bool co, float[3] vo) {
    co = Identity(c)  s = ReduceSum<keepdims = 0>(v)  zero = Constant<value = float {0}>()  d = Greater(s, zero)
    vo = If(d) <then_branch = a () => (float[3] p) { p = Sub(v, z) }, else_branch = e () => (float[3] p) { q = Mul(z, x)  p = Add(v, q) }>
  }>
}""", dict(x=f(3), z=f(3)), dict(x=-f(3), z=f(3)))

case("scan", """g (float[2] s0, float[4,2] x, float[2,4] w) => (float[2] s, float[2,4] a, float[4,2] b) <float[2] k = {0.5, 2}> {
  s, a, b = Scan<num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1], scan_output_axes = [1, 0], scan_output_directions = [0, 1],
    body = g2 (float[2] si, float[2] xi, float[2] wi) => (float[2] so, float[2] ai, float[2] bi) {
      u = Mul(xi, wi)  v = Mul(si, k)  so = Add(u, v)  ai = Identity(so)  bi = Sub(xi, s0)
    }>(s0, x, w)
}""", dict(s0=f(2), x=f(4, 2), w=f(2, 4)))

case("scan over a symbol", """g (float[b,3] h0, float[t,b,2] x) => (float[b,3] h, float[t,b,3] all) <float[2,3] w = {1, 2, 3, -1, -2, -3}, float[3,3] r = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}> {
  h, all = Scan<num_scan_inputs = 1, body = g2 (float[b,3] hi, float[b,2] xi) => (float[b,3] ho, float[b,3] o) {
      u = MatMul(xi, w)  v = MatMul(hi, r)  s = Add(u, v)  ho = Tanh(s)  o = Identity(ho)
    }>(h0, x)
}""", dict(h0=f(2, 3), x=f(5, 2, 2)), dict(h0=f(1, 3), x=f(1, 1, 2)))

case("scan with a batch", """g (float[2,2] s0, float[2,3,2] x) => (float[2,2] s, float[2,3,2] y) {
  s, y = Scan<num_scan_inputs = 1, body = g2 (float[2] si, float[2] xi) => (float[2] so, float[2] yi) { so = Add(si, xi)  yi = Identity(so) }>(, s0, x)
}""", dict(s0=f(2, 2), x=f(2, 3, 2)), opset=8)

case("sequence", """g (float[2,3] x, float[2,3] y) => (float[2,3] z, float[4,3] c, float[2,2,3] d, int64 k) {
  s0 = SequenceConstruct(x, y)  one = Constant<value = int64 {1}>()  zero = Constant<value = int64 {0}>()
  z = SequenceAt(s0, one)  c = ConcatFromSequence<axis = 0>(s0)  u = Neg(x)
  s1 = SequenceInsert(s0, u, zero)  s2 = SequenceErase(s1, one)  d = ConcatFromSequence<axis = 0, new_axis = 1>(s2)  k = SequenceLength(s1)
}""", dict(x=f(2, 3), y=f(2, 3)))

case("split to a sequence", """g (float[5,2] x) => (float[2,2] a, float[1,2] b, float[2] c, float[3,2] d) {
  two = Constant<value = int64 {2}>()  last = Constant<value = int64 {-1}>()  zero = Constant<value = int64 {0}>()  sizes = Constant<value = int64[2] {2, 3}>()
  s = SplitToSequence<axis = 0>(x, two)  a = SequenceAt(s, zero)  b = SequenceAt(s, last)
  r = SplitToSequence<axis = 0, keepdims = 0>(x)  c = SequenceAt(r, two)
  q = SplitToSequence<axis = 0>(x, sizes)  d = SequenceAt(q, last)
}""", dict(x=f(5, 2)))

case("loop that gathers a sequence", """g (float[3,2] x) => (float[4,2] y) {
  m = Constant<value = int64 {4}>()  t = Constant<value = bool {1}>()  e = SequenceEmpty()  k = Constant<value = int64[1] {0}>()
  s = Loop(m, t, e) <body = b (int64 i, bool c, seq(float) v) => (bool co, seq(float) vo) {
    co = Identity(c)  f = Cast<to = 1>(i)  u = Mul(x, f)  r = ReduceSum<keepdims = 0>(u, k)  vo = SequenceInsert(v, r)
  }>
  y = ConcatFromSequence<axis = 0, new_axis = 1>(s)
}""", dict(x=f(3, 2)))

case("function", """g (float[2] x, float[2] z) => (float[2] y) { u = local.twice(x, z)  y = local.twice(u, x) }""", dict(x=f(2), z=f(2)), functions="""
<domain: "local", opset_import: ["" : 17, "local" : 1]>
twice (x, k) => (y) {
  m = Constant<value = int64 {2}>()  t = Constant<value = bool {1}>()
  y = Loop(m, t, x) <body = b (int64 i, bool c, float[2] v) => (bool co, float[2] vo) { co = Identity(c)  w = local.plus(v, k)  vo = Tanh(w) }>
}
<domain: "local", opset_import: ["" : 17]>
plus (a, b) => (c) { c = Add(a, b) }""")

case("sequence map", """g (float[2,3] x, float[3] k) => (float[6] y, float[4] z) {
  a = Neg(x)
  s = SequenceConstruct(x, a)  t = SplitToSequence<axis = 0, keepdims = 0>(x)
  p, q = SequenceMap(s, t, k) <body = b (float[2,3] e, float[3] u, float[3] v) => (float[n] r, float[m] w) {
    h = Mul(u, v)  g = Add(e, h)  r = ReduceSum<keepdims = 0>(g, first)  w = ReduceMax<axes = [1], keepdims = 0>(g)
  }>
  y = ConcatFromSequence<axis = 0>(p)  z = ConcatFromSequence<axis = 0>(q)
}""".replace("{\n  a = Neg", "{\n  first = Constant<value = int64[1] {0}>()  a = Neg"), dict(x=f(2, 3), k=f(3)))

case("optional", """g (float[3] x) => (float[3] y, bool none, bool some, bool loose) {
  n = Optional<type = float[3]>()  o = Optional(x)  o2 = Identity(o)
  none = OptionalHasElement(n)  some = OptionalHasElement(o2)
  v = OptionalGetElement(o2)  loose = OptionalHasElement(v)
  y = If(none) <then_branch = a () => (float[3] p) { p = OptionalGetElement(n) }, else_branch = b () => (float[3] q) { q = Exp(v) }>
}""", dict(x=f(3)), opset=18)

case("inputs that say shapes", """g (float[n,2,4] x, int64[3] to, int64 limit, int64[2] grid) => (float[a,b,c] y, float[l] r, float[d,e,f] t) <
  float[1,4] row = {1, 2, 3, 4}, int64 zero = {0}, int64 one = {1}, int64[1] four = {4}
> {
  y = Reshape(x, to)
  c = Range(zero, limit, one)  r = Cast<to = 1>(c)
  s = Concat<axis = 0>(grid, four)  t = Expand(row, s)
}""", dict(x=f(3, 2, 4), to=np.array([2, 3, 4]), limit=n(5), grid=np.array([2, 3])),
   dict(x=f(1, 2, 4), to=np.array([8, 1, 1]), limit=n(0), grid=np.array([1, 1])))

case("an input that says a size", """g (float[1,2,4,4] x, int64[4] sizes) => (float[a,b,c,d] y) {
  roi = Constant<value = float[0] {}>()
  y = Resize<mode = "linear">(x, roi, , sizes)
}""", dict(x=f(1, 2, 4, 4), sizes=np.array([1, 2, 7, 3])), dict(x=f(1, 2, 4, 4), sizes=np.array([1, 2, 4, 9])))

case("boxes of a mask", """g (float[6] scores, float[6,4] boxes) => (float[k] best, int64[kept] keep) <
  float least = {0.5}, int64[1] most = {3}, int64 zero = {0}, int64 many = {9}, float half = {0.5}, int64[1] first = {0}, int64[2] both = {0, 1}, int64[1] last = {2}
> {
  m = Greater(scores, least)
  n1 = NonZero(m)  t1 = Transpose(n1)  s = GatherND(scores, t1)
  n2 = NonZero(m)  t2 = Transpose(n2)  b = GatherND(boxes, t2)
  e = Shape(s)  es = Concat<axis = 0>(most, e)  k = ReduceMin<keepdims = 0>(es)  k1 = Unsqueeze(k, first)
  best, at = TopK(s, k1)  c = Gather(b, at)
  d = Shape(c)  size = ReduceProd<keepdims = 0>(d)  none = Equal(size, zero)
  keep = If(none) <then_branch = v () => (int64[0] p) { p = Constant<value = int64[0] {}>() },
                   else_branch = w () => (int64[q] q) {
    high = ReduceMax<keepdims = 0>(c)  o = Add(c, high)  u = Unsqueeze(o, first)  us = Unsqueeze(best, both)
    r = NonMaxSuppression(u, us, many, half)  column = Gather<axis = 1>(r, last)  q = Squeeze(column, one) }>
}""".replace("int64[1] last", "int64[1] one = {1}, int64[1] last"), *(dict(scores=np.array(s, np.float32), boxes=boxes) for boxes in [np.array([
    [0, 0, 4, 4], [0, 0, 4, 5], [9, 9, 12, 12], [2, 2, 3, 3], [9, 9, 12, 11], [30, 30, 31, 31]], np.float32)] for s in [
    [0.9, 0.8, 0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4, 0.3, 0.2], [0.6, 0.7, 0.8, 0.9, 0.95, 1]]))

case("an if that counts", """g (float[n,2] x) => (float[k,2] y, float[k] z, float[2] s, int64[m] t) <
  float zero = {0}, int64 first = {0}, int64[1] axis = {0}, int64[2] two = {7, 8}, int64[3] three = {4, 5, 6}
> {
  sum = ReduceSum<keepdims = 0>(x)  c = Greater(sum, zero)  column = Gather<axis = 1>(x, first)  up = Greater(column, zero)  down = Not(up)
  y, z, s, t = If(c) <then_branch = v () => (float[k,2] y1, float[k] z1, float[2] s1, int64[3] t1) {
                        y1 = Compress<axis = 0>(x, up)  z1 = Gather<axis = 1>(y1, first)  s1 = ReduceSum<keepdims = 0>(y1, axis)  t1 = Identity(three) },
                      else_branch = w () => (float[k,2] y2, float[k] z2, float[2] s2, int64[2] t2) {
                        a = Compress<axis = 0>(x, down)  y2 = Neg(a)  z2 = Gather<axis = 1>(a, first)  s2 = ReduceSum<keepdims = 0>(y2, axis)  t2 = Identity(two) }>
}""", *(dict(x=np.array(x, np.float32)) for x in [
    [[1, 2], [-3, 0.5], [0.25, 1]], [[1, 2], [-3, 0.5], [-0.25, -1]], [[-1, 2], [3, -1], [2, -9], [1, 1]], [[-1, 4]]]))

case("a loop that counts", """g (float[n,3] x) => (float[3] y) <
  int64 trips = {3}, bool yes = {1}, float zero = {0}, float[3] none = {0, 0, 0}, int64[1] axis = {0}
> {
  y = Loop(trips, yes, none) <body = b (int64 i, bool c, float[3] t) => (bool co, float[3] to) {
    co = Identity(c)  column = Gather<axis = 1>(x, i)  m = Greater(column, zero)  k = Compress<axis = 0>(x, m)
    s = ReduceSum<keepdims = 0>(k, axis)  to = Add(t, s) }>
}""", dict(x=f(4, 3)), dict(x=-np.abs(f(2, 3)) - 1))

case("two masks alike", """g (float[n] x, float[n] z) => (float[k] y, float[k] u) <float least = {0}, float same = {0}> {
  m = Greater(x, least)  a = Compress<axis = 0>(x, m)  b = Compress<axis = 0>(z, m)  s = Add(a, b)
  m2 = Greater(x, same)  n2 = NonZero(m2)  t2 = Transpose(n2)  c = GatherND(z, t2)  y = Mul(s, c)
  m3 = Less(x, least)  n3 = Not(m3)  d = Compress<axis = 0>(z, n3)  u = Neg(d)
}""", dict(x=np.array([1, -2, 3, 0.5], np.float32), z=f(4)), dict(x=np.array([-1, -2], np.float32), z=f(2)))

case("loop that data end and that gathers", """g (float[2,3] x, bool c) => (float[2,3] y, float[k,2,3] all, float[j,3] rows, float[3] sum) {
  m = Constant<value = int64 {6}>()
  y, all = Loop(m, c, x) <body = b (int64 i, bool ci, float[2,3] v) => (bool co, float[2,3] vo, float[2,3] s) {
    vo = Add(v, v)  s = Tanh(v)  biggest = ReduceMax<keepdims = 0>(vo)  limit = Constant<value = float {20}>()  co = Less(biggest, limit)
  }>
  r = Constant<value = int64[2] {-1, 3}>()  rows = Reshape(all, r)  first = Constant<value = int64[1] {0}>()  sum = ReduceSum<keepdims = 0>(rows, first)
}""", *[dict(x=np.abs(f(2, 3)) * np.float32(k) + np.float32(0.25), c=yes) for k in (1, 0, 3)], dict(x=f(2, 3), c=no), dict(x=-np.abs(f(2, 3)), c=yes))

case("loop inside which a layer counts", """g (int64 m, float[n,4] x) => (float[n,4] y) {
  t = Constant<value = bool {1}>()
  y = Loop(m, t, x) <body = b (int64 i, bool ci, float[n,4] v) => (bool co, float[n,4] vo) {
    co = Identity(ci)  places = NonZero(v)  across = Transpose<perm = [1, 0]>(places)  found = GatherND(v, across)
    sum = ReduceSum<keepdims = 0>(found)  s = Shape(places)  two = Constant<value = int64 {1}>()  k = Gather(s, two)  count = Cast<to = 1>(k)
    moved = Sub(v, sum)  one = Constant<value = float {1}>()  most = Max(count, one)  next = Div(moved, most)  vo = Relu(next)
  }>
}""", dict(m=n(3), x=f(2, 4)), dict(m=n(2), x=-np.abs(f(1, 4)) - 1), dict(m=n(0), x=f(3, 4)))

case("scan inside which a layer counts", """g (float[n,4] x) => (int64[n] counts, float[n] sums) {
  counts, sums = Scan<num_scan_inputs = 1, body = b (float[4] v) => (int64 c, float s) {
    p = NonZero(v)  d = Shape(p)  one = Constant<value = int64 {1}>()  c = Gather(d, one)
    first = Constant<value = int64[1] {0}>()  row = Squeeze(p, first)  e = Gather(v, row)  s = ReduceSum<keepdims = 0>(e)
  }>(x)
}""", *[dict(x=f(k, 4) * (f(k, 4) > 0)) for k in (1, 5)])

case("loop that data end and inside which a layer counts", """g (float[4] x) => (float[4] y, float[k] sums) {
  t = Constant<value = bool {1}>()  m = Constant<value = int64 {5}>()
  y, sums = Loop(m, t, x) <body = b (int64 i, bool ci, float[4] v) => (bool co, float[4] vo, float sum) {
    one = Constant<value = float {1}>()  less = Sub(v, one)  vo = Relu(less)  places = NonZero(vo)
    first = Constant<value = int64[1] {0}>()  row = Squeeze(places, first)  e = Gather(vo, row)
    sum = ReduceSum<keepdims = 0>(e)  zero = Constant<value = float {0}>()  co = Greater(sum, zero)
  }>
}""", dict(x=np.abs(f(4)) + np.float32(1.5)), dict(x=np.zeros(4, np.float32)))

case("a length that data decide", """g (float[n] x) => (float[l,n] y, int64[l] numbers, float[a,b] z) <
  int64 zero = {0}, int64 one = {1}, int64 three = {3}, int64[1] last = {1}, float[1,1] half = {0.5}
> {
  up = Ceil(x)  sum = ReduceSum<keepdims = 0>(up)  length = Cast<to = 7>(sum)
  r = Range(zero, length, one)  c = Cast<to = 1>(r)  place = Unsqueeze(c, last)  end = CumSum(up, zero)
  earlier = Less(place, end)  y = Cast<to = 1>(earlier)
  numbers = Add(r, three)  first = Constant<value = int64[1] {0}>()  l1 = Unsqueeze(length, first)  d = Shape(x)  both = Concat<axis = 0>(l1, d)  z = Expand(half, both)
}""", dict(x=np.array([1.5, 0.2, 3], np.float32)), dict(x=np.array([4.1], np.float32)), dict(x=np.zeros(2, np.float32)))

case("a list that a loop appends to", """g (float[n,2,3] x, float[0,2] none) => (float[k,2] sums, float[2,m] rows) <
  int64 zero = {0}, bool yes = {1}, int64[1] last = {1}, int64[1] first = {0}, float[2,1] begin = {7, 8}
> {
  s = Shape(x)  trips = Gather(s, zero)
  sums, rows = Loop(trips, yes, none, begin) <body = b (int64 i, bool c, float[p,2] a, float[2,q] r) => (bool co, float[p1,2] ao, float[2,q1] ro) {
    co = Identity(c)  v = Gather(x, i)  t = ReduceSum<keepdims = 0>(v, last)  u = Unsqueeze(t, first)  ac = Cast<to = 1>(a)  ao = Concat<axis = 0>(ac, u)
    w = Tanh(v)  rc = Concat<axis = 1>(r, w)  ro = Identity(rc)
  }>
}""", dict(x=f(3, 2, 3), none=np.zeros((0, 2), np.float32)), dict(x=f(1, 2, 3), none=np.zeros((0, 2), np.float32)))

case("masks that are pasted", """g (float[n,4,4] x, int64[n,2] sizes) => (float[n,9,9] y) <
  int64 zero = {0}, bool yes = {1}, int64[2] ones = {1, 1}, int64[2] origin = {0, 0}, int64[2] axes = {2, 3}, int64[2] edge = {9, 9}, int64[1] nothing = {0},
  int64[1] first = {0}, int64[1] second = {1}, int64[1] nine = {9}, float[1] dark = {0}
> {
  s = Shape(x)  trips = Gather(s, zero)  e = Concat<axis = 0>(nothing, edge)  acc = ConstantOfShape(e)
  y = Loop(trips, yes, acc) <body = b (int64 i, bool c, float[p,9,9] a) => (bool co, float[q,9,9] ao) {
    co = Identity(c)  m = Gather(x, i)  size = Gather(sizes, i)
    shape = Concat<axis = 0>(ones, size)  m1 = Unsqueeze(m, ones2)  roi = Constant<value = float[0] {}>()  big = Resize<mode = "linear">(m1, roi, , shape)
    end = Min(size, edge)  cut = Slice(big, origin, end, axes)
    h1 = Gather(end, first)  w1 = Gather(end, second)  below = Sub(nine, h1)  beside = Sub(nine, w1)
    s1 = Concat<axis = 0>(ones, below, w1)  z1 = ConstantOfShape(s1)  tall = Concat<axis = 2>(cut, z1)
    s2 = Concat<axis = 0>(ones, nine, beside)  z2 = ConstantOfShape(s2)  wide = Concat<axis = 3>(tall, z2)
    one = Squeeze(wide, first)  ao = Concat<axis = 0>(a, one)
  }>
}""".replace("int64[1] first", "int64[2] ones2 = {0, 1}, int64[1] first"), *(dict(x=f(len(k), 4, 4), sizes=np.array(k)) for k in ([[3, 5], [12, 2], [9, 9]], [[1, 14]])))

case("a mask expanded to the shape that it has", """g (float[n] x, float[n] z) => (float[n] y) <float least = {0}> {
  m = Greater(x, least)  n1 = NonZero(m)  t1 = Transpose(n1)  a = GatherND(z, t1)
  s = Shape(z)  none = ConstantOfShape(s)  s2 = Shape(none)  e = Expand(m, s2)  n2 = NonZero(e)  t2 = Transpose(n2)
  y = ScatterND(none, t2, a)
}""", dict(x=f(4), z=f(4)), dict(x=-np.abs(f(3)), z=f(3)))

json.dump(cases, sys.stdout, indent=None, separators=(",", ":"))
