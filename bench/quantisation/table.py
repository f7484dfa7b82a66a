"""What 8 bits cost: SQNR of the logits in dB against FP32, and top-1, of trained models by ways to quantise them.

    python bench/quantisation/table.py DATA [--trtui PROGRAM] [--models NAME,...] [--peer] [CONFIGURATION...]

A configuration is flags of `trtui eval`, such as "--calibrator mse --activations symmetric"; without any, those by which the
default was chosen are compared. --peer adds the best and the default of ONNX Runtime's static quantisation, on the models whose
data this reads itself.
"""

import argparse
import json
import logging
import os
import subprocess
import tempfile

import numpy as np

import models

CONFIGURATIONS = [f"--calibrator {c} --activations {a} --bias-correction {b}"
                  for a, b in (("symmetric", "off"), ("asymmetric", "off"), ("asymmetric", "fast"), ("asymmetric", "exact"))
                  for c in ("minmax", "entropy", "percentile", "mse")]


def sqnr(want, got):
    want, got = np.float64(want), np.float64(got)
    return 10 * np.log10((want**2).sum() / max(((want - got) ** 2).sum(), 1e-300))


def ours(program, model, flags):
    command = [program, "eval", *([model] if model else []), "--timing-cache", "none", "--threads", "1", "-q", "--format", "json",
               "--precision", "int8", *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    row = json.loads(done.stdout)["rows"][-1]
    return row["sqnr_db"], row.get("top1_percent", row.get("top1"))


def peer(model, data, calibration, work):
    """Returns the best and the default of onnxruntime.quantization.quantize_static, as (dB, name)."""
    import onnxruntime as rt
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    rt.set_default_logger_severity(4)
    logging.disable(logging.WARNING)
    run = lambda path: (lambda s: np.concatenate([s.run(None, {s.get_inputs()[0].name: x[None]})[0] for x in data]))(
        rt.InferenceSession(path, providers=["CPUExecutionProvider"]))
    name = rt.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()[0].name

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.items = iter(calibration)

        def get_next(self):
            x = next(self.items, None)
            return None if x is None else {name: x[None]}

    ready, out = os.path.join(work, "ready.onnx"), os.path.join(work, "out.onnx")
    quant_pre_process(model, ready, skip_symbolic_shape=True)
    want, found = run(model), []
    for method in (CalibrationMethod.MinMax, CalibrationMethod.Entropy, CalibrationMethod.Percentile):
        for activations in (QuantType.QInt8, QuantType.QUInt8):
            for channel in (True, False):
                quantize_static(ready, out, Reader(), quant_format=QuantFormat.QDQ, per_channel=channel, calibrate_method=method,
                                activation_type=activations, weight_type=QuantType.QInt8)
                found.append((sqnr(want, run(out)), f"{method.name} {activations.name}{' per channel' if channel else ''}"))
    return max(found), found[1]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data")
    p.add_argument("--trtui", default="trtui")
    p.add_argument("--models", default=",".join(["digits", *models.MODELS]))
    p.add_argument("--peer", action="store_true")
    p.add_argument("configurations", nargs="*")
    args, more = p.parse_known_args()
    names = args.models.split(",")
    configurations = [c for c in args.configurations + more if c != "--"] or CONFIGURATIONS
    print("| dB |", " | ".join(names), "| mean |")
    print("|---" * (len(names) + 2) + "|")
    with tempfile.TemporaryDirectory() as work:
        files = {n: models.prepare(n, args.data, work) if n != "digits" else None for n in names}
        for c in configurations:
            rows = [ours(args.trtui, files[n], [*(models.flags(n, args.data) if files[n] else []), *c.split()]) for n in names]
            mean = sum(r[0] for r in rows) / len(rows)
            print(f"| {c} |", " | ".join(f"{db:.1f}" + (f" ({top:.1f} %)" if top is not None else "") for db, top in rows), f"| {mean:.2f} |", flush=True)
        for n in names if args.peer else ():
            if files[n] and (data := models.items(n, args.data)) is not None:
                best, default = peer(files[n], data, models.items(n, args.data, True), work)
                print(f"{n}: ONNX Runtime's best {best[0]:.1f} dB ({best[1]}), its default {default[0]:.1f} dB", flush=True)


if __name__ == "__main__":
    main()
