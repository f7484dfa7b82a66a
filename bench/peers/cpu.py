"""Times trtui, ONNX Runtime and OpenVINO on the same model, in rounds, compares their outputs, and prints the ratios.

    python cpu.py MODEL.onnx [--precision int8 --peer-model MODEL_QDQ.onnx] [--threads 1,2] [--rounds 5] [--out results/cpu/NAME.json]

On a busy or virtual machine a figure alone says little: a process may run half as fast as the one before it. So each round
runs the programs one after the other, in processes of their own and in changing order, and only ratios of median latencies
within a round are compared; the result is the median of those ratios. Below 1, trtui is faster.

Every program gets the same inputs: those of test_data_set_0/ beside the model or of MODEL.in0.bin, MODEL.in1.bin..., else seeded
noise. Outputs are compared, as signal-to-noise ratio in dB, with those of ONNX Runtime on MODEL with its optimisers off: it then
computes a quantised model in float32. With them on, it and OpenVINO add pairs of products of bytes in 16 bits on processors
without VNNI, which saturates.
"""

import argparse
import json
import math
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64, "tensor(int32)": np.int32}


def ort_session(model, threads=1, disabled=(), optimise=True):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if not optimise:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"], disabled_optimizers=list(disabled))


def inputs(model, batch):
    """{name: array} for the inputs of a model; dims that are open are the batch."""
    import onnx
    from onnx import numpy_helper

    files = sorted(model.parent.glob("test_data_set_0/input_*.pb"))
    protos = [onnx.TensorProto.FromString(file.read_bytes()) for file in files]
    stored = {proto.name: numpy_helper.to_array(proto) for proto in protos}
    rng, arrays = np.random.default_rng(0), {}
    for index, value in enumerate(ort_session(model).get_inputs()):
        shape, kind = [dim if isinstance(dim, int) else batch for dim in value.shape], TYPES.get(value.type)
        raw, array = Path(f"{model.with_suffix('')}.in{index}.bin"), stored.get(value.name)
        if array is None and raw.exists() and kind is not None:
            array = np.fromfile(raw, kind)
            array = array.reshape(shape) if array.size == math.prod(shape) else None
        if array is None or list(array.shape) != shape:
            if kind is None:
                raise SystemExit(f"input {value.name}: no data for {value.type}; put it into test_data_set_0/")
            array = rng.standard_normal(shape).astype(kind) if np.issubdtype(kind, np.floating) else np.zeros(shape, kind)
        arrays[value.name] = array
    return arrays


def time_runs(run, seconds):
    """Median latency in milliseconds of run, after a fifth of the time to warm up."""
    run()
    latencies, start = [], time.perf_counter()
    while (now := time.perf_counter()) - start < seconds or len(latencies) < 5:
        run()
        if now - start > seconds / 5:
            latencies.append(1e3 * (time.perf_counter() - now))
    return statistics.median(latencies)


def time_ort(options, feeds, threads):
    session = ort_session(options.model, threads, options.ort_disable)
    binding = session.io_binding()
    for name, array in feeds.items():
        binding.bind_cpu_input(name, array)
    for value in session.get_outputs():
        binding.bind_output(value.name, "cpu")
    names = [value.name for value in session.get_outputs()]
    median = time_runs(lambda: session.run_with_iobinding(binding), options.seconds)
    return median, dict(zip(names, session.run(None, feeds)))


def time_openvino(options, feeds, threads):
    import openvino

    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(str(options.model), "CPU", settings)
    request = compiled.create_infer_request()
    for name, array in feeds.items():
        request.set_tensor(name, openvino.Tensor(array))
    median = time_runs(request.infer, options.seconds)
    return median, {port.any_name: np.array(request.get_tensor(port).data) for port in compiled.outputs}


PEERS = {"onnxruntime": time_ort, "openvino": time_openvino}


def peer(name, options, files, threads):
    """A peer's median latency in milliseconds, in a process of its own, which also writes its outputs."""
    command = [sys.executable, __file__, str(options.peer_model or options.model), "--time", name, "--inputs", str(files / "inputs.npz")]
    command += ["--threads", str(threads), "--seconds", str(options.seconds), "--out", str(files / f"{name}.npz")]
    for disabled in options.ort_disable:
        command += ["--ort-disable", disabled]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} failed on {options.model}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])["median_ms"]


def trtui(options, words, threads):
    """What trtui prints as JSON; GOMAXPROCS bounds its threads in any case."""
    command = [*shlex.split(options.trtui), *words, "--threads", str(threads), "--format", "json", "-q"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "GOMAXPROCS": str(threads)})
    except OSError as error:
        raise SystemExit(f"{shlex.join(command)}: {error.strerror}; run make build, or name the program with --trtui") from None
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def build(options, files, threads):
    """Builds the engine that every round runs, and has its outputs written."""
    engine, data = str(files / f"{threads}.engine"), ["--data", str(files / "inputs.npz")]
    trtui(options, ["build", str(options.model), "--precision", options.precision, "-o", engine, *data], threads)
    trtui(options, ["run", engine, *data, "--save-outputs", str(files / "trtui.npz")], threads)
    return engine


def sqnr(reference, other):
    """The worst signal-to-noise ratio of an output in dB; None if all are equal."""
    worst = None
    for name, array in reference.items():
        signal, noise = array.astype(np.float64), array.astype(np.float64) - other[name].astype(np.float64).reshape(array.shape)
        power = float((noise**2).sum())
        if power > 0:
            value = 10 * math.log10(max(float((signal**2).sum()), 1e-300) / power)
            worst = value if worst is None else min(worst, value)
    return worst


def compare(options, files, threads):
    """Runs the rounds at one thread count; returns their record."""
    engine, rounds = build(options, files, threads), []
    runs = {"trtui": lambda: trtui(options, ["bench", engine, "--data", str(files / "inputs.npz"), "--duration", f"{options.seconds}s"], threads)["latency"]["median_ms"]}
    for name in options.peers:
        runs[name] = lambda name=name: peer(name, options, files, threads)
    names = list(runs)
    for index in range(options.rounds):
        order = names[index % len(names) :] + names[: index % len(names)]
        measured = {name: runs[name]() for name in order}
        best = min(measured[name] for name in options.peers)
        measured["ratio"] = measured["trtui"] / best
        print(f"{threads} threads  " + "  ".join(f"{name} {measured[name]:.3f}" for name in [*names, "ratio"]), file=sys.stderr)
        rounds.append(measured)
    reference = dict(np.load(files / "reference.npz"))
    agreement = {name: sqnr(reference, dict(np.load(files / f"{name}.npz"))) for name in names}
    medians = {name: statistics.median(measured[name] for measured in rounds) for name in rounds[0]}
    return {"threads": threads, "ratio": medians.pop("ratio"), "median_ms": medians, "sqnr_db": agreement, "rounds": rounds}


def rounded(record):
    """The record with its figures cut to what they can say."""
    if isinstance(record, dict):
        return {name: rounded(value) for name, value in record.items()}
    if isinstance(record, list):
        return [rounded(value) for value in record]
    return float(f"{record:.4g}") if isinstance(record, float) else record


def machine():
    """What the figures were taken on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    flags = next((line.split(":", 1)[1].split() for line in lines if line.startswith("flags")), [])
    wanted = ["avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8"]
    return {"cpu": model, "cores": os.cpu_count(), "instructions": [flag for flag in wanted if flag in flags], "system": platform.system()}


def versions(options):
    import importlib.metadata

    found = {name: importlib.metadata.version(name) for name in options.peers}
    return {"trtui": trtui_version(options), **found}


def trtui_version(options):
    done = subprocess.run([*shlex.split(options.trtui), "version"], capture_output=True, text=True)
    return done.stdout.strip()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--precision", default="fp32", help="what trtui builds: fp32 or int8 (default: fp32)")
    parser.add_argument("--peer-model", type=Path, help="what the peers run, where it is not MODEL: its quantised twin")
    parser.add_argument("--batch", type=int, default=1, help="value of open dimensions")
    parser.add_argument("--threads", default="1,2", help="thread counts, by comma")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3, help="time of each program in each round")
    parser.add_argument("--peers", default="onnxruntime,openvino", help="which, by comma")
    parser.add_argument("--ort-disable", action="append", default=[], help="an optimiser of ONNX Runtime to switch off, such as MatMulAddFusion for quantised transformers")
    parser.add_argument("--trtui", default="bin/trtui", help="the program (default: bin/trtui)")
    parser.add_argument("--out", type=Path, help="file for the record; it goes to stdout otherwise")
    parser.add_argument("--time", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--inputs", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    if options.time:
        median, outputs = PEERS[options.time](options, dict(np.load(options.inputs)), int(options.threads))
        np.savez(options.out, **outputs)
        print(json.dumps({"median_ms": median}))
        return
    options.peers = options.peers.split(",")
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        feeds = inputs(options.model, options.batch)
        np.savez(files / "inputs.npz", **feeds)
        session = ort_session(options.model, optimise=False)
        reference = session.run(None, feeds)
        np.savez(files / "reference.npz", **dict(zip([value.name for value in session.get_outputs()], reference)))
        results = [compare(options, files, int(count)) for count in options.threads.split(",")]
    about = {"model": options.model.name, "precision": options.precision, "machine": machine(), "versions": versions(options)}
    record = json.dumps(rounded({**about, "results": results}), indent=2) + "\n"
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(record)
    else:
        sys.stdout.write(record)


if __name__ == "__main__":
    main()
