"""What a search over precisions finds, and in how many engines, beside raising layers by hand: one after the other to FP32, that whose
own SQNR is lowest first, until the outputs have the SQNR that is asked for.

    python bench/quantisation/search.py DATA [--trtui PROGRAM] [--out FILE] MODEL=DB ...

A model is one of models.py. Both ways build engines of the same data; times are medians of engines that are measured in turns.
"""

import argparse
import json
import os
import subprocess
import tempfile

import models


def call(args, command, *more):
    done = subprocess.run([args.trtui, *command, "-q", "--threads", "1", "--timing-cache", args.cache, "--format", "json", *more], capture_output=True, text=True)
    if done.returncode > 1:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def by_hand(args, model, flags, goal):
    """Returns the engines that were built, the first of all layers in INT8, and the precisions of the last."""
    layers = call(args, ["eval", model, *flags, "--precision", "int8"], "--per-layer")["layers"]
    layers = [l for l in layers if l["precision"] in ("i8", "int8")]
    order = sorted(layers, key=lambda l: l["local"]["sqnr_db"] if l["local"]["sqnr_db"] is not None else 999)
    raised, engines = [], []
    for l in [None, *order]:
        if l is not None:
            raised.append(l["from"][0] + ":fp32")
        row = call(args, ["eval", model, *flags, "--precision", "int8", *(["--layer-precisions", ",".join(raised)] if raised else [])])["rows"][-1]
        engines.append({"raised": len(raised), "sqnr_db": row["sqnr_db"]})
        if row["sqnr_db"] is None or row["sqnr_db"] >= goal:
            break
    return engines, raised


def latencies(args, model, flags, a, b):
    """Returns the least of the medians of two configurations, which are measured in turns."""
    best = [float("inf"), float("inf")]
    for _ in range(5):
        for k, more in enumerate((a, b)):
            best[k] = min(best[k], call(args, ["bench", model, *flags, *more, "--duration", "300ms"])["latency"]["median_ms"])
    return best


def db(v):
    return "exact" if v is None else f"{v:.1f} dB"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data")
    p.add_argument("--trtui", default="trtui")
    p.add_argument("--out")
    p.add_argument("goals", nargs="+")
    args = p.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as work:
        args.cache = os.path.join(work, "cache.jsonl")
        for name, goal in (g.split("=") for g in args.goals):
            goal = float(goal)
            p = models.Prepared(name, args.data, work)
            model, flags = p.model, p.flags()
            hand, raised = by_hand(args, model, flags, goal)
            found = os.path.join(work, name + ".config.json")
            s = call(args, ["tune-precision", model, *flags, "--min-sqnr", str(goal), "-o", found])
            best = s["points"][s["best"]] if s["best"] is not None else None
            times = latencies(args, model, p.flags(labels=False), ["--precision", "int8", "--layer-precisions", ",".join(raised)], ["--config", found])
            row = {"model": name, "goal_db": goal,
                   "by_hand": {"engines": len(hand), "sqnr_db": hand[-1]["sqnr_db"], "raised": len(raised), "median_ms": times[0]},
                   "search": {"engines": len(s["points"]), "engines_to_best": s["best"] + 1 if best else None, "predictions": s["predictions"], "sqnr_db": best and best["sqnr_db"], "raised": best and best["raised"], "median_ms": times[1]}}
            results.append(row)
            print(f"{name} to {goal:g} dB: by hand {len(hand)} engines, {len(raised)} layers raised, {db(hand[-1]['sqnr_db'])}, {times[0]:.4f} ms; "
                  f"search {len(s['points'])} engines, the best the {s['best'] + 1}., {best['raised']} raised, {db(best['sqnr_db'])}, {times[1]:.4f} ms", flush=True)
    if args.out:
        os.makedirs(os.path.dirname(args.out), exist_ok=True)
        with open(args.out, "w") as f:
            json.dump({"results": results}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
