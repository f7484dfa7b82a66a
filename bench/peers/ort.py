"""Times trtui and onnxruntime on the same model, in pairs, and prints the ratios.

    python ort.py MODEL.onnx [--batch N] [--threads 1,2] [--pairs 5] [--ours 'bin/trtui bench {model} --format json']
    python ort.py MODEL.onnx --ort-only

On a busy or virtual machine a figure alone says little: a process may run half as fast as the one before it. So
each pair runs the two programs one after the other in processes of their own, in alternating order, and only the ratio
of their median latencies within a pair is compared; the result is the median of those ratios. Below 1, trtui is faster.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64, "tensor(int32)": np.int32}
DEFAULT_OURS = "bin/trtui bench {model} --format json"


def stored_inputs(model):
    """{name: array} of the data set beside the model, or nothing."""
    files = sorted(model.parent.glob("test_data_set_0/input_*.pb"))
    protos = [onnx.TensorProto.FromString(file.read_bytes()) for file in files]
    return {proto.name: numpy_helper.to_array(proto) for proto in protos}


def inputs(session, model, batch):
    """One array for each input: the stored one where name and shape fit, else seeded noise; unknown dims are the batch."""
    stored, rng, arrays = stored_inputs(model), np.random.default_rng(0), {}
    for value in session.get_inputs():
        shape = [dim if isinstance(dim, int) else batch for dim in value.shape]
        array = stored.get(value.name)
        if array is None or list(array.shape) != shape:
            kind = TYPES.get(value.type)
            if kind is None:
                raise SystemExit(f"input {value.name}: no data for {value.type}; put it into test_data_set_0/")
            array = rng.standard_normal(shape).astype(kind) if np.issubdtype(kind, np.floating) else np.zeros(shape, kind)
        arrays[value.name] = array
    return arrays


def time_ort(model, batch, threads, seconds):
    """Latencies in milliseconds of onnxruntime's CPU provider in this process, after a fifth of the time to warm up."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    feeds = inputs(session, model, batch)
    session.run(None, feeds)
    latencies, start = [], time.perf_counter()
    while (now := time.perf_counter()) - start < seconds or len(latencies) < 5:
        session.run(None, feeds)
        if now - start > seconds / 5:
            latencies.append(1e3 * (time.perf_counter() - now))
    return latencies


def ort(model, batch, threads, seconds):
    """onnxruntime's median latency in milliseconds, in a process of its own."""
    command = [sys.executable, __file__, str(model), "--time-ort", "--batch", str(batch), "--threads", str(threads)]
    done = subprocess.run([*command, "--seconds", str(seconds)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"onnxruntime failed on {model}:\n{done.stderr}")
    return json.loads(done.stdout)["median_ms"]


def ours(command, model, batch, threads):
    """trtui's median latency in milliseconds: the one place that knows its command line and its JSON.

    command may name {model}, {batch} and {threads}; GOMAXPROCS bounds the threads in any case.
    """
    words = [word.format(model=model, batch=batch, threads=threads) for word in shlex.split(command)]
    environment = {**os.environ, "GOMAXPROCS": str(threads)}
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
    except OSError as error:
        raise SystemExit(f"{shlex.join(words)}: {error.strerror}; run make build, or name a command with --ours") from None
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)} failed:\n{done.stderr}")
    try:
        return json.loads(done.stdout)["latency"]["median_ms"]
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"{shlex.join(words)} printed no latency.median_ms:\n{done.stdout[:500]}") from None


def compare(options, threads):
    """Runs the pairs at one thread count; returns their record."""
    pairs = []
    for index in range(options.pairs):
        runs = {
            "ort_ms": lambda: ort(options.model, options.batch, threads, options.seconds),
            "ours_ms": lambda: ours(options.ours, options.model, options.batch, threads),
        }
        if options.ort_only:
            del runs["ours_ms"]
        order = list(runs) if index % 2 == 0 else list(reversed(runs))
        pair = {name: runs[name]() for name in order}
        if not options.ort_only:
            pair["ratio"] = pair["ours_ms"] / pair["ort_ms"]
        print(f"{threads} threads  " + "  ".join(f"{name} {pair[name]:.3f}" for name in sorted(pair)), file=sys.stderr)
        pairs.append(pair)
    medians = {name: statistics.median(pair[name] for pair in pairs) for name in pairs[0]}
    return {"threads": threads, "pairs": pairs, "median": medians}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--batch", type=int, default=1, help="value of dynamic dimensions")
    parser.add_argument("--threads", default="1,2", help="thread counts, by comma")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3, help="onnxruntime's time in each pair")
    parser.add_argument("--ours", default=DEFAULT_OURS, help="command that prints trtui's JSON (default: %(default)s)")
    parser.add_argument("--ort-only", action="store_true", help="time onnxruntime alone")
    parser.add_argument("--time-ort", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    counts = [int(count) for count in options.threads.split(",")]
    if options.time_ort:
        latencies = time_ort(options.model, options.batch, counts[0], options.seconds)
        json.dump({"median_ms": statistics.median(latencies), "runs": len(latencies)}, sys.stdout)
        return
    results = [compare(options, count) for count in counts]
    print(json.dumps({"model": str(options.model), "batch": options.batch, "results": results}, indent=2))


if __name__ == "__main__":
    main()
