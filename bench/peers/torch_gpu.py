"""Times PyTorch on a GPU: eager, as a CUDA graph, and torch.compile. One JSON line for each result.

    python torch_gpu.py --out rows.jsonl [--budget SECONDS] [--cases 'resnet50 * fp16'] [--modes eager,graph,compile]
    python torch_gpu.py --export resnet50 --out resnet50.onnx       the same network for another runtime, batch left open
    python torch_gpu.py --device cpu --tiny --modes eager           a trial without a GPU

Results that --out holds already are not measured again, so a run that ended early goes on where it stopped. fp32 is fp32:
TF32 is off. fp16 is the whole network in fp16. Convolutional networks are timed in both memory layouts; compile takes the
layout in which the graph was faster. A time is the median over repeats of at least 50 ms between two CUDA events, inputs and
outputs staying on the device. Mode compile is torch.compile(mode="max-autotune"); reduce, which is not measured unless asked
for, its mode "reduce-overhead", which is ready sooner. Exit status: 0 all measured, 69 no such device, 75 the budget ended first.
"""

import argparse
import contextlib
import copy
import fnmatch
import gc
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

try:
    import torch
except ImportError:
    print("torch is not installed; install PyTorch with CUDA", file=sys.stderr)
    sys.exit(69)

import networks

CASES = Path(__file__).with_name("gpu_cases.txt")
PRECISIONS = {"fp32": torch.float32, "fp16": torch.float16}
LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}
COMPILED = {"reduce": "reduce-overhead", "compile": "max-autotune"}  # torch's names of them
MODES = ("eager", "graph", *COMPILED)
GPU_STATE = ("clocks.sm", "clocks.mem", "temperature.gpu", "power.draw")
REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")  # its name, and that in older drivers
WARM_CALLS = 5  # at least: what is compiled records its graph in the second or third call
UNAVAILABLE, UNFINISHED = 69, 75  # EX_UNAVAILABLE, EX_TEMPFAIL


class Device:
    """Times calls: by CUDA events on a GPU, by the clock on a CPU."""

    def __init__(self, name, tiny):
        self.name, self.cuda, self.reasons = name, name.startswith("cuda"), list(REASONS)
        self.warm_s, self.window_us, self.repeats = (0.01, 1e3, 5) if tiny else (0.3, 50e3, 9)

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def window(self, call, iterations):
        """Microseconds for one of so many calls in a row."""
        if not self.cuda:
            start = time.perf_counter()
            for _ in range(iterations):
                call()
            return 1e6 * (time.perf_counter() - start) / iterations
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(iterations):
            call()
        end.record()
        end.synchronize()
        return 1e3 * start.elapsed_time(end) / iterations

    def time(self, call):
        """Warms up, then measures; returns the figures of a row."""
        deadline, calls = time.perf_counter() + self.warm_s, 0
        while time.perf_counter() < deadline or calls < WARM_CALLS:
            call()
            self.wait()
            calls += 1
        iterations, each = 1, self.window(call, 1)
        while each * iterations < self.window_us:
            iterations = max(2 * iterations, int(1.1 * self.window_us / each) if iterations > 8 else 0)
            each = self.window(call, iterations)
        times = [self.window(call, iterations) for _ in range(self.repeats)]
        deciles = statistics.quantiles(times, n=10, method="inclusive")
        figures = {"median_us": statistics.median(times), "p10_us": deciles[0], "p90_us": deciles[8]}
        return {**{key: round(value, 3) for key, value in figures.items()}, "repeats": self.repeats, "iterations": iterations}

    def state(self):
        """Clocks in MHz, temperature, power and throttle reasons as nvidia-smi reports them; nothing where it does not."""
        if not self.cuda:
            return {}
        uuid = getattr(torch.cuda.get_device_properties(self.name), "uuid", None)
        device = ["-i", f"GPU-{uuid}"] if uuid else []
        for reasons in list(self.reasons):
            fields = (*GPU_STATE, reasons)
            command = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits", *device]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
            except (OSError, subprocess.SubprocessError):
                self.reasons.remove(reasons)  # it is not asked for again
                continue
            return dict(zip(fields, (value.strip() for value in done.stdout.splitlines()[0].split(",")), strict=False))
        return {}

    def release(self):
        gc.collect()
        if self.cuda:
            torch.cuda.empty_cache()


def graph(net, x):
    """A call that replays net(x) as one CUDA graph and returns its output, which stays in place."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            net(x)
    torch.cuda.current_stream().wait_stream(side)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        output = net(x)

    def replay():
        recorded.replay()
        return output

    return replay


def callable_for(mode, net, x):
    if mode == "graph":
        return graph(net, x)
    if mode in COMPILED:
        torch._dynamo.reset()
        net = torch.compile(net, mode=COMPILED[mode], dynamic=False)
    return lambda: net(x)


def flat(output):
    """All outputs as one vector in float32."""
    parts = output if isinstance(output, tuple) else (output,)
    return torch.cat([part.float().flatten() for part in parts])


class Bench:
    """Measures cases and writes a row for each result."""

    def __init__(self, options, rows):
        self.options, self.rows = options, rows
        self.device = Device(options.device, options.tiny)
        self.networks, self.references = {}, {}

    def network(self, model):
        if model not in self.networks:
            self.networks[model] = networks.network(model, self.options.device, self.options.tiny)
        return self.networks[model]

    def input(self, model, batch):
        return networks.example(model, batch, self.options.device, self.options.tiny)

    def reference(self, model, batch):
        """The eager fp32 output, on the CPU, so that each figure is known to be that of a right answer."""
        if (model, batch) not in self.references:
            with torch.inference_mode():
                self.references[model, batch] = flat(self.network(model)(self.input(model, batch))).cpu()
        return self.references[model, batch]

    def layouts(self, model, batch, precision, mode):
        if model in networks.SEQUENCES:
            return [None]
        if mode not in COMPILED:
            return list(LAYOUTS)
        same = {"model": model, "batch": batch, "precision": precision, "mode": "graph"}
        timed = [row for row in self.rows if "median_us" in row and same.items() <= row.items()]
        return [min(timed, key=lambda row: row["median_us"])["layout"] if timed else "nhwc"]

    def prepare(self, model, batch, precision, layout):
        net, x = copy.deepcopy(self.network(model)).to(PRECISIONS[precision]), self.input(model, batch)
        if layout:
            net = net.to(memory_format=LAYOUTS[layout])
            x = x.to(PRECISIONS[precision]).contiguous(memory_format=LAYOUTS[layout])
        return net, x

    def measure(self, model, batch, precision, mode, layout):
        """Figures of one result; raises what torch raises."""
        reference = self.reference(model, batch)
        net, x = self.prepare(model, batch, precision, layout)
        # torch.compile's own CUDA graphs are documented for no_grad; inference_mode is the faster one for eager.
        with torch.no_grad() if mode in COMPILED else torch.inference_mode():
            start = time.perf_counter()
            call = callable_for(mode, net, x)
            output = flat(call()).cpu()
            setup = time.perf_counter() - start
            before = self.device.state()
            figures = self.device.time(call)
            after = self.device.state()
        error = float((output - reference).abs().max() / reference.abs().max())
        if not error < (1e-2 if precision == "fp32" else 1e-1):
            raise ValueError(f"output differs from eager fp32 by {error:.2g} of its largest value")
        figures |= {"items_per_s": round(1e6 * batch / figures["median_us"], 1), "relative_error": float(f"{error:.2g}")}
        figures |= {"setup_s": round(setup, 2), "state_before": before, "state_after": after}
        return figures

    def run(self, case, mode):
        """Measures a case in one mode and in each layout that the rows lack."""
        model, batch, precision = case
        for layout in self.layouts(*case, mode):
            key = {"model": model, "batch": batch, "precision": precision, "mode": mode, "layout": layout}
            if any(key.items() <= row.items() for row in self.rows):
                continue
            if time.monotonic() > self.options.deadline:
                raise TimeoutError
            try:
                row = {**key, **self.measure(*case, mode, layout)}
            except Exception as error:  # a case that fails is a result; the others go on
                row = {**key, "error": " ".join(f"{type(error).__name__}: {error}".split())[:400]}
            self.write({**row, "torch": torch.__version__, "device": self.options.device_name})
            self.survive()

    def write(self, row):
        self.rows.append(row)
        line = json.dumps(row, separators=(",", ":"))
        print(f"{row['model']} {row['batch']} {row['precision']} {row['mode']} {row['layout'] or ''}"
              f" {row.get('median_us') or row['error']}", file=sys.stderr, flush=True)  # fmt: skip
        with contextlib.nullcontext(sys.stdout) if self.options.out is None else open(self.options.out, "a") as file:
            file.write(line + "\n")

    def survive(self):
        """Frees memory. After a fault that has spoilt the CUDA context nothing more can run in it: starts the program anew."""
        try:
            self.device.wait()
            self.device.release()
        except RuntimeError:
            if self.options.out is None:
                raise
            left = max(0, self.options.deadline - time.monotonic())
            os.execv(sys.executable, [sys.executable, *sys.argv, "--budget", str(left)])


def read_cases(patterns, limit):
    """[(model, batch, precision)] of the file of cases that torch can run and a pattern selects."""
    lines = [line.split() for line in CASES.read_text().splitlines() if line.strip() and not line.startswith("#")]
    cases = [(model, int(batch), precision) for model, batch, precision in lines
             if model in networks.NETWORKS and precision in PRECISIONS]  # fmt: skip
    chosen = [case for case in cases if any(fnmatch.fnmatch("{} {} {}".format(*case), p) for p in patterns)]
    if not chosen:
        raise SystemExit(f"--cases {','.join(patterns)}: none of {CASES.name}")
    return list(dict.fromkeys((model, min(batch, limit), precision) for model, batch, precision in chosen))


def read_rows(path):
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def export_without_onnx():
    """Lets the exporter work where the package onnx is missing: it wants that only to add functions of onnxscript, of which
    these networks have none, and asks for it in any case."""
    if importlib.util.find_spec("onnx"):
        return
    for place in ("torch.onnx._internal.torchscript_exporter", "torch.onnx._internal"):  # its place since PyTorch 2.9, and before
        with contextlib.suppress(ImportError):
            utils = importlib.import_module(place + ".onnx_proto_utils")
            utils._add_onnxscript_fn = lambda model, _: model
            return


def export(name, path, tiny):
    """Writes the network as ONNX (opset 17) with fp32 weights and an open first dimension."""
    export_without_onnx()
    net, x = networks.network(name, "cpu", tiny), networks.example(name, 2, "cpu", tiny)
    outputs = [f"output{i}" for i in range(3)] if name == "yolov5s" else ["output"]
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    torch.onnx.export(net, (x,), str(part), dynamo=False, opset_version=17, input_names=["input"], output_names=outputs,
                      dynamic_axes={value: {0: "N"} for value in ["input", *outputs]})  # fmt: skip
    part.rename(path)  # a file that is there is whole


def configure():
    """The fastest settings that keep fp32 exact."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="file to append to; its results are not measured again")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no measurement is begun")
    parser.add_argument("--cases", default="*", help="patterns of 'model batch precision', by comma")
    parser.add_argument("--modes", default="eager,graph,compile", help="of them, by comma")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small networks, batches and times: a trial, no measurement")
    parser.add_argument("--export", metavar="NAME", choices=sorted(networks.NETWORKS), help="write this network to --out")
    options = parser.parse_args()
    options.deadline = time.monotonic() + options.budget
    options.modes = options.modes.split(",")
    if unknown := set(options.modes) - set(MODES):
        parser.error(f"--modes: {', '.join(sorted(unknown))} is none of {', '.join(MODES)}")
    if options.export and not options.out:
        parser.error("--export needs --out")
    return options


def main():
    options = parse()
    if options.export:
        return export(options.export, options.out, options.tiny)
    options.device_name = options.device
    if options.device.startswith("cuda"):
        if not torch.cuda.is_available():
            print(f"torch {torch.__version__} sees no CUDA device", file=sys.stderr)
            sys.exit(UNAVAILABLE)
        options.device_name = torch.cuda.get_device_name(options.device)
    elif "graph" in options.modes:
        options.modes.remove("graph")  # there are CUDA graphs on CUDA alone
    configure()
    bench = Bench(options, read_rows(options.out))
    cases = read_cases(options.cases.split(","), 2 if options.tiny else sys.maxsize)
    try:
        for modes in (("eager", "graph"), ("reduce",), ("compile",)):  # compiling takes minutes: everything else first
            for case in cases:
                for mode in [mode for mode in modes if mode in options.modes]:
                    bench.run(case, mode)
    except TimeoutError:
        print("the budget ended before the cases did; run it again for the rest", file=sys.stderr)
        sys.exit(UNFINISHED)


if __name__ == "__main__":
    main()
