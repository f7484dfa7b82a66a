"""What 8 bits cost: SQNR of the logits in dB against FP32, and top-1, of trained models by ways to quantise them.

    python bench/quantisation/table.py DATA [--trtui PROGRAM] [--models NAME,...] [--peers [--ours] [--fast] | --tuned SECONDS] [--out FILE] [CONFIGURATION...]

A configuration is flags of `trtui eval`, such as "--calibrator mse --activations symmetric"; without any, those by which the
default was chosen are compared. --peers compares the default with ONNX Runtime's and NNCF's quantisers instead: every way of
theirs in peers.py, on the same arrays, and with the default as `trtui export --qdq` writes it, run by ONNX Runtime and OpenVINO;
with --ours, the other tools' figures are those that the file has, which are of the same versions. --tuned compares the default
with what `trtui tune-precision --raise-to none` finds in so many seconds a model, all layers in INT8.
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import subprocess
import tempfile
import time

import numpy as np

import models
import packages

CONFIGURATIONS = [f"--calibrator {c} --activations {a} --bias-correction {b}"
                  for a, b in (("symmetric", "off"), ("asymmetric", "off"), ("asymmetric", "fast"), ("asymmetric", "exact"))
                  for c in ("minmax", "entropy", "percentile", "mse")]


def sqnr(want, got):
    want, got = np.float64(want), np.float64(got)
    return 10 * np.log10((want**2).sum() / max(((want - got) ** 2).sum(), 1e-300))


def call(program, *args):
    done = subprocess.run([program, *args, "-q"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{program} {' '.join(args)}: {done.stderr}")
    return done.stdout


def ours(program, p, flags):
    row = json.loads(call(program, "eval", p.model, *p.flags(), "--threads", "1", "--timing-cache", "none", "--format", "json", "--precision", "int8", *flags))["rows"][-1]
    top = row.get("top1")
    return {"sqnr_db": row["sqnr_db"], **({"top1_percent": top} if top is not None else {})}


def grid(args, prepared):
    print("| dB |", " | ".join(p.name for p in prepared), "| mean |")
    print("|---" * (len(prepared) + 2) + "|")
    rows = []
    for c in args.configurations or CONFIGURATIONS:
        found = {p.name: ours(args.trtui, p, c.split()) for p in prepared}
        mean = sum(f["sqnr_db"] for f in found.values()) / len(found)
        cells = (f"{f['sqnr_db']:.1f}" + (f" ({f['top1_percent']:.1f} %)" if "top1_percent" in f else "") for f in found.values())
        print(f"| {c} |", " | ".join(cells), f"| {mean:.2f} |", flush=True)
        rows.append({"configuration": c, "mean_db": mean, "models": found})
    write(args.out, {"configurations": rows})


def tuned(args, prepared):
    """Compares the default with the best in INT8 that is found in a time for each model."""
    rows = kept(args.out)
    for p in prepared:
        begin = time.monotonic()
        done = subprocess.run([args.trtui, "tune-precision", p.model, *p.flags(), "-q", "--threads", "1", "--timing-cache", "none", "--format", "json",
                               "--raise-to", "none", "--min-sqnr", "199", "--limit", f"{args.tuned:g}s"], capture_output=True, text=True)
        if done.returncode > 1:
            raise SystemExit(f"{p.name}: {done.stderr}")
        s = json.loads(done.stdout)
        found = [q["sqnr_db"] for q in s["points"]]
        rows[p.name] = {"default_db": found[0], "tuned_db": max(found), "predictions": s["predictions"], "seconds": round(time.monotonic() - begin), "commit": s["commit"]}
        print(p.name, rows[p.name], flush=True)
        write(args.out, {"limit_s": args.tuned, "models": rows})
    print("| dB |", " | ".join(rows), "| mean |")
    print("|---" * (len(rows) + 2) + "|")
    for name in ("default", "tuned"):
        values = [r[name + "_db"] for r in rows.values()]
        print(f"| {name} |", " | ".join(f"{v:.1f}" for v in values), f"| {sum(values) / len(values):.2f} |")


class Judge:
    """The float model's outputs, and what others are beside them."""

    def __init__(self, p):
        import peers

        self.p, self.peers = p, peers
        self.want = self.onnxruntime(p.model)
        self.fp32 = self.verdict(self.want)

    def onnxruntime(self, path, optimised=True):
        s = self.peers.session(path, optimised)
        return np.concatenate([s.run(None, {self.p.input: x[None]})[0] for x in self.p.items])

    def openvino(self, path):
        import openvino

        c = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
        return np.concatenate([c({self.p.input: x[None]})[0] for x in self.p.items])

    def verdict(self, got):
        v = {} if got is self.want else {"sqnr_db": sqnr(self.want, got)}
        if not np.isfinite(list(v.values())).all():
            return {"error": "outputs that are not finite"}
        if self.p.labels is not None:
            v["top1_percent"] = 100 * float((got.reshape(len(got), -1).argmax(1) == self.p.labels).mean())
        return v


def beside(args, prepared):
    import peers

    tools = {"onnxruntime": peers.onnxruntime_ways, "nncf": peers.nncf_ways}
    versions = {t: importlib.metadata.version(t) for t in ("onnxruntime", "nncf", "openvino")}
    rows, columns = kept(args.out, versions), ["trtui", "in onnxruntime", "in openvino", "in onnxruntime without optimisers", *(f"{t} {w}" for t in tools for w in ("default", "best"))]
    print("| dB |", " | ".join(columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for p in prepared:
        j = Judge(p)
        row = {"items": len(p.items), "calibration_items": len(p.calibration), "fp32": j.fp32, "trtui": ours(args.trtui, p, ["--calibrator", "mse"])}
        qdq = p.file("trtui_qdq.onnx")
        call(args.trtui, "export", p.model, "--qdq", "--calib-data", p.file("calibration.npy"), "-o", qdq)
        row["exported"] = {"onnxruntime": j.verdict(j.onnxruntime(qdq)), "openvino": j.verdict(j.openvino(qdq)),
                           "onnxruntime without optimisers": j.verdict(j.onnxruntime(qdq, optimised=False))}
        known = rows.get(p.name) if args.ours else None
        for tool, ways in tools.items():
            row[tool] = known[tool] if known else []
            for name, make in [] if known else [w for w in ways() if not (args.fast and "accurate" in w[0])]:
                out = p.file("out.onnx")
                try:
                    with contextlib.redirect_stdout(open(os.devnull, "w")):
                        make(p, out)
                        v = j.verdict(j.onnxruntime(out))
                except Exception as e:
                    v = {"error": f"{type(e).__name__}: {e}".splitlines()[0][:200]}
                row[tool].append({"way": name, **v})
                write(args.out, {"versions": versions, "models": rows | {p.name: row}})
        rows[p.name] = row
        of = lambda tool: [w["sqnr_db"] for w in row[tool] if "sqnr_db" in w]
        cells = [row["trtui"]["sqnr_db"], *(e["sqnr_db"] for e in row["exported"].values()),
                 *(v for t in tools for v in (row[t][0].get("sqnr_db"), max(of(t), default=None)))]
        print(f"| {p.name} |", " | ".join("n/a" if c is None else f"{c:.1f}" for c in cells), "|", flush=True)
        write(args.out, {"versions": versions, "models": rows})


def kept(out, versions=None):
    """Returns what a file has of other models: accurate bias correction takes NNCF minutes a model, so that they are measured apart."""
    if not out or not os.path.exists(out):
        return {}
    with open(out) as f:
        old = json.load(f)
    if versions and old.get("versions") != versions:
        raise SystemExit(f"{out} is of other versions: {old.get('versions')}")
    return old["models"]


def write(out, results):
    if out:
        os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
        with open(out, "w") as f:
            json.dump(results, f, indent=2)
            f.write("\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data")
    p.add_argument("--trtui", default="trtui")
    p.add_argument("--models", default="known", help="names, or known: those by which the default was chosen; unseen: those that came later")
    p.add_argument("--peers", action="store_true")
    p.add_argument("--ours", action="store_true", help="with --peers: measure trtui alone where the file has the others")
    p.add_argument("--fast", action="store_true", help="with --peers: without NNCF's accurate bias correction, which takes minutes to hours a model")
    p.add_argument("--tuned", type=float, help="compare with ranges chosen by tune-precision in so many seconds a model")
    p.add_argument("--out", help="a JSON file for what was measured")
    p.add_argument("configurations", nargs="*")
    args, more = p.parse_known_args()
    args.models = {"known": ",".join(models.KNOWN), "unseen": ",".join(packages.MODELS)}.get(args.models, args.models)
    args.configurations = [c for c in args.configurations + more if c != "--"]
    with tempfile.TemporaryDirectory() as work:
        prepared = [models.Prepared(n, args.data, work) for n in args.models.split(",")]
        (beside if args.peers else tuned if args.tuned else grid)(args, prepared)


if __name__ == "__main__":
    main()
