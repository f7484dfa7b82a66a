"""Writes ml.json: nodes of ai.onnx.ml, and what ONNX Runtime computes for them.

Run: python3 ml.py > ml.json   (needs onnx and onnxruntime)
"""

import json
import sys

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

rng = np.random.default_rng(11)
cases = []
TYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint8": "u8"}
DOMAIN = "ai.onnx.ml"


def real(*dims):
    """Multiples of 1/8, which print short and are exact."""
    return np.asarray(rng.integers(-16, 17, dims) / 8, np.float32)


def tensor(x):
    if x.dtype == object:
        return {"type": "str", "dims": list(x.shape), "text": x.ravel().tolist()}
    data = [float(v) if x.dtype.kind == "f" else int(v) for v in x.ravel()]
    t = {"type": TYPES[x.dtype.name], "dims": list(x.shape), "data": [0 if v != v else v for v in data]}
    if any(v != v for v in data):
        t["nan"] = [i for i, v in enumerate(data) if v != v]
    return t


def add(name, op, inputs, version=3, outputs=1, **attrs):
    names = [f"x{i}" for i in range(len(inputs))]
    outs = [f"y{i}" for i in range(outputs)]
    given = {k: numpy_helper.from_array(v, k) if isinstance(v, np.ndarray) else v for k, v in attrs.items()}
    graph = helper.make_graph(
        [helper.make_node(op, names, outs, domain=DOMAIN, **given)], "g",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in zip(names, inputs)],
        [helper.make_empty_tensor_value_info(o) for o in outs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, version)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        results = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, dict(zip(names, inputs)))
    except Exception as e:
        raise SystemExit(f"{name}: {e}")
    cases.append({
        "name": name, "op": op, "domain": DOMAIN, "opset": 21, "version": version,
        "attrs": {k: tensor(v) if isinstance(v, np.ndarray) else v for k, v in attrs.items()}, "consts": [],
        "inputs": [tensor(x) for x in inputs], "outputs": [tensor(np.asarray(r)) for r in results]})


def strings():
    words = np.array([["red", "blau"], ["", "grün"], ["red", "Red"]], object)
    add("labels of words", "LabelEncoder", [words], keys_strings=["grün", "red", "red", ""], values_int64s=[5, 6, 7, 8], default_int64=-3, version=2)
    add("words of words", "LabelEncoder", [words], keys_strings=["grün", "red"], values_strings=["green", "rot"], version=2)
    add("reals of words", "LabelEncoder", [words], keys_strings=["red", "blau"], values_floats=[1.5, -2.0], default_float=0.25, version=2)
    add("words of integers", "LabelEncoder", [np.array([3, 1, 2])], keys_int64s=[1, 3], values_strings=["one", "three"], default_string="none", version=2)
    add("places of words", "CategoryMapper", [words], cats_strings=["red", "grün"], cats_int64s=[3, 9], default_int64=-7)
    add("words of places", "CategoryMapper", [np.array([9, 3, 4])], cats_strings=["red", "grün"], cats_int64s=[3, 9], default_string="other")
    add("one of words", "OneHotEncoder", [words], cats_strings=["grün", "red", "blau"], zeros=1)
    x = real(5, 3)
    add("words of classes", "LinearClassifier", [x], outputs=2, coefficients=[1.0, -0.5, 0.25, -1.0, 0.5, 2.0, 0.5, 0.5, -1.0], intercepts=[0.5, -0.25, 0.0],
        classlabels_strings=["cat", "dog", "änte"], post_transform="SOFTMAX", version=1)


def simple():
    x = real(3, 4)
    add("scaler", "Scaler", [x], offset=[0.5, 1.0, -1.5, 2.0], scale=[2.0, 0.25, 1.0, -3.0])
    add("scaler of integers", "Scaler", [rng.integers(-9, 9, (2, 3))], offset=[0.5], scale=[2.0])
    add("binarizer", "Binarizer", [x], threshold=0.5)
    gaps = x.copy()
    gaps[0, 1] = gaps[2, 3] = np.float32("nan")
    gaps[1, 0] = 7.0
    add("imputer", "Imputer", [gaps], imputed_value_floats=[0.5, 1.5, 2.5, 3.5], replaced_value_float=7.0)
    add("imputer of integers", "Imputer", [np.array([[1, 5], [5, 2]], np.int64)], imputed_value_int64s=[9], replaced_value_int64=5)
    zero = np.concatenate([x, np.zeros((1, 4), np.float32)])
    for norm in ("MAX", "L1", "L2"):
        add(f"normalizer {norm}", "Normalizer", [np.abs(zero)], norm=norm)
    add("normalizer of signs", "Normalizer", [zero], norm="L2")
    add("features", "ArrayFeatureExtractor", [x, np.array([[3, 0]], np.int64)])
    add("features of a list", "ArrayFeatureExtractor", [x[0].copy(), np.array([1, 2, 1], np.int64)])
    add("vectorizer", "FeatureVectorizer", [x, real(3, 2)], inputdimensions=[4, 2])
    add("one hot", "OneHotEncoder", [np.array([[1, 3], [2, 7]], np.int64)], cats_int64s=[1, 2, 3])
    ints = np.array([[3, 1], [4, 3]], np.int64)
    add("labels", "LabelEncoder", [ints], keys_int64s=[1, 3], values_floats=[0.5, -2.0], default_float=9.0, version=2)
    add("labels without default", "LabelEncoder", [ints], keys_int64s=[1, 3], values_floats=[0.5, -2.0], version=2)
    add("labels of reals", "LabelEncoder", [np.array([1.5, 2.0, np.nan, 4.0], np.float32)], keys_tensor=np.array([2.0, np.nan], np.float32),
        values_int64s=[7, 8], default_int64=-3, version=4)
    add("labels by tensors", "LabelEncoder", [np.array([1, 2, 3], np.int64)], keys_tensor=np.array([3, 2], np.int64), values_tensor=np.array([30, 20], np.int64),
        default_tensor=np.array([-5], np.int64), version=4)


def linear():
    x = real(3, 2)
    add("regressor", "LinearRegressor", [x], coefficients=[0.5, 1.0, -2.0, 0.25], intercepts=[1.0, -1.0], targets=2)
    add("regressor alone", "LinearRegressor", [x], coefficients=[0.5, 1.0])
    w = {"coefficients": [0.5, 1.0, -2.0, 0.25, 1.5, -0.5], "intercepts": [0.5, 0.0, -0.25]}
    add("classifier", "LinearClassifier", [x], outputs=2, classlabels_ints=[3, 5, 9], **w)
    add("classifier softmax", "LinearClassifier", [x], outputs=2, classlabels_ints=[3, 5, 9], post_transform="SOFTMAX", multi_class=1, **w)
    add("classifier logistic", "LinearClassifier", [x], outputs=2, classlabels_ints=[0, 1], coefficients=[0.5, 1.0, -0.5, -1.0], intercepts=[0.5, -0.5], post_transform="LOGISTIC")


class Trees:
    """Random trees as the attributes of nodes and leaves."""

    def __init__(self, count, depth, features, modes=("BRANCH_LEQ",), missing=False):
        self.nodes = {k: [] for k in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
        self.leaves = []
        for t in range(count):
            self.next = 0
            self.grow(t, depth, features, modes, missing)

    def grow(self, tree, depth, features, modes, missing):
        number, at = self.next, len(self.nodes["nodeids"])
        self.next += 1
        leaf = depth == 0 or number > 0 and rng.integers(4) == 0
        row = {"treeids": tree, "nodeids": number, "featureids": 0 if leaf else int(rng.integers(features)), "modes": "LEAF" if leaf else modes[int(rng.integers(len(modes)))],
               "values": 0.0 if leaf else float(rng.integers(-8, 9)) / 8, "truenodeids": 0, "falsenodeids": 0, "missing_value_tracks_true": int(missing and rng.integers(2))}
        for k, v in row.items():
            self.nodes[k].append(v)
        if leaf:
            self.leaves.append((tree, number))
        else:
            self.nodes["truenodeids"][at] = self.grow(tree, depth - 1, features, modes, missing)
            self.nodes["falsenodeids"][at] = self.grow(tree, depth - 1, features, modes, missing)
        return number

    def attributes(self, kind, ids, low=-8):
        """ids are the targets of each leaf."""
        out = {f"nodes_{k}": v for k, v in self.nodes.items()}
        rows = [(t, n, i, float(rng.integers(low, 9)) / 8) for t, n in self.leaves for i in ids]
        for k, name in enumerate(("treeids", "nodeids", "ids", "weights")):
            out[f"{kind}_{name}"] = [r[k] for r in rows]
        return out


def trees():
    x = real(6, 3)
    holes = x.copy()
    holes[1, 0] = holes[2, 1] = holes[4, 2] = np.float32("nan")
    every = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
    add("trees", "TreeEnsembleRegressor", [x], n_targets=1, **Trees(3, 3, 3).attributes("target", [0]))
    add("trees of two targets", "TreeEnsembleRegressor", [x], n_targets=2, base_values=[0.5, -1.5], **Trees(4, 4, 3).attributes("target", [0, 1]))
    for mode in every:
        add(f"trees {mode}", "TreeEnsembleRegressor", [x], n_targets=1, **Trees(3, 3, 3, (mode,)).attributes("target", [0]))
    add("trees of all modes", "TreeEnsembleRegressor", [x], n_targets=1, **Trees(6, 4, 3, every).attributes("target", [0]))
    for missing in (False, True):
        add(f"trees of gaps {missing}", "TreeEnsembleRegressor", [holes], n_targets=1, **Trees(5, 3, 3, ("BRANCH_LEQ",), missing).attributes("target", [0]))
        add(f"trees of gaps and modes {missing}", "TreeEnsembleRegressor", [holes], n_targets=1, **Trees(8, 3, 3, every, missing).attributes("target", [0]))
    for how in ("AVERAGE", "MIN", "MAX"):
        add(f"trees {how}", "TreeEnsembleRegressor", [x], n_targets=1, aggregate_function=how, base_values=[0.25], **Trees(3, 3, 3).attributes("target", [0]))
    add("trees logistic", "TreeEnsembleRegressor", [x], n_targets=2, post_transform="LOGISTIC", **Trees(3, 3, 3).attributes("target", [0, 1]))
    add("leaves alone", "TreeEnsembleRegressor", [x], n_targets=1, **Trees(2, 0, 3).attributes("target", [0]))
    wide = Trees(3, 3, 3).attributes("target", [0])
    wide["nodes_values_as_tensor"] = np.array(wide.pop("nodes_values"), np.float64) + 1e-12
    wide["target_weights_as_tensor"] = np.array(wide.pop("target_weights"), np.float64)
    add("trees of doubles", "TreeEnsembleRegressor", [x.astype(np.float64)], n_targets=1, **wide)
    for labels in ([1, 2, 5], [3, 0, 4, 2]):  # of two with weights of both ONNX Runtime does not take the larger sum
        for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
            add(f"forest of {len(labels)} {transform}", "TreeEnsembleClassifier", [x], outputs=2, classlabels_int64s=labels, post_transform=transform,
                **Trees(4, 3, 3).attributes("class", range(len(labels)), 0))
    add("forest with base", "TreeEnsembleClassifier", [x], outputs=2, classlabels_int64s=[4, 5, 6], base_values=[0.5, 0.25, -0.5], **Trees(4, 3, 3).attributes("class", range(3)))
    for low in (0, -8):
        for transform in ("NONE", "LOGISTIC"):
            add(f"boosted from {low} {transform}", "TreeEnsembleClassifier", [x], outputs=2, classlabels_int64s=[0, 1], post_transform=transform,
                **Trees(3, 3, 3).attributes("class", [0], low))
    add("boosted with base", "TreeEnsembleClassifier", [x], outputs=2, classlabels_int64s=[7, 3], post_transform="LOGISTIC", base_values=[0.375], **Trees(3, 3, 3).attributes("class", [0]))
    # feature 1 <= 0.5 ? leaf 0 : feature 0 is one of {1, 0, -1} ? node 2 : leaf 3; node 2 is feature 2 > 0
    add("newer trees", "TreeEnsemble", [np.round(x)], version=5, n_targets=2, aggregate_function=1, post_transform=0, tree_roots=[0, 3],
        nodes_featureids=[1, 0, 2, 1], nodes_splits=np.array([0.5, 0, 0, -0.5], np.float32), nodes_modes=np.array([0, 6, 3, 2], np.uint8),
        nodes_truenodeids=[0, 2, 1, 4], nodes_trueleafs=[1, 0, 1, 1], nodes_falsenodeids=[1, 3, 2, 5], nodes_falseleafs=[0, 1, 1, 1],
        leaf_targetids=[0, 1, 0, 1, 0, 1], leaf_weights=np.array([1, 2, 4, 8, 16, 32], np.float32), membership_values=np.array([1, 0, -1, np.nan], np.float32))


simple()
linear()
trees()
strings()
print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
